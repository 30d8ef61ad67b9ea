"""Networks made by code: what a user types is imported, what a file says never is, and what is wrong is one line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import stacklens as sl
from stacklens.core.errors import StacklensError

CODE = """
import stacklens as sl


def load():
    def step(x, hidden):
        return 0 * hidden + x, x

    return sl.wrap(None, "ab", step=step, hidden=2, outputs="next set", name="echo")


def text():
    return "no network"


def broken():
    raise RuntimeError("no weights\\nhere")
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "own_module_of_a_test.py").write_text(CODE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "own_module_of_a_test", raising=False)
    return "own_module_of_a_test"


def test_a_network_is_loaded_by_the_name_of_its_function(module: str) -> None:
    model = sl.load(f"{module}:load")
    assert (model.name, model.alphabet) == ("echo", ("a", "b"))
    assert sl.trace(f"{module}:load", "ab").output[0].tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no_such_module_here:load", "ModuleNotFoundError: No module named"),
        ("{}:nothing", "AttributeError: module"),
        ("{}:text", "gives a str; expected a network, as sl.wrap makes one"),
        ("{}:broken", "RuntimeError: no weights here; expected package.module:function"),
    ],
)
def test_what_gives_no_network_is_one_line(module: str, name: str, said: str) -> None:
    with pytest.raises(StacklensError, match=said):
        sl.load(name.format(module))


def test_a_saved_result_of_code_does_not_run_it_again(module: str) -> None:
    small: dict[str, Any] = {"max_length": 4, "long_words": 20, "deep_words": 1, "depth": 3, "cycles": 2, "height": 4}
    result = sl.extract(f"{module}:load", quiet=True, **small)
    result.save("result.json")
    del sys.modules[module]
    again = sl.load("result.json")
    assert again == result
    with pytest.raises(StacklensError, match="is code: no file of ours runs any"):
        again.model  # noqa: B018
    assert module not in sys.modules
