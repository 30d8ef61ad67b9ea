"""Results in files: what is saved and read again, and what of a saved one still holds when it is shown again."""

from __future__ import annotations

import copy
import hashlib
import json
import platform
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import torch

from .. import __version__
from ..automata.compare import Equal
from ..automata.enumeration import is_all
from ..automata.formats.json import from_json, to_json, to_json_line
from ..automata.pda import PushdownAutomaton
from ..core.errors import FileFormatError, StacklensError, UnknownNameError, in_file
from ..core.files import check_ending, from_plain, parse_json, put_off, read_text, to_plain, write_whole
from ..languages.catalogue import is_path, language_from_text
from ..languages.language import format_word
from ..models.base import NetworkCard, card_of
from ..models.checkpoint import open_card
from ..models.rounding import Rounded
from .agreement import Certification, Certified, differ_on
from .by_name import specification_for, subject_named
from .certificate.certify import certification
from .horizon import FirstDifference, Horizon, horizons_of, known_horizons, proved_lengths, shortest_of
from .result import Extraction, Loaded
from .search.candidates import Candidate, _Tried
from .specification import Specification, check_same_alphabet
from .wording import word_shown

_LARGEST_SHOWN = 5_000  # transitions of an automaton whose claims are shown again
_NETWORK = ("weights", "kind", "alphabet", "task_kind", "n_stacks", "stack_limit")  # what claims speak of
_LONGEST_SHOWN = 2_000  # symbols of a word that networks run again


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
    """Return the fields of ``result`` with proof, certificate and differences shown again. Raises StacklensError: the
    automaton is too large for that, its network or language is gone, or they do not fit.
    """
    if len(pda.transitions) > _LARGEST_SHOWN:
        raise StacklensError(f"{len(pda.transitions):,} transitions are more than can be looked at at once")
    model, specification = result.model, result.language
    check_same_alphabet(specification, model)
    mine = card_of(model)
    if strange := [name for name in _NETWORK if getattr(mine, name) != getattr(loaded.card, name)]:
        raise StacklensError(f"{mine.name} has other {', '.join(strange)} than the file says of its network")
    proof, certificate, shown, refuted = result.proof, result.certificate, list[str](), list[str]()
    # a proof needs the automaton and the language only
    if specification is not None:
        proof = (specification.compare if model.real_time else specification.compare_written)(pda)
        shown.append("proof")
        if isinstance(result.proof, Equal) and not isinstance(proof, Equal):
            refuted.append(f"that the automaton is proved equal to {specification.name}")
    # boxes around the states, made anew for the weights that are there
    if isinstance(certificate.certificate, Certified):
        certificate = certification(model, pda, result.stacks, specification, view=result.view)
        shown.append("certificate")
        if not isinstance(certificate.certificate, Certified):
            refuted.append("that the rounded network is certified to follow it")
    answers = result.found is not None and result.found.by_asking and model.action_kind != "none"
    # words on which a network leaves the automaton: run again, unless they are long
    differences = {other: horizon.difference for other, horizon in result.horizon.items()}
    unread = set[str]()
    for other, first in differences.items():
        runner = Rounded(model) if other == "rounded network" else model
        asked = answers and other == "rounded network"  # then it was the network's answers that were looked at
        if first is not None and (asked or len(first.word) > _LONGEST_SHOWN):
            unread.add(other)
        elif first is not None and not differ_on(pda, runner, None, [first.word], specification).any():
            unread.add(other)
            word = word_shown(format_word(first.word), len(first.word))
            refuted.append(f"that {other} and automaton differ on {word}")
    shown += [f"difference.{other}" for other in differences if other not in unread]
    horizon = _horizons_again(result, differences, certificate, "proof" in shown and isinstance(proof, Equal))
    certified = [other for other, one in horizon.items() if one.shown_by == "certificate" and other not in unread]
    shown += [f"horizon.{other}" for other in certified]  # all else rests on words that the file counts
    loaded = replace(loaded, shown=tuple(shown), refuted=tuple(refuted))
    return {"proof": proof, "certificate": certificate, "horizon": horizon, "loaded": loaded}


def _horizons_again(
    result: Extraction, differences: Mapping[str, FirstDifference | None], certificate: Certification, equal: bool
) -> dict[str, Horizon]:  # nothing is run
    known, partial_domain = result.horizon, any(one.domain != "all words" for one in result.horizon.values())
    alike = known.get("network") == known.get("rounded network")  # of a network without actions both are one
    return horizons_of(result.checks, partial_domain, differences, proved_lengths(certificate, equal), alike)


# ---- A result as a file: the report to be read, and beside it every field as plain data, to be read back.
#
# Nothing of a file is ever run. What is read back draws the same automaton and is equal to what was saved. Digests
# bind its claims to automaton, weights and settings, so that a file that was changed is refused; since anybody can
# compute them again, its claims stay those of a file, and are marked so, until `checked_again` has shown them.
# Candidates are kept without their machines, but for the automaton that was found.

RESULT_FORMAT, _SCHEMA = "stacklens result", 2
_EXPECTED = "a result that stacklens saved"
_NOT_PLAIN = ("model", "language", "minimised", "found", "candidates", "loaded", "second", "asked")
_NO_OUTCOME = ("seconds", "config")
_PLACES = ("name", "file", "path")  # of a network, which may be moved
_MOST_STACKS = 10_000
_NAME: Any = str | None


def outcome(result: Extraction) -> dict[str, Any]:
    """Return all that came out of a network as plain data, by which results are compared; nothing of what it took."""
    card = to_plain(result.network)
    network = {name: card[name] for name in ("weights", "kind", "alphabet", "config")}
    plain = {name: value for name, value in _plain_fields(result).items() if name not in _NO_OUTCOME}
    return {"network": network, "language": result.language_name, "automata": _automata_by_name(result), **plain}


def versions_used() -> dict[str, str]:
    """Return the versions of Python, of stacklens and of the libraries that figures may depend on, by name."""
    return {
        "stacklens": __version__,
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "numpy": np.__version__,
    }


def save_result(path: str | Path, result: Extraction) -> None:
    """Write ``result`` to a .json file, whole or not at all. Raises StacklensError: another suffix, no such place."""
    check_ending(Path(path), [".json"])
    content = {
        "format": RESULT_FORMAT,
        **to_plain(result.report()),
        "schema": _SCHEMA,
        "versions": versions_used(),
        "automata": _automata_by_name(result),
        "fields": _plain_fields(result),
    }
    with suppress(StacklensError):  # the file of a loaded result's language is gone
        if (text := getattr(getattr(result.language, "language", None), "text", None)) is not None:
            content["language_text"] = text  # of a grammar's or automaton's file, which may go as well
    content["digests"] = _digests(content)
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # the name of a file, a language's for instance, need not be text
        text = json.dumps(content, indent=1, allow_nan=False)
    write_whole(path, text + "\n")


def _digests(content: Mapping[str, Any]) -> dict[str, str]:
    """Return the hashes of automata, network and settings, and the one that binds all claims to them."""
    network = {name: value for name, value in content["network"].items() if name not in _PLACES}
    parts = {
        "automata": content["automata"],
        "network": network,
        "settings": [content.get("language"), content["fields"].get("config")],
        "claims": {**{name: value for name, value in content.items() if name != "digests"}, "network": network},
    }
    plain = {name: json.dumps(part, sort_keys=True, separators=(",", ":")) for name, part in parts.items()}
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in plain.items()}


def _check_digests(content: Mapping[str, Any]) -> None:
    """Check that a file is as it was saved, where it has digests, which earlier versions did not write."""
    if "digests" not in content:
        return
    kept = content["digests"]
    for name, digest in _digests(content).items():
        if not isinstance(kept, dict) or kept.get(name) != digest:
            raise StacklensError(
                f"was changed since it was saved: digests {name} is not that of its {name}; extract again"
            )


def _plain_fields(result: Extraction) -> dict[str, Any]:
    """Return the fields that are plain data all through, and the candidates without their machines."""
    names = [one.name for one in fields(Extraction) if one.name not in _NOT_PLAIN]
    plain = {name: to_plain(getattr(result, name)) for name in names}
    others = {"found": result.found, "second": result.second, "asked": result.asked}
    return {
        **plain,
        **{name: None if one is None else to_plain(_without_machine(one)) for name, one in others.items()},
        "candidates": [to_plain(_without_machine(one)) for one in result.candidates],
    }


def _without_machine(candidate: Candidate) -> _Tried:
    return _Tried(**{one.name: getattr(candidate, one.name) for one in fields(_Tried)})


def _automata_by_name(result: Extraction) -> dict[str, Any]:
    """Return the automaton, the machine before minimisation, and what came nearest where that is something else."""
    nearest = None if result.found is None or result.found.automaton == result.minimised else result.found.automaton
    automata = {"minimised": result.minimised, "raw": result.raw, "nearest": nearest}
    for name, other in (("second", result.second), ("asked", result.asked)):
        if other is not None:
            automata |= {name: other.automaton, f"{name} raw": other.raw}
    plain = {name: None if pda is None else json.loads(to_json(pda)) for name, pda in automata.items()}
    merged = result.merged  # for who reads the file: it follows from the two, and is not read back
    if merged is not None:
        plain["merged"] = {"states": dict(merged.states), "stack_symbols": dict(merged.stack_symbols)}
    return plain


def is_result(path: str | Path) -> bool:
    """Return whether the file at ``path`` says that it is a saved result; errors as of `read_text`."""
    try:
        return parse_json(read_text(path, _EXPECTED), _EXPECTED).get("format") == RESULT_FORMAT
    except FileFormatError:
        raise
    except StacklensError:  # no JSON: the reader that comes next says what is wrong
        return False


def load_result(path: str | Path, trusted: bool = False) -> Extraction:
    """Return the result in the file at ``path``; its network and language are opened when they are touched.

    Its claims are as stored, unless it is ``trusted``: it comes with stacklens. Raises FileFormatError, in one line.
    """
    with in_file(path):
        return _from_content(parse_json(read_text(path, _EXPECTED), _EXPECTED), Path(path).parent, trusted)


def _from_content(content: Mapping[str, Any], folder: Path, trusted: bool) -> Extraction:
    if content.get("format") != RESULT_FORMAT:
        raise StacklensError(f'no result: it lacks "format": "{RESULT_FORMAT}"; expected {_EXPECTED}')
    if type(content.get("schema")) is not int or content["schema"] != _SCHEMA:
        raise StacklensError(f"a result of another schema than {_SCHEMA}, which this stacklens reads")
    plain, automata = _object(content, "fields"), _object(content, "automata")
    card = from_plain(NetworkCard, content.get("network"), "network")
    language = from_plain(_NAME, content.get("language"), "language name")
    minimised, raw, nearest = (_read_automaton(automata, name) for name in ("minimised", "raw", "nearest"))

    def candidate(name: str, raw: PushdownAutomaton | None, pda: PushdownAutomaton | None) -> Candidate | None:
        found = plain.get(name)
        return None if found is None else replace(_candidate(found, name), raw=raw, automaton=pda)

    others: dict[str, Any] = {
        name: candidate(name, _read_automaton(automata, f"{name} raw"), _read_automaton(automata, name))
        for name in ("second", "asked")
    }
    best = candidate("found", raw, minimised if nearest is None else nearest)
    if minimised is not None and (best is None or raw is None):
        raise StacklensError("has automata minimised, and lacks what it was found as: fields found, automata raw")
    hints, plain_candidates = get_type_hints(Extraction), plain.get("candidates")
    if not isinstance(plain_candidates, list):
        raise StacklensError(f"lacks candidates; expected {_EXPECTED}")
    for name in ("fidelity", "stacks"):
        if name not in plain:
            raise StacklensError(f"fields lacks {name}; expected {_EXPECTED}")
    names = [one.name for one in fields(Extraction) if one.name not in _NOT_PLAIN and one.name in plain]
    result = Extraction(
        model=None,  # type: ignore[arg-type]  # opened when it is first asked for
        language=None,
        minimised=minimised,
        found=best,
        candidates=[_candidate(one, f"candidates {i + 1}") for i, one in enumerate(plain_candidates)],
        loaded=Loaded(card, language, trusted),
        **others,
        **{name: from_plain(hints[name], plain[name], name) for name in names},
    )
    _check_parts(result)
    _check_digests(content)
    # horizons follow from checks and differences, which are run again on the automaton alone
    pda, horizon, equal = result.minimised, dict[str, Horizon](), isinstance(result.proof, Equal)
    if pda is not None and "horizon" in plain:
        words = {other: one.difference for other, one in result.horizon.items()}
        known = {other: one and shortest_of(pda, [(one.word, one.kind)]) for other, one in words.items()}
        horizon = _horizons_again(result, known, result.certificate, equal)
    elif pda is not None:  # saved before there were any: what its checks know
        exhaustive = [check for check in result.checks if check.kind == "exhaustive"]
        partial = not all(is_all(len(card.alphabet), check.max_length, check.words) for check in exhaustive)
        horizon = known_horizons(pda, result.checks, partial, proved_lengths(result.certificate, equal))
    result = replace(result, horizon=horizon)
    put_off(result, model=lambda: open_card(card, folder))
    if language is None:
        return result
    text = content.get("language_text")
    return put_off(result, language=lambda: _specification(language, card, text))


def _check_parts(result: Extraction) -> None:
    """Check what no type says of a result's parts."""
    counts, parted, use = result.counts, result.divergence, result.stacks
    for i, check in enumerate(result.checks):
        if check.other not in ("language", "network", "rounded network"):
            raise StacklensError(f"checks {i + 1} other is {check.other!r:.40}; expected language or a network")
        if not 0 <= check.disagreements <= check.words or (check.counterexample is None) == bool(check.disagreements):
            raise StacklensError(f"checks {i + 1} has other disagreements than words and its counterexample say")
    numbers = (*use.kept, *use.push_only, *use.unseen, *(one.stack for one in use.dropped), *result.memories)
    if strange := [number for number in numbers if not 0 <= number < _MOST_STACKS]:
        raise StacklensError(f"stacks, or memories of the view, are {strange[0]}; expected numbers of stacks, from 0")
    letters = set(result.network.alphabet)
    for other, one in result.horizon.items():
        if one.difference is not None and not set(one.difference.word) <= letters:
            raise StacklensError(f"horizon {other} difference word is not over the network's alphabet")
    if counts is not None and len(counts.exhaustive) != len(counts.counted):
        raise StacklensError("counts are of different lengths; expected one number a length, twice")
    if parted is not None and parted.first is not None and not 0 <= parted.first < len(parted.moments):
        raise StacklensError(f"divergence first is {parted.first}; expected one of {len(parted.moments)} steps")


def _specification(name: str, card: NetworkCard, text: object) -> Specification | None:
    try:
        outputs = card.config.get("output_alphabet") or card.alphabet
        if isinstance(text, str) and is_path(name) and card.task_kind in ("recognition", "next set"):
            return specification_for(language_from_text(text, name), card.task_kind, outputs)
        return specification_for(subject_named(name, card.task_kind, card.alphabet, outputs), card.task_kind, outputs)
    except StacklensError as error:
        if not isinstance(error, UnknownNameError) and not is_path(name):
            raise  # a path in the file is not opened to say more of it: a result may name any
        raise FileFormatError(
            f"the result was checked against {name}, which is not in its file and no language or task of ours: give it "
            "again as language=…"
        ) from None


def _candidate(value: object, where: str) -> Candidate:
    tried = from_plain(_Tried, value, where)
    return Candidate(**{one.name: getattr(tried, one.name) for one in fields(_Tried)})


def _read_automaton(automata: Mapping[str, Any], name: str) -> PushdownAutomaton | None:
    value = automata.get(name)
    try:
        pda = None if value is None else from_json(json.dumps(value))
    except StacklensError as error:
        raise StacklensError(f"the {name} automaton: {error}") from None
    for text in () if pda is None else re.findall(r'"((?:[^"\\]|\\.)*)"', to_json_line(pda)):
        if not json.loads(f'"{text}"').isprintable():
            raise StacklensError(f"the {name} automaton holds {text[:60]!r}; expected printable characters")
    return pda


def _object(content: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = content.get(name)
    if not isinstance(value, dict):
        raise StacklensError(f"lacks {name}; expected {_EXPECTED}")
    return value
