"""What the code weighs: files, lines, imports and names of the product, beside the limits that only go down.

The product is every tracked Python file but tests, docs, benchmarks and examples. `LIMITS` is a ratchet that a test
holds: a change that adds makes room for itself, and lowers a limit where it can.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import networkx as nx
from benchmarks.measure import Report

ROOT = Path(__file__).parents[1]
OUTSIDE = ("tests/", "docs/", "benchmarks/", "examples/")
# rooms from the ground up
FLOORS = ("core", "automata", "languages", "models", "probe", "extract", "papers", "viz", "face", "cli")
GOALS = {  # what the house is to weigh one day
    "product files": 195,
    "product lines": 48_000,
    "test lines": 30_747,
    "longest product file": 600,
    "files with one importer": 30,
    "depth of imports": 18,
    "circles of files": 0,
    "rooms that import upwards": 0,
    "top-level names in two modules": 60,
    "said, told, whoever": 100,
}
LIMITS = {  # what it may weigh today: to be lowered only
    "product files": 171,
    "product lines": 52_969,
    "test lines": 30_747,
    "longest product file": 574,
    "files with one importer": 20,
    "depth of imports": 18,
    "circles of files": 0,
    "rooms that import upwards": 0,
    "top-level names in two modules": 21,
    "said, told, whoever": 32,
}


def tracked() -> list[str]:
    """Return the Python files of the repository, links left out."""
    done = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in done.stdout.split() if (ROOT / name).is_file() and not (ROOT / name).is_symlink()]


def module_of(path: str) -> tuple[str, ...]:
    """Return the dotted name of a file below stacklens: probe/trace.py and src/stacklens/probe/trace.py are one."""
    parts = Path(path).with_suffix("").parts
    parts = parts[2:] if parts[:2] == ("src", "stacklens") else parts
    return parts[:-1] if parts[-1:] == ("__init__",) else parts


def imported(path: str, tree: ast.AST, modules: dict[tuple[str, ...], str]) -> Iterator[str]:
    """Yield the files that a file imports, late imports and those for types included."""
    package = module_of(path) if path.endswith("__init__.py") else module_of(path)[:-1]
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom):
            continue
        names = tuple(filter(None, (node.module or "").split(".")))
        if node.level:
            base = (*package[: len(package) - node.level + 1], *names)
        elif names[:1] == ("stacklens",):
            base = names[1:]
        else:
            continue
        for module in (base, *((*base, alias.name) for alias in node.names)):
            if module and modules.get(module, path) != path:
                yield modules[module]


def floor_of(path: str) -> int:
    """Return how high the room of a file lies; the root package is the face, what starts the program the roof."""
    name = module_of(path)
    if name and name[0] in FLOORS:
        return FLOORS.index(name[0])
    return FLOORS.index("face") if path == "src/stacklens/__init__.py" else len(FLOORS)


def weights() -> dict[str, int]:
    """Return every figure of `GOALS` as it is now."""
    files = tracked()
    text = {name: (ROOT / name).read_text(encoding="utf-8") for name in files}
    lines = {name: len(text[name].splitlines()) for name in files}
    product = [name for name in files if not name.startswith(OUTSIDE)]
    trees = {name: ast.parse(text[name]) for name in product}
    graph, nodes = import_graph(trees), (node for tree in trees.values() for node in tree.body)
    defined = Counter(node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef))
    upwards = {(module_of(a)[:1], module_of(b)[:1]) for a, b in graph.edges if floor_of(a) < floor_of(b)}
    return {
        "product files": len(product),
        "product lines": sum(lines[name] for name in product),
        "test lines": sum(lines[name] for name in files if name.startswith("tests/")),
        "longest product file": max(lines[name] for name in product),
        "files with one importer": sum(graph.in_degree(name) == 1 for name in product),
        "depth of imports": nx.dag_longest_path_length(nx.condensation(graph)),
        "circles of files": sum(len(part) > 1 for part in nx.strongly_connected_components(graph)),
        "rooms that import upwards": len(upwards),
        "top-level names in two modules": sum(times > 1 for times in defined.values()),
        "said, told, whoever": sum(len(re.findall(r"\b(?:whoever|said|told)\b", text[name])) for name in product),
    }


def import_graph(trees: dict[str, ast.Module]) -> nx.DiGraph[str]:
    """Return the files of the product with an edge from each to every file that it imports."""
    modules = {module_of(name): name for name in trees}
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(trees)
    graph.add_edges_from((name, to) for name, tree in trees.items() for to in imported(name, tree, modules))
    return graph


def share_of_comments() -> float:
    """Return the share of the product's lines that have a comment, in percent, without those for tools."""
    product = [(ROOT / name).read_text(encoding="utf-8") for name in tracked() if not name.startswith(OUTSIDE)]
    tokens = (token for text in product for token in tokenize.generate_tokens(io.StringIO(text).readline))
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    meant = [one for one in comments if not re.match(r"#\s*(type:|noqa|!|pragma)", one)]
    return 100 * len(meant) / sum(len(text.splitlines()) for text in product)


def reports() -> Iterator[Report]:
    """Yield the table: now, the limit that a test holds, and the goal."""
    rows = [(name, f"{now:,}", f"{LIMITS[name]:,}", f"{GOALS[name]:,}") for name, now in weights().items()]
    rows.append(("lines with a comment, %", f"{share_of_comments():.1f}", "", "4"))
    yield Report("house: what the code weighs", ("", "now", "limit", "goal"), tuple(rows))
