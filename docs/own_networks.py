"""Five networks of one's own, and two language models of rau: what is read out of each, as a table in own-networks.md.

`python docs/own_networks.py [NAME ...]` trains the networks of examples/own_networks_plain.py, some seconds each,
extracts from them and from tests/data/rau, and writes the table between its markers, with what was measured now. Rows
are written as they are done; with names (gru, lstm, …, rau-transformer) only these are measured, and the others stay.
"""

from __future__ import annotations

import inspect
import sys
import time
from pathlib import Path
from typing import Any

import stacklens as sl
from stacklens.automata.compare import Different, Equal

FOLDER = Path(__file__).parent
TEXT, EXAMPLES, RAU = FOLDER / "own-networks.md", FOLDER.parent / "examples", FOLDER.parent / "tests" / "data" / "rau"
BEGIN, END = "<!-- networks: written by docs/own_networks.py -->", "<!-- end of networks -->"
NAMES = {
    "gru": "GRU, Dyck-2 to depth 3",
    "lstm": "LSTM, Dyck-1",
    "causal": "causal transformer of 2 layers, Dyck-2 to depth 3",
    "stack-rnn": "RNN on a superposition stack with cells of 4 numbers, Dyck-2",
    "vector-stack": "RNN on a vector stack read after the update, Dyck-2",
    "rau-lstm": "LSTM language model of rau, Dyck-2 to depth 3",
    "rau-transformer": "transformer language model of rau, Dyck-2 to depth 3",
}
_BUDGET = 20.0  # seconds of processor time for the black box
_HEAD = (
    "network",
    "lines of adapter",
    "seconds",
    "status",
    "automaton",
    "equal to the language",
    "white box equal to black box",
    "the network itself",
)


def measured(name: str) -> tuple[str, ...]:
    """Return the row of the network called ``name``."""
    if name.startswith("rau-"):
        kind = name.removeprefix("rau-")
        return _row(NAMES[name], "0", sl.load(RAU / f"dyck2-depth3-{kind}"), "dyck-2-3")
    sys.path.insert(0, str(EXAMPLES))
    from own_networks import ADAPTERS  # type: ignore[import-not-found, unused-ignore]
    from own_networks_plain import trained  # type: ignore[import-not-found, unused-ignore]

    adapter, language = ADAPTERS[name]
    lines = str(len(inspect.getsource(adapter).splitlines()) - 2)  # without its first line and what it says it is
    return _row(NAMES[name], lines, adapter(trained(name)), language)


def _row(called: str, lines: str, model: Any, language: str) -> tuple[str, ...]:
    begun = time.perf_counter()
    result = sl.extract(model, language, quiet=True)
    seconds = time.perf_counter() - begun
    print(f"{called}: {seconds:.1f} s, status {result.status}: {result.headline}", flush=True)
    pda, found = result.minimised, result.found
    if pda is None or found is None:
        return called, lines, f"{seconds:.0f}", str(result.status), f"none: {result.reason}", "", "", ""
    size = f"{_count(pda.states, 'state')}, {_count(pda.stack_alphabet, 'stack symbol')}"
    first = result.horizon["network"].difference
    own = "follows it on all words tried" if first is None else f"parts on a word of length {len(first.word)}"
    proved = f"proved, `{language}`" if isinstance(result.proof, Equal) else "no"
    cells = called, lines, f"{seconds:.0f}", str(result.status), f"{size} ({found.method})", proved
    return *cells, _beside(result), own


def _count(things: tuple[str, ...], name: str) -> str:
    return f"{len(things)} {name}{'s' * (len(things) != 1)}"


def _beside(result: sl.Extraction) -> str:
    """Return whether what is learned from answers alone equals the automaton."""
    if result.found is None or result.found.by_asking:
        return "it is one"
    box = result.black_box(budget=_BUDGET).box
    if box is None or isinstance(box.comparison, Equal):
        return "proved"
    if box.said is not None and isinstance(box.comparison, Different):
        return f"no: on a word of length {len(box.said.word)} the network says {box.said.network}"
    return f"to length {box.agree_to}"


def main(names: list[str]) -> None:
    """Measure, and write the table."""
    if unknown := [name for name in names if name not in NAMES]:
        sys.exit(f"error: unknown {', '.join(unknown)}: expected some of {', '.join(NAMES)}")
    for name in names or NAMES:
        row = measured(name)
        text = TEXT.read_text(encoding="utf-8")
        before, after = text[: text.index(BEGIN) + len(BEGIN)], text[text.index(END) :]
        kept = [tuple(line.strip("| ").split(" | ")) for line in text[len(before) : -len(after)].splitlines() if line]
        known = {cells[0]: cells for cells in kept if cells[0] in NAMES.values()} | {row[0]: row}
        table = [_HEAD, ("---",) * len(_HEAD), *(known[called] for called in NAMES.values() if called in known)]
        lines = "\n".join(f"| {' | '.join(cells)} |" for cells in table)
        TEXT.write_text(f"{before}\n{lines}\n{after}", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
