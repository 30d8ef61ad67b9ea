"""How fast a network judges all words up to length 15: prefixes shared and dead prefixes dropped, or word by word.

The palindrome network of the zoo, analog and rounded, on one thread, each in a process of its own, whose peak memory is
read. Once more with dead prefixes run on to the end like all others, as for a network that never rejects for good; in
chunks of equal beginnings, in processor time: what each of two cores would have to do. Beside them, on words drawn from
all words up to that length and extrapolated by the word: `verdicts_on`, which takes any words in batches and shares
nothing; and what one would write first, a loop over words and symbols with the same network and a batch of one, every
word read to its end. The verdicts are compared.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import product
from typing import Any

from benchmarks.measure import ROOT, Report, environment, peak_memory, show_ratio, show_seconds

_LONGEST, _RUNS, _SAMPLE, _MANY = 15, 5, 300, 20_000
_SECONDS, _MEGABYTES, _STEM = 15, 1_000, 3
_CHILD = "import sys; from benchmarks.network import child; child(sys.argv[1])"


def reports() -> Iterator[Report]:
    rows = []
    for kind in ("analog", "rounded"):
        found = _in_child(kind)
        whole = found["loop"] / found["sample"] * found["words"]
        rows += [
            (f"{kind}: prefixes shared", show_seconds(found["shared"]), "", f"{found['peak']:.0f} MB", ""),
            (
                f"{kind}: dead ones too, one of two cores",
                f"{show_seconds(found['whole'])} ({_goal(found['whole'] <= _SECONDS)} {_SECONDS} s)",
                show_ratio(found["whole"] / found["shared"]),
                f"{found['whole_peak']:.0f} MB ({_goal(found['whole_peak'] <= _MEGABYTES)} 1 GB)",
                f"{found['whole_differ']} of {found['words']:,} differ",
            ),
            (
                f"{kind}: given words in batches",
                f"{found['batched'] / found['many'] * found['words']:,.0f} s (extrapolated)",
                show_ratio(found["batched"] / found["many"] * found["words"] / found["shared"]),
                "",
                f"{found['batched_differ']} of {found['many']:,} differ",
            ),
            (
                f"{kind}: word by word",
                f"{whole:,.0f} s (extrapolated)",
                show_ratio(whole / found["shared"]),
                "",
                f"{found['differ']} of {found['sample']} differ",
            ),
        ]
    title = f"network: nnpda-palindrome on all {found['words']:,} words of length <= {_LONGEST}"
    columns = ("", "seconds", "sharing is", "peak memory", "verdicts")
    yield Report(
        title,
        columns,
        tuple(rows),
        f"medians of {_RUNS} runs; {found['before']:.0f} MB before the first (torch); word by word drops nothing",
    )


def _goal(met: bool) -> str:
    return "goal met: <=" if met else "goal missed: <="


def _in_child(kind: str) -> dict[str, Any]:
    command = [sys.executable, "-c", _CHILD, kind]
    done = subprocess.run(command, cwd=ROOT / "tests", env=environment(), capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def child(kind: str) -> None:
    """Print what one process measures."""
    import numpy as np
    import torch

    from stacklens.automata.enumeration import count_all
    from stacklens.models.checkpoint import load_model
    from stacklens.models.inference import verdicts_on, verdicts_on_all
    from stacklens.models.rounding import Rounded

    torch.set_num_threads(1)
    net = load_model(ROOT / "models" / "zoo" / "nnpda-palindrome.pt")
    model = net if kind == "analog" else Rounded(net)
    before, shared = peak_memory(), []
    for _ in range(_RUNS):
        begun = time.perf_counter()
        verdicts = verdicts_on_all(model, _LONGEST)
        shared.append(time.perf_counter() - begun)
    peak = peak_memory()
    k = len(model.alphabet)
    counts = np.array([k**n for n in range(_LONGEST + 1)])
    rng = np.random.default_rng(0)
    lengths = rng.choice(_LONGEST + 1, _SAMPLE, p=counts / counts.sum())
    words = [rng.integers(0, k, n) for n in lengths]
    loops = []
    for _ in range(_RUNS):
        begun = time.perf_counter()
        singly = [_judge(model, word) for word in words]
        loops.append(time.perf_counter() - begun)
    many = [rng.integers(0, k, n) for n in rng.choice(_LONGEST + 1, _MANY, p=counts / counts.sum())]
    spelled = ["".join(model.alphabet[i] for i in word) for word in many]
    batches = []
    for _ in range(_RUNS):
        begun = time.perf_counter()
        together = verdicts_on(model, spelled)
        batches.append(time.perf_counter() - begun)
    powers = [k ** np.arange(len(word))[::-1] for word in many]
    batched_differ = sum(
        bool(verdicts[len(w)][int(w @ p)]) != bool(v) for w, p, v in zip(many, powers, together, strict=True)
    )
    numbers = [int(word @ k ** np.arange(len(word))[::-1]) for word in words]
    differ = sum(bool(verdicts[len(w)][i]) != v for w, i, v in zip(words, numbers, singly, strict=True))
    found = {"shared": statistics.median(shared), "loop": statistics.median(loops), "sample": _SAMPLE}
    whole, whole_differ = _with_the_dead(model, verdicts)
    found |= {"whole": whole, "whole_peak": peak_memory(), "whole_differ": whole_differ}
    found |= {"words": count_all(k, _LONGEST), "before": before, "peak": peak, "differ": differ}
    found |= {"batched": statistics.median(batches), "many": _MANY, "batched_differ": batched_differ}
    print(json.dumps(found))


def _with_the_dead(model: Any, expected: list[Any]) -> tuple[float, int]:
    """Return what one of two cores has to do where no dead prefix is dropped, in seconds, and what differs then.

    Half of everything, and half of the longest chunk, for which the other core may have to wait in the end.
    """
    import torch

    from stacklens.models import inference

    k, dropping, seconds, differ = len(model.alphabet), inference._hopeless, [], 0
    inference._hopeless = lambda state: torch.zeros(state.rejected.shape, dtype=torch.bool)
    for number, prefix in enumerate(product(range(k), repeat=_STEM)):
        begun = time.process_time()
        found = inference.answers_on_all(model, _LONGEST - _STEM, prefix=prefix)
        seconds.append(time.process_time() - begun)
        for length, answers in enumerate(found):
            differ += int((answers != expected[_STEM + length].reshape(k**_STEM, -1)[number]).sum())
    inference._hopeless = dropping
    return sum(seconds) / 2 + max(seconds) / 2, differ


def _judge(model: Any, word: Any) -> bool:
    import torch

    with torch.no_grad():
        state = model.initial_state(1)
        for symbol in word:
            state = model.step(torch.tensor([symbol]), state).state
        return bool(model.verdict(state))
