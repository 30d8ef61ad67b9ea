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
from functools import reduce
from typing import Any

import numpy as np
import torch

from ..automata.enumeration import encode_words
from ..automata.pda import PushdownAutomaton, Word
from ..automata.runs import ManyRuns, RunTables
from ..languages.language import make_word
from ..models.base import NetworkState, StackModel, editable
from .edits import Moments, allowing_all, moments_of

_DEEPEST = 12  # cells below the top that are interchanged
_LEAN = 8.0  # how much more often a leaning walk pops, or pushes
_TRIES, _LONGEST = 6, 20  # continuations tried for a case, and their length
_STRAY = 0.08
_LEAST_SPREAD = 1e-3  # of a class in any direction, as a share of the mean: rounded networks hardly spread in some
State = NetworkState[Any]

# ---- What an automaton claims of a network's inside, and the words between which things are interchanged.


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

    def predicted(self, runs: ManyRuns, letters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what the automaton says after each of ``letters`` (N, T), -1 beyond the end, from where ``runs`` are,
        in the network's numbers: 1 and 0 by a recogniser, else of the output, -1 from a rejection on; and where it says
        anything, (N, T) each.

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
        return numbers, counted


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


def _options(runs: ManyRuns, n_letters: int) -> tuple[np.ndarray, np.ndarray]:  # (N, X)
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
        runs, moments = _runs_after(claim.tables, codes), moments_of(rounded, words)
        # the automaton goes on, and the network, not having rejected, says what it says
        agreed: np.ndarray = ~runs.over & ~moments.state.rejected.cpu().numpy()
        if claim.recognition:
            agreed &= rounded.verdict(moments.state).cpu().numpy() == runs.accepted()
        elif moments.state.output is not None:
            expected = claim.numbers[runs.output]
            same = np.asarray(rounded.output_numbers(moments.state.output) == expected)
            agreed &= same | (expected < 0) | claim.partial
        good = np.flatnonzero(agreed)
        words = [words[i] for i in good]
        meant = None if claim.domain is None else _runs_after(claim.domain, codes[good])
        softly = None if soft is None else moments_of(soft, words)
        return cls(words, runs.select(good), moments.select(good), softly, meant)

    def __len__(self) -> int:
        return len(self.words)

    def aligned(self, claim: Claim) -> np.ndarray:
        """Return of which prefixes the network's stacks are at least as high as the automaton's, (P,) bool."""
        own = self.runs.heights()[:, : len(claim.stacks)]
        return np.asarray((self.rounded.heights[:, list(claim.stacks)] >= own).all(1))

    def cells(self, claim: Claim) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return prefix, stack (the automaton's), place and symbol of every cell that corresponds to a symbol, (M,)."""
        aligned, heights = self.aligned(claim), self.runs.heights()
        found = [(np.zeros(0, np.int64),) * 4]
        for stack in range(len(claim.stacks)):
            for place in range(min(_DEEPEST, int(heights[:, stack].max(initial=0)))):
                rows = np.flatnonzero(aligned & (heights[:, stack] > place))
                symbols = self.runs.select(rows).symbol_at(stack, np.full(len(rows), place)).astype(np.int64)
                found.append((rows, np.full(len(rows), stack), np.full(len(rows), place), symbols))
        prefix, stacks, places, symbols = map(np.concatenate, zip(*found, strict=True))
        return prefix, stacks, places, symbols


def _runs_after(tables: RunTables, codes: np.ndarray) -> ManyRuns:
    return reduce(ManyRuns.step, codes.T, ManyRuns.start(tables, len(codes)))


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
class LinearPart:
    """The linear part of hidden vectors that tells states apart; what is left of a vector stays.

    It is a linear discriminant subspace (Fisher 1936; Rao 1948): of hidden vectors that are scaled to spread alike in
    all directions within a state, the first directions in which the states' means differ. It is fitted in closed form
    on prefixes of their own, and not searched by gradient as by Geiger et al. (2023).
    """

    prefix: np.ndarray  # the prefixes on which it is fitted, (F,)
    label: np.ndarray  # their states, (F,)
    rank: int  # its dimension
    projection: torch.Tensor  # what is taken of rows of hidden vectors, (H, H)

    @classmethod
    def fitted(cls, prefix: np.ndarray, label: np.ndarray, rank: int, moments: Moments) -> LinearPart:
        """Return the part of the hidden vectors of a network that is at ``moments`` at the prefixes."""
        hidden = moments.state.hidden[torch.from_numpy(prefix)].detach().cpu().numpy()  # (F, H)
        # spread within the classes, (H, H), and its inverse root
        classes = [hidden[label == one] for one in np.unique(label)]
        means = np.stack([one.mean(0) for one in classes])
        within = sum(np.cov(one.T, bias=True).reshape(hidden.shape[1], -1) for one in classes) / len(classes)
        values, vectors = np.linalg.eigh(within)
        values = np.maximum(values, 0) + _LEAST_SPREAD * max(float(values.mean()), float(np.var(hidden)), 1e-12)
        white, back = (vectors * values**power @ vectors.T for power in (-0.5, 0.5))
        # the first directions in which the means of scaled vectors differ, (rank, H)
        directions = np.linalg.svd((means - means.mean(0)) @ white, full_matrices=False)[2][:rank]
        projection = np.asarray(white @ directions.T @ directions @ back)
        return cls(prefix, label, rank, torch.from_numpy(projection).to(moments.state.hidden))

    def refitted(self, moments: Moments, label: np.ndarray | None = None) -> LinearPart:
        """Return the part of another network, or for other labels."""
        return self.fitted(self.prefix, self.label if label is None else label, self.rank, moments)


@dataclass(frozen=True, eq=False)
class Kind:
    """What is interchanged: M items, each at a prefix: its hidden vector, or a part of that, some cells, or stacks."""

    what: str  # "states", "symbols", "heads" or "aligned"
    # claim, prefixes: of what
    claim: Claim
    prefixes: Prefixes
    prefix: np.ndarray  # at which prefix each item is, (M,)
    label: np.ndarray  # what the automaton takes it for, (M,) int
    names: tuple[str, ...]  # of the L labels
    states: np.ndarray | None = None  # the state of every label, (L,); None where hidden vectors are not interchanged
    # of every cell that is interchanged its stack, the automaton's, and its place below the top, (M,) each, and which
    # symbol every label has there, counted from 1, (L,); 0 where there is no such cell
    cells: tuple[tuple[np.ndarray, np.ndarray, np.ndarray], ...] = ()
    # where whole stacks are interchanged, what all of every label's hold, nodes of the trie, (n_stacks, L)
    nodes: np.ndarray | None = None
    part: LinearPart | None = None  # what is interchanged of hidden vectors; None for all

    @property
    def groups(self) -> np.ndarray:
        """Return of which group each label is, (L,), by which cells it has: others cannot come in its place."""
        found = np.zeros(len(self.names), np.int64)
        for number, (_, _, symbols) in enumerate(self.cells):
            found += (symbols > 0) << number
        return found

    def configured(self, base: np.ndarray, labels: np.ndarray) -> ManyRuns:
        """Return the automaton at items ``base`` (N,) with what is ``labels`` (N,) in their place."""
        runs = self.prefixes.runs.select(self.prefix[base])
        if self.states is not None:
            runs = replace(runs, state=self.states[labels].astype(np.int32))
        if self.nodes is not None:
            runs = replace(runs, node=self.nodes[:, labels])
        for stacks, places, symbols in self.cells:
            for stack in np.unique(stacks[base]).tolist():
                rows = (stacks[base] == stack) & (symbols[labels] > 0)
                other = runs.with_symbol(stack, np.where(rows, places[base], 0), np.maximum(symbols[labels], 1))
                runs = runs.put(rows, other)
        return runs

    def changed(self, model: StackModel[Any], moments: Moments, base: np.ndarray, source: np.ndarray) -> State:
        """Return the network at items ``base`` (N,) with what it has at ``source``."""
        here, other = (moments.select(self.prefix[items]).state for items in (base, source))
        hidden, stack, everything = here.hidden, here.stack, torch.ones(len(base), dtype=torch.bool)
        memories = self.claim.stacks if self.nodes is not None else ()
        if self.states is not None:
            hidden, memories = other.hidden, self.claim.state_stacks
            if self.part is not None:
                hidden = here.hidden + (other.hidden - here.hidden) @ self.part.projection
        if memories:
            stack = editable(stack).with_stacks(everything, memories, other.stack)
        for stacks, places, symbols in self.cells:
            into, out_of, there = stacks[base], stacks[source], symbols[self.label[base]] > 0
            at, from_place = (torch.from_numpy(places[items].astype(np.int64)) for items in (base, source))
            for one, another in np.unique(np.stack([into, out_of]), axis=1).T.tolist():
                rows = torch.from_numpy((into == one) & (out_of == another) & there)
                cell = editable(other.stack).cell(self.claim.stacks[another], from_place)
                stack = editable(stack).with_cell(rows, self.claim.stacks[one], at, cell)
        return allowing_all(model, replace(here, hidden=hidden, stack=stack), everything)

    def meant(self, runs: ManyRuns, base: np.ndarray, source: np.ndarray, same: np.ndarray) -> ManyRuns:
        """Return from where words are meant to go on, by ``runs``: as the base, or as the source if not the same."""
        here, other = runs.select(self.prefix[base]), runs.select(self.prefix[source])
        if self.states is not None:
            return replace(here, state=np.where(same, here.state, other.state))
        return here if self.nodes is None else replace(here, node=other.node)

    def shuffled(self, rng: np.random.Generator) -> tuple[Kind, np.ndarray]:
        """Return the kind, and labels (M,) permuted within their groups: random partitions of the same sizes."""
        made = self
        if self.part is not None:
            made = replace(self, part=self.part.refitted(self.prefixes.rounded, rng.permutation(self.part.label)))
        mixed, groups = self.label.copy(), self.groups[self.label]
        for group in np.unique(groups):
            mixed[groups == group] = rng.permutation(self.label[groups == group])
        return made, mixed


@dataclass(frozen=True, eq=False)
class Drawn:
    """N interchanges."""

    # base, source: the items, (N,)
    base: np.ndarray
    source: np.ndarray
    same: np.ndarray  # whether they are taken for the same, (N,)
    letters: np.ndarray  # the continuations, (N, T), numbers in the automaton's alphabet, -1 beyond the end
    # numbers, counted: what the automaton predicts, and where it predicts anything, (N, T), see `Claim.predicted`
    numbers: np.ndarray
    counted: np.ndarray
    # whether it is predicted that no interchange, or of the same one a decoy, would do otherwise, (N,); of a single
    # label, which has no decoys, whether anything is predicted
    telling: np.ndarray

    def select(self, rows: np.ndarray) -> Drawn:
        """Return some of them."""
        return Drawn(**{name: part[rows] for name, part in vars(self).items()})


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
    if kind.states is not None and kind.claim.all_in_state:
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
        predicted, where = kind.claim.predicted(after, read)
        otherwise, where_too = kind.claim.predicted(other, read)
        apart = where.any(1) if alone else ((predicted != otherwise) & where & where_too).any(1)
        # a continuation on which more is predicted stands in until one is telling
        better = apart | (where.sum(1) > counted[rows].sum(1))
        kept = rows[better]
        letters[kept], numbers[kept], counted[kept] = read[better], predicted[better], where[better]
        telling[rows] = apart
    return Drawn(base, source, same, letters, numbers, counted, telling)


def renamed(kind: Kind, rng: np.random.Generator) -> np.ndarray:
    """Return another label of its group for every label, where there is one, (L,): the partition stays."""
    names = np.arange(len(kind.names))
    for group in np.unique(kind.groups):
        own = rng.permutation(np.intersect1d(np.flatnonzero(kind.groups == group), kind.label))
        names[own] = np.roll(own, 1)
    return names


@torch.no_grad()
def answers_after(model: StackModel[Any], claim: Claim, state: NetworkState[Any], letters: np.ndarray) -> np.ndarray:
    """Return what ``model`` says from ``state`` after each of ``letters`` (N, T), as `Claim.predicted` does, (N, T);
    nothing of meaning beyond the end.
    """
    answers = np.full(letters.shape, -1, claim.numbers.dtype)
    codes = torch.from_numpy(claim.letters[np.maximum(letters, 0)].astype(np.int64))
    for t in range(int((letters >= 0).sum(1).max(initial=0))):
        state = model.step(codes[:, t], state).state
        answers[:, t] = model.answer(state)
    return answers
