"""The page that goes with one word through the code names functions and files that are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = " ".join((ROOT / "docs" / "follow-a-word.md").read_text(encoding="utf-8").split())
NAMED = re.findall(r"`(\w+)` \(`([\w/]+\.py)`\)", PAGE)


def defined(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def test_every_name_is_defined_in_the_file_beside_it() -> None:
    assert len(NAMED) > 30
    assert [(name, path) for name, path in NAMED if name not in defined(path)] == []


def test_every_file_is_there() -> None:
    assert [path for path in re.findall(r"`([\w/]+\.py)`", PAGE) if not (ROOT / path).is_file()] == []
