"""The experiments whole: drawn, run in the rounded network and in the network itself, and counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stacklens.automata.pda import Word
from stacklens.languages.words import make_word
from stacklens.models.base import StackModel
from stacklens.probe.causal.claim import Claim
from stacklens.probe.causal.experiment import Cells, Drawn, Kind, Stacks, States, answers_after, prepared
from stacklens.probe.causal.outcome import Case, Causality, Interchange, Share
from stacklens.probe.causal.prefixes import Prefixes, walked_words
from stacklens.probe.moments import Moments, check_stepwise

__all__ = ["interchange"]

_WALKED, _PREFIX = 1_500, 24  # prefixes, and their greatest length
_BASELINES = 3  # random partitions


def interchange(
    claim: Claim,
    rounded: StackModel[Any],
    soft: StackModel[Any] | None,
    words: Sequence[Word] = (),
    *,
    cases: int = 2_000,
    seed: int = 0,
    automaton: str = "given",
    values: str = "source",
) -> Causality:
    """Return whether the automaton's states and stack symbols are what the network computes with.

    Args:
        claim: the automaton, and how it speaks of the network.
        rounded: the rounded network, or a view of it.
        soft: the network itself; None where it is not asked.
        words: prefixes; random walks over the automaton are added where a missing transition rejects.
        cases: how many interchanges of either kind.
        seed: of all that is drawn.
        automaton: what the outcome calls the automaton.
        values: "source" puts in what the other run has there, "centre" the mean of all that are taken for the same.

    Raises:
        StacklensError: the network has no steps to intervene in.
    """
    check_stepwise(rounded)
    rng = np.random.default_rng(seed)
    drawn = walked_words(claim, _WALKED, _PREFIX, rng) if not claim.partial or not words else []
    prefixes = Prefixes.of(claim, rounded, soft, [*words, *drawn])
    networks = rounded, soft
    states = States(claim, prefixes, np.arange(len(prefixes)), prefixes.runs.state.astype(np.int64), claim.pda.states)
    none, unread = Share(0, 0), _unread(rounded, claim)
    found = Interchange("states", none, none, reason=unread)
    if unread is None:
        found = _measured("states", states, networks, cases, rng, values)
    if not rounded.n_stacks or not claim.stacks:
        symbols = Interchange("symbols", none, none, reason="there is no stack that the automaton sees")
    else:
        symbols = _measured("symbols", _cells(claim, prefixes), networks, cases, rng, values)
    return Causality(found, symbols, automaton, values, len(prefixes), seed)


def _unread(network: StackModel[Any], claim: Claim) -> str | None:
    """Return why no hidden vector can tell anything, None if it can."""
    if not network.initial_state(1).hidden.shape[-1]:
        return "the network has no hidden vector"
    if not network.recurrent and not claim.state_stacks and len(claim.pda.states) == 1:
        return "the controller never reads its hidden vector, and the automaton has one state"
    return None


def _cells(claim: Claim, prefixes: Prefixes) -> Kind:
    names = (claim.pda.bottom, *claim.pda.stack_alphabet)
    if not claim.whole_stacks:
        prefix, stack, place, symbol = prefixes.cells(claim)
        return Cells(claim, prefixes, prefix, symbol.astype(np.int64), names, stack, place)
    prefix = np.flatnonzero(prefixes.aligned(claim))
    nodes, label = np.unique(prefixes.runs.node[:, prefix], axis=1, return_inverse=True)
    tops = tuple(" ".join(names[top] for top in row) for row in claim.tables.trie.symbol[nodes].T.tolist())
    return Stacks(claim, prefixes, prefix, label.reshape(-1), tops, nodes)


def _measured(
    what: str,
    kind: Kind,
    networks: tuple[StackModel[Any], StackModel[Any] | None],
    cases: int,
    rng: np.random.Generator,
    values: str,
) -> Interchange:
    """Return what comes of interchanges of one kind, beside what comes of random partitions."""
    rounded, soft = networks
    none = Share(0, 0)
    drawn = prepared(kind, kind.label, cases, rng) if len(kind.label) > 1 else None
    if drawn is None or not len(drawn.base):
        return Interchange(what, none, none, reason="the words lead to too few different ones")
    counted = np.asarray(drawn.predicted.counted.any(1))
    kept = drawn.select(counted)
    means = _means(kind, values)
    said = _answers(rounded, kind, kind.prefixes.rounded, kept, means)
    right = ~((said != kept.predicted.numbers) & kept.predicted.counted).any(1)
    shares = [Share(int(right[rows].sum()), int(rows.sum())) for rows in (kept.same, ~kept.same)]
    softly: list[Share | None] = [None, None]
    if soft is not None and kind.prefixes.soft is not None and values == "source":
        theirs = _answers(soft, kind, kind.prefixes.soft, kept, None)
        well = ~((theirs != kept.predicted.numbers) & kept.predicted.counted).any(1)
        softly = [Share(int(well[rows].sum()), int(rows.sum())) for rows in (kept.same, ~kept.same)]
    names = np.array(kind.names)[kind.label[kept.source]]
    by_name = {
        name: Share(int(right[names == name].sum()), int((names == name).sum())) for name in np.unique(names).tolist()
    }
    return Interchange(
        what,
        shares[0],
        shares[1],
        told_apart=int((kept.told & ~kept.same).sum()),
        soft_same=softly[0],
        soft_different=softly[1],
        by_name=by_name,
        baseline=_baseline(kind, rounded, cases // 2, rng),
        undefined=int((~counted).sum()),
        worst_case=_worst(kind, kept, said, right, rounded),
    )


def _answers(
    model: StackModel[Any], kind: Kind, moments: Moments, drawn: Drawn, means: np.ndarray | None
) -> np.ndarray:
    state = kind.changed(model, moments, drawn.base, drawn.source)
    if means is not None:
        import torch

        state.hidden.copy_(torch.from_numpy(means[kind.label[drawn.source]]))
    return answers_after(model, kind.claim, state, drawn.letters)


def _means(kind: Kind, values: str) -> np.ndarray | None:
    """Return the mean hidden vector of every label, (L, H), where these are what is put in."""
    if values != "centre" or not isinstance(kind, States):
        return None
    hidden = kind.prefixes.rounded.state.hidden.cpu().numpy()
    means = np.zeros((len(kind.names), hidden.shape[1]))
    for label in np.unique(kind.label).tolist():
        means[label] = hidden[kind.label == label].mean(0)
    return means


def _baseline(kind: Kind, rounded: StackModel[Any], cases: int, rng: np.random.Generator) -> float | None:
    """Return the mean accuracy of random partitions of the items into classes of the same sizes."""
    if len(np.unique(kind.label)) < 2:
        return None
    found = []
    for _ in range(_BASELINES):
        drawn = prepared(kind, np.asarray(rng.permutation(kind.label)), cases, rng)
        drawn = drawn.select(np.asarray(drawn.predicted.counted.any(1)))
        if len(drawn.base):
            said = _answers(rounded, kind, kind.prefixes.rounded, drawn, None)
            found.append(1 - float(((said != drawn.predicted.numbers) & drawn.predicted.counted).any(1).mean()))
    return float(np.mean(found)) if found else None


def _worst(kind: Kind, drawn: Drawn, said: np.ndarray, right: np.ndarray, model: StackModel[Any]) -> Case | None:
    """Return a shortest case that went wrong, of the label that goes wrong most often."""
    if right.all():
        return None
    labels = np.array(kind.names)[kind.label[drawn.source]]
    rates = {name: right[labels == name].mean() for name in np.unique(labels).tolist()}
    worst = min(rates, key=lambda name: (rates[name], name))
    words, alphabet = kind.prefixes.words, kind.claim.pda.input_alphabet
    wrong = np.flatnonzero(~right & (labels == worst))
    differs = (said != drawn.predicted.numbers) & drawn.predicted.counted
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
        tuple(_told(model, number) for number in drawn.predicted.numbers[row, read].tolist()),
        tuple(_told(model, number) for number in said[row, read].tolist()),
        int(first[row]),
    )


def _told(model: StackModel[Any], number: int) -> str:
    """Return an answer in words."""
    if model.task_kind == "recognition":
        return "accepted" if number else "not accepted"
    if number < 0:
        return "a rejection"
    name = model.output_name(number)
    return name if isinstance(name, str) else "{" + " ".join(name) + "}"
