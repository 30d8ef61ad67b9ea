"""Tables 1 and 2 of Sun et al. 1993: what was printed, ours beside it, and the page that shows both."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from stacklens.papers.results import read_results
from stacklens.papers.sun1993 import FOUR, WIDE
from stacklens.papers.sun1993_steps import PRINTED, figure_tables, steps_beside
from stacklens.papers.tables import TextTable, markdown_table

PAGE = Path(__file__).parents[2] / "docs" / "papers" / "sun1993.md"


def stack(text: str) -> list[tuple[str, float]]:
    parts = text.split()
    return list(zip(parts[::2], map(float, parts[1::2]), strict=True))


def test_every_word_has_its_steps_as_printed() -> None:
    assert tuple(PRINTED) == ("acabc", "bacab", "bacba", "ababcbaba")
    assert all(len(steps) == len(word) for word, steps in PRINTED.items())
    for word, steps in PRINTED.items():
        before = 0.0
        for symbol, (state, action, after) in zip(word, steps, strict=True):
            assert len(state.split()) == 4
            height, strength = sum(length for _, length in stack(after)), float(action)
            # to four digits but for one misprint: in the last step of acabc 0.9684 is pushed as 0.9584
            assert abs(height - max(0.0, before + strength)) < 0.0101, (word, symbol)
            assert strength < 0 or stack(after)[-1][0] == symbol
            before = height


def test_final_lengths_are_those_of_the_captions() -> None:
    last = {word: sum(length for _, length in stack(steps[-1][2])) for word, steps in PRINTED.items()}
    assert abs(last["acabc"] - 1.8805) < 0.011
    assert abs(last["bacab"] - 0.0318) < 1e-9
    assert abs(last["bacba"] - 3.6539) < 0.011
    assert abs(last["ababcbaba"] - 1.0776) < 1e-9


def test_ours_stand_beside_them_and_operations_are_compared() -> None:
    table = steps_beside(read_results("sun1993-claims"))
    assert len(table.rows) == sum(map(len, PRINTED)) == 24
    same = [row[-1] == "yes" for row in table.rows]
    assert table.caption.endswith(f"the same operation in {sum(same)} of 24 steps")
    for row, alike in zip(table.rows, same, strict=True):
        theirs, ours = (round(float(row[column])) for column in (5, 6))
        assert alike == (theirs == ours)


def test_without_steps_there_are_no_rows() -> None:
    table = steps_beside(replace(read_results("sun1993-claims"), claims=()))
    assert table.rows == ()


def test_the_states_of_a_network_are_vectors_with_the_papers_moves() -> None:
    parentheses, counts, palindromes = figure_tables(read_results("sun1993-claims"))
    assert [row[0] for row in palindromes.rows] == ["1", "2", "3", "4", "5", "6"]
    start, before, after, *traps = palindromes.rows
    assert start[1:] == ("(1,0,0)", "none seen", "1", "(a, ϕ, 1) → 2, (b, ϕ, 1) → 2, (c, ϕ, 0) → 3")
    assert "(a, a, 1) → 2" in before[4]
    assert "(a, a, -1) → 3" in after[4]
    for row in (before, after):  # binary vectors: each mean is nearest to its own
        assert row[1] == f"({','.join(str(round(float(value))) for value in row[2].split())})"
    assert {row[3:] for row in traps} == {("4", "none")}
    assert all(row[1].endswith(",0), in the trap") for row in traps)
    assert len({row[3] for row in counts.rows}) == 4
    assert [row[4] for row in parentheses.rows].count("none") == 2  # they only read the end symbol
    assert figure_tables(replace(read_results("sun1993-claims"), claims=())) == []


def test_where_weights_start_decides_how_many_states_there_are() -> None:
    """What the page says: the counts of figures 11 and 12 are among those of networks that start in [-1, 1] alone."""
    rows = {
        recipe: [row[1:3] for row in claim.figures["rows"] if row[4]]
        for claim in read_results("sun1993-training").claims
        for recipe in (FOUR, WIDE)
        if claim.claim.startswith(f"{recipe}: states before")
    }
    near, wide = (list(zip(*rows[recipe], strict=True)) for recipe in (FOUR, WIDE))
    for printed, narrow, broad in zip((12, 7), near, wide, strict=True):
        assert max(narrow) < printed
        assert min(broad) <= printed <= max(broad)


def test_the_page_has_the_tables_of_now() -> None:
    page, results = (
        PAGE.read_text(encoding="utf-8"),
        [read_results(f"sun1993-{name}") for name in ("claims", "training")],
    )
    for table in (steps_beside(results[0]), *figure_tables(results[0])):
        assert markdown_table(table) in page
    rows = [
        (claim.section, claim.claim, claim.paper, claim.ours)
        for found in results
        for claim in found.claims
        if any(word in claim.claim for word in ("merging", "K-means", "eq. 28"))
    ]
    assert len(rows) == 7 + 5
    assert "\n".join(markdown_table(TextTable("", ("",), tuple(rows))).splitlines()[4:]) in page
