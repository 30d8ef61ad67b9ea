"""Whether an extracted automaton's states and symbols are what the network computes with: the experiments set up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stacklens.automata.compiled import encode_words
from stacklens.automata.many_runs import ManyRuns, RunTables
from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.errors import StacklensError
from stacklens.extract.answers import number_table
from stacklens.extract.specification import Specification
from stacklens.languages.words import make_word
from stacklens.models.base import StackModel
from stacklens.models.device import one_thread
from stacklens.models.rounding import Rounded
from stacklens.models.views.views import views_of
from stacklens.probe.causal.claim import Claim
from stacklens.probe.causal.interchange import interchange
from stacklens.probe.causal.outcome import Causality
from stacklens.seeds import check_seed
from stacklens.whole import check_whole

if TYPE_CHECKING:
    from stacklens.extract.result import Extraction

__all__ = ["causality", "claim_of"]

_SHORT, _LONG, _LENGTHS = 1_500, 300, (6, 30)  # words on which it is found out which outputs count
_CUTS = 1_500  # prefixes of these


def causality(
    result: Extraction,
    seed: int = 0,
    *,
    automaton: str | PushdownAutomaton = "minimised",
    values: str = "source",
    cases: int = 2_000,
) -> Causality:
    """Return what interchange experiments say of the automaton of ``result``; see `probe.causal`.

    Raises:
        StacklensError: there is no automaton, or it speaks of no step of the network, or ``cases`` is no whole number
            of at least 2, or ``seed`` no seed.
    """
    if values not in ("source", "centre"):
        raise StacklensError(f"values is {values!r:.40}; expected source or centre")
    check_whole("cases", cases, 2)
    check_seed(seed)
    pda = _automaton(result, automaton)
    network, rounded, soft = _networks(result)
    words = _words(result.language, seed)
    claim = claim_of(pda, network, result.language, words, result.stacks.stacks, result.stacks.push_only)
    prefixes = [] if not claim.partial else _beginnings(words, network.alphabet, seed)
    name = automaton if isinstance(automaton, str) else "given"
    with one_thread():
        return interchange(claim, rounded, soft, prefixes, cases=cases, seed=seed, automaton=name, values=values)


def claim_of(
    pda: PushdownAutomaton,
    network: StackModel[Any],
    specification: Specification | None,
    words: list[Word],
    stacks: tuple[int, ...],
    state_stacks: tuple[int, ...] = (),
) -> Claim:
    """Return what ``pda`` claims of ``network``, of which it has the ``stacks``.

    Args:
        pda: the automaton.
        network: the network, or a view of it.
        specification: what it was trained to do, which says which outputs count; None for all.
        words: words that it was trained for, on which that is seen.
        stacks: which of the network's stacks are the automaton's.
        state_stacks: those that are part of its states.

    Raises:
        StacklensError: the automaton says what the network cannot say, or has ε-steps.
    """
    tables = RunTables.of(pda)
    return Claim(
        pda,
        tables,
        letters=np.array([network.alphabet.index(symbol) for symbol in pda.input_alphabet], np.int64),
        numbers=_numbers(tables, pda, network),
        scored=_scored(tables, pda, specification, words),
        recognition=network.task_kind == "recognition",
        expected=_expected(tables, pda) if network.task_kind == "next set" else None,
        partial=network.task_kind not in ("recognition", "next set"),
        stacks=stacks if network.n_stacks else (),
        state_stacks=state_stacks,
        domain=_domain(pda, specification),
        all_in_state=not network.n_stacks,
        whole_stacks=network.depth > 1,
    )


def _automaton(result: Extraction, which: str | PushdownAutomaton) -> PushdownAutomaton:
    if isinstance(which, PushdownAutomaton):
        return which
    if which not in ("minimised", "raw"):
        raise StacklensError(f"automaton is {which!r:.40}; expected minimised, raw, or an automaton")
    minimised = result.automaton  # raises where there is none; a raw one alone was not faithful
    if which == "raw" and result.raw is None:
        raise StacklensError("there is no raw automaton: the result does not keep what came before minimisation")
    return result.raw if which == "raw" and result.raw is not None else minimised


def _networks(result: Extraction) -> tuple[StackModel[Any], StackModel[Any], StackModel[Any] | None]:
    """Return the network that the automaton speaks of, the one that runs rounded, and the network itself.

    Of a network seen as one on stacks that is the view, which is rounded, and there is no other.
    """
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


def _domain(pda: PushdownAutomaton, specification: Specification | None) -> RunTables | None:
    """Return an automaton of the words that are meant, where only some are, and one that reads ``pda``'s letters."""
    if specification is None or not specification.partial_domain:
        return None
    reference = specification.automaton()
    fits = reference is not None and reference.real_time and reference.input_alphabet == pda.input_alphabet
    return RunTables.of(reference) if fits and reference is not None else None


def _numbers(tables: RunTables, pda: PushdownAutomaton, network: StackModel[Any]) -> np.ndarray:
    if network.task_kind == "recognition":
        return np.zeros(len(tables.tables.outputs), np.int32)
    return number_table(pda, network)


def _expected(tables: RunTables, pda: PushdownAutomaton) -> np.ndarray:
    """Return which letters may come after each output, (O, X) bool; after none, any."""
    return np.array([[said is None or x in said for x in pda.input_alphabet] for said in tables.tables.outputs])


def _words(specification: Specification | None, seed: int) -> list[Word]:
    if specification is None or not specification.partial_domain:
        return []
    return [*specification.short_words(_SHORT), *specification.long_words(_LONG, _LENGTHS, seed)]


def _beginnings(words: list[Word], alphabet: tuple[str, ...], seed: int) -> list[Word]:
    """Return beginnings of ``words``, up to a step that is drawn."""
    rng = np.random.default_rng(seed)
    chosen = rng.integers(0, max(1, len(words)), _CUTS if words else 0)
    return [make_word(words[i][: rng.integers(0, len(words[i]) + 1)], alphabet) for i in chosen.tolist()]


def _scored(
    tables: RunTables, pda: PushdownAutomaton, specification: Specification | None, words: list[Word]
) -> np.ndarray:
    """Return which transitions have an output that counts on some of ``words``; all, where all outputs do."""
    size = tables.tables.target.size
    mask = None if specification is None or not words else specification.scored(words)
    if mask is None:
        return np.ones(size, np.bool_)
    codes, _ = encode_words(words, pda.input_alphabet)
    scored, runs = np.zeros(size, np.bool_), ManyRuns.start(tables, len(words))
    for t in range(codes.shape[1]):
        cells, going = runs.cells(np.maximum(codes[:, t], 0)), (codes[:, t] >= 0) & ~runs.over
        runs = runs.step(codes[:, t])
        scored[cells[going & ~runs.over & mask[:, t]]] = True
    return scored
