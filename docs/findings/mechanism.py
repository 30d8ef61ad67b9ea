"""Experiment 3: the automata of each fresh network, and which of them it computes with, by told-apart interchanges.

    python -m docs.findings.mechanism [--networks build/runs] [--until HH:MM] [--training]

Writes docs/findings/mechanism.json, a line a network, those of the first seed first; goes on where it was stopped. What
`sl.extract` claims of each is kept with it, for experiment 5: how many words of the design its automaton, the rounded
network and the network itself answer otherwise. With --training other networks are trained and looked at on the way,
and docs/findings/becoming.json has a line a network (H12).
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import torch
from docs.findings import design
from docs.findings.fresh import NETWORKS, SEEDS, TABLES, Fresh, about, learned, read_back, write_results

import stacklens as sl
from stacklens.automata.compare import Equal
from stacklens.core.errors import StacklensError
from stacklens.extract.agreement import Certified
from stacklens.languages.catalogue import get_task
from stacklens.models.inference import automaton_answers, network_answers
from stacklens.models.rounding import Rounded
from stacklens.models.training.snapshots import Snapshots
from stacklens.models.training.streams import word_accuracy
from stacklens.models.training.supervised import Fitting
from stacklens.papers.grid import RunSettings
from stacklens.papers.suzgun2019 import networks_of_table, recipe_of, words_of_test
from stacklens.probe.outcome import LEAST_SWAPS, Causality

BUDGET, CASES = 300.0, 1_000  # seconds by the clock of a search, on a machine that others use, too; interchanges
WATCHED = (("suzgun2019-table2", "Stack-RNN+Softmax"), ("suzgun2019-table2", "Baby-NTM+Softmax"))
WATCHED += (("suzgun2019-table3", "Stack-RNN+Softmax"),)
WATCHED_SEEDS, LOOKS, LOOK = (80, 81, 82, 83), 12, 30.0  # of H12; looks at a network; seconds of a search at each


def claim_of(result: sl.Extraction, one: Fresh) -> dict[str, Any]:
    """Return what a result claims of a network, and on how many words of the design its automaton is wrong."""
    claim: dict[str, Any] = {"status": result.status}
    if result.minimised is None:
        return {**claim, "reason": str(result.reason)[:120]}
    certificate = result.certificate.certificate
    claim |= {
        "way": result.found.method if result.found else None,
        "equal to the task": isinstance(result.proof, Equal),
    }
    claim |= {"certified": isinstance(certificate, Certified), "itself": bool(getattr(certificate, "itself", False))}
    claim |= {"sizes": [len(result.minimised.states), len(result.minimised.stack_alphabet)]}
    claim |= {"transitions": len(result.minimised.transitions)}
    words = [word for cell in design.words(one.language) for word in cell]
    wrong = {"network": 0, "rounded": 0}
    for first in range(0, len(words), 27 * design.WORDS):  # of one length at once
        some = words[first : first + 27 * design.WORDS]
        said = automaton_answers(result.minimised, one.model, some)
        for net, model in (("network", one.model), ("rounded", Rounded(one.model))):
            wrong[net] += int((network_answers(model, some) != said).any(1).sum())
    return {**claim, "words": len(words), "wrong": wrong}


def scores_of(found: Causality) -> dict[str, Any]:
    """Return of every automaton what its interchanges came to; automata that are another one renamed say so."""
    automata = {}
    for which, one in found.automata.items():
        kinds = {
            part.what: {
                "told apart": part.told_apart,
                "score": round(part.accuracy, 4),
                "random network": _share(part.baselines.get("random weights")),
                "as it is": _share(part.soft),
            }
            for part in one.kinds
            if part.what != "aligned" and part.told_apart >= LEAST_SWAPS
        }
        known = {"sizes": one.sizes, "equal": one.equal, "same as": one.same_as, "mechanism": one.is_mechanism}
        automata[which] = {**known, "score": None if one.score is None else round(one.score, 4), "kinds": kinds}
    return {"mechanism": found.mechanism, "doubt": found.doubt, "automata": automata}


def _share(share: Any) -> float | None:
    return round(share.accuracy, 4) if share is not None and share.of else None


def measured(one: Fresh) -> dict[str, Any]:
    """Return what is read out of a network, what is claimed of it, and its automata's scores."""
    begun = time.process_time()
    result = sl.extract(one.model, one.language, quiet=True, budget=BUDGET)
    read = time.process_time()
    line = {**one.named, "extraction seconds": round(read - begun, 1), **claim_of(result, one)}
    if result.minimised is None:
        return line
    asked = time.process_time()
    try:
        line |= scores_of(result.causal(cases=CASES))
    except StacklensError as error:
        line["doubt"] = str(error)[:120]
    return {**line, "interchange seconds": round(time.process_time() - asked, 1)}


def becoming(table: str, row: str) -> Iterator[dict[str, Any]]:
    """Train the networks of a row, and yield of each what it does, and what it computes with, at every look."""
    settings = RunSettings(WATCHED_SEEDS, "fast")
    trial = networks_of_table(int(table[-1]))[row]
    fitting = Fitting(
        trial.model, recipe_of(trial, settings), get_task(trial.task), seed=WATCHED_SEEDS[0], nets=len(WATCHED_SEEDS)
    )
    kept = Snapshots(LOOKS)
    kept.watch(fitting)
    fitting.run()
    kept.end(fitting)
    places = np.linspace(0, len(kept.taken) - 1, LOOKS).round().astype(int)
    test = words_of_test(fitting.task, settings)
    for number, seed in enumerate(WATCHED_SEEDS):
        looks = []
        for snapshot in (kept.taken[place] for place in places.tolist()):
            model = snapshot.network(fitting, number)
            right = [round(float(word_accuracy(net, test)[0]), 4) for net in (model, Rounded(model))]
            look = {"updates": snapshot.updates, "test": right[0], "test rounded": right[1]}
            result = sl.extract(model, trial.task, quiet=True, budget=LOOK)
            if result.minimised is not None:
                look |= {"equal to the task": isinstance(result.proof, Equal)}
                with suppress(StacklensError):
                    look |= scores_of(result.causal(cases=CASES))
            looks.append(look)
            print(row, seed, {name: look[name] for name in look if name != "automata"}, flush=True)
        family = row.partition("+")[0]
        yield {"task": TABLES[table], "row": row, "family": family, "seed": seed, "looks": looks}


def watch_trainings(until: str) -> None:
    """Look at networks on their way, row by row; write what is seen of each."""
    lines: list[dict[str, Any]] = []
    for table, row in WATCHED:
        if not until or time.strftime("%H:%M") < until:
            for line in becoming(table, row):
                lines.append(line)
                write_results("becoming", about("python -m docs.findings.mechanism --training"), lines)


def main() -> None:
    """Read every network that learned, those of the first seed first, until the time that is given."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--networks", type=Path, default=NETWORKS)
    options.add_argument("--until", default="", help="begin no network after this time of the day")
    options.add_argument("--training", action="store_true", help="look at other networks while they are trained")
    chosen = options.parse_args()
    torch.set_num_threads(1)
    if chosen.training:
        watch_trainings(chosen.until)
        return
    before = read_back("mechanism")
    lines = before["rows"]
    for one in (fresh for seed in SEEDS for fresh in learned(chosen.networks, (seed,))):
        if chosen.until and time.strftime("%H:%M") >= chosen.until:
            break
        if not any(one.named.items() <= line.items() for line in lines):
            lines.append(measured(one))
            print(json.dumps(lines[-1], ensure_ascii=False)[:300], flush=True)
            write_results("mechanism", about("python -m docs.findings.mechanism", before), lines)


if __name__ == "__main__":
    main()
