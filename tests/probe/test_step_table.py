from __future__ import annotations

from io import StringIO

from rich.console import Console
from tests.models.hand_made import hand_made, parentheses_net

from stacklens.languages import get_language
from stacklens.probe.table import step_table
from stacklens.probe.trace import Trace, trace


def shown(seen: Trace, word: int = 0) -> list[str]:
    """Return the rows of the table as they are printed."""
    lines = StringIO()
    Console(file=lines, width=120, markup=False, emoji=False).print(step_table(seen, word))
    return [line for line in lines.getvalue().splitlines() if line.startswith("│")]


def test_a_step_is_a_row_with_state_action_and_the_stack_bottom_first() -> None:
    cells = [[cell.strip() for cell in row.split("│")[1:-1]] for row in shown(trace(parentheses_net(), "(()"))]
    assert [row[:2] for row in cells] == [["1", "("], ["2", "("], ["3", ")"], ["4", "e"]]
    assert [row[3] for row in cells] == ["1.0000", "1.0000", "-1.0000", "0.0000"]
    assert [row[4] for row in cells] == ["( 1.0000", "( 1.0000 ( 1.0000", "( 1.0000", "( 1.0000"]
    assert cells[0][2] == "1.0000 0.0000"


def test_an_empty_stack_and_a_rejection_are_said_in_words() -> None:
    *_, pop, _ = shown(trace(parentheses_net(), "())"))
    assert "empty" in pop
    assert "rejected" in pop


def test_the_word_is_chosen_by_its_number_and_square_brackets_are_shown() -> None:
    rows = shown(trace(hand_made(get_language("dyck-2").automaton, end="$"), ["(", "[["]), word=1)
    assert "[ 1.0000 [ 1.0000" in rows[1]
    assert "(" not in "".join(rows)
