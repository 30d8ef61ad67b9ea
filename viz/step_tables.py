"""Tables: every step of a word, what is predicted, an automaton's transitions and its formal definition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import StacklensError
from ..models.base import StackModel
from ..probe.trace import Trace
from .operations import action_names, operation_names
from .style import letters_of

if TYPE_CHECKING:
    import pandas as pd


def step_table(model: StackModel[Any], seen: Trace, word: int = 0) -> pd.DataFrame:
    """Return one row a step: symbol, hidden vector, actions, operation, a continuous stack's content, whether rejected.

    Source: Sun et al. 1993, tables 1 and 2. Numbers are rounded to 4 digits here; `Trace.to_frame` has them whole.
    """
    import pandas as pd

    operations = operation_names(model, seen, word)
    rows = []
    for step, letter in enumerate(letters_of(seen, word)):
        row: dict[str, Any] = {"step": step + 1, "symbol": letter, "state": _vector_text(seen.hidden[word, step + 1])}
        for stack, actions in enumerate(seen.actions[word, step]):
            for name, value in zip(action_names(model), actions, strict=True):
                row[name if model.n_stacks == 1 else f"{name} {stack + 1}"] = round(float(value), 4)
        row["operation"] = ", ".join(operations[step])
        if seen.lengths is not None:
            held = (f"{symbol} {length:.4f}" for symbol, length in seen.segments(word, step))
            row["stack"] = " ".join(held) or "empty"
        rows.append({**row, "rejected": bool(seen.rejected[word, step])})
    return pd.DataFrame(rows)


def prediction_table(model: StackModel[Any], seen: Trace, word: int = 0) -> pd.DataFrame:
    """Return one row a step: current and next symbol, prediction, probability, every stack's operation and top cells.

    The probability is the one given to the next symbol, NaN for the last step, or, in a transduction, to the output.
    The cells are the ``depth`` topmost ones after the step, where the trace has them (Joulin & Mikolov 2015, table 3).

    Raises:
        StacklensError: the network is a recogniser, which predicts nothing.
    """
    import pandas as pd

    if model.task_kind == "recognition":
        raise StacklensError(f"this {model.name} is a recogniser and predicts nothing; step_table shows its steps")
    letters, operations = letters_of(seen, word), operation_names(model, seen, word)
    rows = []
    for step, (letter, follows) in enumerate(zip(letters, [*letters[1:], ""][: len(letters)], strict=True)):
        row = {"current": letter, **_prediction_cells(model, seen.output[word, step], follows)}
        for stack, operation in enumerate(operations[step]):
            suffix = "" if model.n_stacks == 1 else f" {stack + 1}"
            row[f"action{suffix}"] = operation
            if seen.cells is not None:
                row[f"top{suffix}"] = _vector_text(seen.cells[word, step, stack, : model.depth], 2)
        rows.append(row)
    return pd.DataFrame(rows)


def _prediction_cells(model: StackModel[Any], output: np.ndarray, follows: str) -> dict[str, Any]:
    """Return the prediction at a step before the symbol ``follows``, which is empty at the end."""
    best = model.output_alphabet[int(output.argmax())]
    if model.task_kind == "transduction":
        return {"output": best, "probability": float(output.max())}
    if model.task_kind == "next set":
        best = " ".join(symbol for symbol, value in zip(model.output_alphabet, output, strict=True) if value > 0.5)
    given = float(output[model.output_alphabet.index(follows)]) if follows else float("nan")
    return {"next": follows, "prediction": best, "probability": given}


def trace_data(model: StackModel[Any], seen: Trace, word: int = 0) -> dict[str, Any]:
    """Return everything of one word as plain data: the network's name, the word, its steps, the verdict, all numbers.

    Lists are nested as the arrays of `Trace` are, without the leading axis; there is no number for NaN, so None stands
    for it. Cells and lengths are there where the trace has them.
    """
    steps = int(seen.steps[word])
    data: dict[str, Any] = {
        "schema": 1,
        "model": model.name,
        "word": list(seen.words[word]),
        "symbols": letters_of(seen, word),
        "actions_are": list(action_names(model)),
        "verdict": bool(seen.verdicts[word]),
        "rejected": seen.rejected[word, :steps].tolist(),
        "operations": [list(names) for names in operation_names(model, seen, word)],
        "hidden": _plain_numbers(seen.hidden[word, : steps + 1]),
    }
    for name in ("actions", "pushed", "reading", "output"):
        data[name] = _plain_numbers(getattr(seen, name)[word, :steps])
    if seen.cells is not None:
        data["cells"] = _plain_numbers(seen.cells[word, :steps])
    if seen.lengths is not None:
        data["lengths"] = _plain_numbers(seen.lengths[word, :steps, :steps])
    return data


def _plain_numbers(values: np.ndarray) -> Any:
    plain = values.astype(object)
    plain[~np.isfinite(values)] = None
    return plain.tolist()


def _vector_text(values: np.ndarray, digits: int = 4) -> str:
    return " ".join(f"{value:.{digits}f}" for value in values.ravel())
