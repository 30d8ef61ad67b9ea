"""What docs/zoo.md says of words that networks part on is what their results hold."""

from __future__ import annotations

from tests.architecture.docs_scripts import ROOT, docs_script


def test_the_table_of_the_page_is_that_of_the_results() -> None:
    page = (ROOT / "docs" / "zoo.md").read_text(encoding="utf-8")
    made = docs_script("zoo_table")
    assert made.with_table(page, made.table()) == page, "run python docs/zoo_table.py"
    networks = {path.stem for path in (ROOT / "models" / "zoo").glob("*.pt")}
    assert {line.split("`")[1].removesuffix(".pt") for line in made.table().splitlines()[2:]} == networks
