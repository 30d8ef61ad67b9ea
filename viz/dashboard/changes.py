"""A change of one step as a browser asks for it, what can be changed in a network, and what comes of it."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from flask import Flask, request

from stacklens.errors import StacklensError
from stacklens.probe.intervene import PARTS
from stacklens.probe.values import NAMED
from stacklens.viz.bench.change import Change, call_of, changeable, values_of
from stacklens.viz.bench.changed_word import changed_word
from stacklens.viz.bench.symbols import symbol_meanings
from stacklens.viz.dashboard.asking import answering, flag, number, one_of, text
from stacklens.viz.dashboard.automaton_views import seen_on_many, shown
from stacklens.viz.dashboard.extractions import known, settings_known
from stacklens.viz.dashboard.judging import known_specification
from stacklens.viz.dashboard.networks import load
from stacklens.viz.dashboard.python_lines import program
from stacklens.viz.dashboard.steps import LONGEST_WORD, read_word, runner_of
from stacklens.viz.dashboard.turns import in_turn

__all__ = ["change_answer", "register"]

_MOST = 4_096  # characters of numbers in an address


def register(server: Flask) -> None:
    """Give ``server`` the addresses under /api/ that ask what can be changed, and what comes of a change."""

    @server.get("/api/changeable")
    @answering
    def what_can_be_changed() -> Any:
        name = text("network")
        return changeable(load(name).model, _meanings(name))

    @server.get("/api/change")
    @answering
    def change() -> Any:
        name, typed, other = text("network"), text("word", ""), text("from", "")
        asked = _change(name, typed, other)
        longest = max(typed, other, key=len)
        return in_turn(name, longest, change_answer, name, typed, flag("rounded"), asked, other)


def change_answer(name: str, typed: str, rounded: bool, change: Change, other: str) -> dict[str, Any]:
    """Return all of the word ``typed`` after ``change``, see `changed_word`; ``other`` is the word that is taken from.

    Raises:
        StacklensError: there is no such network, it cannot read a word, or that cannot be changed.
    """
    runner = runner_of(name, rounded)
    named = {row: symbol for symbol, row in values_of(load(name).model, _meanings(name)).items()}
    word = read_word(typed, runner)
    data = changed_word(runner, word, change, known_specification(name), other, named)
    call = call_of(typed, change, rounded, other)
    return {**data, "network": name, "word": typed, "rounded": rounded, "python": program(name, (), (call,))}


def _change(name: str, typed: str, other: str) -> Change:
    """Return the change that an address asks for; its steps, stacks, cells and units are from 1.

    Raises:
        StacklensError: it makes no sense.
    """
    model = load(name).model
    part = one_of("set", PARTS)
    step, steps = number("change", 1), len(read_word(typed, model)) + (model.end is not None)
    if not 1 <= step <= steps:
        raise StacklensError(f"there is no step {step} to change: the word has {steps}")
    stack, cell, unit = _place("stack"), _place("cell"), _place("unit")
    value = _value(text("to", ""))
    if value != "source":
        return Change(step - 1, part, value, stack, cell or 0, unit)
    source = read_word(other, model)
    read = number("after", len(source))
    begun = 1 if part in ("actions", "pushed") else 0  # they are of a step
    if not begun <= read <= len(source):
        raise StacklensError(f"nothing can be taken after {read} symbols of {other or 'ε'}, which has {len(source)}")
    return Change(step - 1, part, value, stack, cell or 0, unit, source, read - begun)


def _place(name: str) -> int | None:
    """Return the number called ``name`` as it is counted from 0, None where the address has none.

    Raises:
        StacklensError: it is no number from 1, or larger than anything that is there.
    """
    if name not in request.args:
        return None
    found = number(name)
    if not 1 <= found <= LONGEST_WORD:
        raise StacklensError(f"{name} is {found}; expected a number from 1 to {LONGEST_WORD:,}")
    return found - 1


def _value(typed: str) -> str | tuple[float, ...]:
    """Return a value as it is typed: one of `NAMED` that need nothing else, or numbers with spaces between.

    Raises:
        StacklensError: it is neither.
    """
    if typed in NAMED and typed != "centre":
        return typed
    try:
        numbers = tuple(float(one) for one in typed[:_MOST].split())
    except ValueError:
        numbers = ()
    if not numbers or not all(map(math.isfinite, numbers)):
        shown = typed if len(typed) <= 40 else f"{typed[:37]}..."
        raise StacklensError(f"what is put there is '{shown}'; expected numbers, or zero, mean, rounded or source")
    return numbers


def _meanings(name: str) -> list[dict[str, Any]]:
    """Return what the symbols of the automaton's stack stand for, none where nothing has been read out."""
    settings = settings_known(name)
    found = None if settings is None else known(name, settings)
    if found is None or found.automaton is None:
        return []
    return _meant(name, found.automaton, found.stacks)


@lru_cache(maxsize=32)
def _meant(name: str, automaton: Any, stacks: Any) -> list[dict[str, Any]]:
    return symbol_meanings(runner_of(name, False), seen_on_many(shown(name), rounded=False), automaton, stacks)
