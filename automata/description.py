"""An automaton in words and rows: its formal definition, and one row a transition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.progress import count
from .pda import Output, PushdownAutomaton

if TYPE_CHECKING:
    import pandas as pd


_LISTED = 12  # symbols of an alphabet that one line shows


def one_line(pda: PushdownAutomaton) -> str:
    """Return the sizes of an automaton and what it reads.

    >>> one_line(PushdownAutomaton(("q",), ("a",), ("x",), {}, "q", frozenset({"q"})))
    '<PushdownAutomaton over a: 1 state, 1 stack symbol, 0 transitions>'
    """
    symbols = " ".join(pda.input_alphabet[:_LISTED]) + (" …" if len(pda.input_alphabet) > _LISTED else "")
    sizes = [
        count(len(pda.states), "state"),
        count(len(pda.stack_alphabet), "stack symbol"),
        *([count(pda.n_stacks, "stack")] if pda.n_stacks > 1 else []),
        count(len(pda.transitions), "transition"),
    ]
    return f"<PushdownAutomaton over {symbols}: {', '.join(sizes)}>"


def transition_lines(pda: PushdownAutomaton) -> list[str]:
    """Return the transitions as rows of text under a heading, in columns; a comma stands between several stacks.

    >>> from stacklens.automata.pda import Transition, push
    >>> rules = {("q", "a", ("⊥",)): Transition("q", (push("x"),))}
    >>> print(*transition_lines(PushdownAutomaton(("q",), ("a",), ("x",), rules, "q")), sep="\\n")
    state  input  top  next  operation
    q      a      ⊥    q     push x
    """
    rows = [tuple(cell if cell.isprintable() else ascii(cell)[1:-1] for cell in row) for row in _transition_rows(pda)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def transition_table(pda: PushdownAutomaton) -> pd.DataFrame:
    """Return one row a transition: state, input, top, next state, operation, and output where there is one."""
    import pandas as pd

    heading, *rows = _transition_rows(pda)
    return pd.DataFrame(rows, columns=list(heading))


def _transition_rows(pda: PushdownAutomaton) -> list[tuple[str, ...]]:
    """Return the heading and one row a transition; outputs have a column where there are any."""
    speaks = any(step.output is not None for step in pda.transitions.values())
    rows = [("state", "input", "top", "next", "operation", *(["output"] if speaks else []))]
    for (state, symbol, tops), step in pda.transitions.items():
        outputs = [output_text(step.output)] if speaks else []
        rows.append((state, symbol or "ε", " ".join(tops), step.target, ", ".join(map(str, step.operations)), *outputs))
    return rows


def formal_definition(pda: PushdownAutomaton) -> str:
    """Return the automaton as a tuple in plain text, a line a part, without the transitions.

    >>> print(formal_definition(PushdownAutomaton(("q",), ("a",), ("x",), {}, "q", frozenset({"q"}))))
    M = (Q, Σ, Γ, δ, q₀, ⊥, F), real-time and deterministic
    Q = {q}
    Σ = {a}
    Γ = {x}, bottom ⊥
    q₀ = q
    F = {q}
    δ: 0 transitions; where there is none, the word is rejected
    accepts: in a state of F with an empty stack
    """
    how = {
        "final state": "in a state of F",
        "empty stack": "with an empty stack",
        "both": "in a state of F with an empty stack",
        "output": f"with a last output among {_set(sorted(map(output_text, pda.accepting_outputs)))}",
    }
    kind = "real-time and deterministic" if pda.real_time else "deterministic, with ε-steps"
    lines = [
        f"M = (Q, Σ, Γ, δ, q₀, ⊥, F), {kind}",
        f"Q = {_set(pda.states)}",
        f"Σ = {_set(pda.input_alphabet)}",
        f"Γ = {_set(pda.stack_alphabet)}, bottom {pda.bottom}",
        f"q₀ = {pda.initial}",
        f"F = {_set(state for state in pda.states if state in pda.accepting)}",
        f"δ: {len(pda.transitions):,} transitions; where there is none, the word is rejected",
        f"accepts: {how[pda.acceptance]}",
    ]
    if pda.end_marker is not None:
        lines.append(f"every run reads {pda.end_marker} once after the word")
    if pda.n_stacks > 1:
        lines.append(f"{pda.n_stacks} stacks")
    return "\n".join(lines)


def _set(names: Any) -> str:
    return "{" + ", ".join(names) + "}" if (names := list(names)) else "∅"


def output_text(output: Output) -> str:
    """Return what a transition says as text: nothing, its symbol, or a set in braces."""
    return "" if output is None else output if isinstance(output, str) else "{" + " ".join(output) + "}"


def definition_text(pda: PushdownAutomaton) -> str:
    """Return the formal definition and the transitions, a line each."""
    return "\n".join((formal_definition(pda), *transition_lines(pda)))
