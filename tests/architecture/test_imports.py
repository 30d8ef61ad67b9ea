"""What a module may import, read from every import of every module; what the commands load; what the code weighs.

That no room imports from one above it is a figure of the house, see the end.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from benchmarks import hops, house
from benchmarks.house import LIMITS, import_graph, share_of_comments, weights

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "stacklens"
ROOMS = [room for room in house.FLOORS if room != "face"]  # folders at the top
# layers inside extract, above specification and samples: none imports from a later one
EXTRACT = ("search", "verification", "certificate", "extraction", "evaluation")
WAYS_UP = {"src/stacklens/__init__.py", "core/imports.py"}  # these look names up in layers above them
HEAVY = ("torch", "sklearn", "pandas", "plotly")


@dataclass(frozen=True)
class Import:
    """One imported module: where it stands, its dotted name, and whether importing the file imports it too."""

    line: int
    module: str
    at_import: bool
    relative: bool = False


def module_name(path: Path) -> str:
    """Return the name under which the file at ``path`` is imported."""
    parts = path.relative_to(SOURCE if SOURCE in path.parents else ROOT).with_suffix("").parts
    return ".".join(("stacklens", *parts)).removesuffix(".__init__")


def imports(tree: ast.AST, package: Sequence[str] = (), at_import: bool = True) -> Iterator[Import]:
    r"""Yield every import of a file in ``package``; late ones and those for types do not happen at import.

    >>> late = "if TYPE_CHECKING:\n import torch\nelse:\n import numpy\ndef f():\n import torch"
    >>> [(one.module, one.at_import) for one in imports(ast.parse(f"{late}\nclass A:\n import torch"))]
    [('torch', False), ('numpy', True), ('torch', False), ('torch', True)]
    >>> read = "from stacklens import models, __version__\nfrom ..core.errors import A"
    >>> [one.module for one in imports(ast.parse(read), ("stacklens", "probe"))]
    ['stacklens.models', 'stacklens', 'stacklens.core.errors']
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(node.lineno, alias.name, at_import)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join((*package[: len(package) - node.level + 1], *filter(None, [node.module])))
            module = base if node.level else node.module or ""
            for alias in node.names:
                own = module == "stacklens" and list(SOURCE.glob(f"{alias.name}*"))  # of the root its modules
                yield Import(node.lineno, f"{module}.{alias.name}" if own else module, at_import, node.level > 0)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from imports(ast.Module(node.body, []), package, at_import=False)
            yield from imports(ast.Module(node.orelse, []), package, at_import)
        else:
            function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from imports(node, package, at_import and not function)


def files_of(room: str) -> list[Path]:
    return sorted((ROOT / room).rglob("*.py"))


FILES = [
    *sorted(SOURCE.glob("*.py")),
    *sorted((SOURCE / "face").glob("*.py")),
    *(path for room in ROOMS for path in files_of(room)),
    *ROOT.glob("app.py"),
]


@cache
def trees() -> dict[Path, ast.Module]:
    """Return the syntax trees of all files, parsed once."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}


@cache
def all_imports() -> list[tuple[Path, Import]]:
    names = {path: module_name(path).split(".") for path in FILES}
    packages = {path: name if path.name == "__init__.py" else name[:-1] for path, name in names.items()}
    return [(path, seen) for path, tree in trees().items() for seen in imports(tree, packages[path])]


def found(path: Path, seen: Import) -> str:
    return f"{path.relative_to(ROOT)}:{seen.line} imports {seen.module}"


def test_only_the_root_and_one_module_look_names_up_in_layers_above_them() -> None:
    """Whoever imports by a name in a string could go anywhere: these do, those in their layer, and a user's code."""
    own_layer = {"models/checkpoint.py", "models/networks/__init__.py", "viz/dashboard/jobs.py"}
    looks_up = {path for path, seen in all_imports() if seen.module == "importlib"}
    looks_up |= {path for path in FILES if "__import__(" in path.read_text("utf-8")}
    assert {path.relative_to(ROOT).as_posix() for path in looks_up} == WAYS_UP | own_layer


def test_rooms_import_each_other_relatively_and_never_by_a_bare_name() -> None:
    """So an editor that opens a file at the top of the repository finds what the installed package imports."""
    absolute = [
        found(path, seen)
        for path, seen in all_imports()
        if is_bare(seen) or (seen.module.split(".")[0] == "stacklens" and not seen.relative and path.name != "app.py")
    ]
    assert not absolute


def layer_of(module: str) -> int | None:
    """Return the layer inside extract that a module lies in; what stands loose is a specification or the extraction."""
    parts = module.split(".")
    if parts[:2] != ["stacklens", "extract"] or len(parts) < 3:
        return None
    return EXTRACT.index(parts[2]) if parts[2] in EXTRACT else None


def test_the_stages_of_extract_import_only_from_earlier_ones() -> None:
    later = [
        found(path, seen)
        for path, seen in all_imports()
        if (here := layer_of(module_name(path))) is not None and (there := layer_of(seen.module)) is not None
        if there > here
    ]
    assert not later


def is_bare(seen: Import) -> bool:
    top = seen.module.split(".")[0]
    # automata-lib is called so, too; formats may ask for it
    return top in house.FLOORS and (top != "automata" or seen.at_import)


def test_importing_automata_needs_only_the_standard_library_numpy_and_the_ground() -> None:
    allowed = {*sys.stdlib_module_names, "numpy"}
    others = [
        found(path, seen)
        for path, seen in all_imports()
        if seen.at_import
        and ROOT / "automata" in path.parents
        and seen.module.split(".")[0] not in allowed
        and not seen.module.startswith(("stacklens.core", "stacklens.automata"))
    ]
    assert not others


def test_the_two_lowest_floors_know_nothing_of_torch() -> None:
    using = {path.relative_to(ROOT).parts[0] for path, seen in all_imports() if "torch" in seen.module}
    assert using & {"automata", "languages", "models"} == {"models"}


def test_only_probes_import_scikit_learn_which_takes_a_second() -> None:
    """Clusters are made without it."""
    assert {path for path, seen in all_imports() if "sklearn" in seen.module} == {ROOT / "probe" / "geometry.py"}


@pytest.mark.parametrize(
    "code",
    [
        "import stacklens",
        "import stacklens as sl; dir(sl); sl.load, sl.extract, sl.languages, sl.zoo, sl.PushdownAutomaton, sl.Equal",
        "import stacklens.automata.pda, stacklens.languages",
        "sys.argv = ['extract-pda', '-h']; from stacklens.cli.extract import main; main()",
        "sys.argv = ['stacklens', '-h']; from stacklens.__main__ import main; main()",
        "sys.argv = ['stacklens', 'papers', 'run', '-h']; from stacklens.__main__ import main; main()",
        "sys.argv = ['stacklens', 'papers', 'list']; from stacklens.__main__ import main; main()",
    ],
)
def test_heavy_libraries_are_not_loaded_for_help(code: str) -> None:
    report = "atexit.register(lambda: print('loaded', *(set(HEAVY) & set(sys.modules)), file=sys.stderr))"
    command = [sys.executable, "-c", f"import atexit, sys; HEAVY = {HEAVY}; {report}; {code}"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == "loaded\n"


def given(tree: ast.Module) -> Iterator[str]:
    """Yield every name that a module gives a value at its top, as often as it does."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            if "overload" not in map(ast.unparse, node.decorator_list):
                yield node.name
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name))


def test_no_module_gives_a_name_two_values() -> None:
    """The second would count for all functions, also for those that were written for the first."""
    twice = {
        path.relative_to(ROOT).as_posix(): [name for name, times in Counter(given(tree)).items() if times > 1]
        for path, tree in trees().items()
    }
    assert {path: names for path, names in twice.items() if names} == {}


def test_every_public_method_that_overrides_nothing_has_a_docstring() -> None:
    """What a base class says of a method holds for those that take its place; ruff's rule cannot tell them apart."""
    nodes = (node for tree in trees().values() for node in ast.walk(tree))
    classes = {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}

    @cache
    def inherited(name: str) -> set[str]:
        bases = {ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in classes[name].bases} & set(classes)
        parts = (part for base in bases for part in classes[base].body)
        named = {getattr(part, "name", None) or ast.unparse(part).partition(":")[0] for part in parts}
        return named.union(*map(inherited, bases))

    silent = [
        f"{name}.{part.name}"
        for name, node in classes.items()
        for part in node.body
        if isinstance(part, ast.FunctionDef) and ast.get_docstring(part) is None
        if not any(ast.unparse(mark).endswith(".setter") for mark in part.decorator_list)
        if not (f"{name}.{part.name}".startswith("_") or part.name.startswith("_") or part.name in inherited(name))
    ]
    assert silent == []


# ---- What the code weighs only goes down. ----


def test_nothing_weighs_more_than_its_limit_and_limits_follow_what_was_reached() -> None:
    """A limit that is far above what is there holds nothing: it is lowered in the commit that made room."""
    found = weights()
    assert {name: now for name, now in found.items() if now > LIMITS[name]} == {}
    assert {name: now for name, now in found.items() if LIMITS[name] > 1.03 * now + 3} == {}
    assert share_of_comments() >= 4.0


@pytest.mark.parametrize("name", hops.CALLS)
def test_a_call_passes_through_no_more_files_than_it_did(name: str) -> None:
    assert hops.passed(name)["all"].files <= hops.CALLS[name].files


def test_what_comments_and_docstrings_refer_to_is_there() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in trees()}
    code = {path: set(re.findall(r"\w+", re.sub(r"#.*|`[^`\n]*`", "", text))) for path, text in texts.items()}
    known = dict[str, set[str]]()  # the words in the code of files of a name, and in that of a class of a name
    for path, text in texts.items():
        for name in (path.parent.name, path.stem, *re.findall(r"^class (\w+)", text, re.MULTILINE)):
            known.setdefault(name, set()).update(code[path], [path.stem])
    referred = [(path, *re.findall(r"(?<!`)`(?:\w+\.)*(\w+)\.(\w+)`(?!`)", text)) for path, text in texts.items()]
    assert sum(len(names) for _, *names in referred) > 100
    for path, *names in referred:  # what is no file and no class is a variable, or somebody else's
        others = code[path] | {"dataclasses", "diskcache", "sl", "sys"}
        assert [one for one in names if one[1] not in known.get(one[0], {one[1]} if one[0] in others else ())] == [], (
            path
        )


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
