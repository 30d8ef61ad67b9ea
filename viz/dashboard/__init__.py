"""The page in the browser. Its figures and tables come from the functions that Python and the shell call too.

The extra "page" brings the libraries that it needs; whoever imports a part of it without them is told so in one line.
"""

from ...core.imports import check_extra

check_extra("the page", "page", "dash", "dash_ag_grid", "diskcache", "psutil")
