"""What we measured, as the files in `results/`: one JSON an experiment, schema 1, and their versions."""

import json
import platform
import subprocess
import tomllib
from collections.abc import Callable
from dataclasses import MISSING, asdict, dataclass, field, fields
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Self, TypeVar

from .. import __version__
from ..core.errors import FileFormatError, StacklensError
from ..core.files import write_whole

_LIBRARIES = ("numpy", "scikit-learn", "torch")
# a run writes results, and later ones come of the same code
_NO_CODE = (":!papers/results", ":!docs", ":!tests", ":!*.md")

T = TypeVar("T")
R = TypeVar("R", bound="Stored")


def versions() -> dict[str, str]:
    """Return the versions of Python, of stacklens and of the libraries that figures may depend on, by name. "commit" is
    that of the code in a checkout, with a word where files differ from it; elsewhere it is missing.
    """
    return {
        "python": platform.python_version(),
        "stacklens": __version__,
        **({"commit": commit} if (commit := _commit()) else {}),
        **{name: version(name) for name in _LIBRARIES},
    }


@cache
def _commit() -> str:
    root = Path(__file__).resolve().parents[1]

    def git(*arguments: str) -> str:
        return subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, check=True).stdout

    if not (root / ".git").exists():  # installed: a repository around it would be another one
        return ""
    try:
        changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", *_NO_CODE)
        return git("rev-parse", "HEAD").strip() + (" with changes" if changed else "")
    except (OSError, subprocess.CalledProcessError):  # no git, or one that mistrusts the folder
        return ""


def processor() -> str:
    """Return what the system calls the processor: round-off, and with it training, differs between models."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # no Linux
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


FOLDER = Path(__file__).parent / "results"


def from_fields(kind: type[T], values: object, **made: Callable[[Any], Any]) -> T:
    """Return the dataclass ``kind`` of the ``values`` that `dataclasses.asdict` gave; fields in ``made`` are made anew.
    Fields with a default may be missing: files are older than those. Raises StacklensError: something is missing, or
    too much, or these are no values by name.
    """
    known = {f.name: f.default is not MISSING or f.default_factory is not MISSING for f in fields(kind)}  # type: ignore[arg-type]
    required = {name for name, optional in known.items() if not optional}
    if not isinstance(values, dict) or not required <= set(values) <= set(known):
        found = ", ".join(sorted(values)) if isinstance(values, dict) else type(values).__name__
        raise StacklensError(f"expected {', '.join(sorted(known))}; found {found}")
    return kind(**{name: made[name](value) if name in made else value for name, value in values.items()})


@dataclass(frozen=True)
class Stored:
    """What came of an experiment or a grid, and stands in a file."""

    paper: str
    experiment: str
    title: str

    HEAD: ClassVar[dict[str, Any]] = {"schema": 1}  # of the file
    INDENT: ClassVar[int] = 2
    WHAT: ClassVar[str] = "an experiment"
    AGAIN: ClassVar[str] = "run it again"
    MADE: ClassVar[dict[str, Callable[[Any], Any]]] = {}  # how fields are made of what stands in a file

    def to_dict(self) -> dict[str, Any]:
        """Return the content of a results file."""
        return {**self.HEAD, **asdict(self)}

    @classmethod
    def from_dict(cls, content: object) -> Self:
        """Return what `to_dict` gave. Raises StacklensError: something lacks, or is too much, or of another schema."""
        if not isinstance(content, dict) or any(content.get(key) != value for key, value in cls.HEAD.items()):
            raise StacklensError(f"expected the results of {cls.WHAT}, schema {cls.HEAD['schema']}")
        return from_fields(cls, {key: value for key, value in content.items() if key not in cls.HEAD}, **cls.MADE)


@dataclass(frozen=True)
class Measured:
    """A claim with what we measured: `PaperClaim` and `Finding` in one, and the command that measures it. ``seconds``
    are those of processor time, which depends less than a clock on what else a machine does. A claim that shares a
    training or an extraction with an earlier one is charged what it adds.
    """

    section: str
    claim: str
    paper: str
    ours: str
    command: str
    seconds: float
    figures: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Results(Stored):
    """One run of an experiment; ``seconds`` of processor time.

    >>> results = Results("A paper", "a-1", "words", (), (0,), {"python": "3.11"}, 1.5)
    >>> Results.from_dict(results.to_dict()) == results
    True
    """

    claims: tuple[Measured, ...]
    seeds: tuple[int, ...]
    versions: dict[str, str]
    seconds: float
    processor: str = ""  # of the machine that ran it, as its system calls it; "" where that was not kept

    MADE: ClassVar[dict[str, Callable[[Any], Any]]] = {
        "seeds": tuple,
        "claims": lambda claims: tuple(from_fields(Measured, claim) for claim in claims),
    }


def result_path(experiment: str, folder: Path = FOLDER) -> Path:
    """Return where the results of ``experiment`` are kept."""
    return folder / f"{experiment}.json"


def write_results(results: Stored, folder: Path = FOLDER) -> Path:
    """Return the file that ``results`` were written to, whole or not at all. Raises StacklensError: it cannot be."""
    path = result_path(results.experiment, folder)
    write_whole(path, json.dumps(results.to_dict(), indent=results.INDENT, ensure_ascii=False) + "\n")
    return path


def read_stored(kind: type[R], experiment: str, folder: Path = FOLDER) -> R | None:
    """Return the results of ``experiment``, None for none. Raises FileFormatError: they are not of this ``kind``."""
    path = result_path(experiment, folder)
    if not path.is_file():
        return None
    try:
        return kind.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except (KeyError, TypeError, ValueError, StacklensError) as error:
        raise FileFormatError(f"{path}: no results of {kind.WHAT}: {error}; {kind.AGAIN}") from None


def read_results(experiment: str, folder: Path = FOLDER) -> Results:
    """Return the results of ``experiment``. Raises StacklensError: there are none; the message has the command that
    measures them; FileFormatError: the file does not hold results.
    """
    found = read_stored(Results, experiment, folder)
    if found is None:
        path = result_path(experiment, folder)
        raise StacklensError(f"{path}: no such file; measure it with `stacklens papers run {experiment}`")
    return found


# ---- What a claim and an experiment are: data, with the function that measures ours beside what the paper reports.


@dataclass(frozen=True)
class Finding:
    """What we measured: as a line for a table, and the figures that it says, as plain data."""

    ours: str
    figures: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PaperClaim:
    """One claim of a paper."""

    section: str  # where the paper makes it
    claim: str  # what was measured
    paper: str  # what the paper reports, with its figures; "not reported" where we only add to it
    measure: Callable[[], Finding]  # measures ours


@dataclass(frozen=True)
class Experiment:
    """Claims of one paper that are measured together."""

    name: str  # what `stacklens papers run` calls it
    paper: str  # the specification
    title: str  # what is measured, in a few words
    claims: tuple[PaperClaim, ...]
    seeds: tuple[int, ...]  # every seed that something is drawn from


# ---- What a paper claims, as the files in `declared/`: one TOML a paper, with a table for each experiment or grid.


@cache
def declared(paper: str) -> dict[str, Any]:
    """Return what stands in the file of a paper, by the names of its experiments and grids."""
    return tomllib.loads((Path(__file__).parent / "declared" / f"{paper}.toml").read_text(encoding="utf-8"))


def declared_experiment(
    name: str, measures: ModuleType, sizes: Any, seeds: tuple[int, ...], **texts: object
) -> Experiment:
    """Return the claims that the file of a paper has under ``name``, which begins with the paper's.

    A claim there is its section, what is measured, what the paper reports, and the function of ``measures`` that
    measures ours, with its arguments. "$nets" among these is that field of ``sizes``, "$" all of them; what is written
    there has the fields, and ``texts``, as "{nets}".
    """
    content = declared(name.partition("-")[0])
    known = {**vars(sizes), **texts}

    def argument(given: Any) -> Any:
        if not isinstance(given, str) or not given.startswith("$"):
            return given
        return known[given[1:]] if given[1:] else sizes

    claims = tuple(
        PaperClaim(section, what.format(**known), theirs, partial(getattr(measures, function), *map(argument, given)))
        for section, what, theirs, function, *given in content[name]["claims"]
    )
    title = content[name]["title"].format(**known)
    return Experiment(name, content["paper"], title, tuple(claims), seeds)
