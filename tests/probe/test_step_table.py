from __future__ import annotations

from io import StringIO
from typing import Any

from rich.console import Console
from tests.models.hand_made import parentheses_net

from stacklens.models.base import StackModel
from stacklens.models.checkpoint import build_model
from stacklens.probe.trace import trace
from stacklens.probe.trace_io import rich_step_table


def shown(model: StackModel[Any], *words: str, word: int = 0) -> list[str]:
    """Return the rows of the table as they are printed."""
    lines = StringIO()
    table = rich_step_table(model, trace(model, words), word)
    Console(file=lines, width=120, markup=False, emoji=False).print(table)
    return [line for line in lines.getvalue().splitlines() if line.startswith("│")]


def test_a_step_is_a_row_with_state_action_and_the_stack_bottom_first() -> None:
    cells = [[cell.strip() for cell in row.split("│")[1:-1]] for row in shown(parentheses_net(), "(()")]
    assert [row[:2] for row in cells] == [["1", "("], ["2", "("], ["3", ")"], ["4", "e"]]
    assert [row[3] for row in cells] == ["1.0000", "1.0000", "-1.0000", "0.0000"]
    assert [row[4] for row in cells] == ["( 1.0000", "( 1.0000 ( 1.0000", "( 1.0000", "( 1.0000"]
    assert cells[0][2] == "1.0000 0.0000"


def test_other_stacks_show_operations_pushed_values_readings_and_what_is_said() -> None:
    net = build_model("stack-rnn", {"alphabet": "ab", "hidden": 3, "n_stacks": 2}, seed=1)
    seen, (first, second, *_) = trace(net, ["ab"]), shown(net, "ab")
    one, two = ([cell.strip() for cell in row.split("│")[1:-1]] for row in (first, second))
    push, pop = seen.actions[0, 0, 0]
    assert one[:3] == ["1", "a", f"push {push:.2f}  pop {pop:.2f}"]
    assert one[3:5] == [f"{seen.pushed[0, 0, 0, 0]:.2f}", "-1.00 -1.00"]
    assert one[5] == f"{'ab'[int(seen.output[0, 0].argmax())]} {seen.output[0, 0].max():.2f}"
    assert two[2] == f"push {seen.actions[0, 0, 1, 0]:.2f}  pop {seen.actions[0, 0, 1, 1]:.2f}"
