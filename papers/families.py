"""Of which family the networks of a row are, and what they learn, by one name over all tables."""

from __future__ import annotations

from stacklens.papers.grid import Grid, GridRow

__all__ = ["BRACKETS", "family_of", "task_of"]

BRACKETS = ("D2", "D3", "D6")  # tasks that are Dyck languages

# what is learned in a table, where its rows do not say so
_TASKS = {
    "joulin2015-fig2": "memorisation",
    "suzgun2019-table2": "D2",
    "suzgun2019-table3": "D3",
    "suzgun2019-table4": "D6",
    "suzgun2019-table5": "homomorphic palindromes",
    "suzgun2019-table6": "reversal",
    "suzgun2019-d6-one-number": "D6",
    "suzgun2019-simple-palindrome": "simple palindromes",
    "suzgun2019-simple-palindrome-search": "simple palindromes",
}


def family_of(grid: Grid, row: GridRow) -> str | None:
    """Return the family that the networks of ``row`` belong to, None where they have no memory beside their state.

    >>> from stacklens.papers.suzgun2019 import grids
    >>> table = grids()["suzgun2019-table3"]()
    >>> [family_of(table, row) for row in table.rows if row.name.startswith("Baby")][:1]
    ['Suzgun et al. 2019: Baby-NTM']
    """
    if not row.stacks:
        return None
    if grid.name.startswith("hao"):
        name = f"{'buffered ' if row.cells['buffered'] == 'yes' else ''}Neural Stack, {row.cells['controller']}"
    else:
        name = row.name.split(",")[0].split("+Softmax")[0].split("+Gumbel")[0]
    return f"{grid.paper}: {name}"


def task_of(grid: Grid, row: GridRow) -> str:
    """Return what the networks of ``row`` learn, by one name over all tables; that of the grid where none is known.

    >>> from stacklens.papers.hao2018 import grids
    >>> table = grids()["hao2018-table1"]()
    >>> task_of(table, table.rows[0])
    'reversal'
    """
    if row.name.endswith(", addition"):
        return "binary addition"
    named = row.cells.get("task") or row.cells.get("pattern")
    return _TASKS.get(grid.name, grid.name) if named is None else named.lower()
