"""Whether an extracted automaton's states and symbols are what the network computes with: the experiments set up."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..automata.compare import Equal, Undecided, compare, compared_outputs
from ..automata.enumeration import encode_words
from ..automata.pda import PushdownAutomaton, Word
from ..automata.runs import ManyRuns, RunTables
from ..core.errors import StacklensError, check_seed, check_whole
from ..languages.language import make_word
from ..models.base import StackModel, one_thread
from ..models.inference import number_table
from ..models.networks import build_model
from ..models.rounding import Rounded
from ..models.views import views_of
from ..probe.experiment import Claim
from ..probe.interchange import interchange
from ..probe.outcome import Causality
from .config import Budget
from .memory_use import StackUse
from .samples import draw_samples
from .search.candidates import Scorer
from .search.learn import learned_candidates
from .specification import Specification

if TYPE_CHECKING:
    from .result import Extraction


_SHORT, _LONG, _LENGTHS = 1_500, 300, (6, 30)  # words on which it is found out which outputs count
_CUTS = 1_500  # prefixes of these
_NAMES = "minimised", "raw", "learned", "clusters", "reference"
_LEARNING = 5.0  # seconds by the clock, where nothing was learned beside clusters


def causality(
    result: Extraction,
    seed: int = 0,
    *,
    automaton: str | PushdownAutomaton = "all",
    values: str = "source",
    cases: int = 2_000,
) -> Causality:
    """Return what interchange experiments say of the automata of ``result`` (see `probe.interchange`). Raises
    StacklensError: there is no automaton, or it speaks of no step of the network, or ``cases`` is no whole number of at
    least 2, or ``seed`` no seed.
    """
    if values not in ("source", "centre"):
        raise StacklensError(f"values is {values!r:.40}; expected source or centre")
    check_whole("cases", cases, 2)
    check_seed(seed)
    if not isinstance(automaton, PushdownAutomaton):
        _ = result.automaton  # raises the reason where there is none
    network, rounded, soft = _networks(result)
    named = _automata_asked(result, automaton, seed)
    random = _random(network, result, seed)
    words, only = list[Word](), result.language
    if only is not None and only.partial_domain:
        words = [*only.short_words(_SHORT), *only.long_words(_LONG, _LENGTHS, seed)]
    # where only some words are meant, their beginnings are what leads somewhere
    rng = np.random.default_rng(seed)
    chosen = rng.integers(0, max(1, len(words)), _CUTS if words else 0).tolist()
    beginnings = [make_word(words[i][: rng.integers(0, len(words[i]) + 1)], network.alphabet) for i in chosen]
    # one experiment for each automaton; the same one under other names is scored once
    found, seen = dict[str, Causality](), dict[str, PushdownAutomaton]()
    with one_thread():
        for name, (pda, stacks) in named.items():
            same_as = next((other for other, known in seen.items() if _is_renamed(pda, known)), None)
            if same_as is not None:
                found[name] = replace(found[same_as], automaton=name, same_as=same_as)
                continue
            try:
                claim = claim_of(pda, network, result.language, words, stacks.stacks, stacks.push_only)
                prefixes = beginnings if claim.partial else []
                one = interchange(
                    claim, rounded, soft, prefixes, random=random, cases=cases, seed=seed, automaton=name, values=values
                )
            except StacklensError:
                if not found:
                    raise
                continue  # a reference may say what the network cannot say
            found[name], seen[name] = replace(one, equal=_is_equal(result, pda)), pda
    first, *others = found
    return replace(found[first], others={name: found[name] for name in others})


def with_causality(result: Extraction, seed: int = 0) -> Extraction:
    """Return ``result`` with what interchanges say of its automata, or with why none can be made."""
    try:
        found = causality(result, seed)
    except StacklensError as error:
        found = Causality.none(str(error), seed)
    return replace(result, causality=found)


def claim_of(
    pda: PushdownAutomaton,  # the automaton
    network: StackModel[Any],  # the network, or a view of it
    specification: Specification | None,  # what it was trained to do, which says which outputs count; None for all
    words: list[Word],  # words that it was trained for, on which that is seen
    stacks: tuple[int, ...],  # which of the network's stacks are the automaton's
    state_stacks: tuple[int, ...] = (),  # those that are part of its states
) -> Claim:
    """Return what ``pda`` claims of ``network``, of which it has the ``stacks``. Raises StacklensError: the automaton
    says what the network cannot say, or has ε-steps.
    """
    tables = RunTables.of(pda)
    numbers = np.zeros(len(tables.tables.outputs), np.int32)
    if network.task_kind != "recognition":
        numbers = number_table(pda, network)
    # an automaton of the words that are meant, where only some are, and one that reads the automaton's letters
    reference = None
    if specification is not None and specification.partial_domain:
        reference = specification.automaton()
    if reference is not None and not (reference.real_time and reference.input_alphabet == pda.input_alphabet):
        reference = None
    # the transitions with an output that counts on some of the words; all, where all outputs do
    mask = None if specification is None or not words else specification.scored(words)
    scored = np.full(tables.tables.target.size, mask is None)
    if mask is not None:
        codes, _ = encode_words(words, pda.input_alphabet)
        runs = ManyRuns.start(tables, len(words))
        for t in range(codes.shape[1]):
            cells, going = runs.cells(np.maximum(codes[:, t], 0)), (codes[:, t] >= 0) & ~runs.over
            runs = runs.step(codes[:, t])
            scored[cells[going & ~runs.over & mask[:, t]]] = True
    sets = [[one is None or x in one for x in pda.input_alphabet] for one in tables.tables.outputs]
    return Claim(
        pda,
        tables,
        letters=np.array([network.alphabet.index(symbol) for symbol in pda.input_alphabet], np.int64),
        numbers=numbers,
        scored=scored,
        recognition=network.task_kind == "recognition",
        expected=np.array(sets) if network.task_kind == "next set" else None,
        partial=network.task_kind not in ("recognition", "next set"),
        stacks=stacks if network.n_stacks else (),
        state_stacks=state_stacks,
        domain=None if reference is None else RunTables.of(reference),
        all_in_state=not network.n_stacks,
        whole_stacks=network.depth > 1,
    )


def _automata_asked(
    result: Extraction, which: str | PushdownAutomaton, seed: int
) -> dict[str, tuple[PushdownAutomaton, StackUse]]:
    """Return the automata that are asked for by name, with the stacks that each sees; an equal one stands once."""
    if isinstance(which, PushdownAutomaton):
        return {"given": (which, result.stacks)}
    if which not in ("all", *_NAMES):
        raise StacklensError(f"automaton is {which!r:.40}; expected all, {', '.join(_NAMES)}, or an automaton")
    found = {"minimised": (result.automaton, result.stacks)}  # raises where there is none
    if result.raw is not None:
        found["raw"] = result.raw, result.stacks
    if which in ("all", "learned", "clusters"):
        found |= _found_otherwise(result, seed)
    reference = None if result.language is None else result.language.automaton()
    if reference is not None and reference.n_stacks == result.automaton.n_stacks:
        found["reference"] = reference, result.stacks
    if which not in ("all", *found):
        raise StacklensError(f"there is no {which} automaton of this network that has its stacks")
    return found if which == "all" else {which: found[which]}


def _found_otherwise(result: Extraction, seed: int) -> dict[str, tuple[PushdownAutomaton, StackUse]]:
    """Return what was learned beside clusters, or is learned now, or the clusters beside what was learned."""
    second = result.second
    if second is None and result.found is not None and result.found.method == "kmeans" and result.view is None:
        samples, without = draw_samples(result.model, result.language, seed), result.stacks.without(result.model)
        scorer = Scorer(without, samples, seed, result.language, whole=result.model)
        second = next((one for one in learned_candidates(scorer, over=Budget(_LEARNING).over) if one.exact), None)
    if second is None or second.automaton is None or second.by_asking:
        return {}
    stacks = result.stacks.seeing(second.stacks)
    if second.automaton.n_stacks != len(stacks.stacks):  # it sees stacks that this result does without
        return {}
    if second.method == "kmeans":
        return {"clusters": (second.raw or second.automaton, stacks)}
    return {"learned": (second.automaton, stacks)}


def _is_equal(result: Extraction, pda: PushdownAutomaton) -> bool | None:
    task = result.language if isinstance(result.proof, Equal) else None
    if pda == result.automaton or (task is not None and isinstance(task.compare(pda), Equal)):
        return True
    found = compare(result.automaton, pda, outputs=compared_outputs(result.automaton))
    return None if isinstance(found, Undecided) else isinstance(found, Equal)


def _is_renamed(one: PushdownAutomaton, other: PushdownAutomaton) -> bool:
    """Return whether two automata are the same but for the names of states and stack symbols, all of which are met."""
    ways = ("n_stacks", "acceptance", "initial_output", "accepting_outputs", "end_marker")
    if any(getattr(one, name) != getattr(other, name) for name in ways):
        return False
    # both are walked together, from head to head, and every name that is met has one in the other
    states, symbols, left = {one.initial: other.initial}, {one.bottom: other.bottom}, dict(one.transitions)
    while met := [key for key in left if key[0] in states and symbols.keys() >= set(key[2])]:
        for state, letter, tops in met:
            mine = left.pop((state, letter, tops))
            its = other.transitions.get((states[state], letter, tuple(symbols[top] for top in tops)))
            if its is None or mine.output != its.output or states.setdefault(mine.target, its.target) != its.target:
                return False
            for own, there in zip(mine.operations, its.operations, strict=True):
                if own.name != there.name:
                    return False
                if own.push and there.push and symbols.setdefault(own.push, there.push) != there.push:
                    return False
    names = len(set(states.values())) == len(states) and len(set(symbols.values())) == len(symbols)
    accepting = {states[state] for state in one.accepting if state in states} == other.accepting & {*states.values()}
    return names and accepting and not left and len(one.transitions) == len(other.transitions)


def _random(network: StackModel[Any], result: Extraction, seed: int) -> StackModel[Any] | None:
    """Return a rounded network of the same shape that was never trained; None where its kind cannot be built."""
    try:
        made = build_model(result.model.name, result.model.config(), seed=seed).to(next(network.parameters()).dtype)
    except (StacklensError, StopIteration):
        return None
    if result.view is None:
        return Rounded(made.eval())
    return next((one for one in views_of(made.eval()) if one.title == result.view.name), None)


def _networks(result: Extraction) -> tuple[StackModel[Any], StackModel[Any], StackModel[Any] | None]:
    """Return the network that the automaton is of, the rounded one, and the network; a view itself twice, and None."""
    model = result.model
    if not model.real_time:
        raise StacklensError("the network reads and writes when it likes; interchanges need a step a symbol")
    if result.found is not None and result.found.by_asking and model.n_stacks:
        raise StacklensError(
            "the automaton was learned from answers alone: it does not say what its stack is in the network"
        )
    if result.view is None:
        return model, Rounded(model), model
    view = next((one for one in views_of(model) if one.title == result.view.name), None)
    if view is None:
        raise StacklensError(f"the network has no view called {result.view.name}")
    return view, view, None
