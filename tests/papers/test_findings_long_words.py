"""Repeated blocks against random words: called harder only beyond noise, with rows and not networks for independent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from docs.findings.load import networks
from docs.findings.long_words import long_word_figures

from stacklens.papers.grid import Grid, GridResults, GridRow, Network, RowResult

NEVER = (None, [1.0, 1.0])
SOON, LATE = (30, [0.5, 0.25]), (90, [1.0, 0.5])
Kind = tuple[int | None, list[float]]


def asked(pumped: Kind, control: Kind, drawn: Kind | None = None) -> dict[str, Any]:
    kinds = {"pumped": pumped, "control": control} | ({} if drawn is None else {"drawn": drawn})
    soft = {name: {"horizon": horizon, "accuracy": shares} for name, (horizon, shares) in kinds.items()}
    rounded = {name: {"horizon": None, "accuracy": [1.0, 1.0]} for name in kinds}
    return {"lengths": [48, 96], "words": [1, 1], "network": soft, "rounded network": rounded}


def figures_of(
    rows: Sequence[Sequence[dict[str, Any]]], data_seed: int = 0, table: str = "suzgun2019-table2"
) -> dict[str, str]:
    """Return the figures of rows of a table; table 2 is of D2."""
    lines = tuple(GridRow(f"Net {number}, x", {}, lambda _: []) for number in range(len(rows)))
    runs = []
    for line, own in zip(lines, rows, strict=True):
        nets = tuple(Network(seed, {}, True, None, {"long words": one}) for seed, one in enumerate(own))
        runs.append(
            RowResult(line.name, "fast", tuple(range(len(nets))), 1.0, "cpu", nets, {}, {}, "", data_seed=data_seed)
        )
    grid = Grid(table, "Nobody 1993", "t", lines, ("test",))
    return long_word_figures(networks([(grid, GridResults("", table, "", tuple(runs)))]))


def lines_of(table: str) -> list[list[str]]:
    return [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("|")]


@pytest.mark.parametrize(
    ("pumped", "control", "said"),
    [
        (SOON, LATE, "repeated words break them sooner (p = 0.0078 over 8 rows"),
        (LATE, SOON, "random words break them sooner (p = 0.0078 over 8 rows"),
        (LATE, LATE, "that repetition breaks them sooner is not shown (too few for a test over 8 rows"),
    ],
)
def test_eight_rows_that_agree_tell_which_words_are_harder(pumped: Kind, control: Kind, said: str) -> None:
    figures = figures_of([[asked(pumped, control)] * 3] * 8)
    assert figures["long verdict"].startswith(said)
    assert figures["long rounded verdict"].startswith("that repetition breaks them sooner is not shown")


def test_many_networks_of_one_row_tell_no_more_than_the_row() -> None:
    figures = figures_of([[asked(SOON, LATE)] * 40, [asked(LATE, LATE)]])
    assert figures["long verdict"].startswith("that repetition breaks them sooner is not shown")
    assert figures["long measured"] == "41"


def test_networks_of_later_data_seeds_are_tested_by_themselves() -> None:
    rows = [[asked(SOON, LATE)]] * 8
    old, new = figures_of(rows, data_seed=1), figures_of(rows, data_seed=2)
    assert (old["long fresh measured"], new["long fresh measured"]) == ("0", "8")
    assert "too few" in old["long fresh verdict"]
    assert new["long fresh verdict"] == new["long verdict"] == old["long verdict"]


def test_the_tables_have_every_length_and_kind() -> None:
    figures = figures_of([[asked(SOON, LATE, NEVER), asked(NEVER, NEVER)]] * 8)
    wrong = lines_of(figures["long wrong table"])[2:]
    assert [line[:2] + line[3:] for line in wrong[:2]] == [
        ["the network itself", "repeated", "30", "8"],
        ["the network itself", "random and as shallow", "90", "0"],
    ]
    assert wrong[0][2].startswith("8 of 16 (50 %, 95 % interval ")
    assert wrong[2][2].startswith("0 of 16 (0 %")
    by_length = lines_of(figures["long by length"])[2:]
    assert by_length[0] == ["the network itself", "48", "16", "75", "100", "8 / 0", "p = 0.0078"]
    assert by_length[1] == ["the network itself", "96", "16", "62", "75", "8 / 0", "p = 0.0078"]
    assert by_length[2][3:] == ["100", "100", "0 / 0", "too few for a test"]
    by_depth = lines_of(figures["long by depth"])[2:]  # of the networks that were asked both
    assert by_depth[1] == ["the network itself", "96", "8", "50", "100", "8 / 0", "p = 0.0078"]
    assert lines_of(figures["long by family"])[2] == ["Net 0 on D2", "2", "1", "0"]
    said = "the network itself, words that are repeated are harder at 48, 96 symbols; rounded, neither is shown"
    assert said in figures["long summary"]
    assert (
        "words that are random and as shallow are harder at 96 symbols; rounded, neither"
        in figures["long depth summary"]
    )


def test_the_longest_words_are_told_apart_by_network_and_by_what_it_learned() -> None:
    deeper = asked(NEVER, NEVER, LATE)  # the network itself, on words of any depth
    figures = figures_of([[asked(SOON, LATE, NEVER)], [deeper, deeper]])
    names = ("long longest", "long soft shallow", "long soft deep", "long rounded shallow", "long rounded deep")
    assert [figures[name] for name in names] == ["96", "83 %", "67 %", "100 %", "100 %"]
    table = lines_of(figures["long at last"])[2:]
    assert table[1:] == [
        ["Net 0 on D2", "1", "50", "100", "100", "100"],
        ["Net 1 on D2", "2", "100", "50", "100", "100"],
    ]
    assert figures["long worse on deep"] == "Net 1 on D2 (100 % of shallow words, 50 % of others)"


def test_only_bracket_languages_are_tested() -> None:
    figures = figures_of([[asked(SOON, LATE)] * 3] * 8, table="suzgun2019-table6")
    assert (figures["long measured"], figures["long elsewhere"]) == ("0", "24")
    assert figures["long verdict"].startswith("that repetition breaks them sooner is not shown")
    assert lines_of(figures["long by family"])[2] == ["Net 0 on reversal", "3", "3", "0"]
