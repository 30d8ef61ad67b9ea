"""The experiments whole: drawn, run in the rounded network and in the network itself, and counted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch

from ..automata.formats.dot import output_text
from ..automata.pda import Word
from ..languages.words import make_word
from ..models.base import StackModel
from .edits import Moments, check_stepwise, moments_of
from .experiment import (
    Cells,
    Claim,
    Drawn,
    HeadSwaps,
    Kind,
    Prefixes,
    Stacks,
    States,
    answers_after,
    prepared,
    renamed,
    walked_words,
)
from .outcome import Case, Causality, Interchange, Share

_WALKED, _PREFIX = 1_500, 24  # prefixes, and their greatest length
_BASELINES = 3  # random partitions, and permutations of names
_FIT, _CHOOSE = 0.5, 0.2  # shares of the prefixes on which a linear part is fitted, and on which its rank is chosen
_AS_GOOD = 0.01  # of the swaps: a lower rank that is worse by no more is taken
_HIGHEST_RANK = 6
_LEAST_SPREAD = 1e-3  # of a class in any direction, as a share of the mean: rounded networks hardly spread in some


@dataclass(frozen=True, eq=False)
class _Network:
    """A network that is asked, and where it is at the prefixes."""

    model: StackModel[Any]
    moments: Moments


@dataclass(frozen=True, eq=False)
class Aligned(States):
    """A linear part of hidden vectors, the one that tells states apart; what is left of the vector stays.

    The part is a linear discriminant subspace (Fisher 1936; Rao 1948): of hidden vectors that are scaled to spread
    alike in all directions within a state, the first directions in which the states' means differ. It is fitted in
    closed form on prefixes of their own, and not searched by gradient as by Geiger et al. (2023).
    """

    fit: np.ndarray  # the prefixes on which it is fitted, (F,), and their labels
    fit_label: np.ndarray  # their labels, (F,)
    rank: int  # its dimension
    part: torch.Tensor  # what is taken of a hidden vector, (H, H)

    @classmethod
    def fitted(
        cls, states: States, items: np.ndarray, fit: np.ndarray, labels: np.ndarray, rank: int, moments: Moments
    ) -> Self:
        """Return it for the items of ``states`` that are chosen, fitted on others."""
        # the matrix (H, H) that projects rows of hidden (F, H) on the subspace that tells labels apart
        hidden = moments.state.hidden[torch.from_numpy(fit)].detach().cpu().numpy()
        # spread within the classes, (H, H), and its inverse root
        classes = [hidden[labels == label] for label in np.unique(labels)]
        means = np.stack([one.mean(0) for one in classes])
        within = sum(np.cov(one.T, bias=True).reshape(hidden.shape[1], -1) for one in classes) / len(classes)
        values, vectors = np.linalg.eigh(within)
        values = np.maximum(values, 0) + _LEAST_SPREAD * max(float(values.mean()), float(np.var(hidden)), 1e-12)
        white, back = (vectors * values**power @ vectors.T for power in (-0.5, 0.5))
        # the first directions in which the means of scaled vectors differ, (rank, H)
        directions = np.linalg.svd((means - means.mean(0)) @ white, full_matrices=False)[2][:rank]
        part = np.asarray(white @ directions.T @ directions @ back)
        like = moments.state.hidden
        claim, prefixes, names = states.claim, states.prefixes, states.names
        taken = torch.from_numpy(part).to(like)
        return cls(claim, prefixes, states.prefix[items], states.label[items], names, fit, labels, rank, taken)

    def put(self, hidden: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        return hidden + (other - hidden) @ self.part

    def of_network(self, moments: Moments) -> Self:
        return self.fitted(self, np.arange(len(self.label)), self.fit, self.fit_label, self.rank, moments)

    def shuffled(self, rng: np.random.Generator) -> tuple[Self, np.ndarray]:
        items, labels = np.arange(len(self.label)), np.asarray(rng.permutation(self.fit_label))
        made = self.fitted(self, items, self.fit, labels, self.rank, self.prefixes.rounded)
        return made, np.asarray(rng.permutation(self.label))


def interchange(
    claim: Claim,  # the automaton, and how it speaks of the network
    rounded: StackModel[Any],  # the rounded network, or a view of it
    soft: StackModel[Any] | None,  # the network itself; None where it is not asked
    # prefixes; random walks over the automaton are added where a missing transition rejects
    words: Sequence[Word] = (),
    *,
    random: StackModel[Any] | None = None,  # a network of the same shape with random weights, rounded; None for none
    cases: int = 2_000,  # how many interchanges of either kind
    seed: int = 0,  # of all that is drawn
    automaton: str = "given",  # what the outcome calls the automaton
    # "source" puts in what the other run has there, "centre" the mean of all that are taken for the same
    values: str = "source",
) -> Causality:
    """Return whether states and symbols are what the network computes with. Raises StacklensError: it has no steps."""
    check_stepwise(rounded)
    rng = np.random.default_rng(seed)
    drawn = walked_words(claim, _WALKED, _PREFIX, rng) if not claim.partial or not words else []
    prefixes = Prefixes.of(claim, rounded, soft, [*words, *drawn])
    beside = None if random is None or not len(prefixes) else _Network(random, moments_of(random, prefixes.words))
    # what can be interchanged, and why the rest cannot
    states = States(claim, prefixes, np.arange(len(prefixes)), prefixes.runs.state.astype(np.int64), claim.pda.states)
    stackless = None if rounded.n_stacks and claim.stacks else "there is no stack that the automaton sees"
    windows = "a stack symbol stands for several cells" if claim.whole_stacks else None
    reasons = {"states": _unread(rounded, claim), "symbols": stackless}
    reasons |= {"heads": reasons["states"] or stackless or windows, "aligned": _unaligned(states, rounded)}
    made: dict[str, Callable[[], Kind]] = {
        "states": lambda: states,
        "symbols": lambda: _cell_swaps(claim, prefixes),
        "heads": lambda: _heads(states),
        "aligned": lambda: _aligned(states, rounded, cases // 4, rng),
    }
    own, none = _Network(rounded, prefixes.rounded), Share(0, 0)
    parts = {
        what: Interchange(what, none, none, reason=reason)
        if reason is not None
        else _interchange_of(what, made[what](), own, soft, beside, cases, rng, values)
        for what, reason in reasons.items()
    }
    doubt = "the network has no stack: with its hidden vector all of it is interchanged, and that is the other run"
    return Causality(
        parts["states"],
        parts["symbols"],
        automaton,
        values,
        len(prefixes),
        seed,
        heads=parts["heads"],
        aligned=parts["aligned"],
        sizes=(len(claim.pda.states), len(claim.pda.stack_alphabet)),
        level=None if stackless else Share(int(prefixes.aligned(claim).sum()), len(prefixes)),
        doubt=doubt if claim.all_in_state else None,
    )


def _unread(network: StackModel[Any], claim: Claim) -> str | None:
    """Return why no hidden vector can tell anything, None if it can."""
    if not network.initial_state(1).hidden.shape[-1]:
        return "the network has no hidden vector"
    if not network.recurrent and not claim.state_stacks and len(claim.pda.states) == 1:
        return "the controller never reads its hidden vector, and the automaton has one state"
    return None


def _unaligned(states: States, network: StackModel[Any]) -> str | None:
    """Return why no linear part of hidden vectors is looked for, None if one is."""
    if states.claim.all_in_state:
        return "with the hidden vector all of the network is interchanged"
    if len(np.unique(states.label)) < 2:
        return "the automaton has one state" if len(states.names) == 1 else "the words lead to one state"
    if network.initial_state(1).hidden.shape[-1] < 2:
        return "a hidden vector of fewer than two units has no parts"
    return None


def _cell_swaps(claim: Claim, prefixes: Prefixes) -> Kind:
    names = (claim.pda.bottom, *claim.pda.stack_alphabet)
    if not claim.whole_stacks:
        prefix, stack, place, symbol = prefixes.cells(claim)
        return Cells(claim, prefixes, prefix, symbol.astype(np.int64), names, stack, place)
    prefix = np.flatnonzero(prefixes.aligned(claim))
    nodes, label = np.unique(prefixes.runs.node[:, prefix], axis=1, return_inverse=True)
    tops = tuple(" ".join(names[top] for top in row) for row in claim.tables.trie.symbol[nodes].T.tolist())
    return Stacks(claim, prefixes, prefix, label.reshape(-1), tops, nodes)


def _heads(states: States) -> Kind:
    claim, prefixes = states.claim, states.prefixes
    at = np.flatnonzero(prefixes.aligned(claim))
    runs = prefixes.runs.select(at)
    tops = [runs.symbol_at(stack, np.zeros(len(at), np.int64)) for stack in range(len(claim.stacks))]
    heads, label = np.unique(np.stack([states.label[at], *tops]), axis=1, return_inverse=True)
    shown = (claim.pda.bottom, *claim.pda.stack_alphabet)
    names = tuple(
        f"{claim.pda.states[head[0]]}, {' '.join(shown[top] for top in head[1:])}" for head in heads.T.tolist()
    )
    return HeadSwaps(claim, prefixes, at, label.reshape(-1).astype(np.int64), names, heads[0], heads[1:].T)


def _aligned(states: States, rounded: StackModel[Any], cases: int, rng: np.random.Generator) -> Kind:
    """Return the linear part of the hidden vector that does best as the state, of the least rank that does as well.

    It is fitted on some prefixes, its rank is chosen on others, and the items are what is left.
    """
    # three disjoint sets of prefixes
    order = rng.permutation(len(states.label))
    fit, choose, test = np.split(order, np.cumsum([int(share * len(order)) for share in (_FIT, _CHOOSE)]))
    moments = states.prefixes.rounded
    labels = states.label[fit]
    most = min(len(np.unique(labels)) - 1, moments.state.hidden.shape[-1] - 1, _HIGHEST_RANK)
    tried = [Aligned.fitted(states, choose, fit, labels, rank, moments) for rank in range(1, max(1, most) + 1)]
    drawn = prepared(tried[0], cases, rng)
    network = _Network(rounded, moments)
    # the least rank that is as good as the best, to a hundredth
    shares = [0.0] * len(tried)
    if drawn.telling.any():
        shares = [float(_swaps_as_predicted(one, network, drawn)[0][drawn.telling].mean()) for one in tried]
    rank = 1 + next(number for number, share in enumerate(shares) if share >= max(shares) - _AS_GOOD)
    return Aligned.fitted(states, test, fit, labels, rank, moments)


def _interchange_of(
    what: str,
    kind: Kind,
    rounded: _Network,
    soft: StackModel[Any] | None,
    random: _Network | None,
    cases: int,
    rng: np.random.Generator,
    values: str,
) -> Interchange:
    """Return what comes of interchanges of one kind, beside what comes of its baselines."""
    none = Share(0, 0)
    drawn = prepared(kind, cases, rng) if len(kind.label) > 1 else None
    if drawn is None or not len(drawn.base):
        return Interchange(what, none, none, reason="the words lead to too few different ones")
    # 1 interchanges of which the automaton says something, in the rounded network
    defined = np.asarray(drawn.predicted.counted.any(1))
    kept = drawn.select(defined)
    right, answers = _swaps_as_predicted(kind, rounded, kept, _means(kind, values))
    words = kind.prefix[np.stack([kept.base, kept.source])]
    changing, unchanging = kept.telling & ~kept.same, kept.telling & kept.same
    names = np.array(kind.names)[kind.label[kept.source]]
    # 2 the same in the network as it is
    softly: list[Share | None] = [None, None]
    if soft is not None and kind.prefixes.soft is not None and values == "source":
        well = np.zeros(len(right), np.bool_)
        well[kept.telling] = _swaps_as_predicted(kind, _Network(soft, kind.prefixes.soft), kept.select(kept.telling))[0]
        softly = [Share.over(well, words, rows) for rows in (unchanging, changing)]
    # 3 baselines: random partitions, permuted names, and a network that was never trained
    baselines = _baselines(kind, rounded, cases // 4, rng)
    if random is not None and changing.any():
        answered, _ = _swaps_as_predicted(kind.of_network(random.moments), random, kept.select(changing))
        baselines["random weights"] = Share.over(answered, words[:, changing])
    partitions = baselines.get("random partitions")
    reason = None
    if not changing.any():
        reason = "the automaton has one of these" if len(kind.names) == 1 else "it tells none of those drawn apart"
        if what == "states" and len(kind.names) == 1:
            reason = "the automaton has one state, and tells none apart"
    return Interchange(
        what,
        Share.over(right, words, unchanging),
        Share.over(right, words, changing),
        told_apart=int(changing.sum()),
        soft_same=softly[0],
        soft_different=softly[1],
        by_name={
            name: Share.over(right, words, changing & (names == name)) for name in np.unique(names[changing]).tolist()
        },
        baseline=None if partitions is None else partitions.accuracy,
        undefined=int((~defined).sum()),
        worst_case=_worst(kind, kept, answers, right | ~kept.telling, rounded.model),
        reason=reason,
        untold=Share.over(right, words, ~kept.telling),
        baselines=baselines,
        rank=kind.rank if isinstance(kind, Aligned) else None,
    )


def _swaps_as_predicted(
    kind: Kind, network: _Network, drawn: Drawn, means: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return which interchanges did as predicted, (N,) bool, and what the network says, (N, T)."""
    if not len(drawn.base):  # none is defined, or kept apart
        return np.zeros(0, np.bool_), drawn.predicted.numbers
    state = kind.changed(network.model, network.moments, drawn.base, drawn.source)
    if means is not None:
        state.hidden.copy_(torch.from_numpy(means[kind.label[drawn.source]]))
    answers = answers_after(network.model, kind.claim, state, drawn.letters)
    return ~((answers != drawn.predicted.numbers) & drawn.predicted.counted).any(1), answers


def _means(kind: Kind, values: str) -> np.ndarray | None:
    """Return the mean hidden vector of every label, (L, H), where these are what is put in."""
    if values != "centre" or type(kind) is not States:
        return None
    hidden = kind.prefixes.rounded.state.hidden.cpu().numpy()
    means = np.zeros((len(kind.names), hidden.shape[1]))
    for label in np.unique(kind.label).tolist():
        means[label] = hidden[kind.label == label].mean(0)
    return means


def _baselines(kind: Kind, rounded: _Network, cases: int, rng: np.random.Generator) -> dict[str, Share]:
    """Return how often swaps that are kept apart do as predicted by random partitions, and by permuted names."""
    if len(np.unique(kind.label)) < 2:
        return {}
    found = dict[str, Share]()
    for name in ("random partitions", "permuted labels"):
        parts = list[tuple[np.ndarray, np.ndarray]]()
        for _ in range(_BASELINES):
            made, labels = kind.shuffled(rng) if name == "random partitions" else (kind, kind.label)
            names = renamed(kind, rng) if name == "permuted labels" else None
            drawn = prepared(made, cases, rng, labels, names, half=False)
            drawn = drawn.select(drawn.telling & ~drawn.same)
            if len(drawn.base):
                right, _ = _swaps_as_predicted(made, rounded, drawn)
                parts.append((right, made.prefix[np.stack([drawn.base, drawn.source])]))
        if parts:
            right, words = (np.concatenate(some, -1) for some in zip(*parts, strict=True))
            found[name] = Share.over(right, words)
    return found


def _worst(kind: Kind, drawn: Drawn, answers: np.ndarray, right: np.ndarray, model: StackModel[Any]) -> Case | None:
    """Return a shortest case that went wrong, of the label that goes wrong most often."""
    if right.all():
        return None
    labels = np.array(kind.names)[kind.label[drawn.source]]
    rates = {name: right[labels == name].mean() for name in np.unique(labels).tolist()}
    worst = min(rates, key=lambda name: (rates[name], name))
    words, alphabet = kind.prefixes.words, kind.claim.pda.input_alphabet
    # the shortest of them, up to the first answer that differs
    wrong = np.flatnonzero(~right & (labels == worst))
    differs = (answers != drawn.predicted.numbers) & drawn.predicted.counted
    first = differs.argmax(1)
    sizes = [len(words[kind.prefix[drawn.base[row]]]) + int(first[row]) for row in wrong]
    row = int(wrong[int(np.argmin(sizes))])
    base, source = int(drawn.base[row]), int(drawn.source[row])
    read = slice(0, int(first[row]) + 1)
    part, stack, places = "hidden", None, None
    if isinstance(kind, Cells):
        part, stack = "cells", kind.claim.stacks[kind.stack[base]]
        places = int(kind.place[base]), int(kind.place[source])
    elif isinstance(kind, Stacks):
        part, stack = "stack", kind.claim.stacks[0]
    return Case(
        words[kind.prefix[base]],
        words[kind.prefix[source]],
        make_word([alphabet[code] for code in drawn.letters[row, read].tolist()], alphabet),
        part,
        (kind.names[kind.label[base]], kind.names[kind.label[source]]),
        stack,
        places,
        tuple(_answer_in_words(model, number) for number in drawn.predicted.numbers[row, read].tolist()),
        tuple(_answer_in_words(model, number) for number in answers[row, read].tolist()),
        int(first[row]),
    )


def _answer_in_words(model: StackModel[Any], number: int) -> str:
    if model.task_kind == "recognition":
        return "accepted" if number else "not accepted"
    return "a rejection" if number < 0 else output_text(model.output_name(number))
