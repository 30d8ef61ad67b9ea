"""One import: which names there are, that none is loaded before it is asked for, and that packages stay packages."""

from __future__ import annotations

import inspect

import pytest

import stacklens as sl
import stacklens.extract.extraction as deep
from stacklens.extract import extraction

FUNCTIONS = [
    "saliency",
    "linear_probes",
    "horizon_curve",
    "ablate",
    "certify",
    "check",
    "compare",
    "extract",
    "intervene",
    "languages",
    "learn",
    "load",
    "sweep",
    "tasks",
    "trace",
    "train",
    "verify",
    "wrap",
    "zoo",
]
TYPES = [
    *("Certified", "Different", "Equal", "Extraction", "Language", "NotCertified", "PushdownAutomaton"),
    *("StackModel", "StacklensError", "Task", "Trace", "Undecided"),
]


def test_the_names_are_these_and_every_one_is_there() -> None:
    assert dir(sl) == sorted(FUNCTIONS + TYPES)
    assert all(callable(getattr(sl, name)) for name in FUNCTIONS)
    assert all(isinstance(getattr(sl, name), type) for name in TYPES)
    assert all(inspect.getdoc(getattr(sl, name)) for name in dir(sl))


def test_an_unknown_name_is_said_to_be_unknown() -> None:
    with pytest.raises(AttributeError, match="module 'stacklens' has no attribute 'extrakt'"):
        sl.extrakt  # type: ignore[attr-defined]  # noqa: B018


def test_packages_with_a_function_s_name_are_both() -> None:
    assert deep is extraction is sl.extract.extraction  # type: ignore[attr-defined]
    assert list(inspect.signature(sl.extract).parameters)[:2] == ["model", "language"]
    assert "palindrome" in set(sl.languages().name)


def test_every_language_and_task_is_told_what_it_is_and_where_it_is_from() -> None:
    for table in (sl.languages(), sl.tasks(), sl.zoo()):
        assert not table.isna().any().any()
        assert table.name.is_unique
    assert sl.tasks().set_index("name").kind["dyck-N"] == "next set"
