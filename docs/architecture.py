"""Draws the map in CONTRIBUTING: which package of stacklens imports which, read from every import of every file.

`make map` writes `docs/architecture.svg`. Boxes are packages with what they hold; arrows lead from a file that imports
to what it imports. Between layers only those arrows are drawn that no way around implies.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import networkx

from stacklens.automata.formats.dot import render

FOLDER = Path(__file__).parent
SOURCE = FOLDER.parent / "src" / "stacklens"
LAYERS = ("core", "automata", "languages", "models", "probe", "extract", "papers", "viz", "face", "cli")
_LOOKS = 'node [shape=box, style="rounded,filled", fillcolor=white, fontname=Helvetica, fontsize=11]'


def rooms() -> dict[str, Counter[str]]:
    """Return every folder with code as a dotted name, and how often its files import from every other one."""
    return {
        ".".join(folder.relative_to(SOURCE).parts): Counter(
            room for path in folder.glob("*.py") for room in imported(path)
        )
        for layer in LAYERS
        for folder in sorted({path.parent for path in (SOURCE / layer).rglob("*.py")})
    }


def imported(path: Path) -> Iterator[str]:
    """Yield the folder of every module of ours that a file imports, as a dotted name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            package = SOURCE.joinpath(*path.relative_to(SOURCE).parts[: -node.level])
            for alias in node.names:
                place = package.joinpath(*filter(None, (node.module or "").split(".")), alias.name)
                while not (place / "__init__.py").is_file():
                    place = place.parent
                yield ".".join(place.relative_to(SOURCE).parts)


def dot() -> str:
    """Return the map in Graphviz's language."""
    found = rooms()
    lines = [
        "digraph { rankdir=TB; compound=true; newrank=true; nodesep=0.25; ranksep=0.55;",
        _LOOKS,
        "edge [color=gray40]",
    ]
    for layer in reversed(LAYERS):
        lines += [
            f"subgraph cluster_{layer} {{",
            f'label="{layer}"; fontname=Helvetica; style="rounded,filled"; fillcolor=gray95',
        ]
        lines += [f'"{room}" [label="{_label(room)}"]' for room in found if room.split(".")[0] == layer]
        lines.append("}")
    for room, others in found.items():
        layer = room.split(".")[0]
        lines += [
            f'"{room}" -> "{other}"' for other in sorted(others) if other.split(".")[0] == layer and other != room
        ]
    lines += [
        f'"{a}" -> "{b}" [ltail=cluster_{a}, lhead=cluster_{b}, penwidth=2, color=black]' for a, b in _between(found)
    ]
    return "\n".join([*lines, "}"])


def _label(room: str) -> str:
    files = len([path for path in SOURCE.joinpath(*room.split(".")).glob("*.py") if path.name != "__init__.py"])
    return f"{room.partition('.')[2] or 'itself'}\\n{files} files"


def _between(found: dict[str, Counter[str]]) -> list[tuple[str, str]]:
    """Return which layer imports which, without what follows from the others."""
    layers = networkx.DiGraph()
    for room, others in found.items():
        layers.add_edges_from((room.split(".")[0], other.split(".")[0]) for other in others if other)
    layers.remove_edges_from([(layer, layer) for layer in LAYERS])
    return sorted(networkx.transitive_reduction(layers).edges)


if __name__ == "__main__":
    (FOLDER / "architecture.svg").write_bytes(render(dot(), "svg"))
