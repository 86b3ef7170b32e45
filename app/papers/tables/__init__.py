"""One table of a paper a file: a function of the experiments that gives its rows."""
