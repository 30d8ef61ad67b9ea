"""One import: which names there are, that none is loaded before it is asked for, and that packages stay packages."""

from __future__ import annotations

import html
import inspect
import os
import pickle
import pydoc
import subprocess
import sys
from pathlib import Path

import pytest

import stacklens as sl
import stacklens.extract.extraction as deep
from stacklens.extract import extraction

ROOT = Path(__file__).parents[2]
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


def test_packages_that_can_be_called_say_what_calling_them_does() -> None:
    for package, parts in (
        (sl.extract, ("Args:", "max_length", "Raises:")),
        (sl.languages, ("Return a row a language",)),
    ):
        told = pydoc.plain(pydoc.render_doc(package))
        assert all(part in told for part in parts)
        assert str(package.__doc__).count(f"sl.{package.__name__.rpartition('.')[2]}(") == 1
        assert ">>>" not in str(package.__doc__)


def test_every_function_says_what_it_raises() -> None:
    silent = {name for name in FUNCTIONS if "Raises:" not in str(getattr(sl, name).__doc__)}
    assert silent == {"languages", "tasks", "zoo"}  # which take nothing


@pytest.mark.parametrize("first", ["", "import stacklens.extract.extraction, stacklens.languages;"])
def test_the_functions_are_there_whatever_was_imported_before(first: str) -> None:
    code = f"{first}import stacklens as sl; print(len(sl.languages()), callable(sl.extract))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "16 True\n"


def test_every_language_and_task_is_told_what_it_is_and_where_it_is_from() -> None:
    for table in (sl.languages(), sl.tasks(), sl.zoo()):
        assert not table.isna().any().any()
        assert table.name.is_unique
    assert sl.tasks().set_index("name").kind["dyck-N"] == "next set"


def test_the_zoo_is_a_table_of_what_was_trained() -> None:
    table = sl.zoo().set_index("name")
    row = table.loc["nnpda-palindrome"]
    assert (row.network, row.trained_on, row.task, row.errors_rounded) == ("nnpda", "palindrome", "recognition", 0)
    assert row.source.startswith("Sun et al. 1993")


@pytest.mark.parametrize("name", ["tasks", "languages", "zoo"])
def test_a_table_is_printed_whole_and_is_a_table(name: str) -> None:
    table = getattr(sl, name)()
    for part in (table, table.head(25)):
        assert str(part) == part.to_string()
        assert all(str(value) in str(part) for value in part["source"])
        assert all(html.escape(str(value)) in part._repr_html_() for value in part["source"])
    assert pickle.loads(pickle.dumps(table)).equals(table)
