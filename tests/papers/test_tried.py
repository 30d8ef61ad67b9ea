"""The table of the settings that were tried for a row."""

from __future__ import annotations

from stacklens.papers.grid import GridResults, Network, RowResult
from stacklens.papers.joulin2015 import table2
from stacklens.papers.tables import TextTable, grid_tables


def network(seed: int, small: tuple[float, float], large: tuple[float, float]) -> Network:
    tried: dict[str, float] = {}
    for settings, (loss, test) in {"1 x 50": small, "2 x 100": large}.items():
        figures = {"symbols": 3e6, "updates": 2000, "seconds": 90, "loss": loss, "test": test}
        tried |= {f"tried {settings}: {name}": float(value) for name, value in figures.items()}
    return Network(seed, {"test": 0.5, "validation": 0.9, **tried}, False)


NETWORKS = (network(0, (0.2, 0.7), (0.001, 1.0)), network(1, (0.1, 0.4), (0.5, 0.25)), network(2, (0.3, 0.1), (1, 0)))


def test_a_line_has_the_best_network_of_some_settings_and_what_the_others_scored() -> None:
    shown = tables(NETWORKS)[-1]
    assert (shown.title, shown.columns[:3]) == ("What was tried", ("network", "pattern", "tried"))
    assert len(shown.columns) == 9
    assert shown.rows == (
        ("LSTM", "a^n b^n", "1 x 50", "3,000,000", "2,000", "1.5", "0.1", "40.0", "40.0 / 70.0"),
        ("LSTM", "a^n b^n", "2 x 100", "3,000,000", "2,000", "1.5", "0.001", "100.0", "25.0 / 100.0"),
    )
    assert shown.caption


def test_where_nothing_was_tried_there_is_no_table() -> None:
    plain = Network(0, {"test": 1.0, "validation": 1.0}, True)
    assert "What was tried" not in [table.title for table in tables((plain,))]


def tables(networks: tuple[Network, ...]) -> list[TextTable]:
    grid = table2()
    seeds = tuple(network.seed for network in networks)
    row = RowResult("LSTM, anbn", "fast", seeds, 1.0, "cpu", networks, {}, {}, "")
    return grid_tables(grid, GridResults(grid.paper, grid.name, grid.title, (row,)))
