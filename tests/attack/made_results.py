"""A result with every part that one can have, and a trace, made without extracting anything, as they lie in files."""

from __future__ import annotations

import json
import random
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import stacklens as sl
from stacklens.automata.pda import PushdownAutomaton
from stacklens.extract.certificate.certify import Certification
from stacklens.extract.certificate.claim import Certified, Fault, NotCertified
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.fidelity import Fidelity, Rounding
from stacklens.extract.search.candidates import Candidate, ClusterSplit
from stacklens.extract.specification import LanguageSpecification
from stacklens.extract.stack_ablation import DroppedStack, StackUse
from stacklens.extract.verification.agreement import AcceptedCounts, Agreement
from stacklens.extract.verification.divergence import divergence
from stacklens.languages import get_language

__all__ = ["made_result", "made_trace"]


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
    name, words = rng.choice([("nnpda-palindrome", ["abcba", ""]), ("marnn-stack-rnn-dyck-2", ["([])"])])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.npz"
        sl.trace(name, words, rounded=rng.random() < 0.5).save(path)
        return path.read_bytes()
