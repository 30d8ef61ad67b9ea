"""What a result says as plain data, which saved results, page and tables read, and what of a saved one still holds."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from stacklens.automata.compare import Comparison, Different, Equal
from stacklens.automata.pda import PushdownAutomaton
from stacklens.errors import StacklensError
from stacklens.extract.certificate.certify import certification
from stacklens.extract.certificate.claim import Certified
from stacklens.extract.equals import equals_of
from stacklens.extract.partings import BlackBoxView
from stacklens.extract.search.candidates import Candidate
from stacklens.extract.specification import check_same_alphabet
from stacklens.extract.verification.agreement import differing
from stacklens.extract.verification.horizon import horizons_again, proved_lengths
from stacklens.extract.wording import word_shown
from stacklens.languages.words import format_word, make_word
from stacklens.models.origin import card_of
from stacklens.models.rounding import Rounded
from stacklens.plain_fields import to_plain

if TYPE_CHECKING:
    from stacklens.extract.result import Extraction, Loaded

__all__ = ["checked_again", "proof_entry", "report_of"]

_LARGEST_SHOWN = 5_000  # transitions of an automaton whose claims are shown again
_NETWORK = ("weights", "kind", "alphabet", "task_kind", "n_stacks", "stack_limit")  # what claims speak of
_LONGEST_SHOWN = 2_000  # symbols of a word that networks run again


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
        "as_stored": list(result.as_stored),
        "refuted": [] if result.loaded is None else list(result.loaded.refuted),
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


def checked_again(result: Extraction) -> Extraction:
    """Return ``result`` with what can be shown again at once, see `Extraction.checked_again`."""
    if not result.as_stored or result.minimised is None or result.loaded is None:
        return result
    again = copy.copy(result)  # `replace` would open the network
    try:
        changes = _shown_again(result, result.automaton, result.loaded)
    except StacklensError as error:
        changes = {"loaded": replace(result.loaded, reason=str(error))}
    for name, value in changes.items():
        object.__setattr__(again, name, value)
    return again


def _shown_again(result: Extraction, pda: PushdownAutomaton, loaded: Loaded) -> dict[str, Any]:
    """Return the fields of ``result`` with proof, certificate and differences shown again.

    Raises:
        StacklensError: the automaton is too large for that, its network or language is gone, or they do not fit.
    """
    if len(pda.transitions) > _LARGEST_SHOWN:
        raise StacklensError(f"{len(pda.transitions):,} transitions are more than can be looked at at once")
    model, specification = result.model, result.language
    check_same_alphabet(specification, model)
    mine = card_of(model)
    if strange := [name for name in _NETWORK if getattr(mine, name) != getattr(loaded.card, name)]:
        raise StacklensError(f"{mine.name} has other {', '.join(strange)} than the file says of its network")
    proof, certificate, shown, refuted = result.proof, result.certificate, list[str](), list[str]()
    if specification is not None:
        proof = (specification.compare if model.real_time else specification.compare_written)(pda)
        shown.append("proof")
        if isinstance(result.proof, Equal) and not isinstance(proof, Equal):
            refuted.append(f"that the automaton is proved equal to {specification.name}")
    if isinstance(certificate.certificate, Certified):
        certificate = certification(model, pda, result.stacks, specification)
        shown.append("certificate")
        if not isinstance(certificate.certificate, Certified):
            refuted.append("that the rounded network is certified to follow it")
    answers = result.found is not None and result.found.by_asking and model.action_kind != "none"
    differences = {other: horizon.difference for other, horizon in result.horizon.items()}
    unread = set[str]()
    for other, first in differences.items():
        runner = Rounded(model) if other == "rounded network" else model
        asked = answers and other == "rounded network"  # then it was the network's answers that were looked at
        if first is not None and (asked or len(first.word) > _LONGEST_SHOWN):
            unread.add(other)
        elif first is not None and not differing(pda, runner, None, [first.word], specification).any():
            unread.add(other)
            word = word_shown(format_word(first.word), len(first.word))
            refuted.append(f"that {other} and automaton differ on {word}")
    shown += [f"difference.{other}" for other in differences if other not in unread]
    proved = proved_lengths(certificate, "proof" in shown and isinstance(proof, Equal))
    horizon = horizons_again(result.checks, result.horizon, differences, proved)
    certified = [other for other, one in horizon.items() if one.shown_by == "certificate" and other not in unread]
    shown += [f"horizon.{other}" for other in certified]  # all else rests on words that the file counts
    loaded = replace(loaded, shown=tuple(shown), refuted=tuple(refuted))
    return {"proof": proof, "certificate": certificate, "horizon": horizon, "loaded": loaded}
