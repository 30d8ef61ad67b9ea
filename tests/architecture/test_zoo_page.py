"""What docs/zoo.md says of words that networks part on is what their results hold."""

from __future__ import annotations

import json
from pathlib import Path

from tests.architecture.docs_scripts import ROOT, docs_script


def test_the_table_of_the_page_is_that_of_the_results() -> None:
    page = (ROOT / "docs" / "zoo.md").read_text(encoding="utf-8")
    made = docs_script("zoo_table")
    assert made.with_table(page, made.table()) == page, "run python docs/zoo_table.py"
    networks = {path.stem for path in (ROOT / "models" / "zoo").glob("*.pt")}
    assert {line.split("`")[1].removesuffix(".pt") for line in made.table().splitlines()[2:]} == networks


def test_a_line_says_how_long_the_words_are_and_shows_the_second(tmp_path: Path) -> None:
    first = {"length": 3, "word": "(|)", "made_of": None}
    content = {"horizon": {"rounded network": {"shortest_difference": None}, "network": {"shortest_difference": first}}}
    (tmp_path / "net.json").write_text(json.dumps(content), encoding="utf-8")
    assert docs_script("zoo_table").table(tmp_path).splitlines()[2:] == [r"| `net.pt` | none known | 3 | `(\|)` |"]
