"""Proof files: what shows a certificate and the equality of automata, whole, for `stacklens.check_proof` to check.

The checker shares no line with what makes the proofs; a file that it refuses is not written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from ...automata.compare import LIMIT, Equal
from ...automata.finite import FiniteAutomaton, is_accepting
from ...automata.formats.json import to_json
from ...automata.pda import PushdownAutomaton, State, Symbol
from ...automata.product import Outputs
from ...automata.rewriting import real_time_form
from ...automata.summaries import Event, PushdownStep, shortest_runs
from ...core.errors import StacklensError
from ...core.files import write_whole
from ...core.imports import above
from ...models.base import StackModel
from ...models.checkpoint import card_of, checkpoint_for, save_model
from ..result import Extraction
from .abstraction import Place, TooMany
from .certify import LAYOUTS, Proof, prove, task_domain
from .claim import Certified

_FORMAT, _VERSION = "stacklens proof", 1
_Cells = tuple[Symbol, ...]
_Pair = tuple[Symbol | None, Symbol | None]  # None: of a run that is cut, or of an automaton that never pushes
_HIGHEST = 8  # cells that one stack may be higher than the other


class _Joint(NamedTuple):
    states: tuple[State | None, State | None]
    above: tuple[_Cells, _Cells]
    good: tuple[bool, bool]
    word: State | None


class _Side(NamedTuple):
    state: State | None
    cells: _Cells
    good: bool


def save_proof(path: str | Path, result: Extraction) -> str:
    """Write what proves ``result`` to ``path``, which should end in .json, and return what it proves.

    Raises:
        StacklensError: another suffix, nothing is proved, the network is of a kind or the automata are such that the
            checker does not know, or the file cannot be written.
    """
    if Path(path).suffix != ".json":
        raise StacklensError(f"cannot write {path}: expected a name that ends in .json")
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
    automaton = json.loads(to_json(pda))
    digest = hashlib.sha256(json.dumps(automaton, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "network": {"kind": model.name, "weights": card_of(model).weights},
        "automaton": automaton,
        "automaton_sha256": digest,
        "certificate": None if proof is None else _written_certificate(proof),
        "equality": equality,
    }


def _certificate(result: Extraction) -> tuple[Proof | None, str]:
    """Return the certificate with its boxes, made anew, or why there is none."""
    found = result.certificate
    if not isinstance(found.certificate, Certified):
        return None, "there is no certificate for every length"
    domain = None if found.words == "all" else task_domain(result.language)
    layouts = [layout for layout in LAYOUTS if layout.hidden is None]  # the checker knows no grids
    proof = prove(result.model, result.automaton, domain, stacks=result.stacks.stacks, layouts=layouts)
    return (proof, "") if isinstance(proof, Proof) else (None, proof.reason)


def _written_certificate(proof: Proof) -> dict[str, Any]:
    system, claim = proof.system, proof.certificate.to_dict()
    boxes = [
        {
            "stack": None if isinstance(key, Place) else key.stack,
            "tag": list(key.tag),
            **{side: [float(x).hex() for x in bound] for side, bound in zip(("low", "high"), bounds, strict=True)},
        }
        for key, bounds in proof.bounds.items()
    ]
    layout = system.layout
    return {
        "claims": {name: claim[name] for name in ("number_format", "stack_limit", "margin", "gap", "itself")},
        "stacks": list(system.stacks),
        "layout": {"tops": layout.tops, "value_tops": layout.value_tops, "steps": layout.steps},
        "domain": None if system.domain is None else _written_domain(system.domain),
        "boxes": boxes,
    }


def _written_domain(domain: FiniteAutomaton) -> dict[str, Any]:
    steps = [[state, letter, target] for (state, letter), target in domain.transitions.items()]
    return {"initial": domain.initial, "steps": steps}


def _equality(result: Extraction) -> dict[str, Any] | None:
    """Return what shows that the automaton equals the language's, None where that is not proved or cannot be shown."""
    asked = None if result.language is None else result.language.question()
    if not isinstance(result.proof, Equal) or asked is None or not result.model.real_time:
        return None
    reference, outputs, acceptance = asked
    reference = real_time_form(reference, "a proof needs")
    if any(
        pda.n_stacks > 1 or pda.end_marker is not None or not pda.real_time for pda in (result.automaton, reference)
    ):
        return None
    domain = None if result.certificate.words == "all" else task_domain(result.language)
    relation = _relation((result.automaton, reference), outputs, domain)
    if relation is None:
        return None
    names = {"all": "all", "where b": "where the language has one", "ignore": "none"}
    return {
        "language": result.language_name,
        "reference": json.loads(to_json(reference)),
        "outputs": names[outputs],
        "acceptance": acceptance,
        "relation": relation,
    }


def _relation(
    pair: tuple[PushdownAutomaton, PushdownAutomaton], outputs: Outputs, domain: FiniteAutomaton | None
) -> list[Any] | None:
    """Return all heads that two automata show side by side, or None where their heights part or there are too many.

    What lies above the lower stack is in the control; a run that is cut, or that has no pushes, has no cells.
    """
    seen: dict[tuple[_Joint, _Pair | None], None] = {}
    stacked = [any(step.operations[0].push is not None for step in pda.transitions.values()) for pda in pair]

    def moves(control: _Joint, top: _Pair | None) -> Iterator[PushdownStep[_Joint, _Pair] | Event[str]]:
        seen[control, top] = None
        word = control.word
        known = [_known_cells(control, top, i) if stacked[i] else () for i in (0, 1)]
        for letter in pair[0].input_alphabet:
            a, b = (_side_step(pda, control.states[i], known[i], letter) for i, pda in enumerate(pair))
            if b.state is None and (a.state is None or outputs == "where b"):
                continue
            # the pairs reach as high as the lowest stack that there is, and grow by one at most
            there = [has and side.state is not None for side, has in zip((a, b), stacked, strict=True)]
            level = 0 if top is None else 1
            heights = [len(side.cells) for side, counts in zip((a, b), there, strict=True) if counts]
            common = min([level + 1, *heights]) if heights else level
            above = a.cells[common:] if there[0] else (), b.cells[common:] if there[1] else ()
            if max(map(len, above)) > _HIGHEST:
                raise TooMany
            pairs: tuple[_Pair, ...] = () if top is None else (top,)
            if common < level:
                pairs = ()
            elif heights and common:
                last = common - 1
                pair_now = a.cells[last] if there[0] else None, b.cells[last] if there[1] else None
                pairs = (*pairs[:last], pair_now)
            after = None if domain is None else domain.step(word, letter)
            yield PushdownStep(letter, _Joint((a.state, b.state), above, (a.good, b.good), after), pairs)

    good = [is_accepting(pda, pda.initial_output) for pda in pair]
    start = _Joint(
        (pair[0].initial, pair[1].initial), ((), ()), (good[0], good[1]), None if domain is None else domain.initial
    )
    try:
        if not shortest_runs(start, moves, LIMIT).complete:
            return None
    except TooMany:
        return None
    return [list(head) for head in seen]


def _known_cells(control: _Joint, top: _Pair | None, side: int) -> _Cells:
    if control.states[side] is None:
        return ()
    cell = None if top is None else top[side]
    return (*(() if cell is None else (cell,)), *control.above[side])


def _side_step(pda: PushdownAutomaton, state: State | None, cells: _Cells, letter: Symbol) -> _Side:
    step = None if state is None else pda.transitions.get((state, letter, (cells[-1] if cells else pda.bottom,)))
    if step is None:
        return _Side(None, (), False)
    below = cells[:-1] if step.operations[0].pop else cells
    laid = step.operations[0].push
    return _Side(step.target, below if laid is None else (*below, laid), is_accepting(pda, step.output))
