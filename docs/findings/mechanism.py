"""Experiment 3: the automata of each fresh network, and which of them it computes with, by told-apart interchanges.

    python -m docs.findings.mechanism [--networks build/runs] [--until HH:MM]

Writes docs/findings/mechanism.json, a line a network, those of the first seed first; goes on where it was stopped. What
`sl.extract` claims of each is kept with it, for experiment 5: how many words of the design its automaton, the rounded
network and the network itself answer otherwise.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import torch
from docs.findings import design
from docs.findings.fresh import NETWORKS, SEEDS, Fresh, about, learned, read_back, write_results

import stacklens as sl
from stacklens.automata.compare import Equal
from stacklens.core.errors import StacklensError
from stacklens.extract.agreement import Certified
from stacklens.models.inference import automaton_answers, network_answers
from stacklens.models.rounding import Rounded
from stacklens.probe.outcome import LEAST_SWAPS, Causality

BUDGET, CASES = 300.0, 1_000  # seconds by the clock of a search, on a machine that others use, too; interchanges


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


def main() -> None:
    """Read every network that learned, those of the first seed first, until the time that is given."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--networks", type=Path, default=NETWORKS)
    options.add_argument("--until", default="", help="begin no network after this time of the day")
    chosen = options.parse_args()
    torch.set_num_threads(1)
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
