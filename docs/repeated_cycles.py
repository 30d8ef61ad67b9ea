"""Which of the networks that the tables of the papers call right stand words that repeat a cycle a thousand times.

`python docs/repeated_cycles.py [EXPERIMENT ...]` trains the rows anew whose results (papers/results) have networks that
nothing contradicted, since weights are not kept. Of these seeds the rounded network and the network itself are held
against the task's own automaton, which was proved equal to theirs. What came of a row is added to
docs/repeated-cycles.json when it is done, and not trained again; docs/repeated-cycles.md is written from that.
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from typing import Any

import torch

from stacklens.extract.by_name import specification_for, subject_named
from stacklens.extract.cycles import pumped_families
from stacklens.extract.verification.checks import agree_on_pumps
from stacklens.models.rounding import Rounded
from stacklens.papers.grid import Grid, Outcome, RowResult, RunSettings, read_grid
from stacklens.papers.runner import EXPERIMENTS

FOLDER = Path(__file__).parent
KEPT, TEXT = FOLDER / "repeated-cycles.json", FOLDER / "repeated-cycles.md"
CYCLES = 300  # as `extract-pda` tries
_HEAD = """# Words that repeat a cycle

Every seed below gave, when the tables were made, a network that learned its task and an automaton that is proved
equal to the task and that no search contradicted, before cycles were repeated. Here the rounded network and the
network itself read every short cycle of the task's automaton, up to a thousand times (`automata/coverage.py`). They
are trained anew by `python docs/repeated_cycles.py` with the settings of `papers/results`. Training is chaotic: on
another processor the same seed gives another network of the same kind, and where a word below is very short, the
searches of before would have found it, too. Those that did not reach their score again are left out, and rows that
are not here were not run. Lengths are those of the shortest words found, in symbols.

What of long words costs networks most, depth, height or turns, is asked by words of a design in
[findings](findings.md#2-depth-height-and-turns).

| table | row | networks | rounded ones that break | their shortest words | networks that break | their shortest words |
|---|---|---|---|---|---|---|
"""


def main(names: list[str]) -> None:
    """Train and test what is missing, and write the table."""
    torch.set_num_threads(1)
    for name in names or EXPERIMENTS:
        grid = EXPERIMENTS[name]()
        results = read_grid(name) if isinstance(grid, Grid) else None
        for row in () if results is None else results.rows:
            assert isinstance(grid, Grid)
            _test_row(grid, row)
    _write()


def _test_row(grid: Grid, row: RowResult) -> None:
    """Test the networks of a row that nothing contradicted, if that was not done before."""
    good = [net.seed for net in row.networks if net.extraction is not None and net.extraction["status"] == 0]
    if not good or any((one["table"], one["row"]) == (grid.name, row.name) for one in _known()):
        return
    trained = grid.chosen_rows([row.name])[0].train(RunSettings(row.seeds, row.protocol))  # type: ignore[arg-type]
    found = [
        {"table": grid.name, "row": row.name, "seed": outcome.seed, **_tested(outcome)}
        for outcome in trained
        if outcome.seed in good and outcome.is_worth_reading and outcome.model is not None
    ]
    KEPT.write_text(json.dumps([*_known(), *found], indent=1) + "\n", encoding="utf-8")
    print(f"{grid.name}, {row.name}: {len(found)} networks", flush=True)


def _tested(outcome: Outcome) -> dict[str, Any]:
    model = outcome.model
    assert model is not None
    assert outcome.task is not None
    specification = specification_for(subject_named(outcome.task, model.task_kind), model.task_kind)
    assert specification is not None
    automaton = specification.automaton()
    if automaton is None:
        return {"cycles": 0, "rounded": None, "itself": None}
    families = pumped_families(automaton, model, specification, CYCLES, 0)
    rounded = agree_on_pumps(automaton, Rounded(model), None, families, specification)
    itself = agree_on_pumps(automaton, model, None, families, specification)
    return {
        "cycles": rounded.words,
        "rounded": rounded.made_of,
        "rounded length": None if rounded.counterexample is None else len(rounded.counterexample),
        "itself": itself.made_of,
        "itself length": None if itself.counterexample is None else len(itself.counterexample),
    }


def _known() -> list[dict[str, Any]]:
    if not KEPT.exists():
        return []
    known: list[dict[str, Any]] = json.loads(KEPT.read_text(encoding="utf-8"))
    return known


def _write() -> None:
    known = _known()
    rows = dict.fromkeys((one["table"], one["row"]) for one in known)
    lines = [
        _line(table, row, [one for one in known if (one["table"], one["row"]) == (table, row)]) for table, row in rows
    ]
    lines.append(_line("all", "", known))
    TEXT.write_text(_HEAD + "".join(lines), encoding="utf-8")
    print(f"wrote docs/{TEXT.name}")


def _line(table: str, row: str, found: list[dict[str, Any]]) -> str:
    cells = [table, row, str(len(found))]
    for side in ("rounded", "itself"):
        lengths = sorted(one[f"{side} length"] for one in found if one[side] is not None)
        cells.append(str(len(lengths)))
        cells.append(f"{lengths[0]} to {lengths[-1]}, median {statistics.median(lengths):g}" if lengths else "–")
    return f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    main(sys.argv[1:])
