"""Interchange experiments (Geiger et al. 2021, section 3) with pushdown automata.

Prefixes u and v lead the automaton to configurations. With the hidden vector of v put into the network's run after u,
the automaton predicts what state of v, stack of u does on any continuation. With a cell of v put in the place of a
cell of u it predicts what u's configuration does with v's symbol in that place; with hidden vector and top cells of v,
what state and tops of v do on the rest of u's stacks. All are held against the network, rounded and as it is, after
every symbol of a continuation that tells the prediction from the one for no interchange where any does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import torch

from ..automata.compiled import encode_words
from ..automata.pda import PushdownAutomaton, Word
from ..automata.runs import ManyRuns, RunTables
from ..languages.words import make_word
from ..models.base import NetworkState, StackModel, editable
from .edits import Moments, moments_of

_DEEPEST = 12  # cells below the top that are interchanged
_LEAN = 8.0  # how much more often a leaning walk pops, or pushes
_TRIES, _LONGEST = 6, 20  # continuations tried for a case, and their length
_STRAY = 0.08
State = NetworkState[Any]

# ---- What an automaton claims of a network's inside, and the words between which things are interchanged.


@dataclass(frozen=True, eq=False)
class Predicted:
    """What an automaton predicts of N runs on T letters each."""

    # the answer after every letter in the network's numbers, (N, T): 1 and 0 by a recogniser, else of the output, -1
    # from a rejection on
    numbers: np.ndarray
    counted: np.ndarray  # where anything is predicted, (N, T) bool

    def differs(self, other: Predicted) -> np.ndarray:
        """Return for which runs two predictions differ where both predict something, (N,) bool."""
        return np.asarray(((self.numbers != other.numbers) & self.counted & other.counted).any(1))


@dataclass(frozen=True, eq=False)
class Claim:
    """An automaton, and how it speaks of a network."""

    pda: PushdownAutomaton
    tables: RunTables  # what its runs look up
    letters: np.ndarray  # which of the network's letters each of its own is, (X,) int
    numbers: np.ndarray  # which of the network's outputs each of its outputs is, (O,), -1 for none
    scored: np.ndarray  # which transitions have an output that counts, (Q * X' * H,) bool, flat as the tables
    recognition: bool  # whether it accepts; else it says something after every letter
    # for predictors of sets, which letters may come after each output, (O, X) bool; else None
    expected: np.ndarray | None
    partial: bool  # whether only some words are meant: then a missing transition is no claim
    stacks: tuple[int, ...]  # which of the network's stacks its stacks are
    state_stacks: tuple[int, ...] = ()  # those of the network's stacks that are part of its state: all they do is push
    # where only some words are meant, an automaton whose runs are cut on all others, with the same letters in the same
    # order; None where none is known
    domain: RunTables | None = None
    # whether the network has no stack: its hidden vector has to hold the automaton's stack, too
    all_in_state: bool = False
    # whether a stack symbol stands for several cells, so that only whole stacks can be interchanged
    whole_stacks: bool = False

    def predicted(self, runs: ManyRuns, letters: np.ndarray) -> Predicted:
        """Return what the automaton says on ``letters`` (N, T), -1 beyond the end, from where ``runs`` are.

        A recogniser that has no transition rejects. A predictor of sets rejects a symbol that was not in the set before
        it, whatever its transitions are: that is what rejection is in its network. Of the first symbol nothing is
        claimed, since what may come there was answered before.
        """
        numbers = np.full(letters.shape, -1, self.numbers.dtype)
        counted = np.zeros(letters.shape, np.bool_)
        going = ~runs.over
        for t in range(letters.shape[1]):
            read = letters[:, t]
            going &= read >= 0
            scored = self.scored[runs.cells(np.maximum(read, 0))]
            unexpected = np.zeros(len(runs), np.bool_)
            if self.expected is not None and t:
                unexpected = going & ~self.expected[runs.output, np.maximum(read, 0)]
            runs = runs.step(read)
            if self.recognition:
                numbers[:, t] = runs.accepted()
                counted[:, t] = (read >= 0) & ~runs.ended().undefined
                continue
            numbers[:, t] = np.where(unexpected | runs.over, -1, self.numbers[runs.output])
            counted[:, t] = unexpected | (going & ~runs.over & scored)
            going &= ~unexpected & ~runs.over
        return Predicted(numbers, counted)


def walks(
    runs: ManyRuns,  # where they begin
    n_letters: int,  # of the input alphabet
    steps: int,
    rng: np.random.Generator,
    lean: np.ndarray,  # below 0 a walk would rather pop, above 0 rather push, (N,)
    stray: float,  # how often a letter is any letter, after which a walk may be over
    meant: ManyRuns | None = None,  # runs of an automaton of the words that are meant, which walks keep to
) -> np.ndarray:
    """Return letters of random walks over the automaton's transitions, (N, ``steps``), -1 from where none leads on."""
    tables = runs.of.tables
    n_stacks = len(tables.place)
    letters = np.full((len(runs), steps), -1, np.int64)
    going = ~runs.over
    for t in range(steps):
        # the transitions that each run could take, (N, X), within what is meant
        cells, allowed = _options(runs, n_letters)
        if meant is not None:
            allowed &= _options(meant, n_letters)[1]
        pops = tables.pop.reshape(-1, n_stacks)[cells].any(-1)
        pushes = (tables.push.reshape(-1, n_stacks)[cells] > 0).any(-1)
        liked = ((lean < 0)[:, None] & pops) | ((lean > 0)[:, None] & pushes)
        # one of them by chance, those that the walk leans to more often (the Gumbel trick draws all rows at once)
        chances = allowed * np.where(liked, _LEAN, 1.0)
        chosen = (np.log(np.maximum(chances, 1e-300)) + rng.gumbel(size=chances.shape)).argmax(1)
        anything = (rng.random(len(runs)) < stray) & going
        chosen = np.where(anything, rng.integers(0, n_letters, len(runs)), chosen)
        letters[:, t] = np.where((allowed.any(1) & going) | anything, chosen, -1)
        runs = runs.step(letters[:, t])
        meant = None if meant is None else meant.step(letters[:, t])
        going &= (letters[:, t] >= 0) & ~runs.over
    return letters


def _options(runs: ManyRuns, n_letters: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where in the flat tables each run reads each letter, and whether it has a transition there, (N, X)."""
    cells = np.stack([runs.cells(np.full(len(runs), x)) for x in range(n_letters)], 1)
    return cells, (runs.of.tables.target.reshape(-1)[cells] >= 0) & ~runs.over[:, None]


@dataclass(frozen=True, eq=False)
class Prefixes:
    """P different words on which the automaton and the rounded network agree, at their ends."""

    words: list[Word]
    runs: ManyRuns  # where the automaton is
    rounded: Moments  # where the rounded network is
    soft: Moments | None  # where the network itself is; None where it is not asked
    meant: ManyRuns | None = None  # where the automaton of the words that are meant is, if there is one

    @classmethod
    def of(
        cls, claim: Claim, rounded: StackModel[Any], soft: StackModel[Any] | None, words: Sequence[Word]
    ) -> Prefixes:
        """Return those of ``words`` on which the automaton's run goes on, and the network says what it says."""
        words = list(dict.fromkeys(words))
        codes, _ = encode_words(words, claim.pda.input_alphabet)
        runs = _runs_after(claim.tables, codes)
        good = np.flatnonzero(~runs.over)
        words, runs = [words[i] for i in good], runs.select(good)
        moments = moments_of(rounded, words)
        # the network, not having rejected, says what the automaton says
        agreed: np.ndarray = ~moments.state.rejected.cpu().numpy()
        if claim.recognition:
            agreed &= rounded.verdict(moments.state).cpu().numpy() == runs.accepted()
        elif moments.state.output is not None:
            expected = claim.numbers[runs.output]
            same = np.asarray(rounded.output_numbers(moments.state.output) == expected)
            agreed &= same | (expected < 0) | claim.partial
        good = np.flatnonzero(agreed)
        words, runs, moments = [words[i] for i in good], runs.select(good), moments.select(good)
        codes, _ = encode_words(words, claim.pda.input_alphabet)
        meant = None if claim.domain is None else _runs_after(claim.domain, codes)
        return cls(words, runs, moments, None if soft is None else moments_of(soft, words), meant)

    def __len__(self) -> int:
        return len(self.words)

    def aligned(self, claim: Claim) -> np.ndarray:
        """Return of which prefixes the network's stacks are at least as high as the automaton's, (P,) bool."""
        own = self.runs.heights()[:, : len(claim.stacks)]
        return np.asarray((self.rounded.heights[:, list(claim.stacks)] >= own).all(1))

    def cells(self, claim: Claim) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return prefix, stack (the automaton's), place and symbol of every cell that corresponds to a symbol, (M,)."""
        aligned = self.aligned(claim)
        heights = self.runs.heights()
        found = []
        for stack in range(len(claim.stacks)):
            for place in range(min(_DEEPEST, int(heights[:, stack].max(initial=0)))):
                rows = np.flatnonzero(aligned & (heights[:, stack] > place))
                symbols = self.runs.select(rows).symbol_at(stack, np.full(len(rows), place)).astype(np.int64)
                found.append((rows, np.full(len(rows), stack), np.full(len(rows), place), symbols))
        nothing = (np.zeros(0, np.int64),) * 4
        prefix, stacks, places, symbols = map(np.concatenate, zip(*found, strict=True)) if found else nothing
        return prefix, stacks, places, symbols


def _runs_after(tables: RunTables, codes: np.ndarray) -> ManyRuns:
    runs = ManyRuns.start(tables, len(codes))
    for t in range(codes.shape[1]):
        runs = runs.step(codes[:, t])
    return runs


def walked_words(claim: Claim, count: int, longest: int, rng: np.random.Generator) -> list[Word]:
    """Return words that are ends of random walks over the automaton, of up to ``longest`` symbols, deep ones too."""
    lean = rng.choice((-1, 0, 0, 1), count)
    start = ManyRuns.start(claim.tables, count)
    letters = walks(start, len(claim.pda.input_alphabet), longest, rng, lean, 0.0)
    ends = rng.integers(0, longest + 1, count)
    alphabet = claim.pda.input_alphabet
    cut = zip(letters.tolist(), ends.tolist(), strict=True)
    return [make_word([alphabet[code] for code in row[:end] if code >= 0], alphabet) for row, end in cut]


# ---- What is interchanged, and what comes of it.


@dataclass(frozen=True, eq=False)
class Kind:
    """What is interchanged: M items, each at a prefix."""

    # claim, prefixes: of what
    claim: Claim
    prefixes: Prefixes
    prefix: np.ndarray  # at which prefix each item is, (M,)
    label: np.ndarray  # what the automaton takes it for, (M,) int
    names: tuple[str, ...]  # of the labels

    def configured(self, base: np.ndarray, labels: np.ndarray) -> ManyRuns:
        """Return the configurations at items ``base`` (N,) with something that is ``labels`` (N,) in its place."""
        raise NotImplementedError

    def swapped(self, here: State, other: State, base: np.ndarray, source: np.ndarray) -> State:
        """Return the network ``here`` at items ``base`` with what the ``other`` one has at ``source``."""
        raise NotImplementedError

    def changed(self, model: StackModel[Any], moments: Moments, base: np.ndarray, source: np.ndarray) -> State:
        """Return the network at ``base`` with what there is at ``source``; nothing predicted before rejects then."""
        here, other = (moments.select(self.prefix[items]).state for items in (base, source))
        # state with nothing expected: what was predicted before an interchange rejects nothing after it
        state = self.swapped(here, other, base, source)
        if model.task_kind != "next set":
            return state
        like = state.hidden if state.output is None else state.output
        return replace(state, output=like.new_ones(len(state.hidden), len(model.output_alphabet)))

    def meant(self, runs: ManyRuns, base: np.ndarray, source: np.ndarray, same: np.ndarray) -> ManyRuns:
        """Return from where words are meant to go on, by ``runs``: as the base, or as the source if not the same."""
        del source, same
        return runs.select(self.prefix[base])

    @property
    def groups(self) -> np.ndarray:
        """Return of which group each label is, (L,): only items of one group come in each other's place."""
        return np.zeros(len(self.names), np.int64)

    def of_network(self, moments: Moments) -> Self:
        """Return the kind for another network, which is at ``moments`` at the prefixes."""
        del moments
        return self

    def shuffled(self, rng: np.random.Generator) -> tuple[Self, np.ndarray]:
        """Return the kind, and labels (M,) permuted within their groups: random partitions of the same sizes."""
        mixed, groups = self.label.copy(), self.groups[self.label]
        for group in np.unique(groups):
            mixed[groups == group] = rng.permutation(self.label[groups == group])
        return self, mixed


class States(Kind):
    """Hidden vectors, with the stacks that are part of the state."""

    def configured(self, base: np.ndarray, labels: np.ndarray) -> ManyRuns:
        return replace(self.prefixes.runs.select(self.prefix[base]), state=labels.astype(np.int32))

    def swapped(self, here: State, other: State, base: np.ndarray, source: np.ndarray) -> State:
        del base, source
        state = replace(here, hidden=self.put(here.hidden, other.hidden))
        return _with_memories(state, self.claim.state_stacks, other) if self.claim.state_stacks else state

    def put(self, hidden: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        """Return the hidden vectors (N, H) with what ``other`` ones have of the state."""
        del hidden
        return other

    def meant(self, runs: ManyRuns, base: np.ndarray, source: np.ndarray, same: np.ndarray) -> ManyRuns:
        # in the state of the source where it is another one
        here, other = runs.select(self.prefix[base]), runs.select(self.prefix[source])
        return replace(here, state=np.where(same, here.state, other.state))


@dataclass(frozen=True, eq=False)
class HeadSwaps(States):
    """Hidden vectors and the top cells of all stacks together; labels count heads."""

    states: np.ndarray  # the state of every label, (L,)
    tops: np.ndarray  # what every label has on top of each stack, (L, n_stacks), 0 where that is empty

    def configured(self, base: np.ndarray, labels: np.ndarray) -> ManyRuns:
        """Return the configurations of the base with heads ``labels``: other states and tops on the rest."""
        runs = super().configured(base, self.states[labels])
        for stack in range(self.tops.shape[1]):
            symbols = self.tops[labels, stack]
            topped = runs.with_symbol(stack, np.zeros(len(base), np.int64), np.maximum(symbols, 1))
            runs = runs.put(symbols > 0, topped)
        return runs

    def swapped(self, here: State, other: State, base: np.ndarray, source: np.ndarray) -> State:
        state, top = super().swapped(here, other, base, source), torch.zeros(len(base), dtype=torch.int64)
        stack = state.stack
        for own, number in enumerate(self.claim.stacks):
            rows = torch.from_numpy(self.tops[self.label[base], own] > 0)
            stack = editable(stack).with_cell(rows, number, top, editable(other.stack).cell(number, top))
        return replace(state, stack=stack)

    @property
    def groups(self) -> np.ndarray:
        return np.asarray((self.tops > 0) @ (1 << np.arange(self.tops.shape[1])))


@dataclass(frozen=True, eq=False)
class Cells(Kind):
    """Single cells, of stack ``stack`` (M,) at ``place`` (M,) below the top; labels count stack symbols from 1."""

    stack: np.ndarray
    place: np.ndarray

    def configured(self, base: np.ndarray, labels: np.ndarray) -> ManyRuns:
        runs = self.prefixes.runs.select(self.prefix[base])
        for stack in np.unique(self.stack[base]):
            rows = self.stack[base] == stack
            other = runs.with_symbol(int(stack), np.where(rows, self.place[base], 0), labels)
            runs = runs.put(rows, other)
        return runs

    def swapped(self, here: State, other: State, base: np.ndarray, source: np.ndarray) -> State:
        places, from_places = (torch.from_numpy(self.place[items].astype(np.int64)) for items in (base, source))
        stack = here.stack
        for into in np.unique(self.stack[base]).tolist():
            for out_of in np.unique(self.stack[source]).tolist():
                rows = torch.from_numpy((self.stack[base] == into) & (self.stack[source] == out_of))
                if bool(rows.any()):
                    found = editable(other.stack).cell(self.claim.stacks[out_of], from_places)
                    stack = editable(stack).with_cell(rows, self.claim.stacks[into], places, found)
        return replace(here, stack=stack)


@dataclass(frozen=True, eq=False)
class Stacks(Kind):
    """Whole stacks, where a symbol stands for several cells; every label is what all stacks hold."""

    nodes: np.ndarray  # the nodes of every label's stacks, (n_stacks, L)

    def configured(self, base: np.ndarray, labels: np.ndarray) -> ManyRuns:
        return replace(self.prefixes.runs.select(self.prefix[base]), node=self.nodes[:, labels])

    def swapped(self, here: State, other: State, base: np.ndarray, source: np.ndarray) -> State:
        del base, source
        return _with_memories(here, self.claim.stacks, other)

    def meant(self, runs: ManyRuns, base: np.ndarray, source: np.ndarray, same: np.ndarray) -> ManyRuns:
        del same
        return replace(runs.select(self.prefix[base]), node=runs.node[:, self.prefix[source]])


def _with_memories(state: State, numbers: tuple[int, ...], other: State) -> State:
    everything = torch.ones(len(state.rejected), dtype=torch.bool)
    return replace(state, stack=editable(state.stack).with_stacks(everything, numbers, other.stack))


@dataclass(frozen=True, eq=False)
class Drawn:
    """N interchanges."""

    # base, source: the items, (N,)
    base: np.ndarray
    source: np.ndarray
    same: np.ndarray  # whether they are taken for the same, (N,)
    letters: np.ndarray  # the continuations, (N, T), numbers in the automaton's alphabet, -1 beyond the end
    predicted: Predicted  # what the automaton predicts
    # whether it is predicted that no interchange, or of the same one a decoy, would do otherwise, (N,); of a single
    # label, which has no decoys, whether anything is predicted
    telling: np.ndarray

    def select(self, rows: np.ndarray) -> Drawn:
        """Return some of them."""
        predicted = Predicted(self.predicted.numbers[rows], self.predicted.counted[rows])
        parts = {name: part[rows] for name, part in vars(self).items() if isinstance(part, np.ndarray)}
        return replace(self, **parts, predicted=predicted)


def drawn_pairs(
    kind: Kind, labels: np.ndarray, count: int, rng: np.random.Generator, half: bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return items base and source, (N,) each, and decoys for each try, (``_TRIES``, N).

    Half have the same of ``labels`` (M,), half another one of its group; all have another one where not ``half``.
    Labels are drawn evenly, not as often as they occur. A decoy has another label than the base, if there is one.
    """
    # items by label: those of the label ``present[i]`` are order[starts[i] :][: sizes[i]]
    order = np.argsort(labels, kind="stable")
    present, starts, sizes = np.unique(labels[order], return_index=True, return_counts=True)
    pairs = np.unique(np.stack([labels, kind.prefix]), axis=1)[0]
    several = np.flatnonzero(np.unique(pairs, return_counts=True)[1] > 1)  # labels at several prefixes
    # labels by group: only items of one group come in each other's place
    groups = kind.groups[present]
    by_group = np.argsort(groups, kind="stable")
    _, first_of, size_of = np.unique(groups[by_group], return_index=True, return_counts=True)
    number = np.unique(groups, return_inverse=True)[1].reshape(-1)
    place = np.argsort(by_group) - first_of[number]  # of each label in its group
    mixed = np.flatnonzero(size_of[number] > 1)

    def another(some: np.ndarray) -> np.ndarray:
        """Return another label of the group for each of ``some``, the same where there is none."""
        size = size_of[number[some]]
        away = 1 + np.floor(rng.random(len(some)) * (size - 1)).astype(np.int64)
        return np.asarray(by_group[first_of[number[some]] + (place[some] + away) % size])

    def item(some: np.ndarray) -> np.ndarray:
        return np.asarray(order[starts[some] + np.floor(rng.random(len(some)) * sizes[some]).astype(np.int64)])

    same = (
        np.arange(count) % 2 == 0 if half and len(mixed) and len(several) else np.full(count, half and not len(mixed))
    )
    if not len(several if same.any() else mixed):
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((_TRIES, 0), np.int64)
    # the base's label, evenly among labels, then the source's: the same one, or another of its group
    one = np.where(same, rng.choice(several, count), 0) if same.any() else np.zeros(count, np.int64)
    one = one if same.all() else np.where(same, one, rng.choice(mixed, count))
    base, source = item(one), item(np.where(same, one, another(one)))
    # a swap with itself would show nothing: draw again
    for _ in range(2):
        source = np.where(same & (kind.prefix[base] == kind.prefix[source]), item(one), source)
    return base, source, np.stack([item(another(one)) for _ in range(_TRIES)])


def prepared(
    kind: Kind,  # what is interchanged
    count: int,  # how many
    rng: np.random.Generator,  # the generator
    labels: np.ndarray | None = None,  # what items are taken for, (M,), by default what the automaton takes them for
    names: np.ndarray | None = None,  # which label each label is predicted as, (L,), by default itself
    half: bool = True,  # whether half are between the same labels
) -> Drawn:
    """Return interchanges of ``kind``, with continuations and predictions; between same labels nothing changes."""
    labels = kind.label if labels is None else labels
    base, source, decoys = drawn_pairs(kind, labels, count, rng, half)
    same, alone = labels[base] == labels[source], len(np.unique(labels)) == 1
    # where the automaton is without the interchange, and with it
    own = kind.configured(base, kind.label[base])
    swapped = kind.configured(base, (labels if names is None else names[labels])[source])
    if isinstance(kind, States) and kind.claim.all_in_state:
        swapped = replace(swapped, node=kind.configured(source, labels[source]).node)
    else:
        swapped = swapped.put(same, own)
    runs = kind.prefixes.meant
    meant = None if runs is None else kind.meant(runs, base, source, same)
    n_letters, stray = len(kind.claim.pda.input_alphabet), 0.0 if kind.claim.partial else _STRAY
    shape = len(base), _LONGEST
    letters, numbers = np.full(shape, -1, np.int64), np.full(shape, -1, kind.claim.numbers.dtype)
    counted, telling = np.zeros(shape, np.bool_), np.zeros(len(base), np.bool_)
    for turn in range(_TRIES):  # until a continuation tells the prediction from that for no interchange, or a decoy's
        rows = np.flatnonzero(~telling)
        if not len(rows):
            break
        # (rows, T) letters from where the interchange leads, sometimes from where there was none
        after, alike = swapped.select(rows), same[rows]
        begins = after if turn % 3 else own.select(rows)
        lean = np.full(len(rows), (-1, 0, -1)[turn % 3])
        going_on = None if meant is None else meant.select(rows)
        read = walks(begins, n_letters, _LONGEST, rng, lean, stray, going_on)
        other = kind.configured(base[rows], labels[decoys[turn, rows]]).put(~alike, own.select(rows))
        predicted = kind.claim.predicted(after, read)
        apart = predicted.counted.any(1) if alone else predicted.differs(kind.claim.predicted(other, read))
        # a continuation on which more is predicted stands in until one is telling
        better = apart | (predicted.counted.sum(1) > counted[rows].sum(1))
        kept = rows[better]
        letters[kept], numbers[kept], counted[kept] = read[better], predicted.numbers[better], predicted.counted[better]
        telling[rows] = apart
    return Drawn(base, source, same, letters, Predicted(numbers, counted), telling)


def renamed(kind: Kind, rng: np.random.Generator) -> np.ndarray:
    """Return another label of its group for every label, where there is one, (L,): the partition stays."""
    names = np.arange(len(kind.names))
    for group in np.unique(kind.groups):
        own = rng.permutation(np.intersect1d(np.flatnonzero(kind.groups == group), kind.label))
        names[own] = np.roll(own, 1)
    return names


@torch.no_grad()
def answers_after(model: StackModel[Any], claim: Claim, state: NetworkState[Any], letters: np.ndarray) -> np.ndarray:
    """Return what ``model`` says from ``state`` after each of ``letters`` (N, T), as `Claim.predicted` does, (N, T)."""
    answers = np.full(letters.shape, -1, claim.numbers.dtype)
    codes = torch.from_numpy(claim.letters[np.maximum(letters, 0)].astype(np.int64))
    # the longest first, so that those that still run are the first rows
    order = np.argsort(-(letters >= 0).sum(1), kind="stable")
    lengths = (letters[order] >= 0).sum(1)
    state = state.select(torch.from_numpy(order))
    for t in range(letters.shape[1]):
        going = int((lengths > t).sum())
        if not going:
            break
        if going < len(state.rejected):
            state = state.select(torch.arange(going))
        state = model.step(codes[order[:going], t], state).state
        answers[order[:going], t] = model.answer(state)
    return answers
