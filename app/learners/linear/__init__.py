"""What linear learners share: solvers, folds, weights."""
