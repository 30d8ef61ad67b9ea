"""A result as a file: the report for whoever reads it, and beside it every field as plain data, to be read back.

Nothing of a file is ever run. What is read back prints the same summary, draws the same automaton and is equal to what
was saved. Candidates are kept without their machines, but for the automaton that was found.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import torch

from stacklens import __version__
from stacklens.automata.compare import Equal
from stacklens.automata.enumeration import count_all
from stacklens.automata.formats.by_suffix import read_text
from stacklens.automata.formats.json import from_json, to_json
from stacklens.automata.pda import PushdownAutomaton
from stacklens.errors import FileFormatError, StacklensError, UnknownNameError
from stacklens.extract.by_name import specification_for, subject_named
from stacklens.extract.result import Extraction, Loaded
from stacklens.extract.search.candidates import Candidate, ClusterSplit
from stacklens.extract.specification import Specification
from stacklens.extract.verification.horizon import Horizon, known_horizons, proved_lengths
from stacklens.files import write_whole
from stacklens.languages.catalogue import is_path, language_from_text
from stacklens.late import put_off
from stacklens.models.io import open_card
from stacklens.models.origin import NetworkCard
from stacklens.plain_fields import from_plain, parse_json, to_plain

__all__ = ["RESULT_FORMAT", "is_result", "load_result", "outcome", "save_result", "versions_used"]

RESULT_FORMAT, _SCHEMA = "stacklens result", 2
_EXPECTED = "a result that stacklens saved"
_NOT_PLAIN = ("model", "language", "minimised", "found", "candidates", "loaded", "second", "asked")
_NO_OUTCOME = ("seconds", "config")


@dataclass(frozen=True)
class _Tried:
    """What is kept of a candidate."""

    quantiser: str
    stack_symbols: int
    way: str
    states: int
    disagreements: int | None
    minority: float | None
    split: ClusterSplit | None = None
    stacks: tuple[int, ...] | None = None


def outcome(result: Extraction) -> dict[str, Any]:
    """Return all that came out of a network as plain data, by which results are compared; nothing of what it took."""
    card = to_plain(result.network)
    network = {name: card[name] for name in ("weights", "kind", "alphabet", "config")}
    plain = {name: value for name, value in _plain(result).items() if name not in _NO_OUTCOME}
    return {"network": network, "language": result.language_name, "automata": _automata(result), **plain}


def versions_used() -> dict[str, str]:
    """Return the versions of Python, of stacklens and of the libraries that figures may depend on, by name."""
    return {
        "stacklens": __version__,
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "numpy": np.__version__,
    }


def save_result(path: str | Path, result: Extraction) -> None:
    """Write ``result`` to ``path``, which should end in .json, whole or not at all.

    Raises:
        StacklensError: another suffix, or the file cannot be written.
    """
    if Path(path).suffix != ".json":
        raise StacklensError(f"cannot write {path}: expected a name that ends in .json")
    content = {
        "format": RESULT_FORMAT,
        **to_plain(result.report()),
        "schema": _SCHEMA,
        "versions": versions_used(),
        "automata": _automata(result),
        "fields": _plain(result),
    }
    with suppress(StacklensError):  # the file of a loaded result's language is gone
        if (text := getattr(getattr(result.language, "language", None), "text", None)) is not None:
            content["language_text"] = text  # of a grammar's or automaton's file, which may go as well
    write_whole(path, json.dumps(content, indent=1, ensure_ascii=not _is_text(content), allow_nan=False) + "\n")


def _is_text(content: object) -> bool:
    """Return whether ``content`` can be written in UTF-8: the name of a file, a language's say, need not be text."""
    try:
        json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _plain(result: Extraction) -> dict[str, Any]:
    """Return the fields that are plain data all through, and the candidates without their machines."""
    names = [one.name for one in fields(Extraction) if one.name not in _NOT_PLAIN]
    plain = {name: to_plain(getattr(result, name)) for name in names}
    others = {"found": result.found, "second": result.second, "asked": result.asked}
    return {
        **plain,
        **{name: None if one is None else to_plain(_tried(one)) for name, one in others.items()},
        "candidates": [to_plain(_tried(one)) for one in result.candidates],
    }


def _tried(candidate: Candidate) -> _Tried:
    return _Tried(**{one.name: getattr(candidate, one.name) for one in fields(_Tried)})


def _automata(result: Extraction) -> dict[str, Any]:
    """Return the automaton, the machine before minimisation, and what came nearest where that is something else."""
    nearest = None if result.found is None or result.found.automaton == result.minimised else result.found.automaton
    automata = {"minimised": result.minimised, "raw": result.raw, "nearest": nearest}
    if result.second is not None:
        automata |= {"second": result.second.automaton, "second raw": result.second.raw}
    if result.asked is not None:
        automata |= {"asked": result.asked.automaton, "asked raw": result.asked.raw}
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
    except StacklensError:  # no JSON: whoever reads it says what is wrong
        return False


def load_result(path: str | Path) -> Extraction:
    """Return the result in the file at ``path``; its network and language are opened when they are touched.

    Raises:
        FileFormatError: the file is missing or damaged, or holds no result of ours; one line that names it.
    """
    text = read_text(path, _EXPECTED)
    try:
        return _from_content(parse_json(text, _EXPECTED), Path(path).parent)
    except StacklensError as error:
        raise FileFormatError(f"{path}: {error}") from None


def _from_content(content: Mapping[str, Any], folder: Path) -> Extraction:
    if content.get("format") != RESULT_FORMAT:
        raise StacklensError(f'no result: it lacks "format": "{RESULT_FORMAT}"; expected {_EXPECTED}')
    if type(content.get("schema")) is not int or content["schema"] != _SCHEMA:
        raise StacklensError(f"a result of another schema than {_SCHEMA}, which this stacklens reads")
    plain, automata = _object(content, "fields"), _object(content, "automata")
    card = from_plain(NetworkCard, content.get("network"), "network")
    language = from_plain(_Name, {"type": "_Name", "name": content.get("language")}, "language").name
    kept = ("minimised", "raw", "nearest", "second", "second raw", "asked", "asked raw")
    minimised, raw, nearest, other, other_raw, asked, asked_raw = (_automaton(automata, name) for name in kept)
    found = plain.get("found")
    best = None if found is None else _candidate(found, "found")
    if best is not None:
        best = replace(best, raw=raw, automaton=minimised if nearest is None else nearest)
    if minimised is not None and (best is None or raw is None):
        raise StacklensError("has an automaton, and not what it was found as")
    hints = get_type_hints(Extraction)
    names = [one.name for one in fields(Extraction) if one.name not in _NOT_PLAIN and one.name in plain]
    result = Extraction(
        model=None,  # type: ignore[arg-type]  # opened when it is first asked for
        language=None,
        minimised=minimised,
        found=best,
        candidates=[_candidate(one, "a candidate") for one in _list(plain, "candidates")],
        loaded=Loaded(card, language),
        second=_other(plain, "second", other, other_raw),
        asked=_other(plain, "asked", asked, asked_raw),
        **{name: from_plain(hints[name], plain[name], name) for name in names},
    )
    _check(result)
    put_off(result, model=lambda: open_card(card, folder))
    if language is not None:
        text = content.get("language_text")
        put_off(result, language=lambda: _specification(language, card, text))
    return result if "horizon" in plain else replace(result, horizon=_known_horizons(result, card))


def _known_horizons(result: Extraction, card: NetworkCard) -> dict[str, Horizon]:
    """Return the horizons of a result that was saved before there were any, as far as its checks know them."""
    if result.minimised is None:
        return {}
    exhaustive = [check for check in result.checks if check.kind == "exhaustive"]
    partial = any(check.words != count_all(len(card.alphabet), check.max_length) for check in exhaustive)
    proved = proved_lengths(result.certificate, isinstance(result.proof, Equal))
    return known_horizons(result.automaton, result.checks, partial, proved)


def _check(result: Extraction) -> None:
    """Check what no type says of a result's parts.

    Raises:
        StacklensError: words are counted up to different lengths, or runs part at a step that there is not.
    """
    counts, parted = result.counts, result.divergence
    if counts is not None and len(counts.exhaustive) != len(counts.counted):
        raise StacklensError("counts are of different lengths; expected one number a length, twice")
    if parted is not None and parted.first is not None and not 0 <= parted.first < len(parted.moments):
        raise StacklensError(f"divergence first is {parted.first}; expected one of {len(parted.moments)} steps")


@dataclass(frozen=True)
class _Name:
    name: str | None


def _specification(name: str, card: NetworkCard, text: object) -> Specification | None:
    try:
        if isinstance(text, str) and is_path(name) and card.task_kind == "recognition":
            return specification_for(language_from_text(text, name))
        return specification_for(subject_named(name, card.task_kind), card.task_kind)
    except UnknownNameError:
        raise FileFormatError(
            f"the result was checked against {name}, which is not in its file and no language or task of ours: give it "
            "again as language=…"
        ) from None


def _candidate(value: object, where: str) -> Candidate:
    tried = from_plain(_Tried, value, where)
    return Candidate(**{one.name: getattr(tried, one.name) for one in fields(_Tried)})


def _other(
    plain: Mapping[str, Any], name: str, automaton: PushdownAutomaton | None, raw: PushdownAutomaton | None
) -> Candidate | None:
    """Return another candidate than the one that was found, with its automaton; None where there is none."""
    return None if plain.get(name) is None else replace(_candidate(plain[name], name), automaton=automaton, raw=raw)


def _automaton(automata: Mapping[str, Any], name: str) -> PushdownAutomaton | None:
    value = automata.get(name)
    try:
        return None if value is None else from_json(json.dumps(value))
    except StacklensError as error:
        raise StacklensError(f"the {name} automaton: {error}") from None


def _object(content: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = content.get(name)
    if not isinstance(value, dict):
        raise StacklensError(f"lacks {name}; expected {_EXPECTED}")
    return value


def _list(content: Mapping[str, Any], name: str) -> list[Any]:
    value = content.get(name)
    if not isinstance(value, list):
        raise StacklensError(f"lacks {name}; expected {_EXPECTED}")
    return value
