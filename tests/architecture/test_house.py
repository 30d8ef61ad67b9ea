"""What the code weighs only goes down."""

from __future__ import annotations

import ast

from benchmarks.house import LIMITS, ROOT, import_graph, share_of_comments, weights

LIMITS_OF_COMMENTS = 4.0


def test_nothing_weighs_more_than_its_limit_and_limits_follow_what_was_reached() -> None:
    """A limit that is far above what is there holds nothing: it is lowered in the commit that made room."""
    found = weights()
    assert {name: now for name, now in found.items() if now > LIMITS[name]} == {}
    assert {name: now for name, now in found.items() if LIMITS[name] > 1.03 * now + 3} == {}
    assert share_of_comments() >= LIMITS_OF_COMMENTS


def test_relative_late_and_typed_imports_are_seen() -> None:
    sources = {
        "probe/trace.py": "def f():\n from ..models.base import StackModel",
        "models/base.py": "if TYPE_CHECKING:\n from ..core.errors import StacklensError",
        "core/errors.py": "",
        "src/stacklens/__init__.py": "from stacklens.probe import trace",
    }
    graph = import_graph({name: ast.parse(text) for name, text in sources.items()})
    assert set(graph.edges) == {
        ("probe/trace.py", "models/base.py"),
        ("models/base.py", "core/errors.py"),
        ("src/stacklens/__init__.py", "probe/trace.py"),
    }


def test_what_is_named_as_slow_is_a_test() -> None:
    named = (ROOT / "tests" / "slow.txt").read_text(encoding="utf-8").splitlines()
    parts = [
        (ROOT / path, f"def {test.partition('[')[0]}(") for path, _, test in (one.partition("::") for one in named)
    ]
    assert named == sorted(set(named))
    assert [test for path, test in parts if test not in path.read_text(encoding="utf-8")] == []
