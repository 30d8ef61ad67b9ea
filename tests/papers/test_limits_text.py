"""Success against limits of time and stacks, counted anew one by one; interchanges beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stacklens.errors import FileFormatError
from stacklens.papers.grid import Grid, GridRow
from stacklens.papers.grid_results import GridResults, Network, RowResult
from stacklens.papers.limits_text import interchange_figures, limit_figures, processor_seconds


def network(seed: int, status: int | None, seconds: float, kept: int = 1, dropped: int = 0, **more: Any) -> Network:
    if status is None:
        return Network(seed, {}, True)
    stacks = {"kept": list(range(kept)), "dropped": list(range(dropped))}
    proof = {"verdict": "equal"} if status != 3 else None
    found = {"status": status, "seconds": seconds, "stacks": stacks if kept else None, "proof": proof, **more}
    return Network(seed, {"test": 1.0}, True, found)


NETWORKS = (
    network(0, 0, 8.0),
    network(1, 1, 12.0, kept=2, dropped=8),
    network(2, 3, 100.0, kept=0),
    network(3, 0, 80.0, kept=2, dropped=8, budget={"ran_out": True, "seconds": 60.0}),
    network(4, None, 0.0),
)


def run(seconds: dict[str, float]) -> RowResult:
    return RowResult("Net", "fast", tuple(range(5)), 1.0, "cpu", NETWORKS, seconds, {}, "")


def lines(table: str) -> list[list[str]]:
    return [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("|")]


def test_processor_time_of_a_run_is_shared_out_by_the_clocks_of_its_networks() -> None:
    assert processor_seconds(run({"extraction, wall": 200.0, "extraction, CPU": 100.0})) == [4, 6, 50, 40, None]
    assert processor_seconds(run({})) == [8, 12, 100, 80, None]
    assert processor_seconds(run({"extraction, CPU": 500.0})) == [8, 12, 100, 80, None]  # other work was in it
    nothing = RowResult("Net", "fast", (4,), 1.0, "cpu", NETWORKS[4:], {}, {}, "")
    assert processor_seconds(nothing) == [None]


def test_what_is_read_within_limits() -> None:
    grid = Grid("toy", "Nobody 1993", "t", (GridRow("Net", {}, lambda _: []),), ("test",))
    figures = limit_figures([(grid, GridResults("", "toy", "", (run({"extraction, CPU": 100.0}),)))])
    assert figures["limits tried"] == "4"
    assert figures["budgets"] == "60 s for 1, not told for 3"
    times = {row[0]: row[1:] for row in lines(figures["time table"])}
    assert times["5"] == ["1 (25 %)"] * 3
    assert times["20"] == ["2 (50 %)", "2 (50 %)", "1 (25 %)"]
    assert times["no limit"] == ["3 (75 %)", "3 (75 %)", "2 (50 %)"]
    stacks = {tuple(row[:3]): row for row in lines(figures["stacks table"])[2:]}
    assert list(stacks) == [("1", "1", "1"), ("10", "2", "2"), ("–", "–", "1")]
    assert stacks["10", "2", "2"][-2:] == ["1 of 2 (50 %, 95 % interval 9 to 91)", "1"]


def test_no_results_are_no_error() -> None:
    figures = limit_figures([])
    assert (figures["limits tried"], figures["budgets"]) == ("0", "none")
    assert "| no limit | 0 of 0 |" in figures["time table"]


def test_interchanges_by_what_was_read_from(tmp_path: Path) -> None:
    def told(states: float | None, symbols: float) -> dict[str, Any]:
        return {
            "states": {"accuracy": states, "baseline": 0.5},
            "symbols": {"accuracy": symbols, "baseline": None},
        }

    kept = [
        {"name": "a", "way": "learn", "proof": "equal", "minimised": told(0.6, 0.7), "raw": {"reason": "none"}},
        {"name": "b", "way": "learn", "proof": "–", "minimised": told(None, 0.9), "raw": told(1.0, 1.0)},
        {"name": "c", "status": 3, "reason": "nothing was found"},
    ]
    file = tmp_path / "interchanges.json"
    file.write_text(json.dumps(kept), encoding="utf-8")
    figures = interchange_figures(file)
    assert figures["interchange networks"] == "2"
    rows = lines(figures["interchange table"])[2:]
    assert rows[0] == ["its behaviour", "minimised", "2", "1", "0.60 (0.60), of 1", "0.50", "0.80 (0.70), of 2", "–"]
    assert rows[1][:4] == ["its behaviour", "raw", "1", "0"]


def test_interchanges_that_are_missing_or_something_else(tmp_path: Path) -> None:
    assert interchange_figures(None) == interchange_figures(tmp_path / "none.json")
    assert interchange_figures(None)["interchange table"] == "(Not measured.)"
    file = tmp_path / "interchanges.json"
    for content in ("{", "[1]", '{"a": 1}', '[{"name": "a", "minimised": {"states": 1}}]'):
        file.write_text(content, encoding="utf-8")
        with pytest.raises(FileFormatError, match=r"interchanges\.json: no interchanges: "):
            interchange_figures(file)
