"""The experiments whole: drawn, run in the rounded network and in the network itself, and counted."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from ..automata.pda import Word, output_text
from ..languages.language import make_word
from ..models.base import StackModel
from .edits import Moments, check_stepwise, moments_of
from .experiment import Claim, Drawn, Kind, LinearPart, Prefixes, answers_after, prepared, renamed, walked_words
from .outcome import Case, Causality, Interchange, Share

_WALKED, _PREFIX = 1_500, 24  # prefixes, and their greatest length
_BASELINES = 3  # random partitions, and permutations of names
_FIT, _CHOOSE = 0.5, 0.2  # shares of the prefixes on which a linear part is fitted, and on which its rank is chosen
_AS_GOOD = 0.01  # of the swaps: a lower rank that is worse by no more is taken
_HIGHEST_RANK = 6
_Network = tuple[StackModel[Any], Moments]  # a network that is asked, and where it is at the prefixes


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
    states = np.arange(len(claim.pda.states))
    label = prefixes.runs.state.astype(np.int64)
    whole = Kind("states", claim, prefixes, np.arange(len(prefixes)), label, claim.pda.states, states)
    networks: dict[str, _Network] = {"rounded": (rounded, prefixes.rounded)}
    if soft is not None and prefixes.soft is not None and values == "source":
        networks["soft"] = soft, prefixes.soft
    if random is not None and len(prefixes):
        networks["random"] = random, moments_of(random, prefixes.words)
    parts = dict[str, Interchange]()
    for what in Causality.KINDS:
        kind = _kind_or_reason(what, whole, rounded, cases, rng)
        if isinstance(kind, str):
            parts[what] = Interchange(what, reason=kind)
        else:
            parts[what] = _interchange_of(kind, networks, cases, rng, values)
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
        level=Share(int(prefixes.aligned(claim).sum()), len(prefixes)) if rounded.n_stacks and claim.stacks else None,
        doubt=doubt if claim.all_in_state else None,
    )


def _kind_or_reason(
    what: str, states: Kind, rounded: StackModel[Any], cases: int, rng: np.random.Generator
) -> Kind | str:
    """Return what can be interchanged, or why it cannot."""
    claim, size = states.claim, rounded.initial_state(1).hidden.shape[-1]
    if what == "aligned":
        if claim.all_in_state:
            return "with the hidden vector all of the network is interchanged"
        if len(np.unique(states.label)) < 2:
            return "the automaton has one state" if len(states.names) == 1 else "the words lead to one state"
        if size < 2:
            return "a hidden vector of fewer than two units has no parts"
        return _aligned(states, rounded, cases // 4, rng)
    if what != "symbols" and not size:
        return "the network has no hidden vector"
    if what != "symbols" and not rounded.recurrent and not claim.state_stacks and len(claim.pda.states) == 1:
        return "the controller never reads its hidden vector, and the automaton has one state"
    if what == "states":
        return states
    if not (rounded.n_stacks and claim.stacks):
        return "there is no stack that the automaton sees"
    if what == "heads" and claim.whole_stacks:
        return "a stack symbol stands for several cells"
    prefixes, symbols = states.prefixes, (claim.pda.bottom, *claim.pda.stack_alphabet)
    if not claim.whole_stacks and what == "symbols":
        prefix, stack, place, symbol = prefixes.cells(claim)
        cell = stack, place, np.arange(len(symbols))
        return Kind("symbols", claim, prefixes, prefix, symbol, symbols, cells=(cell,))
    prefix = np.flatnonzero(prefixes.aligned(claim))
    if what == "symbols":
        # whole stacks, called by their tops
        nodes, label = np.unique(prefixes.runs.node[:, prefix], axis=1, return_inverse=True)
        tops = tuple(" ".join(symbols[top] for top in row) for row in claim.tables.trie.symbol[nodes].T.tolist())
        return Kind("symbols", claim, prefixes, prefix, label.reshape(-1), tops, nodes=nodes)
    # hidden vectors with their top cells
    runs, nothing = prefixes.runs.select(prefix), np.zeros(len(prefix), np.int64)
    shown = [runs.symbol_at(stack, nothing) for stack in range(len(claim.stacks))]
    heads, label = np.unique(np.stack([states.label[prefix], *shown]), axis=1, return_inverse=True)
    names = tuple(f"{states.names[state]}, {' '.join(symbols[top] for top in row)}" for state, *row in heads.T.tolist())
    cells = tuple((nothing + stack, nothing, tops_of) for stack, tops_of in enumerate(heads[1:]))
    return Kind("heads", claim, prefixes, prefix, label.reshape(-1).astype(np.int64), names, heads[0], cells)


def _aligned(states: Kind, rounded: StackModel[Any], cases: int, rng: np.random.Generator) -> Kind:
    """Return the linear part of the hidden vector that does best as the state, of the least rank that does as well.

    It is fitted on some prefixes, its rank is chosen on others, and the items are what is left.
    """
    # three disjoint sets of prefixes
    order = rng.permutation(len(states.label))
    fit, choose, test = np.split(order, np.cumsum([int(share * len(order)) for share in (_FIT, _CHOOSE)]))
    moments = states.prefixes.rounded
    labels = states.label[fit]
    most = min(len(np.unique(labels)) - 1, moments.state.hidden.shape[-1] - 1, _HIGHEST_RANK)
    parts = [LinearPart.fitted(fit, labels, rank, moments) for rank in range(1, max(1, most) + 1)]
    chosen = replace(states, what="aligned", prefix=choose, label=states.label[choose])
    drawn = prepared(chosen, cases, rng)
    # the least rank that is as good as the best, to a hundredth
    shares = [0.0] * len(parts)
    if drawn.telling.any():
        tried = [_swaps_as_predicted(replace(chosen, part=part), (rounded, moments), drawn)[0] for part in parts]
        shares = [float(right[drawn.telling].mean()) for right in tried]
    part = next(part for part, share in zip(parts, shares, strict=True) if share >= max(shares) - _AS_GOOD)
    return replace(chosen, prefix=test, label=states.label[test], part=part)


def _interchange_of(
    kind: Kind, networks: dict[str, _Network], cases: int, rng: np.random.Generator, values: str
) -> Interchange:
    """Return what comes of interchanges of one kind, beside what comes of its baselines."""
    drawn = prepared(kind, cases, rng) if len(kind.label) > 1 else None
    if drawn is None or not len(drawn.base):
        return Interchange(kind.what, reason="the words lead to too few different ones")
    # 1 interchanges of which the automaton says something, in the rounded network
    defined = np.asarray(drawn.counted.any(1))
    kept = drawn.select(defined)
    asked = networks["rounded"]
    if values == "centre" and kind.what == "states":
        # with the mean hidden vector of the state in the place of that at every prefix
        hidden = asked[1].state.hidden.clone()
        for label in np.unique(kind.label).tolist():
            rows = torch.from_numpy(kind.label == label)
            hidden[rows] = torch.from_numpy(hidden[rows].cpu().numpy().mean(0)).to(hidden)
        asked = asked[0], asked[1]._replace(state=replace(asked[1].state, hidden=hidden))
    right, answers = _swaps_as_predicted(kind, asked, kept)
    words = kind.prefix[np.stack([kept.base, kept.source])]
    changing, unchanging = kept.telling & ~kept.same, kept.telling & kept.same
    names = np.array(kind.names)[kind.label[kept.source]]
    # 2 those that count in the network as it is; baselines: random partitions, permuted names, a network never trained
    counting = kept.select(changing)
    soft = None
    if "soft" in networks:
        soft = Share.over(_swaps_as_predicted(kind, networks["soft"], counting)[0], words[:, changing])
    baselines = _baselines(kind, networks["rounded"], cases // 4, rng)
    if "random" in networks and changing.any():
        fitted = kind if kind.part is None else replace(kind, part=kind.part.refitted(networks["random"][1]))
        answered, _ = _swaps_as_predicted(fitted, networks["random"], counting)
        baselines["random weights"] = Share.over(answered, words[:, changing])
    partitions = baselines.get("random partitions")
    reason = None
    if not changing.any():
        reason = "the automaton has one of these" if len(kind.names) == 1 else "it tells none of those drawn apart"
        if kind.what == "states" and len(kind.names) == 1:
            reason = "the automaton has one state, and tells none apart"
    return Interchange(
        kind.what,
        Share.over(right, words, unchanging),
        Share.over(right, words, changing),
        told_apart=int(changing.sum()),
        soft_different=soft,
        by_name={
            name: Share.over(right, words, changing & (names == name)) for name in np.unique(names[changing]).tolist()
        },
        baseline=None if partitions is None else partitions.accuracy,
        undefined=int((~defined).sum()),
        worst_case=_worst(kind, kept, answers, right | ~kept.telling, networks["rounded"][0]),
        reason=reason,
        untold=Share.over(right, words, ~kept.telling),
        baselines=baselines,
        rank=None if kind.part is None else kind.part.rank,
    )


def _swaps_as_predicted(kind: Kind, network: _Network, drawn: Drawn) -> tuple[np.ndarray, np.ndarray]:
    """Return which interchanges did as predicted, (N,) bool, and what the network says, (N, T)."""
    if not len(drawn.base):  # none is defined, or kept apart
        return np.zeros(0, np.bool_), drawn.numbers
    state = kind.changed(*network, drawn.base, drawn.source)
    answers = answers_after(network[0], kind.claim, state, drawn.letters)
    return ~((answers != drawn.numbers) & drawn.counted).any(1), answers


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
    first = ((answers != drawn.numbers) & drawn.counted).argmax(1)
    wrong = np.flatnonzero(~right & (labels == worst)).tolist()
    row = min(wrong, key=lambda row: len(words[kind.prefix[drawn.base[row]]]) + int(first[row]))
    base, source, step = int(drawn.base[row]), int(drawn.source[row]), int(first[row])
    part, stack, places = "hidden", None, None
    if kind.nodes is not None:
        part, stack = "stack", kind.claim.stacks[0]
    elif kind.states is None:
        ((stacks, depths, _),) = kind.cells
        part, stack = "cells", kind.claim.stacks[stacks[base]]
        places = int(depths[base]), int(depths[source])
    predicted, answered = (
        tuple(_answer_in_words(model, number) for number in numbers[row, : step + 1].tolist())
        for numbers in (drawn.numbers, answers)
    )
    return Case(
        words[kind.prefix[base]],
        words[kind.prefix[source]],
        make_word([alphabet[code] for code in drawn.letters[row, : step + 1].tolist()], alphabet),
        part,
        (kind.names[kind.label[base]], kind.names[kind.label[source]]),
        stack,
        places,
        predicted,
        answered,
        step,
    )


def _answer_in_words(model: StackModel[Any], number: int) -> str:
    if model.task_kind == "recognition":
        return "accepted" if number else "not accepted"
    return "a rejection" if number < 0 else output_text(model.output_name(number))
