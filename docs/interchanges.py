"""What zoo networks come to by both ways, and interchange accuracy of kept networks, as tables in docs/probing.md.

`python docs/interchanges.py [--only NAME... --published FILE...]` reads networks of the zoo, and files of other
programs, once by clustering hidden vectors and once by behaviour, with the settings of `extract-pda`, and interchanges
what each automaton tells apart. What came of a network is kept in docs/zoo-by-both-ways.json when it is done, and not
measured again. With `--networks NETS --results RES` it reads the networks of the papers' tables that learned their task
instead, those that `stacklens papers run ID --networks NETS --results RES` kept, by the way that `extract-pda` goes,
and keeps what came of these in docs/tables-by-way.json. The tables between the markers are written from what is kept.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import torch

from stacklens.automata.pda import PushdownAutomaton
from stacklens.core.errors import StacklensError
from stacklens.core.progress import count
from stacklens.extract.agreement import Certified
from stacklens.extract.by_name import specification_of
from stacklens.extract.config import ExtractionConfig, Method
from stacklens.extract.extraction import extract
from stacklens.extract.result import Extraction
from stacklens.models.checkpoint import load_network, zoo_names
from stacklens.probe.outcome import Causality

FOLDER = Path(__file__).parent
KEPT, TEXT = FOLDER / "tables-by-way.json", FOLDER / "probing.md"
BOTH = FOLDER / "zoo-by-both-ways.json"
MARKS = {
    "equal": ("<!-- equal: written by docs/interchanges.py -->", "<!-- end of equal -->"),
    "zoo": ("<!-- zoo: written by docs/interchanges.py -->", "<!-- end of zoo -->"),
    "kept": ("<!-- kept: written by docs/interchanges.py -->", "<!-- end of kept -->"),
}
METHODS: tuple[Method, ...] = ("kmeans", "learn")
# shown with all of their automata
EQUAL = ("marnn-stack-rnn-dyck-2-drifting", "marnn-stack-rnn-dyck-3-drifting", "nnpda-palindrome")
KINDS = ("states", "symbols", "heads")
_KEPT_HEAD = (
    "| table | networks | read | by clusters | by merging | by asking | proved equal | certified | as themselves "
    "| nothing against it | minimised: heads, median (least) | raw: heads, median (least) |\n"
)
BUDGET, CASES = 60, 2_000  # seconds by the clock for the extraction from a kept network; interchanges
READ: dict[str, Any] = {"max_length": 5, "long_words": 300, "deep_words": 3, "depth": 60, "proved_length": 0}
_ZOO = (
    "| network | way | status | proof | certificate | seconds | automaton | states | random network | symbols "
    "| random network | heads | random network |\n"
)
_EQUAL = (
    "| network | automaton | swapped | told apart | score | same | random partitions | permuted labels "
    "| random weights |\n"
)
_BASELINES = ("random partitions", "permuted labels", "random weights")


def main() -> None:
    """Measure what is missing, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=Path, help="the folder of kept networks of papers' tables")
    parser.add_argument("--results", type=Path, help="the folder of the tables' results, which tell what was learned")
    parser.add_argument("--only", nargs="*", help="of the zoo only these; none to write the tables of what is kept")
    parser.add_argument("--published", nargs="*", type=Path, default=[], help="files of other programs")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    if (chosen.networks is None) != (chosen.results is None):
        parser.error("--networks and --results go together")
    if chosen.networks is None:
        names = [name for name in zoo_names() if chosen.only is None or name in chosen.only]
        _measure_both([*((name, name) for name in names), *((path.stem, str(path)) for path in chosen.published)])
    else:
        _measure_kept(list(_learned(chosen.networks, chosen.results)))
    _write()


def _measure_both(jobs: list[tuple[str, str]]) -> None:
    for name, source in jobs:
        for method in METHODS:
            known = _known(BOTH)
            if not any((one["name"], one["method"]) == (name, method) for one in known):
                row = {"name": name, "method": method, **_by_one_way(source, method)}
                rows = ",\n".join(json.dumps(one, ensure_ascii=False) for one in [*known, row])
                BOTH.write_text(f"[\n{rows}\n]\n", encoding="utf-8")
                print(name, method, row["status"], f"{row['seconds']:.1f} s", flush=True)


def _learned(networks: Path, results: Path) -> Iterator[tuple[str, Path]]:
    """Yield tables with the kept networks that learned their task and have a memory."""
    for file in sorted(results.glob("*.json")):
        for row in json.loads(file.read_text(encoding="utf-8"))["rows"]:
            for network in row["networks"]:
                # networks without a memory are not read
                if network["converged"] and network["extraction"] is not None:
                    slug = re.sub(r"[^a-z0-9]+", "-", row["name"].lower().replace("+", " plus ")).strip("-")
                    path = networks / file.stem / f"{slug}-{row['protocol']}-seed-{network['seed']}.pt"
                    if path.exists():
                        yield file.stem, path


def _measure_kept(jobs: list[tuple[str, Path]]) -> None:
    for table, path in jobs:
        known = _known(KEPT)
        if not any((one["table"], one["name"]) == (table, path.stem) for one in known):
            row = {"table": table, "name": path.stem, **_measured(path)}
            rows = ",\n".join(json.dumps(one, ensure_ascii=False) for one in [*known, row])
            KEPT.write_text(f"[\n{rows}\n]\n", encoding="utf-8")
            print(table, path.stem, row["status"], row.get("way"), flush=True)


def _by_one_way(source: str, method: Method) -> dict[str, Any]:
    """Return what `extract-pda --causal --method METHOD` says of a network, with the seconds of processor time."""
    checkpoint = load_network(source)
    begun = time.process_time()
    result = extract(checkpoint.model, specification_of(checkpoint, None), ExtractionConfig(method=method))
    told: dict[str, Any] = {"seconds": time.process_time() - begun, "status": result.status, "reason": result.reason}
    if result.minimised is None:
        return told
    report = result.report()
    told |= {"proof": report["proof"]["verdict"], "certificate": report["certificate"]["verdict"]}
    told |= {"sizes": {"minimised": _sizes(result.minimised)}}
    if result.raw is not None:
        told["sizes"]["raw"] = _sizes(result.raw)
    with suppress(StacklensError):  # of some automata no interchange can be asked
        told["causality"] = result.causal().to_dict()
    return told


def _sizes(pda: PushdownAutomaton) -> list[int]:
    return [len(pda.states), len(pda.stack_alphabet)]


def _measured(source: Path) -> dict[str, Any]:
    """Return what came of reading a kept network, and the scores of interchanges of both automata."""
    checkpoint, begun = load_network(source), time.process_time()
    config = ExtractionConfig(budget=BUDGET, cycles=60, walks=40, **READ)
    try:
        result = extract(checkpoint.model, specification_of(checkpoint, None), config)
    except StacklensError as error:
        return {"status": 3, "reason": str(error)}
    seconds = round(time.process_time() - begun, 1)
    told: dict[str, Any] = {"status": result.status, "reason": result.reason, "seconds": seconds}
    if result.found is None or result.minimised is None or result.raw is None:
        return told
    certificate = result.certificate.certificate
    told |= {"way": result.found.method, "proof": result.report()["proof"]["verdict"]}
    told |= {"certified": isinstance(certificate, Certified), "itself": bool(getattr(certificate, "itself", False))}
    told |= {"sizes": {"minimised": _sizes(result.minimised), "raw": _sizes(result.raw)}}
    return told | {"scores": {which: _scores(result, which) for which in ("minimised", "raw")}}


def _scores(result: Extraction, which: str) -> dict[str, Any]:
    """Return by kind the score of the swaps that an automaton tells apart and how many these are; {} without any."""
    try:
        found = result.causal(automaton=which, cases=CASES).to_dict()
    except StacklensError:
        return {}
    scored = {kind: found.get(kind) for kind in KINDS}
    return {kind: [one["accuracy"], one["told_apart"]] for kind, one in scored.items() if one and one["told_apart"]}


def _known(file: Path) -> list[dict[str, Any]]:
    known: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    return known


def _write() -> None:
    """Put the tables of what is kept between their markers."""
    text = TEXT.read_text(encoding="utf-8")
    for group, table in (("equal", _equal_table()), ("zoo", _zoo_table()), ("kept", _kept_table())):
        begin, end = MARKS[group]
        text = f"{text[: text.index(begin)]}{begin}\n\n{table}\n{text[text.index(end) :]}"
    TEXT.write_text(text, encoding="utf-8")
    print(f"wrote docs/{TEXT.name}")


def _zoo_table() -> str:
    """Return a line for every network and way, and one more for the raw automaton where it is another one."""
    lines = [_ZOO, "|" + "---|" * 13 + "\n"]
    for one in sorted(_known(BOTH), key=lambda one: one["name"]):
        head = [one["name"], one["method"], str(one["status"])]
        if "sizes" not in one:
            lines.append(f"| {' | '.join([*head, '', '', _seconds(one), 'none', *[''] * 6])} |\n")
            continue
        head += [one["proof"], one["certificate"], _seconds(one)]
        for number, (which, sizes) in enumerate(one["sizes"].items()):
            if number and sizes == one["sizes"]["minimised"]:
                continue
            cells = [cell for kind in KINDS for cell in _scored(_swaps(one, which).get(kind))]
            sized = f"{which}: {count(sizes[0], 'state')}, {count(sizes[1], 'symbol')}"
            lines.append(f"| {' | '.join([*(head if number == 0 else [''] * 6), sized, *cells])} |\n")
    return "".join(lines)


def _seconds(one: dict[str, Any]) -> str:
    return f"{one['seconds']:.1f}"


def _swaps(one: dict[str, Any], which: str) -> dict[str, Any]:
    """Return what came of interchanges of an automaton by name, {} where none were made."""
    found: dict[str, Any] = one.get("causality") or {}
    if not found or found["automaton"] == which:
        return found
    other: dict[str, Any] = found.get("others", {}).get(which, {})
    return other


def _scored(found: dict[str, Any] | None) -> list[str]:
    """Return a score with how many swaps it is of and their share of all that were drawn, and the random network's."""
    if not found or not found["told_apart"]:
        return ["–", "–"]
    beside = found["same"][1] + (found["untold"] or (0, 0))[1] + found["undefined"]
    told = found["told_apart"]
    return [
        f"{found['accuracy']:.3f} of {told} ({told / (told + beside):.0%})",
        _share_of(found["baselines"].get("random weights")),
    ]


def _share_of(numbers: list[int] | None) -> str:
    return "–" if not numbers or not numbers[1] else f"{numbers[0] / numbers[1]:.3f}"


def _equal_table() -> str:
    """Return all automata of some networks with their scores, and below it which of them is the mechanism."""
    zoo = zoo_names()
    known = [one for one in _known(BOTH) if one["method"] == "kmeans" and one.get("causality")]
    shown = [one for name in EQUAL for one in known if one["name"] == name]
    shown += [one for one in known if one["name"] not in zoo]
    lines, verdicts = [_EQUAL, "|" + "---|" * 9 + "\n"], []
    for one in shown:
        found = Causality.from_dict(one["causality"])
        name = one["name"] if one["name"] in zoo else f"published: {one['name']}"
        verdicts.append(f"- {name}: {found.verdict}.\n")
        for number, (which, automaton) in enumerate(found.automata.items()):
            first, sized = name if number == 0 else "", f"{which} {'/'.join(map(str, automaton.sizes or ()))}"
            if automaton.same_as is not None:
                lines.append(f"| {first} | {sized} | as {automaton.same_as} | | | | | | |\n")
                continue
            for row, part in enumerate(automaton.kinds):
                what = part.what if part.rank is None else f"{part.what}, rank {part.rank}"
                score = (
                    "–" if not part.share.of else f"{part.accuracy:.3f} ({part.interval[0]:.3f}-{part.interval[1]:.3f})"
                )
                others = [
                    _share_of([one.right, one.of] if one else None) for one in map(part.baselines.get, _BASELINES)
                ]
                same = _share_of([part.same.right, part.same.of])
                named = [first, sized] if row == 0 else ["", ""]
                lines.append(f"| {' | '.join([*named, what, str(part.told_apart), score, same, *others])} |\n")
    return "".join([*lines, "\n", *verdicts])


def _kept_table() -> str:
    """Return of each of the papers' tables how many networks were read, by which way, and what is shown of them."""
    known = _known(KEPT)
    lines = [_KEPT_HEAD, "|" + "---|" * 12 + "\n"]
    tables = {
        table: [one for one in known if one["table"] == table] for table in sorted({one["table"] for one in known})
    }
    for table, found in {**tables, "all": known}.items():
        read = [one for one in found if "way" in one]
        ways = Counter(one["way"] for one in read)
        counts = [len(found), len(read), ways["kmeans"], ways["learn"], len(read) - ways["kmeans"] - ways["learn"]]
        counts += [sum(one["proof"] == "equal" for one in read), sum(one["certified"] for one in read)]
        counts += [sum(one["itself"] for one in read), sum(one["status"] == 0 for one in read)]
        spreads = [_spread([one["scores"][which].get("heads") for one in read]) for which in ("minimised", "raw")]
        lines.append(f"| {table} | {' | '.join([*map(str, counts), *spreads])} |\n")
    return "".join(lines)


def _spread(scores: list[list[float] | None]) -> str:
    known = [score[0] for score in scores if score is not None]
    return f"{np.median(known):.3f} ({min(known):.3f}), of {len(known)}" if known else "–"


if __name__ == "__main__":
    main()
