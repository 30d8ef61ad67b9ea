"""What a result says as plain data, which saved results, page and tables read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stacklens.automata.compare import Comparison, Different, Equal
from stacklens.automata.pda import PushdownAutomaton
from stacklens.extract.black_box import BlackBoxView
from stacklens.extract.equals import equals_of
from stacklens.extract.search.candidates import Candidate
from stacklens.languages.words import format_word, make_word
from stacklens.plain_fields import to_plain

if TYPE_CHECKING:
    from stacklens.extract.result import Extraction

__all__ = ["proof_entry", "report_of"]


def report_of(result: Extraction) -> dict[str, Any]:
    """Return everything as plain data; see `Extraction.report`."""
    network = result.network
    report = {
        "schema": 2,
        "model": {"name": network.kind, "alphabet": list(network.alphabet), "config": dict(network.config)},
        "language": result.language_name,
        "automaton": None if result.minimised is None or result.raw is None else _sizes(result.automaton, result.raw),
        "reason": result.reason,
        "stack_limit": network.stack_limit,
        "view": None if result.view is None else result.view.to_dict(),
        "stacks": result.stacks.to_dict(),
        "attempts": [candidate.to_dict() for candidate in result.candidates],
        "fidelity": result.fidelity.to_dict(),
        "checks": [check.to_dict() for check in result.checks],
        "counts": None if result.counts is None else result.counts.to_dict(),
        "divergence": None if result.divergence is None else result.divergence.to_dict(),
        "drift": None if result.drift is None else result.drift.to_dict(),
        "proof": proof_entry(result.proof),
        "certificate": result.certificate.to_dict(),
        "horizon": {other: horizon.to_dict() for other, horizon in result.horizon.items()},
        "method": None if result.found is None else result.found.method,
        "second": None if result.second is None or result.ways is None else _second(result.second, result.ways),
        "black_box": None if result.asked is None or result.box is None else _black_box(result.asked, result.box),
        "threshold": None if result.threshold is None else result.threshold.to_dict(),
        "caution": result.caution,
        "diagnosis": None if result.diagnosis is None else result.diagnosis.to_dict(),
        "best": None if result.best is None else result.best.to_dict(),
        "causality": None if result.causality is None else result.causality.to_dict(),
        "budget": None if result.budget is None else result.budget.to_dict(),
        "seconds": result.seconds,
        "seed": None if result.config is None else result.config.seed,
        "config": to_plain(result.config),
        "network": to_plain(network),
    }
    return {**report, "equals": None if result.minimised is None else equals_of(report)}


def _second(candidate: Candidate, compared: Comparison) -> dict[str, Any]:
    """Return the entry of the second automaton: how it was found, how large it is, and whether it equals the first."""
    pda = candidate.automaton
    sizes = {} if pda is None else {"states": len(pda.states), "stacks": pda.n_stacks}
    return {"method": candidate.method, "quantiser": candidate.quantiser, **sizes, "comparison": proof_entry(compared)}


def _black_box(asked: Candidate, box: BlackBoxView) -> dict[str, Any]:
    """Return the entry of what was learned from answers alone: how, how large it is, and how it compares."""
    sizes = None if asked.automaton is None or asked.raw is None else _sizes(asked.automaton, asked.raw)
    how = {"method": asked.method, "quantiser": asked.quantiser, "automaton": sizes}
    return {**how, "comparison": proof_entry(box.comparison), "proof": proof_entry(box.proof), **box.to_dict()}


def proof_entry(proof: Comparison) -> dict[str, Any]:
    """Return the entry of a report that says how a comparison came out."""
    if isinstance(proof, Equal):
        return {"verdict": "equal", "counterexample": None, "reason": None, "domain": proof.domain}
    word = None if proof.word is None else format_word(make_word(proof.word, proof.word))
    return {
        "verdict": "different" if isinstance(proof, Different) else "undecided",
        "counterexample": word,
        "reason": proof.reason,
        "domain": None,
        **({"shortest": proof.shortest} if isinstance(proof, Different) else {}),
    }


def _sizes(automaton: PushdownAutomaton, raw: PushdownAutomaton) -> dict[str, Any]:
    return {
        "states": len(automaton.states),
        "stack_symbols": len(automaton.stack_alphabet),
        "transitions": len(automaton.transitions),
        "accepting": sorted(automaton.accepting),
        "before_minimization": {
            "states": len(raw.states),
            "stack_symbols": len(raw.stack_alphabet),
            "transitions": len(raw.transitions),
        },
    }
