"""A trace as tables of other libraries: a pandas DataFrame, an xarray Dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stacklens.errors import StacklensError
from stacklens.extras import is_installed

if TYPE_CHECKING:
    import pandas as pd

    from stacklens.probe.trace import Trace

__all__ = ["to_frame", "to_xarray"]

_AXES = {
    "symbols": ("word", "step"),
    "hidden": ("word", "moment", "unit"),
    "actions": ("word", "step", "stack", "action"),
    "pushed": ("word", "step", "stack", "number"),
    "reading": ("word", "step", "stack", "seen"),
    "output": ("word", "step", "output"),
    "rejected": ("word", "step"),
    "verdicts": ("word",),
    "steps": ("word",),
    "lengths": ("word", "step", "slot"),
    "cells": ("word", "step", "stack", "cell", "number"),
}


def to_frame(seen: Trace) -> pd.DataFrame:
    """Return one row a step: word, step, symbol, hidden vector after it, actions, readings, output, rejected.

    Where an automaton is joined, its state and depth after the step, too.
    """
    import pandas as pd

    word, step = np.nonzero(seen.valid)
    symbols = np.array(seen.letters, dtype=object)[seen.symbols[word, step]]
    columns: dict[str, Any] = {"word": word, "step": step, "symbol": symbols}
    if seen.automaton is not None:
        run = seen.joined
        columns["state"] = np.array([*run.names, ""], dtype=object)[run.states[word, step + 1]]
        columns["depth"] = run.depths[word, step + 1]
    arrays = {
        "hidden": seen.hidden[:, 1:],
        "action": seen.actions,
        "pushed": seen.pushed,
        "reading": seen.reading,
        "output": seen.output,
    }
    for name, array in arrays.items():
        rows = array[word, step]
        for place in np.ndindex(rows.shape[1:]):
            columns["_".join((name, *map(str, place)))] = rows[:, *place]
    return pd.DataFrame({**columns, "rejected": seen.rejected[word, step]})


def to_xarray(seen: Trace) -> Any:
    """Return an xarray Dataset of all arrays with named axes; moment t is before step t.

    Raises:
        StacklensError: xarray is not installed.
    """
    if not is_installed("xarray"):
        raise StacklensError("xarray is not installed: pip install xarray, or take to_frame()")
    import xarray  # type: ignore[import-not-found, unused-ignore]

    arrays = {name: (axes, array) for name, axes in _AXES.items() if (array := getattr(seen, name)) is not None}
    if seen.automaton is not None:
        run = seen.joined
        arrays["state"] = (("word", "moment"), run.states)
        arrays["depth"] = (("word", "moment"), run.depths)
    kept = {name: value for name, value in arrays.items() if value[1].ndim == len(value[0])}
    words = ["".join(word) if isinstance(word, str) else " ".join(word) for word in seen.words]
    return xarray.Dataset(kept, {"word": words}, {"letters": list(seen.letters), "rounded": seen.rounded})
