"""Draw the automaton of every network of the zoo, docs/gallery/NAME.svg, and write docs/gallery.md around the pictures.

    python docs/gallery.py [NAME ...]

With names only these are drawn anew. It takes about ten minutes, so the pictures are kept beside the page. The
checks are fewer than those of `extract-pda`; docs/zoo.md has what all of them found.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import stacklens as sl
from stacklens.automata.formats.dot import render, to_dot

HERE = Path(__file__).parent
PICTURES, PAGE = HERE / "gallery", HERE / "gallery.md"
BEGIN, END = "<!-- pictures: written by docs/gallery.py -->", "<!-- end of pictures -->"
CHECKS = {"max_length": 8, "long_words": 1_000, "cycles": 50, "budget": 20}
_MARKUP = re.compile(r"([\\`*_\[\]]|<(?=\w))")  # what Markdown would read as its own: brackets of a word are no link
MOST = 60  # transitions of an automaton that can still be read as a picture


def draw(name: str) -> str:
    """Return what there is to say of a network of the zoo, under its picture if it has an automaton."""
    found = sl.extract(name, **CHECKS)
    told = _MARKUP.sub(r"\\\1", found.headline[0].upper() + found.headline[1:] + ".")
    picture = PICTURES / f"{name}.svg"
    picture.unlink(missing_ok=True)
    if found.minimised is not None and len(found.automaton.transitions) <= MOST:
        picture.write_bytes(render(to_dot(found.automaton, found.title), "svg"))
        return f"![The automaton of {name}](gallery/{picture.name})\n\n{told}"
    if found.minimised is not None:
        return f"{told} Its {len(found.automaton.transitions)} transitions are too many for a picture."
    return told


def write(pictures: dict[str, str]) -> None:
    """Write the part of the page between the marks."""
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    parts = [f"### {name}\n\n{told}" for name, told in sorted(pictures.items())]
    PAGE.write_text("\n\n".join([before + BEGIN, *parts, END + after]), encoding="utf-8")


def written() -> dict[str, str]:
    """Return what the page has already."""
    text = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    return dict(re.findall(r"^### (\S+)\n\n(.*?)(?=\n\n### |\n\n\Z)", text, flags=re.MULTILINE | re.DOTALL))


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    told = written()
    for one in sys.argv[1:] or sl.zoo().name:
        told[one] = draw(one)
        print(f"{one}: {told[one].splitlines()[-1]}", flush=True)
        write(told)
