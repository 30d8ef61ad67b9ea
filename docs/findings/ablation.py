"""Experiment 4: new networks repaired with all parts, with the controller not disturbed, without counterexamples.

    python -m docs.findings.ablation [--networks build/ablation] [--until HH:MM]

Writes docs/findings/parts.json, a line a network and arm; goes on where it was stopped. Without hardening is no arm:
the actions of what came out are scaled back, and the network as it is reads the design's words again. (ablation.json,
of H6, is of the commit that it names, with six networks and 45 seconds each.)
"""

from __future__ import annotations

import argparse
import copy
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from docs.findings import design
from docs.findings.fresh import NETWORKS, TABLES, Fresh, about, learned, read_back, rows, trained, write_results

import stacklens as sl
from stacklens.extract import repair as repairing
from stacklens.extract.agreement import Certified
from stacklens.models.base import StackModel
from stacklens.models.rounding import Rounded

SECONDS = 180.0  # of processor time for each, beside the extractions before and after
ARMS = ("all parts", "not disturbed", "no counterexamples")
SEEDS = (70, 71, 72, 73)  # that nobody had trained when H10 and H11 were written
ROWS = ("Stack-RNN+Softmax", "Stack-RNN by J&M", "Stack-LSTM+Softmax")
TASKS = ("D2", "D3")
A_ROW = 2  # networks, the first seeds that learned


def chosen_networks(folder: Path) -> Iterator[Fresh]:
    """Yield the first network of every row, then the second: where time ends all rows have as many, or one more."""
    for table, row in rows():
        if TABLES[table] in TASKS and row.name in ROWS:
            outcomes, seconds = trained(table, row, folder, SEEDS)
            print(table, row.name, [round(one.scores["test"], 4) for one in outcomes], seconds, flush=True)
    known = list(learned(folder, SEEDS))
    of_row = [[one for one in known if (one.named["task"], one.row) == (task, row)] for task in TASKS for row in ROWS]
    for number in range(A_ROW):
        yield from (own[number] for own in of_row if len(own) > number)


def repaired(result: sl.Extraction, arm: str) -> repairing.Repair:
    """Return what comes of a repair without the part that ``arm`` leaves out."""
    whole = repairing.train_further

    def part(
        model: Any, task: Any, hard: Any, steps: int, seed: int, noise: float, *more: Any
    ) -> list[StackModel[Any]]:
        kept = [] if arm == "no counterexamples" else hard
        return whole(model, task, kept, steps, seed, 0.0 if arm == "not disturbed" else noise, *more)

    with patch.object(repairing, "train_further", part):
        return repairing.repair(result, seconds=SECONDS)


def measured(result: sl.Extraction, one: Fresh, arm: str) -> dict[str, Any]:
    """Return what an arm made of a network: certificates, and words of the design that go wrong."""
    begun = time.process_time()
    found = repaired(result, arm)
    line: dict[str, Any] = {**one.named, "arm": arm, "seconds": round(time.process_time() - begun, 1)}
    for when, extraction in (("before", result), ("after", found.after)):
        certificate = extraction.certificate.certificate
        line[when] = {
            "status": extraction.status,
            "certified": isinstance(certificate, Certified),
            "itself": bool(getattr(certificate, "itself", False)),
            "wrong": _wrong(extraction.model, one.language),
            "wrong rounded": _wrong(Rounded(extraction.model), one.language),
        }
    if found.hardened is not None:
        soft = copy.deepcopy(found.model)
        with torch.no_grad():
            for name, parameter in soft.named_parameters():
                if name in found.hardened.parameters:
                    parameter.div_(found.hardened.scale)
        line["wrong without hardening"] = _wrong(soft, one.language)
    line |= {"hardened": found.hardened is not None, "steps": sum(one.steps for one in found.rounds)}
    return {**line, "rounds": len(found.rounds), "test": found.accuracy}


def _wrong(model: StackModel[Any], language: str) -> int:
    words = design.words(language)
    return len(words) * design.WORDS - sum(design.right(model, language, words))


def main() -> None:
    """Repair every network by every arm, until the time that is given."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--networks", type=Path, default=NETWORKS.with_name("ablation"))
    options.add_argument("--until", default="", help="begin no repair after this time of the day")
    chosen = options.parse_args()
    torch.set_num_threads(1)
    before = read_back("parts")
    lines = before["rows"]
    for one in chosen_networks(chosen.networks):
        todo = [arm for arm in ARMS if not any({**one.named, "arm": arm}.items() <= line.items() for line in lines)]
        result = sl.extract(one.model, one.language, quiet=True, budget=300) if todo else None
        for arm in todo:
            if result is None or (chosen.until and time.strftime("%H:%M") >= chosen.until):
                break
            lines.append(measured(result, one, arm))
            print(json.dumps(lines[-1], ensure_ascii=False), flush=True)
            head = {**about("python -m docs.findings.ablation", before), "seconds for each": SECONDS}
            write_results("parts", head, lines)


if __name__ == "__main__":
    main()
