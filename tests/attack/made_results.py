"""Results with every part that one can have, results that were tampered with, and a trace, as they lie in files."""

import json
import random
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import stacklens as sl
from stacklens.automata.pda import PushdownAutomaton, Transition
from stacklens.extract.agreement import AcceptedCounts, Agreement, Certification, Certified, Fault, NotCertified
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.memory_use import DroppedStack, StackUse
from stacklens.extract.samples import Fidelity, Rounding
from stacklens.extract.saved import load_result
from stacklens.extract.search.candidates import Candidate, ClusterSplit
from stacklens.extract.specification import LanguageSpecification
from stacklens.extract.verification.divergence import divergence
from stacklens.languages.catalogue import get_language
from stacklens.models.checkpoint import ZOO

GONE = object()
DIGESTS = ("stale", "gone", "made again")  # of a file that was tampered with: what is done about its digests


@cache
def _results() -> tuple[sl.Extraction, ...]:
    """Return a result that is contradicted, one that is proved and certified, and one without an automaton."""
    model, language = sl.load("nnpda-palindrome"), get_language("palindrome")
    pda: PushdownAutomaton = language.automaton
    split = ClusterSplit("state", "q0", "q0", "a", ("⊥",), "abc", (3, 4), 2)
    candidates = [
        Candidate("binary", 2, "exploration", 3, 2, 0.25),
        Candidate("2 clusters", 2, "refinement", 3, 0, 0.0, raw=pda, automaton=pda, split=split),
    ]
    checks = (
        Agreement("exhaustive", "language", 2, 13, 1, 0, by_length=(0, 1, 0)),
        Agreement("pumped", "rounded network", 9, 3, 1, 1, "aca", made_of="'a' 3 times"),
        Agreement("long", "network", 20, 10, 1, 0),
    )
    fault = Fault("q0", "a", ("⊥",), "push a", "the margin is too small", "hidden vector", ((0.0, 1.0), (-1.0, 2.0)))
    wrong = sl.Extraction(
        model=model,
        language=LanguageSpecification(language),
        minimised=pda,
        found=candidates[1],
        candidates=candidates,
        fidelity=Fidelity(Rounding(10, 1, 5), 0.01, 0.2, 0.05),
        stacks=StackUse((0,), (DroppedStack(1, "constant", (0.0, 1.0)),), 4, 20, (0,)),
        checks=checks,
        counts=AcceptedCounts((0, 1, 0), (0, 1, 1)),
        divergence=divergence(pda, model, "abcba"),
        proof=sl.Different(("a",), "only the first accepts it"),
        certificate=Certification(NotCertified(fault, 3)),
        seconds={"trace": 0.5},
        config=ExtractionConfig(),
    )
    certified = Certified(3, 4, float("inf"), 8, "float32", 1, ("q0", "a", ("⊥",)), 2)
    right = replace(
        wrong, checks=checks[:1], proof=sl.Equal(), certificate=Certification(certified, "the task's"), divergence=None
    )
    none = replace(right, minimised=None, reason="nothing was found", counts=None, checks=(), proof=sl.Undecided("no"))
    return wrong, right, none


def made_result(rng: random.Random) -> dict[str, Any]:
    """Return what the file of one of three results holds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "result.json"
        rng.choice(_results()).save(path)
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def made_trace(rng: random.Random) -> bytes:
    """Return the file of a trace of some words."""
    name, words = rng.choice([("nnpda-palindrome", ["abcba", ""]), ("marnn-stack-rnn-dyck-2-drifting", ["([])"])])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.npz"
        sl.trace(name, words, rounded=rng.random() < 0.5).save(path)
        return path.read_bytes()


@cache
def known(name: str) -> sl.Extraction:
    """Return what comes with stacklens of a network of the zoo."""
    return load_result(ZOO / f"{name}.json", trusted=True)


def _cut(pda: PushdownAutomaton, depth: int = 7) -> PushdownAutomaton:
    """Return ``pda``, which has one stack and one state, without what it does above ``depth``."""
    steps: dict[Any, Transition] = {}
    for (state, letter, tops), step in pda.transitions.items():
        (operation,) = step.operations
        change = (operation.push is not None) - operation.pop
        for here in range(depth + 1):
            if 0 <= here + change <= depth:
                target = f"{step.target}.{here + change}"
                steps[f"{state}.{here}", letter, tops] = replace(step, target=target)
    states = tuple(f"{state}.{here}" for state in pda.states for here in range(depth + 1))
    accepting = frozenset(state for state in states if state.split(".")[0] in pda.accepting)
    return replace(pda, states=states, transitions=steps, initial=f"{pda.initial}.0", accepting=accepting)


def _longer(result: sl.Extraction) -> sl.Extraction:
    return replace(result, checks=tuple(replace(check, max_length=10**18) for check in result.checks))


def _recounted(result: sl.Extraction) -> sl.Extraction:
    more = tuple(count + 1 for count in result.counts.counted)
    return replace(result, counts=AcceptedCounts(more, more))


FORGERIES: dict[str, tuple[str, Callable[[sl.Extraction], sl.Extraction]]] = {
    "an automaton that is cut": (
        "marnn-stack-rnn-dyck-2-firm",
        lambda result: replace(result, minimised=_cut(result.automaton)),
    ),
    "the certificate of another network": (
        "marnn-stack-lstm-dyck-2-drifting",
        lambda result: replace(result, certificate=known("marnn-stack-rnn-dyck-2-firm").certificate),
    ),
    "words of length 10^18": ("nnpda-1n0n", _longer),
    "other counts": ("nnpda-palindrome", _recounted),
}


def forged(what: str, digests: str) -> dict[str, Any]:
    """Return the file of a result whose claims are false, one of `FORGERIES`, its digests one of `DIGESTS`."""
    name, forge = FORGERIES[what]
    true, false = _content(known(name)), _content(forge(known(name)))
    return false | {"digests": true["digests"]} if digests == "stale" else _without(false, digests == "gone")


def tampered(rng: random.Random) -> tuple[dict[str, Any], str]:
    """Return the file of a result of the zoo with one place changed, digests gone, and where."""
    name = rng.choice(sorted(path.stem for path in ZOO.glob("*.json")))
    content = _without(_content(known(name)), True)
    parts = [at for part in ("fields", "network", "automata", "language") for at in places(content[part], (part,))]
    at = rng.choice(parts)
    new = rng.choice([GONE, None, -1, 10**400, 10**18, 1e308, 0, "", "a", "x\x1b[31m", [], [[1]], {}, True, "nan"])
    return changed(content, at, new), f"{name}: {at} is {'gone' if new is GONE else repr(new)[:30]}"


def _content(result: sl.Extraction) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        result.save(Path(folder) / "r.json")
        content: dict[str, Any] = json.loads((Path(folder) / "r.json").read_text(encoding="utf-8"))
    return content


def _without(content: dict[str, Any], gone: bool) -> dict[str, Any]:
    return {key: value for key, value in content.items() if not gone or key != "digests"}


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to every part of ``value``, of lists to the first two."""
    parts = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    return [at, *(place for key, part in parts for place in places(part, (*at, key)))]


def changed(value: Any, at: tuple[Any, ...], new: Any) -> Any:
    """Return ``value`` with ``new`` at that place, or nothing there where it is `GONE`."""
    if not at:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    if len(at) == 1 and new is GONE:
        del copy[at[0]]
    else:
        copy[at[0]] = changed(value[at[0]], at[1:], new)
    return copy
