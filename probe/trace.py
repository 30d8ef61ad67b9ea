"""Everything that a network did on some words, as labelled arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np
import torch

from ..automata.pda import PushdownAutomaton, Word
from ..automata.runs import AutomatonRun, automaton_run
from ..core.errors import StacklensError, is_installed
from ..core.files import late, put_off
from ..core.imports import above, pd
from ..core.progress import count
from ..models.base import NetworkCard, NetworkState, StackModel, card_of
from ..models.networks.layers import guarded
from ..models.rounding import Rounded
from .edits import KEPT, Intervened, recorded, sites_of, steps_of, stopped

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

# the arrays of a trace: the kind of number, and the axes
ARRAYS = {
    "symbols": ("i", ("word", "step")),
    "steps": ("i", ("word",)),
    "hidden": ("f", ("word", "moment", "unit")),
    "actions": ("f", ("word", "step", "stack", "action")),
    "pushed": ("f", ("word", "step", "stack", "number")),
    "reading": ("f", ("word", "step", "stack", "seen")),
    "output": ("f", ("word", "step", "output")),
    "rejected": ("b", ("word", "step")),
    "verdicts": ("b", ("word",)),
    "lengths": ("f", ("word", "step", "slot")),
    "cells": ("f", ("word", "step", "stack", "cell", "number")),
}
_CHUNK = 2_048  # words run together: large enough for whole-array work, small enough for the caches


@late("model")
@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """What a network did, step by step: N words, T steps of the longest, NaN (False, -1) beyond shorter words.

    With an end symbol every word has one step more than symbols; a network with extra steps takes these at the end,
    reading ε. Step t reads symbol t, so `hidden[:, t]` and
    `reading[:, t]` are what the controller saw at step t, and `hidden[:, t + 1]` is what it answered.

    Attributes:
        words: the words.
        letters: what `symbols` counts in: the alphabet and the end symbol, if there is one.
        symbols: which letter each step read, (N, T) int, -1 beyond the end.
        steps: the number of steps of each word, (N,) int.
        hidden: hidden vectors, (N, T + 1, H), the initial one first.
        actions: the soft (or rounded) actions, (N, T, n_stacks, A).
        pushed: what a push lays down, (N, T, n_stacks, D).
        reading: what the controller saw of the stacks, (N, T, n_stacks, R).
        output: the controller's output, (N, T, O).
        rejected: whether the word was rejected for good by the end of the step, (N, T) bool.
        verdicts: whether the network accepts the word, or, for others than recognisers, reads all of it, (N,) bool.
        lengths: for continuous stacks, how much of what step s pushed is left after step t, (N, T, T), where asked for.
        cells: for memories with cells, what these hold after every step, (N, T, n_stacks, C, D), the top first, where
            asked for: C is the number of cells of a ring; else T, or how many there are if that is less.
        model: the network itself, for figures, where it is known; that of a saved trace is opened when it is touched.
        rounded: whether it was the rounded network that was traced.
        card: of a saved trace, what it keeps of its network.
        automaton: the automaton that was joined, see `with_automaton`.
        activations: what modules inside the network gave in every step, by name, (N, T, …), where asked for.
        begin: what the words go on from: moments of another trace; None for the network's own beginning; or, as text,
            why that is not known.

    ``len`` is T. ``trace[3]`` are the moments after step 3, one of each word that has it, and ``trace[2:5]`` is the
    trace of these steps; -1 is the last step of the longest word.

    Two traces are equal if their words, letters, arrays and automata are, whatever networks they are of.
    """

    words: tuple[Word, ...]
    letters: tuple[str, ...]
    symbols: np.ndarray
    steps: np.ndarray
    hidden: np.ndarray
    actions: np.ndarray
    pushed: np.ndarray
    reading: np.ndarray
    output: np.ndarray
    rejected: np.ndarray
    verdicts: np.ndarray
    lengths: np.ndarray | None = None
    cells: np.ndarray | None = None
    model: StackModel[Any] | None = None
    rounded: bool = False
    card: NetworkCard | None = field(default=None)
    automaton: PushdownAutomaton | None = None
    activations: Mapping[str, np.ndarray] = field(default_factory=dict)
    begin: Selection | str | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Trace):
            return NotImplemented
        named = self.words, self.letters, self.rounded, self.automaton
        same = named == (other.words, other.letters, other.rounded, other.automaton)
        inside = self.activations.keys() == other.activations.keys() and all(
            _same_array(array, other.activations[name]) for name, array in self.activations.items()
        )
        return same and inside and all(_same_array(getattr(self, name), getattr(other, name)) for name in ARRAYS)

    __hash__ = None  # type: ignore[assignment]  # arrays can be written to

    def __len__(self) -> int:
        return int(self.symbols.shape[1])

    def __iter__(self) -> Iterator[Selection]:
        return (self[step] for step in range(len(self)))

    @overload
    def __getitem__(self, step: int) -> Selection: ...
    @overload
    def __getitem__(self, step: slice) -> Trace: ...
    def __getitem__(self, step: int | slice) -> Selection | Trace:
        """Return the moments after one step, or the trace of several steps that follow each other.

        Of such a trace the verdicts are still those of the whole words, and the lengths on continuous stacks are known
        where it begins with the first step. Raises IndexError: there is no such step.
        """
        if isinstance(step, slice):
            begin, end, by = step.indices(len(self))
            if by != 1:
                raise _NoStepError(f"a trace has no steps {begin}:{end}:{by}; expected steps that follow each other")
            end = max(begin, end)
            of_steps = ("symbols", *KEPT, "rejected", "cells")
            arrays: dict[str, Any] = {name: getattr(self, name) for name in of_steps}
            arrays = {name: array[:, begin:end] for name, array in arrays.items() if array is not None}
            arrays |= {"hidden": self.hidden[:, begin : end + 1], "steps": np.clip(self.steps - begin, 0, end - begin)}
            lengths = None if begin or self.lengths is None else self.lengths[:, :end, :end]
            inside = {name: array[:, begin:end] for name, array in self.activations.items()}
            here = Selection(self, np.arange(len(self.words)), np.minimum(begin, self.steps)) if begin else self.begin
            arrays |= {"words": tuple(word[begin:end] for word in self.words), "lengths": lengths}
            part = self._with(**arrays, activations=inside, begin=here)
            if self.run is not None:
                of_run = {name: getattr(self.run, name)[:, begin : end + 1] for name in ("states", "heights", "stacks")}
                object.__setattr__(part, "run", replace(self.run, **of_run))
            return part
        number = step + len(self) * (step < 0) if isinstance(step, Integral) and not isinstance(step, bool) else -1
        if not 0 <= number < len(self):
            raise _NoStepError(f"there is no step {step!r:.40}: the trace has {count(len(self), 'step')}, from 0")
        words = np.flatnonzero(self.steps > number)
        return Selection(self, words, np.full(len(words), number + 1))

    def _with(self, **changes: Any) -> Trace:  # the network of a saved one is opened late, still
        opened = "model" in self.__dict__
        changed = replace(self, **changes, model=self.model if opened else None)
        return changed if opened else put_off(changed, model=lambda: self.model)

    def __repr__(self) -> str:
        longest = max(map(len, self.words), default=0)
        words, steps = count(len(self.words), "word"), count(int(self.steps.sum()), "step")
        return f"<Trace of {words} of length <= {longest}, {steps}>"

    def __str__(self) -> str:
        """Return the steps as rows of text."""
        return str(self.to_frame().to_string(index=False, float_format="{:.4g}".format))

    def _repr_html_(self) -> str:
        return above("stacklens.face.notebook.trace_html", str)(self)

    @property
    def network(self) -> NetworkCard | None:
        """Return what there is to say of the network without opening its file, None where it is not known."""
        if self.card is not None or self.model is None:
            return self.card
        return card_of(self.model.model if isinstance(self.model, Rounded) else self.model)

    def plot(self, word: int = 0, figure: str = "paper", automaton: PushdownAutomaton | None = None) -> Figure:
        """Return what the network's own paper draws of word number ``word``, or another of `viz.figures.FIGURES`.

        With an ``automaton``, what was read out of the network, its states are shown where the figure has a place.
        Raises StacklensError: there is no such figure, word or automaton, or the trace does not know its network.
        """
        if automaton is not None:
            _check_automaton(automaton)
        return cast("Figure", above("stacklens.face.notebook.trace_figure")(self, word, figure, automaton))

    def save(self, path: str | Path) -> None:
        """Write the trace to an .npz file, for ``sl.load``. Raises StacklensError: another suffix, or no such place."""
        if not isinstance(path, str | Path):
            raise StacklensError(f"expected the path of a file to write, such as 'run.npz', not {path!r:.50}")
        above("stacklens.probe.trace_io.save_trace", None)(path, self)

    @property
    def valid(self) -> np.ndarray:
        """Return which steps are real ones, (N, T) bool."""
        return np.asarray(np.arange(self.symbols.shape[1]) < self.steps[:, None])

    def segments(self, word: int, step: int) -> list[tuple[str, float]]:
        """Return the continuous stack of word number ``word`` after ``step``, bottom first, as (symbol, length) pairs.

        This is what the paper's figures 4-6 and tables 1-2 show; what has no length left is not listed. Raises
        StacklensError: there is no such word or step, or the trace was made with ``stacks=False``, or the network has
        no continuous stack.
        """
        if self.lengths is None:
            raise StacklensError("this trace has no stack contents: trace a continuous-stack network with stacks=True")
        check_place("word", word, len(self.words), "the trace")
        check_place("step", step, int(self.steps[word]), f"word {word}")
        lengths = self.lengths[word, step, : step + 1]
        return [(self.letters[self.symbols[word, s]], float(lengths[s])) for s in np.flatnonzero(lengths > 0)]

    def to_frame(self) -> pd.DataFrame:
        """Return one row a step: word, step, symbol, hidden vector after it, actions, readings, output, rejected.

        Where an automaton is joined, its state and depth after the step, too.
        """
        word, step = np.nonzero(self.valid)
        symbols = np.array(self.letters, dtype=object)[self.symbols[word, step]]
        columns: dict[str, Any] = {"word": word, "step": step, "symbol": symbols}
        if self.automaton is not None:
            run = self.joined
            columns["state"] = np.array([*run.names, ""], dtype=object)[run.states[word, step + 1]]
            columns["depth"] = run.depths[word, step + 1]
        given = {name: getattr(self, name) for name in ("pushed", "reading", "output")}
        arrays = {"hidden": self.hidden[:, 1:], "action": self.actions, **given, **self.activations}
        for name, array in arrays.items():
            rows = array[word, step]
            for place in np.ndindex(rows.shape[1:]):
                columns["_".join((name, *map(str, place)))] = rows[:, *place]
        return pd.DataFrame({**columns, "rejected": self.rejected[word, step]})

    def to_xarray(self) -> Any:
        """Return an xarray Dataset of all arrays with named axes; moment t is before step t.

        Raises StacklensError: xarray is not installed.
        """
        if not is_installed("xarray"):
            raise StacklensError("xarray is not installed: pip install xarray, or take to_frame()")
        import xarray  # type: ignore[import-not-found, unused-ignore]

        arrays = {
            name: (axes, array) for name, (_, axes) in ARRAYS.items() if (array := getattr(self, name)) is not None
        }
        for name, array in self.activations.items():
            arrays[name] = (("word", "step", *(f"{name}_{axis}" for axis in range(array.ndim - 2))), array)
        if self.automaton is not None:
            run = self.joined
            arrays["state"] = (("word", "moment"), run.states)
            arrays["depth"] = (("word", "moment"), run.depths)
        kept = {name: value for name, value in arrays.items() if value[1].ndim == len(value[0])}
        words = ["".join(word) if isinstance(word, str) else " ".join(word) for word in self.words]
        return xarray.Dataset(kept, {"word": words}, {"letters": list(self.letters), "rounded": self.rounded})

    def with_automaton(self, automaton: PushdownAutomaton) -> Trace:
        """Return the trace joined with the run of ``automaton`` on its words: see `run`, `select` and `to_frame`.

        Raises StacklensError: this is no automaton, it reads other symbols, or its steps are not those of the network.
        """
        _check_automaton(automaton)
        if self.begin not in (None, REPLACED):
            raise StacklensError(
                "this trace does not begin where its automaton does: join one with the trace of whole words"
            )
        joined = self._with(automaton=automaton)
        object.__setattr__(joined, "run", automaton_run(automaton, self.words, self.steps))
        return joined

    @cached_property
    def run(self) -> AutomatonRun | None:
        """Return the run of the automaton that was joined, None where none was."""
        return None if self.automaton is None else automaton_run(self.automaton, self.words, self.steps)

    @property
    def joined(self) -> AutomatonRun:
        """Return the run of the automaton. Raises StacklensError: none was joined."""
        if self.run is None:
            raise StacklensError("this trace knows no automaton's states: join one with trace.with_automaton(…)")
        return self.run

    def select(self, word: Any = None, step: Any = None, symbol: Any = None, state: Any = None) -> Selection:
        """Return the moments at which all that is given holds; a collection gives alternatives.

        Args:
            word: its number, or itself.
            step: the moment: after so many symbols.
            symbol: the letter read last.
            state: the automaton's state; an automaton has to be joined.

        Raises:
            StacklensError: there is no such word, symbol or state.

        >>> from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
        >>> seen = trace(NNPDA(NNPDAConfig(("a", "b", "c"))), ["abcba", "c"])
        >>> seen.select(symbol="c").step.tolist(), seen.select(word="c").hidden.shape
        ([3, 1], (2, 4))
        """
        within = np.arange(self.symbols.shape[1] + 1) <= self.steps[:, None]
        if word is not None:
            within &= np.isin(np.arange(len(self.words)), _places_named(word, self.words, "word"))[:, None]
        if step is not None:
            within &= np.isin(np.arange(within.shape[1]), step if isinstance(step, int | np.integer) else list(step))
        if symbol is not None:
            read = np.isin(self.symbols, _places_named(symbol, self.letters, "symbol"))
            within &= np.pad(read, ((0, 0), (1, 0)))
        if state is not None:
            within &= np.isin(self.joined.states, _places_named(state, self.joined.names, "state"))
        words, steps = np.nonzero(within)
        return Selection(self, words, steps)


NOT_IN_FILE = "the state that its words go on from is not in its file"
REPLACED = "what its stacks hold was replaced on the way"


class _NoStepError(StacklensError, IndexError):
    """A trace has no such step."""


@torch.no_grad()
def trace(
    model: StackModel[Any],
    words: Sequence[Word] | Word,
    *,
    rounded: bool = False,
    stacks: bool | None = None,
    start: Selection | None = None,
    activations: str | Sequence[str] = (),
) -> Trace:
    """Return everything that ``model`` does on ``words`` (a single word as a str will do).

    Args and errors are those of `sl.trace`. The contents of stacks are about N T^2 lengths or cells, by default kept
    where these are fewer than ten million numbers; lengths are not with ``start``: some are not of the word's symbols.

    >>> from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
    >>> seen = trace(NNPDA(NNPDAConfig(("a", "b", "c"))), ["abcba", "c"])
    >>> seen.hidden.shape, seen.actions.shape, seen.steps
    ((2, 6, 4), (2, 5, 1, 1), array([5, 1]))
    """
    words = (words,) if isinstance(words, str) else tuple(words)
    letters = (*model.letters, "ε") if model.extra_steps else model.letters
    codes, steps = steps_of(model, words)
    numbers = 1 if model.pushes_input else model.n_stacks * model.cell_size
    kept = len(words) * codes.shape[1] ** 2 * numbers < 10_000_000 if stacks is None else stacks
    runner = Rounded(model) if rounded else model
    sites = sites_of(model, activations) if activations else []
    begun = None if start is None else state_at(model, start, len(words))
    parts = list[dict[str, Any]]()
    together = len(words) if isinstance(model, Intervened) else _CHUNK
    for begin in range(0, max(1, len(words)), max(1, together)):
        some = slice(begin, begin + together)
        state = None if begun is None else begun.select(torch.arange(len(words))[some])
        parts.append(recorded(runner, codes[some], steps[some], kept, begun=state, sites=sites))
    arrays: dict[str, Any] = {
        name: None if parts[0][name] is None else np.concatenate([part[name] for part in parts])
        for name in parts[0].keys() - {"activations"}
    }
    inside = {site.name: np.concatenate([part["activations"][site.name] for part in parts]) for site in sites}
    rounds = isinstance(runner, Rounded)
    return Trace(words, letters, codes, steps, **arrays, rounded=rounds, activations=inside, begin=start)


@torch.no_grad()
def state_at(model: StackModel[Any], start: Selection, size: int) -> NetworkState[Any]:
    """Return the state of ``model`` at moments of a trace, for ``size`` words: one each, or one for all.

    Vectors are as recorded. The stacks are made again, bit for bit, by what the trace says was done to them. Raises
    StacklensError: the trace does not know enough, is of another network, or has another number of moments.
    """
    if not isinstance(start, Selection):
        raise StacklensError(f"start is {start!r:.50}; expected moments of a trace, such as trace[5] after its step 5")
    if len(start) not in (1, size):
        raise StacklensError(f"start has {count(len(start), 'moment')} for {count(size, 'word')}; expected one each")
    if len(start) != size:
        start = Selection(start.trace, np.repeat(start.word, size), np.repeat(start.step, size))
    model = model.model if isinstance(model, Intervened) else model  # whose changes come after this
    seen, like = start.trace, model.initial_state(size)
    if not model.real_time:
        raise StacklensError(
            f"a {model.name} reads from a queue when it likes: no word can go on from one of its steps"
        )
    if seen.letters != model.letters or seen.hidden.shape[2:] != like.hidden.shape[1:]:
        raise StacklensError(
            f"start is of a network that reads {' '.join(seen.letters):.80}, with {seen.hidden.shape[-1]} numbers in a "
            f"hidden vector; this {model.name} reads {' '.join(model.letters):.80}, with {like.hidden.shape[-1]}"
        )
    if isinstance(seen.begin, str):
        raise StacklensError(f"no word can go on from a moment of this trace: {seen.begin}")
    if model.end is not None:
        last = seen.symbols[start.word, np.maximum(start.step, 1) - 1]
        if ((last == len(model.alphabet)) & (start.step > 0)).any():
            raise StacklensError(f"no word can go on after the end symbol {model.end!r}; start from an earlier step")
    if seen.begin is not None:
        places = (np.resize(each, len(seen.words)) for each in (seen.begin.word, seen.begin.step))
        begun = state_at(model, Selection(seen.begin.trace, *places), len(seen.words))
        like = begun.select(torch.from_numpy(start.word))

    def advanced(state: NetworkState[Any], rows: np.ndarray, step: int) -> NetworkState[Any]:
        word = start.word[rows]

        def there(array: np.ndarray, moment: int = step) -> torch.Tensor:
            return torch.from_numpy(array[word, moment]).to(like.hidden.device)

        stack = model.feed(state.stack, there(seen.symbols).long())
        given = {"actions": there(seen.actions), "pushed": there(seen.pushed)}
        stack = guarded(stack.next, f"the stack of a {model.name}", given)
        return NetworkState(there(seen.hidden, step + 1), stack, there(seen.rejected), there(seen.output))

    # a moment may have been changed before its step: its hidden vector is the one that was gone on from
    return stopped(model, like, start.step, advanced)


def _check_automaton(given: object) -> None:
    if not isinstance(given, PushdownAutomaton):
        raise StacklensError(
            f"expected an automaton, such as the automaton of a result, not {type(given).__name__} {given!r:.40}"
        )


def check_place(name: str, number: int, size: int, whole: str) -> None:
    """Check that there is a ``name`` of this ``number`` in the ``whole``, which has ``size`` of them."""
    if not isinstance(number, Integral) or isinstance(number, bool) or not 0 <= number < size:
        raise StacklensError(f"there is no {name} {number!r:.50}: {whole} has {count(size, name)}, from 0")


def _same_array(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f" and other.dtype.kind == "f")


# ---- Moments of a trace, chosen by word, step, symbol or state, as rows ----


@dataclass(frozen=True, eq=False)
class Selection:
    """M moments of a trace: before step `step` of word number `word`, which is after so many symbols."""

    trace: Trace
    # word, step: which moments, (M,) each
    word: np.ndarray
    step: np.ndarray

    def __len__(self) -> int:
        return len(self.word)

    @property
    def hidden(self) -> np.ndarray:
        """Return the hidden vectors, (M, H)."""
        return np.asarray(self.trace.hidden[self.word, self.step])

    def of(self, name: str) -> np.ndarray:
        """Return what the step that led here has: "actions", "pushed", "reading", "output" or a kept module, (M, …).

        NaN before the first step. Raises StacklensError: the trace has nothing of that name.
        """
        known = {one: getattr(self.trace, one) for one in KEPT} | dict(self.trace.activations)
        (place,) = _places_named([name], tuple(known), "array")
        values = list(known.values())[place][self.word, np.maximum(self.step - 1, 0)]
        there = (self.step > 0).reshape(-1, *[1] * (values.ndim - 1))
        return np.where(there, values, np.nan)

    @property
    def symbol(self) -> np.ndarray:
        """Return the number of the symbol read last, -1 before the first, (M,)."""
        return np.asarray(np.where(self.step > 0, self.trace.symbols[self.word, np.maximum(self.step - 1, 0)], -1))

    @property
    def state(self) -> np.ndarray:
        """Return the name of the automaton's state, "" where its run is cut, (M,) str; see `Trace.with_automaton`."""
        run = self.trace.joined
        names = np.array([*run.names, ""])
        return np.asarray(names[run.states[self.word, self.step]])

    @property
    def depth(self) -> np.ndarray:
        """Return how high the automaton's stacks are together, -1 where its run is cut, (M,)."""
        return np.asarray(self.trace.joined.depths[self.word, self.step])

    def below(self, place: int = 0, stack: int = 0) -> np.ndarray:
        """Return the automaton's stack symbol ``place`` below the top, 0 to 2, the bottom where there is none, (M,)."""
        run = self.trace.joined
        return np.asarray(np.array(run.symbols)[run.stacks[self.word, self.step, stack, place]])

    def pushed(self, stack: int = 0) -> np.ndarray:
        """Return what the step that led here laid down, or would have, (M, D); NaN before the first."""
        return self.of("pushed")[:, stack]

    def to_frame(self) -> pd.DataFrame:
        """Return one row a moment: word, step, last symbol, hidden vector; if joined, state and depth too."""
        letters = np.array([*self.trace.letters, ""], dtype=object)
        columns: dict[str, Any] = {"word": self.word, "step": self.step, "symbol": letters[self.symbol]}
        if self.trace.automaton is not None:
            columns |= {"state": self.state, "depth": self.depth, "top": self.below()}
        columns |= {f"hidden_{unit}": values for unit, values in enumerate(self.hidden.T)}
        return pd.DataFrame(columns)


def _places_named(given: Any, names: tuple[Any, ...], what: str) -> list[int]:
    """Return the places of what is given, one or several, among the ``names``; a word goes by its number, too."""
    if isinstance(given, int | np.integer | str) or (isinstance(given, tuple) and given in names):
        given = [given]
    found = list[int]()
    for one in given:
        if what == "word" and isinstance(one, int | np.integer):
            check_place(what, int(one), len(names), "the trace")
            found.append(int(one))
        elif one in names:
            found.append(names.index(one))
        else:
            raise StacklensError(f"there is no {what} {one!r:.60}; expected one of {' '.join(map(str, names)):.200}")
    return found
