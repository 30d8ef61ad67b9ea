"""Success against limits of time and stacks, counted anew one by one."""

from __future__ import annotations

from typing import Any

import pytest

from stacklens.papers.grid import Grid, GridRow
from stacklens.papers.grid_results import GridResults, Network, RowResult
from stacklens.papers.limits_text import limit_figures, processor_seconds


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


def test_networks_with_a_clock_of_processor_time_each_have_their_own() -> None:
    own = tuple(network(seed, 0, 8.0, processor_seconds=seed + 3.0) for seed in range(2))
    timed = RowResult("Net", "fast", (0, 1, 4), 1.0, "cpu", (*own, NETWORKS[4]), {"extraction, CPU": 100.0}, {}, "")
    assert processor_seconds(timed) == [3, 4, None]


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
    assert list(stacks) == [("1", "no", "1"), ("2", "no", "2"), ("–", "–", "1")]
    assert stacks["2", "no", "2"][-2:] == ["1 (50 %)", "1"]
    assert (figures["several stacks"], figures["several stacks proved"], figures["several stacks at most"]) == (
        "2",
        "2 of 2",
        "2",
    )


@pytest.mark.parametrize("others", [{"push_only": [1]}, {"unseen": [1, 2]}])
def test_a_stack_that_only_pushes_or_is_not_seen_is_none_of_the_automatons(others: dict[str, list[int]]) -> None:
    stacks = {"kept": [0, 1] if "push_only" in others else [0], "dropped": [], **others}
    one = Network(0, {}, True, {"status": 0, "seconds": 1.0, "stacks": stacks, "proof": {"verdict": "equal"}})
    grid = Grid("toy", "Nobody 1993", "t", (GridRow("Net", {}, lambda _: []),), ("test",))
    row = RowResult("Net", "fast", (0,), 1.0, "cpu", (one,), {}, {}, "")
    figures = limit_figures([(grid, GridResults("", "toy", "", (row,)))])
    assert lines(figures["stacks table"])[2][:3] == ["1", "yes", "1"]
    assert figures["several stacks"] == "0"


def test_no_results_are_no_error() -> None:
    figures = limit_figures([])
    assert (figures["limits tried"], figures["budgets"]) == ("0", "none")
    assert "| no limit | 0 of 0 |" in figures["time table"]
