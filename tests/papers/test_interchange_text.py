"""Interchange accuracy as the text shows it: several states and one apart, with permuted labels beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stacklens.errors import FileFormatError
from stacklens.papers.interchange_text import interchange_figures


def lines(table: str) -> list[list[str]]:
    return [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("|")]


def test_interchanges_by_what_was_read_from(tmp_path: Path) -> None:
    def told(states: float | None, symbols: float, permuted: float | None = 0.5) -> dict[str, Any]:
        return {
            "states": {"accuracy": states, "baseline": permuted},
            "symbols": {"accuracy": symbols, "baseline": None},
        }

    kept = [
        {"name": "a", "way": "learn", "proof": "equal", "minimised": told(0.6, 0.7), "raw": {"reason": "none"}},
        {"name": "b", "way": "learn", "proof": "–", "minimised": told(None, 0.9), "raw": told(1.0, 1.0)},
        {"name": "c", "way": "learn", "proof": "equal", "minimised": told(0.9, 0.8, None)},
        {"name": "d", "status": 3, "reason": "nothing was found"},
    ]
    file = tmp_path / "interchanges.json"
    file.write_text(json.dumps(kept), encoding="utf-8")
    figures = interchange_figures(file)
    assert figures["interchange networks"] == "3"
    rows = lines(figures["interchange table"])[2:]
    several, single, symbols = "0.60 (0.60); permuted 0.50; 1", "0.90 (0.90); 1", "0.80 (0.70); 3"
    assert rows[0] == ["its behaviour", "minimised", "3", "2", several, single, symbols]
    assert rows[1][:4] == ["its behaviour", "raw", "1", "0"]


def test_interchanges_that_are_missing_or_something_else(tmp_path: Path) -> None:
    assert interchange_figures(None) == interchange_figures(tmp_path / "none.json")
    assert interchange_figures(None)["interchange table"] == "(Not measured.)"
    file = tmp_path / "interchanges.json"
    for content in ("{", "[1]", '{"a": 1}', '[{"name": "a", "minimised": {"states": 1}}]'):
        file.write_text(content, encoding="utf-8")
        with pytest.raises(FileFormatError, match=r"interchanges\.json: no interchanges: "):
            interchange_figures(file)
