"""Proof files: what shows a certificate and the equality of automata, whole, for `stacklens.check_proof` to check.

The checker shares no line with what makes the proofs; a file that it refuses is not written.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ...automata.compare import (
    BOUNDS,
    LIMIT,
    ControlPair,
    Equal,
    Outputs,
    Pair,
    PairMove,
    Parted,
    Product,
    side_by_side,
)
from ...automata.finite import FiniteAutomaton
from ...automata.formats.json import to_json
from ...automata.pda import PushdownAutomaton, State
from ...automata.rewriting import real_time_form
from ...automata.summaries import shortest_runs
from ...core.errors import StacklensError
from ...core.files import check_ending, write_whole
from ...core.imports import above
from ...models.base import StackModel, card_of, checkpoint_for
from ...models.checkpoint import save_model
from ...models.views import BufferSteps
from ..agreement import Certified
from ..result import Extraction
from .abstraction import Place
from .certify import LAYOUTS, Proof, prove, task_domain

_FORMAT, _VERSION = "stacklens proof", 1


def save_proof(path: str | Path, result: Extraction) -> str:
    """Write what proves ``result`` to a .json file, and return what it proves. Raises StacklensError: nothing is
    proved, the checker does not know such a network or such automata, or the file cannot be written.
    """
    check_ending(Path(path), [".json"])
    text = json.dumps(proof_content(result), indent=1, allow_nan=False) + "\n"
    with TemporaryDirectory() as folder:  # nothing is written that the checker would refuse
        network, proof = Path(folder) / "net.pt", Path(folder) / "proof.json"
        save_model(network, checkpoint_for(result.model))
        proof.write_text(text)
        status, shown = above("stacklens.check_proof.verdict", tuple)(str(network), str(proof))
    if status:
        raise StacklensError(f"no proof was written, since the checker says: {shown}")
    write_whole(path, text)
    return str(shown).removeprefix("proved: ")


def proof_content(result: Extraction) -> dict[str, Any]:
    """Return the content of a proof file; for errors see `save_proof`."""
    pda = result.automaton
    proof, why = _certificate(result)
    equality = _equality(result)
    # which words count is shown by the side of the language's automaton
    if proof is not None and proof.system.domain is not None and equality is None:
        proof, why = None, "the certificate is of the task's words only, and no relation shows which these are"
    if proof is None and equality is None:
        raise StacklensError(f"no proof was written: {why}, and that it equals the language is not proved either")
    return written(result.model, pda, proof, equality)


def written(
    model: StackModel[Any], pda: PushdownAutomaton, proof: Proof | None, equality: dict[str, Any] | None
) -> dict[str, Any]:
    """Return the content of the file for a network, its automaton, and what is proved of both."""
    certificate = None
    if proof is not None:
        system, claim, domain = proof.system, proof.certificate.to_dict(), None
        boxes = [
            {
                "stack": None if isinstance(key, Place) else key.stack,
                "tag": list(key.tag),
                **{side: [float(x).hex() for x in bound] for side, bound in zip(("low", "high"), bounds, strict=True)},
            }
            for key, bounds in proof.bounds.items()
        ]
        if system.domain is not None:
            steps = [[state, letter, target] for (state, letter), target in system.domain.transitions.items()]
            domain = {"initial": system.domain.initial, "steps": steps}
        if system.model.action_kind == "signed" and system.model.end is not None:
            claim |= {"gap": 0.0, "itself": False}  # the checker also asks for whole actions at the end symbol
        claim |= {name: claim[name] and claim[name] * (1 - 2.0**-40) for name in ("margin", "gap")}  # sums in any order
        certificate = {
            "claims": {name: claim[name] for name in ("number_format", "stack_limit", "margin", "gap", "itself")},
            "stacks": list(system.stacks),
            "layout": {name: getattr(system.layout, name) for name in ("tops", "value_tops", "steps")},
            "domain": domain,
            "boxes": boxes,
        }
    automaton = json.loads(to_json(pda))
    digest = hashlib.sha256(json.dumps(automaton, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "network": {"kind": model.name, "weights": card_of(model).weights},
        "automaton": automaton,
        "automaton_sha256": digest,
        "certificate": certificate,
        "equality": equality,
    }


def _certificate(result: Extraction) -> tuple[Proof | None, str]:
    found = result.certificate
    if not isinstance(found.certificate, Certified):
        return None, "there is no certificate for every length"
    view = result.view.name if result.view is not None else None if result.model.real_time else BufferSteps.title
    if view is not None:
        return None, f"the checker knows stacks, and this network is followed with {view}"
    domain = None if found.words == "all" else task_domain(result.language)
    # the checker knows no grids, and one box for all that lies on a stack that is not followed
    layouts = [layout for layout in LAYOUTS if layout.hidden is None and not layout.others]
    proof = prove(result.model, result.automaton, domain, stacks=result.stacks.stacks, layouts=layouts)
    return (proof, "") if isinstance(proof, Proof) else (None, proof.reason)


def _equality(result: Extraction) -> dict[str, Any] | None:
    """Return what shows that the automaton equals the language's, None where that is not proved or cannot be shown."""
    asked = None if result.language is None else result.language.question()
    if not isinstance(result.proof, Equal) or asked is None or not result.model.real_time:
        return None
    reference, outputs, acceptance = asked
    pair = result.automaton, real_time_form(reference, "a proof needs")
    if any(pda.n_stacks > 1 or pda.end_marker is not None or not pda.real_time for pda in pair):
        return None
    domain = None if result.certificate.words == "all" else task_domain(result.language)
    relation = relation_of(pair, outputs, domain)
    if relation is None:
        return None
    names = {"all": "all", "where b": "where the language has one", "ignore": "none"}
    return {
        "language": result.language_name,
        "reference": json.loads(to_json(pair[1])),
        "outputs": names[outputs],
        "acceptance": acceptance,
        "relation": relation,
    }


def relation_of(
    pair: tuple[PushdownAutomaton, PushdownAutomaton], outputs: Outputs, domain: FiniteAutomaton | None
) -> list[Any] | None:
    """Return all heads that two automata show side by side, or None where their heights part or there are too many."""
    shown = side_by_side(*pair)
    owns = [_own_states(new, old) for new, old in zip(shown, pair, strict=True)]
    plain = [new is old for new, old in zip(shown, pair, strict=True)]
    both, seen = Product(shown, domain, outputs, BOUNDS[-1]), dict[tuple[ControlPair, Pair | None], None]()

    def moves(control: ControlPair, top: Pair | None) -> Iterator[PairMove]:
        seen[control, top] = None
        return both.moves(control, top)

    found = shortest_runs(both.start, moves, LIMIT)
    if not found.complete or any(isinstance(event, Parted) for event in found.lengths):
        return None
    heads = []
    for control, top in seen:
        states = [None if state is None else own[state] for state, own in zip(control.states, owns, strict=True)]
        above = [[cell.symbol for cell in side] for side in control.above]
        cells = top and [cell.symbol if cell and kept else None for cell, kept in zip(top, plain, strict=True)]
        heads.append([[states, above, control.good, control.domain], cells])
    return heads


def _own_states(pda: PushdownAutomaton, without: PushdownAutomaton) -> dict[State, State]:
    """Return which state of an automaton ``without`` a stack each state of ``pda`` is, which has been given one."""
    if pda is without:
        return {state: state for state in pda.states}
    own, size = {pda.initial: without.initial}, 0
    while size < len(own):
        size = len(own)
        for (state, letter, _), step in pda.transitions.items():
            if state in own:
                own[step.target] = without.transitions[own[state], letter, (without.bottom,)].target
    return own
