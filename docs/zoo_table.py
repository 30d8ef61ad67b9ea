"""`python docs/zoo_table.py`: write into docs/zoo.md on which words networks of the zoo part from their automata.

The words come from models/zoo/*.json, which docs/zoo_results.py writes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE, ZOO = ROOT / "docs" / "zoo.md", ROOT / "models" / "zoo"
BEGIN, END = "<!-- words: written by docs/zoo_table.py -->", "<!-- end of words -->"
_HEAD = ("| file | the rounded network | the network itself | the word of the network itself |", "|---|---|---|---|")
_LONGEST = 100  # characters of a word, in its parts, that is shown


def table(zoo: Path = ZOO) -> str:
    """Return the table in Markdown, a line for each file of results in ``zoo``."""
    lines = [*_HEAD]
    for path in sorted(zoo.glob("*.json")):
        horizon = json.loads(path.read_text(encoding="utf-8")).get("horizon") or {}
        rounded, soft = ((horizon.get(net) or {}).get("shortest_difference") for net in ("rounded network", "network"))
        lines.append(f"| `{path.stem}.pt` | {_length(rounded)} | {_length(soft)} | {_word(soft)} |")
    return "\n".join(lines)


def _length(first: dict[str, Any] | None) -> str:
    return "none known" if first is None else str(first["length"])


def _word(first: dict[str, Any] | None) -> str:
    if first is None:
        return ""
    said = str(first["made_of"] or first["word"]).replace("|", r"\|")
    return f"`{said}`" if len(said) <= _LONGEST else f"`{said[:_LONGEST]}…`"


def with_table(page: str, words: str) -> str:
    """Return ``page`` with ``words`` between its markers."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n\n{words}\n\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), table()), encoding="utf-8")
    print(f"wrote docs/{PAGE.name}")
