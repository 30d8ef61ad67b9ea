"""Networks of one's own, and two language models of rau: what is read out of each, as a table in own-networks.md.

`python docs/own_networks.py [NAME ...]` trains the networks of examples/own_networks_plain.py, some seconds each,
extracts from them and from tests/data/rau, and writes the table between its markers, with what was measured now. Rows
are written as they are done; with names (gru, gpt, …, rau-transformer) only these are measured, and the others stay.
The name thresholds draws own-thresholds.svg: the GRU language model with noise added to its logits, at some thresholds.
Where nothing is read from the steps of a network it is asked as a box. What came out is then run by a simulator of a
few lines, on lists, beside the language's own rule: nothing of stacklens takes part in that.
"""

from __future__ import annotations

import inspect
import random
import sys
import time
from pathlib import Path
from typing import Any

import torch

import stacklens as sl

FOLDER = Path(__file__).parent
TEXT, EXAMPLES, RAU = FOLDER / "own-networks.md", FOLDER.parent / "examples", FOLDER.parent / "tests" / "data" / "rau"
BEGIN, END = "<!-- networks: written by docs/own_networks.py -->", "<!-- end of networks -->"
NAMES = {
    "gru-language-model": "GRU language model with begin, end and padding, Dyck-2 to depth 3",
    "gpt": "GPT-like language model with begin, end and padding, Dyck-2 to depth 3",
    "causal": "transformer of an existing library (`torch.nn`, 2 layers, causal), Dyck-2 to depth 3",
    "lstm-strengths": "LSTM on a stack of strengths read after the push, Dyck-2 to depth 3",
    "lstm-superposition": "LSTM on a superposition stack read after the push, Dyck-2 to depth 3",
    "ten-stacks": "state dict of an RNN on ten stacks, Dyck-1",
    "nondeterministic": "RNN on a nondeterministic stack, Dyck-2 to depth 3",
    "rau-lstm": "LSTM language model of rau, Dyck-2 to depth 3",
    "rau-transformer": "transformer language model of rau, Dyck-2 to depth 3",
    "sampled": "GRU that draws what it answers (`noisy=True`), Dyck-1 to depth 3",
    "gru": "GRU, Dyck-2 to depth 3",
    "lstm": "LSTM, Dyck-1",
    "stack-rnn": "RNN on a superposition stack with cells of 4 numbers, Dyck-2",
    "vector-stack": "RNN on a vector stack read after the update, Dyck-2",
}
_WAYS = {"kmeans": "clusters", "vote": "clusters", "refinement": "clusters", "learn": "merging"}
_NOISE, _THRESHOLDS = 0.2, (0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3)  # of logits, its spread
_SIMULATED, _LONGEST = 1_000, 60  # words, and their symbols
_HEAD = (
    "network",
    "lines of glue",
    "seconds",
    "way",
    "status",
    "automaton",
    "right by a simulator",
    "the network itself",
)


def measured(name: str) -> tuple[str, ...]:
    """Return the row of the network called ``name``."""
    sys.path.insert(0, str(EXAMPLES))
    from own_networks import ADAPTERS  # type: ignore[import-not-found, unused-ignore]
    from own_networks_plain import trained  # type: ignore[import-not-found, unused-ignore]

    if name.startswith("rau-"):
        lines, language, model = 0, "dyck-2-3", sl.load(RAU / f"dyck2-depth3-{name.removeprefix('rau-')}")
    else:
        adapter, language = ADAPTERS[name]
        lines = len(inspect.getsource(adapter).splitlines()) - 2  # without its first line and what it says it is
        model = adapter(trained(name))
    begun = time.perf_counter()
    result = sl.extract(model, language, quiet=True)
    if result.status == 3 and result.found is not None and not result.found.by_asking:
        result = sl.extract(model, language, method="ask", quiet=True)
    seconds = time.perf_counter() - begun
    print(f"{NAMES[name]}: {seconds:.1f} s, status {result.status}: {result.headline}", flush=True)
    pda, found, status = result.minimised, result.found, str(result.status)
    if pda is None or found is None:
        return (
            NAMES[name],
            str(lines),
            f"{seconds:.0f}",
            "none",
            status,
            "",
            "",
            (result.reason or "").partition(";")[0],
        )
    size = f"{_count(pda.states, 'state')}, {_count(pda.stack_alphabet, 'stack symbol')}"
    first = result.horizon["network"].difference
    itself = "follows it on all words tried" if first is None else f"parts on a word of length {len(first.word)}"
    if model.noisy and result.caution is not None:
        itself = result.caution.removeprefix("the evidence contradicts itself: ")
    ends = set(model.output_alphabet) - set(model.alphabet)
    way, right = _WAYS.get(found.method, "asked"), f"on {_right(pda, language, ends):,} of {_SIMULATED:,} words"
    return NAMES[name], str(lines), f"{seconds:.0f}", way, status, size, right, itself


def _right(pda: sl.PushdownAutomaton, language: str, ends: set[str]) -> int:
    """Return on how many words of Dyck-n, beginnings with a symbol or two changed among them, ``pda`` is right.

    ``ends`` is what is said where a word may end, if anything.
    """
    from own_networks_plain import member  # type: ignore[import-not-found, unused-ignore]

    _, kinds, *bound = language.split("-")
    brackets, deepest, rng = "()[]"[: 2 * int(kinds)], int(bound[0]) if bound else _LONGEST, random.Random(0)
    right = 0
    for number in range(_SIMULATED):
        word = list(member(2 * rng.randint(1, _LONGEST // 2), brackets[::2], deepest, rng)[0])
        for _ in range(number % 3):
            word[rng.randrange(len(word))] = rng.choice(brackets)
        right += _simulated(pda, word) == _rule(word, brackets, deepest, pda.acceptance == "output", ends)
    return right


def _simulated(pda: sl.PushdownAutomaton, word: list[str]) -> list[Any]:
    """Return the output after every symbol up to a rejection, or, of a recogniser, whether it accepts."""
    state, stacks, outputs = pda.initial, [list[str]() for _ in range(pda.n_stacks)], list[Any]()
    end = [] if pda.end_marker is None else [pda.end_marker]
    for symbol in [*word, *end]:
        step = pda.transitions.get((state, symbol, tuple(stack[-1] if stack else pda.bottom for stack in stacks)))
        if step is None:
            return outputs if pda.acceptance == "output" else [False]
        for stack, operation in zip(stacks, step.operations, strict=True):
            if operation.pop and stack:
                stack.pop()
            stack += [] if operation.push is None else [operation.push]
        state = step.target
        outputs.append(set(step.output or ()))
    if pda.acceptance == "output":
        return outputs
    empty = not any(stacks) or pda.acceptance == "final state"
    return [empty and (state in pda.accepting or pda.acceptance == "empty stack")]


def _rule(word: list[str], brackets: str, deepest: int, predicts: bool, ends: set[str]) -> list[Any]:
    """Return which symbols may come next after each one that may, or whether ``word`` is balanced."""
    opened, sets = "", list[Any]()
    for symbol in word:
        kind = brackets.index(symbol)
        if kind % 2 == 0 and len(opened) < deepest:
            opened += brackets[kind + 1]
        elif kind % 2 and opened.endswith(symbol):
            opened = opened[:-1]
        else:
            return sets if predicts else [False]
        sets.append(set(brackets[::2] if len(opened) < deepest else "") | (set(opened[-1:]) or ends))
    return sets if predicts else [not opened]


def _count(things: tuple[str, ...], name: str) -> str:
    return f"{len(things)} {name}{'s' * (len(things) != 1)}"


def draw_thresholds() -> None:
    """Draw what a noisy language model is read as at each of some thresholds."""
    sys.path.insert(0, str(EXAMPLES))
    from own_networks_plain import TOKENS, trained  # type: ignore[import-not-found, unused-ignore]

    net, names = trained("gru-language-model"), {"bos": "<s>", "eos": "</s>", "pad": "<pad>"}

    def noisy(tokens: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = net(tokens)[0]
        return logits + _NOISE * torch.randn_like(logits)

    torch.manual_seed(0)
    models = [sl.wrap(net, TOKENS, forward=noisy, threshold=one, noisy=True, **names) for one in _THRESHOLDS]
    swept = sl.sweep(models, "dyck-2-3", budget=20, max_length=6, long_words=100, cycles=10, quiet=True)
    for row in swept.rows:
        print(row.network, row.status, row.headline, (row.report or {}).get("caution"), sep="; ", flush=True)
    swept.save(FOLDER / "own-thresholds.svg")


def main(names: list[str]) -> None:
    """Measure, and write the table."""
    if unknown := [name for name in names if name not in (*NAMES, "thresholds")]:
        sys.exit(f"error: unknown {', '.join(unknown)}: expected some of {', '.join(NAMES)}, thresholds")
    if not names or "thresholds" in names:
        draw_thresholds()
    for name in [name for name in names or NAMES if name in NAMES]:
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
