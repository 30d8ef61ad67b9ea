"""An automaton as JSON, whole: reading gives back all that was written."""

import json
from collections.abc import Mapping
from reprlib import repr as shortened
from typing import Any, TypeVar

from ...core.errors import AutomatonError
from ..pda import Key, Output, PushdownAutomaton, StackOp, Transition

_T = TypeVar("_T")
_FORMAT, _VERSION = "stacklens-automaton", 1


def to_json(pda: PushdownAutomaton, note: str | None = None) -> str:
    """Return the automaton as JSON text, one transition a line; `from_json` gives an equal automaton back. A ``note``
    is for people who open the file, and is not read back.

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
    records = []
    for (state, symbol, tops), step in pda.transitions.items():
        operations = [{"pop": operation.pop, "push": operation.push} for operation in step.operations]
        record = {"from": state, "read": symbol, "tops": tops, "to": step.target, "operations": operations}
        records.append(f"    {_dumped(record if step.output is None else {**record, 'output': step.output})}")
    return "".join(("{\n", *head, '  "transitions": [\n', ",\n".join(records), "\n  ]\n}\n"))


def to_json_line(pda: PushdownAutomaton) -> str:
    """Return what `to_json` does as one line, for comments in other formats."""
    return _dumped(json.loads(to_json(pda)))


def _dumped(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else json.dumps(value)  # a lone surrogate has no UTF-8


def from_json(text: str) -> PushdownAutomaton:
    """Return the automaton that `to_json` wrote. Raises AutomatonError: not JSON, not this format or version, a key
    missing or of the wrong type, a transition given twice, or no valid automaton; the message says what was expected.
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise AutomatonError(f"not JSON: {error}") from None
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        found = content.get("format") if isinstance(content, dict) else type(content).__name__
        raise AutomatonError(f'not an automaton file: expected "format": "{_FORMAT}", found {shortened(found)}')
    if content.get("version") != _VERSION or isinstance(content["version"], bool):
        version = shortened(content.get("version"))
        raise AutomatonError(f"automaton file of version {version}: this stacklens reads {_VERSION}")
    if "initial_output" not in content:
        raise AutomatonError('"initial_output" is missing')
    return PushdownAutomaton(
        states=_record_strings(content, "states"),
        input_alphabet=_record_strings(content, "input_alphabet"),
        stack_alphabet=_record_strings(content, "stack_alphabet"),
        bottom=_typed_field(content, "bottom", str),
        n_stacks=_typed_field(content, "n_stacks", int),
        end_marker=_string_or_none(content, "end_marker"),
        initial=_typed_field(content, "initial", str),
        accepting=frozenset(_record_strings(content, "accepting")),
        acceptance=_typed_field(content, "acceptance", str),  # type: ignore[arg-type]  # the automaton checks which it is
        initial_output=_read_output(content["initial_output"]),
        accepting_outputs=frozenset(_read_output(value) for value in _typed_field(content, "accepting_outputs", list)),
        transitions=_read_transitions(_typed_field(content, "transitions", list)),
    )


def _read_transitions(records: list[Any]) -> dict[Key, Transition]:
    transitions: dict[Key, Transition] = {}
    for number, record in enumerate(records, 1):
        try:
            if not isinstance(record, dict):
                raise AutomatonError(f"expected an object, found {shortened(record)}")
            operations = tuple(_read_operation(value) for value in _typed_field(record, "operations", list))
            key = _typed_field(record, "from", str), _typed_field(record, "read", str), _record_strings(record, "tops")
            if key in transitions:
                raise AutomatonError(f"({', '.join((*key[:2], *key[2]))}) comes twice")
            target, output = _typed_field(record, "to", str), _read_output(record.get("output"))
            transitions[key] = Transition(target, operations, output)
        except AutomatonError as error:
            raise AutomatonError(f"transition {number} of {len(records)}: {error}") from None
    return transitions


def _read_operation(value: object) -> StackOp:
    if isinstance(value, dict) and isinstance(value.get("pop", False), bool):
        return StackOp(_typed_field(value, "pop", bool), _string_or_none(value, "push"))
    raise AutomatonError(f'expected an operation like {{"pop": true, "push": null}}, found {shortened(value)}')


def _read_output(value: object) -> Output:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return tuple(value)
    raise AutomatonError(f"expected an output (a string, strings, or null), found {shortened(value)}")


def _typed_field(record: Mapping[str, Any], name: str, kind: type[_T]) -> _T:
    if name not in record:
        raise AutomatonError(f'"{name}" is missing')
    value = record[name]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        expected = {str: "a string", list: "a list", int: "a whole number"}[kind]
        raise AutomatonError(f'"{name}" must be {expected}, not {shortened(value)}')
    return value


def _string_or_none(record: Mapping[str, Any], name: str) -> str | None:
    return None if name in record and record[name] is None else _typed_field(record, name, str)


def _record_strings(record: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = _typed_field(record, name, list)
    if not all(isinstance(part, str) for part in value):
        raise AutomatonError(f'"{name}" must hold strings, not {shortened(value)}')
    return tuple(value)
