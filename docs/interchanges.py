"""Interchange accuracy of the zoo's networks, and of a sample of kept networks, as tables in docs/probing.md.

`python docs/interchanges.py [--networks FOLDER --sample N]` reads every network of the zoo, once by its behaviour and
once by clustering its hidden vectors, and interchanges states and symbols of the minimised and of the raw automaton.
With `--networks` it reads N networks instead, drawn from those that `stacklens papers run --networks FOLDER` kept. What
came of a network is kept in docs/interchanges.json when it is done, and not measured again. The tables between the
markers are written from what is kept.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

from stacklens.automata.compare import Different, Equal
from stacklens.errors import StacklensError
from stacklens.extract.by_name import specification_of
from stacklens.extract.config import ExtractionConfig, Method
from stacklens.extract.extraction import extract
from stacklens.extract.result import Extraction
from stacklens.models.io import load_network, zoo_names
from stacklens.progress import count

FOLDER = Path(__file__).parent
KEPT, TEXT = FOLDER / "interchanges.json", FOLDER / "probing.md"
MARKS = {
    "zoo": ("<!-- zoo: written by docs/interchanges.py -->", "<!-- end of zoo -->"),
    "kept": ("<!-- kept: written by docs/interchanges.py -->", "<!-- end of kept -->"),
}
METHODS: tuple[Method, ...] = ("auto", "kmeans")
_KEPT_HEAD = "| network | its automaton | networks | states, median (least) | symbols, median (least) |\n"
BUDGET, CASES = {"zoo": 30, "kept": 15}, 2_000  # seconds of processor time for a search, interchanges
READ: dict[str, Any] = {"max_length": 5, "long_words": 300, "deep_words": 3, "depth": 60, "proved_length": 0}
_ZOO = "| network | found by | proved | automaton | states | random | symbols | random | soft states | soft symbols |\n"


def main() -> None:
    """Measure what is missing, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=Path, help="a folder of kept networks")
    parser.add_argument("--only", nargs="*", help="of the zoo only these; none to write the tables of what is kept")
    parser.add_argument("--sample", type=int, default=40, help="how many of these")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    jobs = [] if chosen.networks is not None else _of_the_zoo(chosen.only)
    if chosen.networks is not None:
        paths = sorted(chosen.networks.rglob("*.pt"))
        drawn = np.random.default_rng(0).permutation(len(paths))[: chosen.sample]
        jobs += [("kept", f"{paths[i].parent.name}/{paths[i].stem}", str(paths[i])) for i in drawn.tolist()]
    for group, name, source in jobs:
        for method in METHODS if group == "zoo" else METHODS[:1]:
            known = _known()
            if not any((one["group"], one["name"], one["method"]) == (group, name, method) for one in known):
                row = {"group": group, "name": name, "method": method, **_measured(source, method, BUDGET[group])}
                KEPT.write_text(json.dumps([*known, row], indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
                print(group, name, method, row["status"], flush=True)
    _write()


def _of_the_zoo(only: list[str] | None) -> list[tuple[str, str, str]]:
    return [("zoo", name, name) for name in zoo_names() if only is None or name in only]


def _measured(source: str, method: Method, budget: int) -> dict[str, Any]:
    """Return what came of reading a network, and of interchanges against both automata."""
    checkpoint = load_network(source)
    config = ExtractionConfig(method=method, budget=budget, cycles=60, walks=40, **READ)
    try:
        result = extract(checkpoint.model, specification_of(checkpoint, None), config)
    except StacklensError as error:
        return {"status": 3, "reason": str(error)}
    scores = checkpoint.provenance.get("papers", {}).get("scores", {})
    told = {"status": result.status, "reason": result.reason, "kind": checkpoint.model.name, "scores": scores}
    if result.minimised is None or result.raw is None:
        return told
    proof = "equal" if isinstance(result.proof, Equal) else "different" if isinstance(result.proof, Different) else "–"
    sizes = [[len(pda.states), len(pda.stack_alphabet)] for pda in (result.automaton, result.raw)]
    told |= {"proof": proof, "sizes": sizes, "way": "" if result.found is None else result.found.method}
    return told | {which: _causal(result, which) for which in ("minimised", "raw")}


def _causal(result: Extraction, which: str) -> dict[str, Any]:
    try:
        return result.causal(automaton=which, cases=CASES).to_dict()
    except StacklensError as error:
        return {"reason": str(error)}


def _known() -> list[dict[str, Any]]:
    known: list[dict[str, Any]] = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else []
    return known


def _write() -> None:
    """Put the tables of what is kept between their markers."""
    text = TEXT.read_text(encoding="utf-8")
    for group, table in (("zoo", _zoo_table()), ("kept", _kept_table())):
        begin, end = MARKS[group]
        text = f"{text[: text.index(begin)]}{begin}\n\n{table}\n{text[text.index(end) :]}"
    TEXT.write_text(text, encoding="utf-8")
    print(f"wrote docs/{TEXT.name}")


def _zoo_table() -> str:
    lines = [_ZOO, "|" + "---|" * 10 + "\n"]
    for one in sorted((one for one in _known() if one["group"] == "zoo"), key=lambda one: one["name"]):
        if "minimised" not in one:
            lines.append(f"| {one['name']} | {one['method']} | none | – | | | | | | |\n")
            continue
        same = one["sizes"][0] == one["sizes"][1]
        for number, which in enumerate(("minimised",) if same else ("minimised", "raw")):
            cells = [_size(one["sizes"][number], "" if same else which), *_shares(one[which])]
            head = [one["name"], one.get("way", one["method"]), one["proof"]] if number == 0 else ["", "", ""]
            lines.append(f"| {' | '.join([*head, *cells])} |\n")
    return "".join(lines)


def _size(size: list[int], which: str) -> str:
    return f"{count(size[0], 'state')}, {count(size[1], 'symbol')}" + (f", {which}" if which else "")


def _shares(found: dict[str, Any]) -> list[str]:
    if "states" not in found:
        return ["–"] * 6
    parts = [found["states"], found["symbols"]]
    shown = [cell for part in parts for cell in (_share(part["accuracy"]), _share(part["baseline"]))]
    soft = [_share(part["soft"][0] / part["soft"][1] if part["soft"] and part["soft"][1] else None) for part in parts]
    return [*shown, *soft]


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _kept_table() -> str:
    """Return how networks of a kind fare, by whether their automaton is proved, contradicted, or missing."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for one in _known():
        if one["group"] == "kept":
            groups.setdefault((one.get("kind", "?"), _outcome(one)), []).append(one)
    lines = [_KEPT_HEAD, "|" + "---|" * 5 + "\n"]
    for (kind, outcome), found in sorted(groups.items()):
        shown = [_spread([_accuracy(one, part) for one in found]) for part in ("states", "symbols")]
        lines.append(f"| {kind} | {outcome} | {len(found)} | {' | '.join(shown)} |\n")
    return "".join(lines)


def _outcome(one: dict[str, Any]) -> str:
    if "minimised" not in one:
        return "none"
    proved = {"equal": "proved equal", "different": "proved different"}.get(one["proof"], "undecided")
    return proved + (", nothing contradicts it" if one["status"] == 0 else ", contradicted")


def _accuracy(one: dict[str, Any], part: str) -> float | None:
    value: float | None = one.get("minimised", {}).get(part, {}).get("accuracy")
    return value


def _spread(values: list[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{np.median(known):.3f} ({min(known):.3f}), of {len(known)}" if known else "–"


if __name__ == "__main__":
    main()
