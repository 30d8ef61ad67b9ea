"""Which networks trained noise-robust can be certified: every family and task, as a table in docs/certificates.md.

`python docs/certified_networks.py [MODEL TASK ...]` trains the rows that are not in docs/certified-networks.json yet,
or those named, reads every network that is right on all checking words, and certifies it. What came of a row is kept
when it is done. With `--keep FOLDER` the best certified network of each row is written there, with the command that
trains it. The table between the markers is written from what is kept.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import torch

from stacklens.automata.compare import Equal
from stacklens.extract.agreement import Certified, NotCertified
from stacklens.extract.by_name import subject_named
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.models.base import Checkpoint, StackModel
from stacklens.models.checkpoint import save_model
from stacklens.models.training import make_trainer
from stacklens.models.training.loop import Trainer

FOLDER = Path(__file__).parent
KEPT, TEXT = FOLDER / "certified-networks.json", FOLDER / "certificates.md"
BEGIN = "<!-- networks: written by docs/certified_networks.py -->"
END = "<!-- end of networks -->"
DYCK = ("dyck-2", "dyck-3", "dyck-6")
WORDS = (*DYCK, "homomorphic-palindrome", "simple-palindrome", "string-reversal")
STREAMS = ("anbn", "anb2n", "anbmcnm", "anbncn")
SEEDS = 8
# model, task, what else is chosen
ROWS: list[tuple[str, str, dict[str, Any]]] = [
    *(("marnn-stack-rnn", task, {}) for task in WORDS),
    *(("marnn-stack-lstm", task, {}) for task in WORDS),
    *(("marnn-joulin", task, {}) for task in WORDS),
    *(("neural-stack", "reversal", {"controller": kind}) for kind in ("linear", "rnn", "lstm")),
    *(("stack-rnn", task, {}) for task in STREAMS),
]
READ = ExtractionConfig(max_length=4, long_words=100, deep_words=2, depth=40, proved_length=0, walks=20, cycles=20)
_COLUMNS = (
    "network",
    "task",
    "chosen besides `--noise-robust`",
    "seeds",
    "right",
    "an automaton",
    "equal to the task's",
)
_CERTIFIED = ("certified", "the best: boxes, margin", "the others")
_HEAD = f"| {' | '.join((*_COLUMNS, *_CERTIFIED))} |\n|{'---|' * len((*_COLUMNS, *_CERTIFIED))}\n"


def main() -> None:
    """Train and certify what is missing or named, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("named", nargs="*", help="model and task, in turn")
    parser.add_argument("--keep", type=Path, help="where the best certified networks go")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    named = list(zip(chosen.named[::2], chosen.named[1::2], strict=True))
    for model, task, options in ROWS:
        kept = [one for one in _known() if (one["model"], one["task"], one["options"]) != (model, task, options)]
        if (model, task) in named or (not named and len(kept) == len(_known())):
            row = _row(model, task, options, chosen.keep)
            KEPT.write_text(json.dumps([*kept, row], indent=1) + "\n", encoding="utf-8")
            print(_line(row), end="", flush=True)
    _write()


def _row(model: str, task: str, options: dict[str, Any], keep: Path | None) -> dict[str, Any]:
    """Return what came of training and certifying a row, and write the best network if it is to be kept."""
    trainer = make_trainer(model, task, 0, SEEDS, {**options, "noise_robust": True})
    trainer.run()
    right = [number for number in range(SEEDS) if trainer.best[number].rounded_errors == 0]
    networks = [{"seed": number, **_certified(trainer.network(number), task)} for number in right]
    certified = [one["seed"] for one in networks if one["margin"] is not None]
    if keep is not None and certified:
        _save(trainer, min(certified, key=lambda number: trainer.best[number]), options, keep)
    return {"model": model, "task": task, "options": options, "seeds": SEEDS, "networks": networks}


def _certified(network: StackModel[Any], task: str) -> dict[str, Any]:
    """Return what a network's certificate says, or why there is none."""
    result = extract(network, subject_named(task, network.task_kind), READ)
    found, words = result.certificate.certificate, result.certificate.words
    if isinstance(found, Certified):
        told = {"boxes": found.boxes, "margin": found.margin, "words": words}
        return {"reason": None, "equal": isinstance(result.proof, Equal), **told}
    step = found.fault if isinstance(found, NotCertified) else None
    reason = str(result.certificate.reason if step is None else step)
    if result.minimised is None:
        reason = f"no automaton: {result.reason}"
    return {"reason": reason, "equal": isinstance(result.proof, Equal), "boxes": None, "margin": None, "words": words}


def _save(trainer: Trainer, number: int, options: dict[str, Any], folder: Path) -> None:
    """Write network ``number`` with the command that trains it alone."""
    name = f"{trainer.model}-{trainer.subject}-noise-robust.pt"
    more = "".join(f" --{option} {value}" for option, value in options.items())
    command = f"stacklens train {trainer.model} --language {trainer.subject} --noise-robust{more} --seed {number}"
    scores = {"seed": number, "seeds_trained": 1, "scores": trainer.scores(number)}
    told = {**trainer.provenance(f"{command} --seeds 1 --out models/zoo/{name}"), **scores}
    task = {"kind": trainer.kind, "language": trainer.subject}
    save_model(folder / name, Checkpoint(trainer.network(number), task, told))


def _known() -> list[dict[str, Any]]:
    if not KEPT.exists():
        return []
    known: list[dict[str, Any]] = json.loads(KEPT.read_text(encoding="utf-8"))
    return known


def _write() -> None:
    """Put the table of what is kept between the markers."""
    text = TEXT.read_text(encoding="utf-8")
    before, after = text[: text.index(BEGIN)], text[text.index(END) :]
    rows = {(one["model"], one["task"], str(one["options"])): one for one in _known()}
    order = [rows[key] for key in ((model, task, str(options)) for model, task, options in ROWS) if key in rows]
    TEXT.write_text(f"{before}{BEGIN}\n\n{_HEAD}{''.join(map(_line, order))}\n{after}", encoding="utf-8")
    print(f"wrote docs/{TEXT.name}")


def _line(row: dict[str, Any]) -> str:
    networks = row["networks"]
    certified = [one for one in networks if one["margin"] is not None]
    read = [one for one in networks if not str(one["reason"]).startswith("no automaton")]
    best = max(certified, key=lambda one: one["margin"], default=None)
    shown = "–" if best is None else f"{best['boxes']}, {best['margin']:.3g}"
    if best is not None and best["words"] != "all":
        shown += ", words of the task"
    others = "; ".join(f"seed {one['seed']}: {one['reason']}" for one in networks if one["margin"] is None)
    options = " ".join(f"`--{name} {value}`" for name, value in row["options"].items())
    equal = sum(one["equal"] for one in networks)
    counts = (row["seeds"], len(networks), len(read), equal, len(certified))
    cells = [row["model"], row["task"], options or "–", *map(str, counts), shown, others.replace("|", "/") or "–"]
    return f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    main()
