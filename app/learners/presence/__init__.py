"""What trees and rules are made from: which documents hold which term, as sets of bits."""
