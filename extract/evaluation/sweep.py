"""Many networks at once: a row for each, whatever becomes of it, kept as soon as it is known."""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import __version__
from ...automata.formats.by_suffix import read_text
from ...automata.pda import PushdownAutomaton
from ...core.errors import FileFormatError, StacklensError, UnknownNameError
from ...core.imports import above
from ...core.serialize import parse_json, to_plain
from ...languages.catalogue import get_language, get_task
from ...languages.language import Language
from ...languages.task import Task
from ...models.base import StackModel
from ...models.checkpoint import card_of, load_network
from ..by_name import specification_of_network, subject_of
from ..config import ExtractionConfig
from ..jobs import Journal, finished
from ..specification import Specification
from .sweep_rows import Settling, SweepRow, classes_of, failed_row, settling_of, swept

if TYPE_CHECKING:
    import pandas as pd
    from plotly.graph_objects import Figure


Given = StackModel[Any] | str | Path
Subject = Language | Task | Specification | PushdownAutomaton | str | None
_COUNTS = ("states", "stack_symbols", "transitions")
_WHOLE = ("updates", "epochs", "seed", "automaton", *_COUNTS, "differs_rounded", "differs_network")
_PARTIES = {"network": "accuracy", "rounded network": "accuracy_rounded", "automaton": "accuracy_automaton"}


@dataclass(frozen=True)
class Sweep:
    """The rows of a sweep, in the order of the networks."""

    rows: tuple[SweepRow, ...]

    @cached_property
    def classes(self) -> tuple[int | None, ...]:
        """Return the number of every row's automaton: the same number where they are proved to do the same."""
        return tuple(classes_of(self.rows))

    @property
    def settling(self) -> Settling | None:
        """Return when the last automaton appears and settles, where these are the snapshots of a training."""
        return settling_of(self.rows, self.classes)

    def to_frame(self) -> pd.DataFrame:
        """Return a row a network; lengths up to which all words agree are infinite where that is every length.

        ``automaton`` is a number, the same where automata are proved to do the same. The accuracy is that of the
        network on drawn words of every length; then it stands in ranges of lengths, such as ``accuracy 1-12``.
        """
        import pandas as pd

        rows = [
            {
                **{name: getattr(row, name) for name in ("network", "language", "updates", "epochs", "seed", "status")},
                "automaton": number,
                **(row.sizes or dict.fromkeys(_COUNTS)),
                "proof": row.proof,
                "certificate": row.certificate,
                "agrees_rounded": row.agrees("rounded network"),
                "differs_rounded": row.differs("rounded network"),
                "agrees_network": row.agrees("network"),
                "differs_network": row.differs("network"),
                **{name: row.accuracy(party) for party, name in _PARTIES.items()},
                **{name: getattr(row, name) for name in ("seconds", "headline", "reason")},
                **{f"accuracy {size}": value for size, value in row.accuracy_by_size("network").items()},
            }
            for row, number in zip(self.rows, self.classes, strict=True)
        ]
        return pd.DataFrame(rows).astype(dict.fromkeys(_WHOLE, "Int64"))  # whole numbers, some perhaps missing

    def plot(self) -> Figure:
        """Return a figure: accuracy, automata and horizons over updates, or over the networks in their order."""
        return above("stacklens.face.notebook.sweep_figure")(self)

    def save(self, path: str | Path) -> None:
        """Write the table (.csv), all of it (.json, which ``sl.load`` gives back), or the figure (.html, .svg, .png).

        Raises:
            StacklensError: another suffix, or the file cannot be written.
        """
        above("stacklens.face.notebook.save_sweep")(self, Path(path))

    def _repr_html_(self) -> str:
        shown: str = self.to_frame().dropna(axis="columns", how="all").to_html(index=False)
        return shown


def networks_named(given: Given | Sequence[Given]) -> list[Given]:
    """Return networks, and files in order: patterns such as ``runs/*.pt`` and folders stand for the files in them.

    Files are sorted as people count: ``seed-9.pt`` comes before ``seed-10.pt``.

    Raises:
        StacklensError: nothing is given, or nothing matches a pattern or lies in a folder.
    """
    single = isinstance(given, str | Path | StackModel)
    several: list[Any] = list(given) if isinstance(given, Iterable) and not single else [given]
    found: list[Given] = []
    for one in several:
        if isinstance(one, StackModel):
            found.append(one)
            continue
        if not isinstance(one, str | Path):
            raise StacklensError(f"expected networks, or their files, not one of type {type(one).__name__}")
        folder = os.path.isdir(one)
        if not folder and (os.path.exists(one) or not glob.has_magic(str(one))):
            found.append(one)
            continue
        pattern = os.path.join(glob.escape(str(one)), "*.pt") if folder else str(one)
        files = sorted(filter(os.path.isfile, glob.glob(pattern, recursive=True)), key=_by_numbers)
        if not files:
            raise StacklensError(f"no file matches {pattern}; expected trained networks")
        found += map(Path, files)
    if not found:
        raise StacklensError("there is no network to sweep over; give files, patterns such as 'runs/*.pt', or networks")
    return found


def _by_numbers(name: str) -> list[tuple[int, str]]:
    """Return the key that sorts numbers in names as numbers."""
    parts = re.split(r"(\d+)", name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def sweep(
    given: Given | Sequence[Given],
    language: Subject = None,
    config: ExtractionConfig | None = None,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    journal: Path | None = None,
    resume: bool = True,
    progress: Callable[[SweepRow], None] = lambda _: None,
) -> Sweep:
    """Return a row for each of some networks: extracted, checked, and scored by length.

    Args:
        given: networks, files, patterns or folders (see `networks_named`).
        language: what all of them should do; by default what is in the file of each.
        config: how much is checked; the processes are those of the sweep.
        jobs, scheduler: see `jobs.finished`.
        journal: where finished rows are kept until all are; a sweep that was killed goes on from there.
        resume: whether to go on from a journal that is there already.
        progress: called with every row once it is there, those of the journal too.

    Raises:
        StacklensError: there is nothing to sweep over or no such language, the journal is another's, or workers died.
            What is wrong with one network stands in its row.
    """
    networks, config = networks_named(given), config or ExtractionConfig()

    # that there is a language or a task of that name; for which networks it makes sense, each row shows
    if not isinstance(language, str):
        subject_of(language)
    else:
        try:
            get_language(language)
        except UnknownNameError:
            get_task(language)

    # plain data by which a journal is known; the networks may be others
    called = language if isinstance(language, str | None) else getattr(language, "name", str(language))
    chosen = {key: value for key, value in to_plain(config).items() if key not in ("jobs", "device")}
    settings = {"sweep": called, "config": chosen, "version": __version__}

    rows: dict[int, SweepRow] = {}

    def add(number: int, row: SweepRow) -> None:
        rows[number] = row
        progress(row)

    def work(kept: Journal | None) -> Iterator[_Work]:
        """Yield what is still to be done, each network opened here: workers elsewhere do not have the files."""
        for number, one in enumerate(networks):
            name = f"{number + 1} {card_of(one).name}" if isinstance(one, StackModel) else str(one)
            try:
                model = one if isinstance(one, StackModel) else load_network(one).model
                key = f"{name} {card_of(model).weights}"
                if kept is not None and key in kept.kept:
                    try:
                        row = SweepRow.from_dict(kept.kept[key])
                    except StacklensError as error:
                        damage = f"holds a row that cannot be read: {error}; delete the file"
                        raise FileFormatError(f"{kept.path}: {damage}") from None
                    add(number, row)
                    continue
                specification = specification_of_network(model, language)
            except StacklensError as error:
                add(number, failed_row(name, called, error))
                continue
            yield number, key, name, model, specification, dict(model.origin.provenance) if model.origin else {}

    with nullcontext() if journal is None else Journal.open(journal, settings, resume) as kept:
        for number, key, row in finished(partial(_extracted, config=config), work(kept), jobs, scheduler):
            if kept is not None:
                kept.keep(**{key: row.to_dict()})
            add(number, row)
    return Sweep(tuple(rows[number] for number in range(len(networks))))


# a network to extract from: its number, its key in the journal, its name, itself, what it should do, its provenance
_Work = tuple[int, str, str, StackModel[Any], Specification | None, dict[str, Any]]


def _extracted(work: _Work, config: ExtractionConfig) -> tuple[int, str, SweepRow]:
    """Return the row of one network, with its number and key; it is called in other processes."""
    number, key, name, model, specification, provenance = work
    return number, key, swept(name, model, specification, config, provenance)


# ---- A sweep as a file: its rows as plain data, with their automata and scores, to be read back ----

_BEGINNING, _SCHEMA = '{"format": "stacklens sweep"', 1
_EXPECTED = "a sweep that stacklens saved"


def sweep_text(sweep: Sweep) -> str:
    """Return ``sweep`` as JSON, a row a line."""
    rows = ",\n".join(json.dumps(row.to_dict(), ensure_ascii=False) for row in sweep.rows)
    return f'{_BEGINNING}, "schema": {_SCHEMA}, "rows": [\n{rows}\n]}}\n'


def is_sweep(path: str | Path) -> bool:
    """Return whether the file at ``path`` begins as a sweep does; it may be damaged all the same."""
    return read_text(path, _EXPECTED).startswith(_BEGINNING)


def load_sweep(path: str | Path) -> Sweep:
    """Return the sweep in the file at ``path``.

    Raises:
        FileFormatError: it cannot be read, or is damaged.
    """
    try:
        content = parse_json(read_text(path, _EXPECTED), _EXPECTED)
    except FileFormatError:
        raise
    except StacklensError as error:
        raise FileFormatError(f"{path}: {error}") from None
    if content.get("schema") != _SCHEMA:
        raise FileFormatError(f"{path}: no sweep of this version of stacklens; sweep again")
    if not isinstance(rows := content.get("rows"), list):
        raise FileFormatError(f"{path}: has no rows; sweep again")
    try:
        return Sweep(tuple(map(SweepRow.from_dict, rows)))
    except StacklensError as error:
        raise FileFormatError(f"{path}: holds a row that cannot be read: {error}; sweep again") from None
