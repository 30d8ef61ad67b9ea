"""Which values the parts of the page have: what a browser may say that somebody has typed, chosen or clicked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from stacklens.viz.dashboard.automaton_views import FILES
from stacklens.viz.dashboard.extractions import Settings
from stacklens.viz.dashboard.probing import TABLES
from stacklens.viz.dashboard.view import PAGE_NAMES
from stacklens.viz.figures import FIGURES

__all__ = ["VALUES", "fits"]

Check = Callable[[Any], bool]
_MOST = 2**31  # clicks, and whatever else is counted


def _text(value: Any) -> bool:
    """Return whether ``value`` is a text that can be written down: half a letter outside the first plane cannot."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(_text(one) for one in value)


def _anything(value: Any) -> bool:
    """Return that only whether there is any is looked at."""
    del value
    return True


def _one_of(*names: str) -> Check:
    return lambda value: isinstance(value, str) and value in names


def _or_none(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _settings(value: Any) -> bool:
    """Return whether ``value`` holds the settings of an extraction, `Settings` as plain data."""
    if not isinstance(value, dict) or {*value} != {field.name for field in fields(Settings)}:
        return False
    counted = all(_or_none(_whole)(value[name]) for name in _COUNTED)
    return counted and _or_none(_text)(value["language"]) and _number(value["seed"])


_COUNTED = ("states", "stack_symbols", "max_length")


def _ended(value: Any) -> bool:
    """Return whether ``value`` is what an extraction ends with."""
    if not isinstance(value, dict) or {*value} != {"network", "settings", "problem"}:
        return False
    checks = {"network": _text, "settings": _settings, "problem": _text}
    return all(_or_none(check)(value[name]) for name, check in checks.items())


def _asked(value: Any) -> bool:
    """Return whether ``value`` says for which network words were drawn, and after how many clicks."""
    return isinstance(value, list) and len(value) == 2 and _text(value[0]) and _whole(value[1])


_PAGE, _THEME = _one_of(*PAGE_NAMES), _one_of("light", "dark")
_CLICKED = ("random", "csv", "json", "automaton-extract", "automaton-cancel", "trust-draw", "trust-judge")
_TYPED = ("network.value", "word.value", "address.search", "upload.contents", "upload.filename", "papers-name.value")

VALUES: dict[str, Check] = {
    **{f"{name}.n_clicks": _whole for name in (*_CLICKED, *(f"automaton-save-{suffix}" for suffix in FILES))},
    **dict.fromkeys(_TYPED, _text),
    **{f"automaton-{name}.value": _number for name in ("states", "symbols", "length", "seed")},
    **{f"page-{name}.children": _anything for name in PAGE_NAMES},
    **{f"{name}.data": _ended for name in ("extracted", "automaton-done", "automaton-ended")},
    "again.data": _whole,
    "automaton-form.value": _one_of("minimised", "raw"),
    "automaton-language.value": _text,
    "automaton-state.data": _text,
    "automaton-visit.data": _text,
    "figure.value": _one_of(*FIGURES),
    "kind.value": _one_of("soft", "rounded"),
    "page.data": _PAGE,
    "papers-score.value": _whole,
    "table-place.children": _anything,
    "table.value": _one_of("none", *TABLES),
    "theme.data": _THEME,
    "trust-asked.data": _asked,
    "trust-only.value": lambda value: value in ([], ["different"]),
    "trust-words.value": _text,
    "uploads.data": _texts,
}


def fits(name: str, value: Any) -> bool:
    """Return whether the part of the page called ``name``, id.property, may have ``value``; it may have none yet."""
    return value is None or (name in VALUES and VALUES[name](value))
