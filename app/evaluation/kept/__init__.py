"""What is kept of an evaluation, document by document, to be compared with others later."""
