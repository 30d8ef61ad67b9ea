"""An automaton in words and rows: its formal definition, and one row a transition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stacklens.automata.pda import Output, PushdownAutomaton

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["formal_definition", "transition_table"]


def transition_table(pda: PushdownAutomaton) -> pd.DataFrame:
    """Return one row a transition: state, input, top, next state, operation, and output where there is one."""
    import pandas as pd

    rows = [
        {
            "state": state,
            "input": symbol,
            "top": " ".join(tops),
            "next": step.target,
            "operation": ", ".join(map(str, step.operations)),
            "output": output_text(step.output),
        }
        for (state, symbol, tops), step in pda.transitions.items()
    ]
    columns = ["state", "input", "top", "next", "operation", "output"]
    speaks = any(step.output is not None for step in pda.transitions.values())
    return pd.DataFrame(rows, columns=columns).drop(columns=[] if speaks else ["output"])


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
    lines = [
        "M = (Q, Σ, Γ, δ, q₀, ⊥, F), real-time and deterministic",
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
