"""An automaton as JSON, whole: reading gives back all that was written."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Mapping
from typing import Any

from ...core.errors import AutomatonError
from ..pda import Key, Output, PushdownAutomaton, StackOp, Transition

_FORMAT, _VERSION = "stacklens-automaton", 1


def to_json(pda: PushdownAutomaton, note: str | None = None) -> str:
    """Return the automaton as JSON text, one transition a line; `from_json` gives an equal automaton back.

    A ``note`` is for people who open the file, and is not read back.

    >>> pda = PushdownAutomaton(states=("q",), input_alphabet=("a",), stack_alphabet=(), initial="q", transitions={})
    >>> from_json(to_json(pda)) == pda
    True
    """
    # The order of sets is not fixed from run to run; a file that is written twice should be the same twice.
    content = {
        "format": _FORMAT,
        "version": _VERSION,
        **({} if note is None else {"note": note}),
        "states": pda.states,
        "input_alphabet": pda.input_alphabet,
        "stack_alphabet": pda.stack_alphabet,
        "bottom": pda.bottom,
        "n_stacks": pda.n_stacks,
        "end_marker": pda.end_marker,
        "initial": pda.initial,
        "accepting": [state for state in pda.states if state in pda.accepting],
        "acceptance": pda.acceptance,
        "initial_output": pda.initial_output,
        "accepting_outputs": sorted(pda.accepting_outputs, key=_dumped),
    }
    head = [f'  "{name}": {_dumped(value)},\n' for name, value in content.items()]
    transitions = ",\n".join(f"    {_dumped(_to_record(*item))}" for item in pda.transitions.items())
    return "".join(("{\n", *head, '  "transitions": [\n', transitions, "\n  ]\n}\n"))


def to_json_line(pda: PushdownAutomaton) -> str:
    """Return what `to_json` does as one line, for comments in other formats."""
    return _dumped(json.loads(to_json(pda)))


def _dumped(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else json.dumps(value)  # a lone surrogate has no UTF-8


def _to_record(key: Key, transition: Transition) -> dict[str, object]:
    operations = [{"pop": operation.pop, "push": operation.push} for operation in transition.operations]
    record: dict[str, object] = {"from": key[0], "read": key[1], "tops": key[2], "to": transition.target}
    record["operations"] = operations
    return record if transition.output is None else {**record, "output": transition.output}


def from_json(text: str) -> PushdownAutomaton:
    """Return the automaton that `to_json` wrote.

    Raises:
        AutomatonError: not JSON, not this format or version, a key missing or of the wrong type, a transition that is
            given twice, or no valid automaton; the message names what was found and what was expected.
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise AutomatonError(f"not JSON: {error}") from None
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        found = content.get("format") if isinstance(content, dict) else type(content).__name__
        raise AutomatonError(f'not an automaton file: expected "format": "{_FORMAT}", found {_shortened_value(found)}')
    if content.get("version") != _VERSION or isinstance(content["version"], bool):
        raise AutomatonError(
            f"automaton file of version {_shortened_value(content.get('version'))}: this stacklens reads {_VERSION}"
        )
    return PushdownAutomaton(
        states=_record_strings(content, "states"),
        input_alphabet=_record_strings(content, "input_alphabet"),
        stack_alphabet=_record_strings(content, "stack_alphabet"),
        bottom=_string(content, "bottom"),
        n_stacks=_integer(content, "n_stacks"),
        end_marker=None if _get(content, "end_marker") is None else _string(content, "end_marker"),
        initial=_string(content, "initial"),
        accepting=frozenset(_record_strings(content, "accepting")),
        acceptance=_string(content, "acceptance"),  # type: ignore[arg-type]  # the automaton checks which it is
        initial_output=_read_output(_get(content, "initial_output")),
        accepting_outputs=frozenset(_read_output(value) for value in _record_list(content, "accepting_outputs")),
        transitions=_read_transitions(_record_list(content, "transitions")),
    )


def _read_transitions(records: list[Any]) -> dict[Key, Transition]:
    transitions = {}
    for i, record in enumerate(records):
        try:
            key, transition = _from_record(record)
        except AutomatonError as error:
            raise AutomatonError(f"transition {i + 1} of {len(records)}: {error}") from None
        if key in transitions:
            raise AutomatonError(
                f"transition {i + 1} of {len(records)}: ({', '.join((*key[:2], *key[2]))}) comes twice"
            )
        transitions[key] = transition
    return transitions


def _from_record(record: object) -> tuple[Key, Transition]:
    if not isinstance(record, dict):
        raise AutomatonError(f"expected an object, found {_shortened_value(record)}")
    operations = tuple(_read_operation(value) for value in _record_list(record, "operations"))
    key = _string(record, "from"), _string(record, "read"), _record_strings(record, "tops")
    return key, Transition(_string(record, "to"), operations, _read_output(record.get("output")))


def _read_operation(value: object) -> StackOp:
    if not isinstance(value, dict) or not isinstance(_get(value, "pop"), bool):
        raise AutomatonError(
            f'expected an operation like {{"pop": true, "push": null}}, found {_shortened_value(value)}'
        )
    return StackOp(value["pop"], None if _get(value, "push") is None else _string(value, "push"))


def _read_output(value: object) -> Output:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return tuple(value)
    raise AutomatonError(f"expected an output (a string, strings, or null), found {_shortened_value(value)}")


def _shortened_value(value: object) -> str:
    return reprlib.repr(value)


def _get(record: Mapping[str, Any], name: str) -> Any:
    if name not in record:
        raise AutomatonError(f'"{name}" is missing')
    return record[name]


def _string(record: Mapping[str, Any], name: str) -> str:
    value = _get(record, name)
    if not isinstance(value, str):
        raise AutomatonError(f'"{name}" must be a string, not {_shortened_value(value)}')
    return value


def _record_list(record: Mapping[str, Any], name: str) -> list[Any]:
    value = _get(record, name)
    if not isinstance(value, list):
        raise AutomatonError(f'"{name}" must be a list, not {_shortened_value(value)}')
    return value


def _record_strings(record: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = _record_list(record, name)
    if not all(isinstance(part, str) for part in value):
        raise AutomatonError(f'"{name}" must hold strings, not {_shortened_value(value)}')
    return tuple(value)


def _integer(record: Mapping[str, Any], name: str) -> int:
    value = _get(record, name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise AutomatonError(f'"{name}" must be a whole number, not {_shortened_value(value)}')
    return value
