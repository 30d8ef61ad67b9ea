"""The page in the browser. Its figures and tables come from the functions that Python and the shell call too.

All of them raise StacklensError, one sentence, where there is no network of that name, nothing has been read out of it,
a word has other symbols or is too long, or what was opened is kept no longer; `requests.answering` and the callback of
`app` show it. The extra "page" brings the libraries; without them an import fails with one line that names it.
"""

from ...core.errors import check_extra

check_extra("the page", "page", "dash", "dash_ag_grid", "diskcache", "psutil")
