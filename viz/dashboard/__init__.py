"""The page in the browser. Its figures and tables come from the functions that Python and the shell call too."""
