"""Why an automaton is not faithful, or there is none: how right everybody is, where they part, and the likely cause.

Measured once, when the automaton is looked for, so that a saved result can say why without its network.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import PurePath
from typing import Any, Literal, NamedTuple

import numpy as np
import torch

from ..automata.compare import Different, Equal
from ..automata.pda import Word
from ..core.errors import StacklensError
from ..core.progress import count
from ..languages.language import format_word, make_word
from ..models.base import StackModel
from ..models.inference import network_answers
from ..models.rounding import Rounded, is_stack
from ..models.training import OPTIONS
from ..models.word_network import BlackBox, WordNetwork
from ..probe.adapter_check import Variant, outputs_read, variants
from ..probe.attribution import Ablated
from ..probe.trace import trace
from . import wording
from .accuracy import AccuracyTable, accuracy_table
from .evaluation.judge import said_by_all
from .result import Cause, Diagnosis, Extraction
from .samples import MOST_STACKS, Samples, drawn_examples, rounding_fidelity, unrounded_caution
from .search.candidates import Candidate
from .specification import Specification

# ---- The likely cause of an automaton that is not faithful, or of there being none, decided by what was measured.
#
# Every cause has its measure and the limit that the measure is held against; where several apply, the one that
# explains the others comes first: a network that has not learned its task has no automaton, whatever its actions are.

LEARNED = 0.95  # of the words of the smallest sizes: who is right on fewer has not learned its task
_GRADED = 0.1  # of the acceptances: where rounding changes more, the actions are not whole (as in `samples`)
_LOST = 0.05  # of the words of the smallest sizes: what rounding may cost
_TRIED = 150  # variants
_RIGHT, _BETTER = 0.9, 0.2  # how many answers a variant must have right, and by how many more than the adapter
_SIGMOID_OF_1, _SPREAD = 0.7311, 0.1  # where those of probabilities end, and how far apart they are at least
_OFF = 1e-3  # by how much shares may miss 1
_BLIND = 0.01  # of the acceptances: where taking the stack away changes no more, it is not used


def cause_of(result: Extraction, accuracy: AccuracyTable | None, blinded: float | None) -> Cause:
    """Return the likely cause of a ``result`` of status 1 or 3.

    ``accuracy``: by size, None if unknown. ``blinded``: the share of acceptances that change without the stack, or
    None.
    """
    model, fidelity = result.model, result.fidelity
    # how often network and rounded network are right on the smallest sizes, in [0, 1]; None if unknown
    row = None if accuracy is None or not accuracy.rows else accuracy.rows[0]
    right, rounded = (None, None) if row is None else (one / max(1, row.words) for one in (row.network, row.rounded))

    # the adapter of a network of one's own: odd numbers, or better at another threshold or with another order
    unlearned = right is not None and right < LEARNED
    if model.foreign:
        if (strange := strange_numbers(model)) is not None:
            return Cause("adapter suspicious", strange)
        if unlearned and result.language is not None:
            if result.threshold is not None and result.threshold.better is not None:
                return Cause("another threshold", f"it is {wording.better_threshold_claim(result.threshold.to_dict())}")
            if (better := better_adapter(model, result.language)) is not None:
                return Cause("adapter suspicious", better)
    if result.caution is not None and result.caution.startswith(wording.CONTRADICTS):
        return Cause("contradicts itself", result.caution.removeprefix(f"{wording.CONTRADICTS}: "))
    if unlearned and accuracy is not None and row is not None:
        sizes = f"{accuracy.size} {row.low} to {row.high}"
        measured = f"the network is right on {right:.1%} of the words of {sizes}, less than {LEARNED:.0%}"
        return Cause("not learned", measured)
    if result.minimised is not None:
        return _cause_beside_automaton(result)
    if result.view is None and not is_stack(model) and model.real_time:
        can = ", ".join(model.operations)
        return Cause("memory is no stack", f"it can {can}, and with no view of it as stacks it answers as it does")

    # it counts without its stack: it is right without it, or has none
    states = max((candidate.states for candidate in result.candidates), default=0)
    if model.action_kind == "none" and not isinstance(model, WordNetwork):
        if states:
            grown = f"it has no stack, and automata of up to {count(states, 'state')} do not suffice"
            return Cause("counts in its hidden state", grown)
    elif blinded is not None and blinded <= _BLIND:
        changed = f"{blinded:.1%} of its acceptances, at most {_BLIND:.0%}"
        measured = f"shown empty stacks at every step it changes {changed}: it uses none"
        return Cause("counts in its hidden state", measured)

    # its actions are not whole
    mismatch, graded = fidelity.rounding.mismatch, f"{fidelity.graded_actions:.1%} of its actions are graded"
    lost = 0.0 if right is None or rounded is None else right - rounded
    if mismatch > _GRADED:
        changed = f"rounding its actions changes {mismatch:.1%} of its acceptances, more than {_GRADED:.0%}"
        return Cause("graded actions", f"{changed}; {graded}")
    if lost > _LOST and fidelity.graded_actions > 0:
        costs = f"rounding its actions costs {lost:.1%} of the shortest words, more than {_LOST:.0%}"
        return Cause("graded actions", f"{costs}; {graded}")

    # nothing of it is odd: there was too much to explore
    kept = len(result.stacks.stacks) + len(result.stacks.unseen)
    if kept > MOST_STACKS:
        measured = f"{kept} of its stacks matter, more than the {MOST_STACKS} that can be explored"
        return Cause("too many stacks", measured)
    none_right = f"none of {count(len(result.candidates), 'candidate')} was right"
    return out_of_time(result) or Cause("no finite number of states", none_right)


def out_of_time(result: Extraction) -> Cause | None:
    """Return that the budget ended something, None where it did not."""
    use = result.budget
    if use is None or not use.ran_out:
        return None
    tried = count(len(result.candidates), "candidate")
    return Cause("time limit reached", f"{wording.budget_claim(use.to_dict())}; there were {tried}")


def _cause_beside_automaton(result: Extraction) -> Cause:
    wrong, fidelity, proved = result.contradicted, result.fidelity, isinstance(result.proof, Equal)
    if result.caution == wording.UNCHECKED:
        return Cause("time limit reached", result.caution)
    if result.caution is not None:
        changed = f"rounding its actions changes {fidelity.rounding.mismatch:.1%} of its acceptances"
        if result.caution != unrounded_caution(fidelity):
            return Cause("graded actions", f"{changed}, more than {_GRADED:.0%}")
        few = f"though {fidelity.graded_actions:.1%} of them are graded"
        return Cause("computes with leftovers", f"{changed}, {few}: it needs what soft operations leave in the cells")
    if wrong is not None and wrong.other == "rounded network":
        boxed = _is_boxed(result)
        if proved or (wrong.kind == "pumped" and not boxed):
            right = f"the automaton is proved equal to {result.language_name}, and " if proved else ""
            much = f"{wrong.disagreements:,} of {wrong.words:,} checks"
            return Cause("values drift", f"{right}the {'black box' if boxed else wrong.other} leaves it on {much}")
    if isinstance(result.proof, Different) or (wrong is not None and wrong.other == "language"):
        who, other = "black box" if _is_boxed(result) else "rounded network", result.language_name
        apart = [one for one in result.checks if one.other == "rounded network" and one.disagreements]
        if not apart:
            return Cause("learned something else", f"the automaton follows the {who}, and is not {other}")
        most = max(apart, key=lambda one: one.disagreements / one.words)  # it need not follow the network, either
        neither = (
            f"the automaton is not {other}, and leaves the {who} on {most.disagreements:,} of {most.words:,} words"
        )
        return out_of_time(result) or Cause("learned something else", neither)
    return out_of_time(result) or Cause("no finite number of states", "more states would follow it further")


def strange_numbers(model: StackModel[Any]) -> str | None:
    """Return in a sentence which numbers of a network of one's own cannot be what they are taken for, None for none."""
    if isinstance(model, BlackBox):
        return None  # its answers are no numbers
    word = tuple(model.alphabet)
    seen = trace(model, [word * 2], stacks=False)
    actions = seen.actions[seen.valid]
    if model.action_kind == "softmax" and actions.size:
        sums = actions.sum(-1)
        worst = float(sums.reshape(-1)[int(np.abs(sums - 1).argmax())])
        if abs(worst - 1) > _OFF or float(actions.min()) < -_OFF:
            return f"its shares sum to {worst:.3g} and the least is {actions.min():.3g}: expected shares that sum to 1"
    if model.action_kind == "strengths" and actions.size and (actions.min() < -_OFF or actions.max() > 1 + _OFF):
        return f"its strengths lie between {actions.min():.3g} and {actions.max():.3g}: expected between 0 and 1"
    outputs, read = seen.output[seen.valid], outputs_read(model)
    if model.task_kind not in ("recognition", "next set") or not outputs.size:
        return None
    low, high = outputs.min(), outputs.max()
    if low < -1 - _OFF or high > 2 + _OFF:
        advice = 'if they are, give sl.wrap activation="sigmoid"'
        return f"its outputs lie between {low:.3g} and {high:.3g}, as logits do where probabilities are meant: {advice}"
    once = read is not None and read.activation == "sigmoid" and read.threshold == 0.5
    if once and low > 0.5 - _OFF and high < _SIGMOID_OF_1 + _OFF and high - low > _SPREAD:
        advice = "if they are, leave activation out of sl.wrap"
        return f"its outputs lie between {low:.3g} and {high:.3g}, as the sigmoid of probabilities does: {advice}"
    return None


def better_adapter(model: StackModel[Any], specification: Specification) -> str | None:
    """Return in a sentence with which of `variants` a network is right far more often on short words, None for none."""
    if specification.partial_domain or model.task_kind not in ("recognition", "next set"):
        return None
    words, expected = drawn_examples(model, specification)
    if not words:
        return None
    own = _share_right(Variant("", "", model), words, expected)
    tried = [(_share_right(one, words, expected), one) for one in islice(variants(model), _TRIED)]
    best, change = max(tried, key=lambda pair: pair[0], default=(0.0, None))
    if change is None or best < _RIGHT or best < own + _BETTER:
        return None
    return (
        f"as it stands the network is right on {own:.1%} of {len(words)} short words, and with {change.change} on "
        f"{best:.1%}, which is a sign of another mistake than training: {change.cause}"
    )


def _share_right(variant: Variant, words: Sequence[Word], expected: np.ndarray) -> float:
    """Return the share of ``words`` on which a variant says all that is expected, in [0, 1]."""
    model = variant.model
    try:
        seen = trace(model, [variant.spelled(word) for word in words], stacks=False)
    except StacklensError:
        return 0.0
    if model.task_kind == "recognition":
        return float((seen.verdicts == (expected[:, 0] > 0)).mean())
    numbers = model.output_numbers(torch.from_numpy(seen.output))
    if variant.order is not None:  # outputs are in the network's order, too
        bits = [(numbers >> taken & 1) << place for place, taken in enumerate(variant.order)]
        numbers = np.add.reduce(bits)
    wrong = (numbers[:, : expected.shape[1]] != expected) & (expected >= 0)
    return float((~wrong.any(1)).mean())


# ---- Why an automaton is not faithful, or there is none ----

_BLINDED = 400  # words on which the stacks are taken away
_PAIRS = (("network", "language"), ("rounded network", "network"), ("automaton", "rounded network"))
_PAIRS_OF_A_BOX = (("network", "language"), ("automaton", "network"))  # of which nothing is rounded


def diagnose(result: Extraction, samples: Samples) -> Diagnosis:
    """Return what is measured on a ``result`` of status 1 or 3, whose checking words were ``samples``."""
    model, language, pda = result.model, result.language, result.minimised
    if pda is None and result.found is not None:
        pda = result.found.automaton
    boxed = _is_boxed(result)
    by_steps = result.view is None and not boxed
    answers = said_by_all(model, language, pda, result.stacks.stacks if by_steps else (), samples)
    longer = None
    horizon = result.horizon.get("rounded network")
    if horizon is not None and horizon.difference is not None:
        # what everybody says of the shortest word known on which the rounded network leaves the automaton
        known = [horizon.difference.word]
        analog, rounded = (network_answers(runner, known) for runner in (model, Rounded(model)))
        scored = None if language is None else language.scored(known)
        one = replace(samples, words=known, analog=analog, rounded=rounded, scored=scored, n_short=1)
        stacks = result.stacks.stacks if result.view is None else ()
        longer = said_by_all(model, language, result.minimised, stacks, one)
    pairs = _PAIRS_OF_A_BOX if boxed else _PAIRS
    partings = (answers.parting(*pair) or (longer.parting(*pair) if longer is not None else None) for pair in pairs)
    networks = ("network",) if boxed else ("rounded network", "network")
    others = [other for other in ("language", *networks) if other in answers.answers]
    errors = [answers.errors(other) for other in others] if result.minimised is None and pda is not None else []
    accuracy = accuracy_table(model, language, pda)
    # the share of acceptances that change where the network is shown empty stacks only, in [0, 1]
    words, blinded = samples.traced[:_BLINDED], None
    if model.action_kind != "none" and model.real_time and words:
        blind = Ablated(model, stacks=range(model.n_stacks))
        blinded = rounding_fidelity(network_answers(model, words), network_answers(blind, words)).mismatch
    cause = cause_of(result, accuracy, blinded)
    return Diagnosis(cause, accuracy, tuple(one for one in partings if one is not None), tuple(errors))


# ---- Why an automaton is not faithful, or why there is none: what was measured, and what to do next ----

_LONGEST_SHOWN = 60  # symbols of a word
# causes beside which it is no news what contradicts the automaton
_OUTWEIGH = ("adapter suspicious", "another threshold", "not learned", "computes with leftovers")


def advice(result: Extraction) -> str:
    """Return in a few lines why the automaton cannot be relied on, or that nothing contradicts it."""
    boxed = _is_boxed(result)
    if result.minimised is None:
        lines = [f"There is no automaton: {result.reason}."]
    else:
        says = wording.as_sentence(result.headline)
        caused = [] if result.causality is None else [wording.as_sentence(result.causality.verdict)]
        if result.status == 0:
            end = ["Print the result for what it was checked on.", *_mending(result)]
            return "\n".join([f"Nothing contradicts the automaton. {says}", *caused, *end])

        # what contradicts it
        reasons = []
        if (wrong := result.contradicted) is not None:
            what = wording.KINDS[wrong.kind][0].removesuffix(", all")
            where = "" if wrong.counterexample is None else f", such as {_word_in_a_line(wrong.counterexample)}"
            other = "black box" if boxed and wrong.other != "language" else wrong.other
            much = f"{wrong.disagreements:,} of {wrong.words:,} {what}{where}"
            reasons.append(f"The automaton differs from the {other} on {much}.")
        if isinstance(result.proof, Different):
            word = _word_in_a_line(make_word(result.proof.word, result.network.alphabet))
            reasons.append(f"The automaton is not {result.language_name}: {result.proof.reason}, on {word}.")
        if (counts := result.counts) is not None and not counts.equal:
            reasons.append(f"Its accepted words of length {counts.first_different} were counted twice, differently.")
        if result.loaded is not None:
            reasons += [f"The file claims {one}, which could not be shown." for one in result.loaded.refuted]
        if not reasons and result.caution is not None:  # it alone is why the status is not 0
            reasons.append(wording.as_sentence(result.caution))
        lines = [says, *reasons, *caused]
    lines += _diagnosed_lines(result)

    # what was measured
    fidelity, rounding, measured = result.fidelity, result.fidelity.rounding, list[str]()
    if (margin := fidelity.action_margin) is not None and not boxed:
        measured += [
            f"- rounding the actions changes {rounding.disagreements:,} of {rounding.words:,} verdicts",
            f"- {fidelity.graded_actions:.1%} of the actions are graded; the smallest margin is {margin:.3f}",
        ]
    if result.view is not None:
        measured.append(f"- seen as {wording.view_claim(result.view.to_dict())}")
    if (outvoted := fidelity.minority_transitions) is not None:
        measured.append(f"- {outvoted:.1%} of the transitions are outvoted (3% is good, 6% is bad)")
    if result.candidates:
        best = "" if result.found is None else f"; the best has {count(result.found.states, 'state')}"
        measured.append(f"- {count(len(result.candidates), 'candidate')} tried{best}")
    if result.found is not None and result.found.disagreements:
        other = "black box" if boxed else "rounded network"
        measured.append(f"- it differs from the {other} on {count(result.found.disagreements, 'checking word')}")
    lines += ["", "Measured:", *measured] if measured else []
    return "\n".join([*lines, "", "What to do next:", *_next_steps(result)])


class Mending(NamedTuple):
    """What can be done for a network that is not certified as itself."""

    what: Literal["harden", "repair"]  # "harden" where a certificate only needs whole actions, else "repair"
    says: str  # what that does
    command: str | None  # the command of the shell that does it; None where the network was never in a file


def mending(report: Mapping[str, Any], file: str | None = None) -> Mending | None:
    """Return what can be done for the network of a report, called ``file``; None where nothing can, or needs to be."""
    network, found = report["network"], report["certificate"]
    proved, trained = found["verdict"] == "certified", OPTIONS.get(network["kind"].removeprefix("buffered-"))
    if trained is None or wording.is_boxed(report) or found.get("itself"):
        return None
    if proved and found.get("gap", 0) != 0:  # None where it is infinite
        what, says = "harden", "scales the layer that decides its actions until each is exactly 0 or 1"
    elif network["task_kind"] != "recognition" and "noise_robust" in trained:
        does = "trains it further on the words that break it, keeps only what is better"
        what, says = "repair", f"{does}, then scales the layer that decides its actions"
    else:
        return None
    command = None
    if (file := file or network["path"]) is not None:
        path, task = PurePath(file), report["language"] or "TASK"
        out = f"{path.stem if path.suffix else path.name}-{what}ed.pt"
        command = shlex.join(["stacklens", what, str(path), "--language", task, "--out", out])
    return Mending("harden" if what == "harden" else "repair", says, command)


def _mending(result: Extraction) -> list[str]:
    """Return the line that names what makes the network itself certified, where something may."""
    if (found := mending(result.report())) is None:
        return []
    aim = "To make that a certificate of the network itself" if found.what == "harden" else "To mend the network"
    calls = [found.command, f"sl.{found.what}(result)"]
    return [f"{aim}: {', or '.join(filter(None, calls))}: {found.says}"]


def _diagnosed_lines(result: Extraction) -> list[str]:
    """Return likely cause, accuracy by size, where two part first, and what was tried, a paragraph each."""
    found = result.diagnosis
    if found is None:  # saved before there was one
        return []
    lines = ["", f"Likely cause: {found.cause.name}: {found.cause.measured}."]
    name = "automaton" if result.minimised is not None else "best automaton"
    if found.accuracy is not None:
        lines += ["", f"Right about {result.language_name}:", *found.accuracy.lines(name)]
    if found.partings:
        lines += ["", "Where they part first, on words of the search or of the checks:"]
    for one in found.partings:
        pair = [name if who == "automaton" else who for who in (one.one, one.other)]
        answers = [says if says in ("accepts", "rejects") else f"says {says}" for says in (one.says, one.other_says)]
        step = "" if one.step is None else f", at step {one.step:,}"
        both = f"{pair[0]} {answers[0]}, {pair[1]} {answers[1]}"
        lines.append(f"- {pair[0]} and {pair[1]}: on {_word_in_a_line(one.word)}{step}: {both}")
    if result.best is not None:
        lines += ["", f"Best automaton, {wording.best_claim(result.best.to_dict())}."]

    # what was tried: for each way how many candidates there were, and what came nearest
    ways: dict[str, list[Candidate]] = {}
    for candidate in result.candidates:
        ways.setdefault(candidate.way, []).append(candidate)
    tried = []
    for way, some in ways.items():
        scored = [one.disagreements for one in some if one.disagreements is not None]
        sizes = sorted({one.states for one in some})
        states = f"{sizes[0]:,} to {sizes[-1]:,} states" if len(sizes) > 1 else count(sizes[0], "state")
        wrong = f"the best wrong of {count(min(scored), 'word')}" if scored else "none came out"
        tried.append(f"- {way}: {count(len(some), 'candidate')} of {states}, {wrong}")
    if result.view is not None:
        tried += [f"- {one.name}: {count(one.candidates, 'candidate')}" for one in result.view.tried]
    return [*lines, "", "Tried:", *(tried or ["- nothing: it was given up before the search"])]


def _next_steps(result: Extraction) -> list[str]:
    """Return what to do next: by what is likely the cause, by what contradicts the automaton, or why there is none."""
    wrong, fidelity, cause = result.contradicted, result.fidelity, ""
    if result.diagnosis is not None:
        cause = result.diagnosis.cause.name

    def against_noise(why: str) -> list[str]:
        # stacklens trains networks of some kinds against noise
        kind = result.network.kind
        return [f"{why}sl.train({kind!r}, …, noise_robust=True)"] if "noise_robust" in OPTIONS.get(kind, ()) else []

    if cause == "contradicts itself" and result.minimised is not None:
        return [
            "- make it answer alike when it is asked again: no dropout, no sampling, a fixed seed; then extract again",
            "- where it does already, keep the automaton for what is not noise: it is never of status 0",
        ]

    # learned from answers alone: there are no steps to look at, and no other way
    if _is_boxed(result) and cause not in _OUTWEIGH[:2]:
        lines = ["- ask it the shortest of these words itself, and keep the automaton for shorter ones"]
        if all(one.method != "learn-vpa" for one in result.candidates) and result.network.task_kind == "recognition":
            lines.append("- if it nests, say which symbols push and which pop: sl.learn(…, calls=…, returns=…)")
        if result.budget is not None and result.budget.ran_out:
            lines.append("- give it more time: sl.learn(…, budget=300)")
        return [*lines, *against_noise("- its answers drift with length: ")]

    # by cause
    trace_it = "- look at what the network does: sl.trace(result.model, word).plot()"
    own = "- compare step by step with its own forward pass: sl.check(network, forward, words) names what is off"
    better = None if result.threshold is None else result.threshold.better
    number = "…"
    if result.threshold is not None and better is not None:
        number = wording.threshold_shown(better.threshold, result.threshold.threshold)
    more_states = "- ask for more states or stack symbols: sl.extract(model, states=…, stack_symbols=…)"
    by_cause = {
        "adapter suspicious": [own, "- then extract again: nothing else is worth trying before"],
        "another threshold": [
            f"- ask for it, and extract again: sl.wrap(…, threshold={number}); sl.load(…, threshold={number}) or "
            f'--threshold {number} of a language model; "threshold": {number} in a mapping file',
            own,
        ],
        "not learned": [
            "- train it longer, with another seed, or on shorter words first: there is nothing to extract yet",
            *([own] if result.network.file is None else []),
            trace_it,
        ],
        "counts in its hidden state": [
            "- learn what it does from its answers: sl.learn(model), --method ask; with calls and returns if it nests",
            "- train it with a smaller hidden state, so that it needs its stack",
            *against_noise("- or with noise: "),
        ],
        "too many stacks": ["- train it with fewer stacks, or learn from its answers: sl.learn(model), --method ask"],
        "computes with leftovers": [
            "- keep the automaton for what the network does; it says nothing of how far the leftovers carry",
            "- see them on the stack: sl.trace(result.model, word).plot(), beside the same word with rounded=True",
            "- train until nothing is left over: longer, or with another seed",
            *against_noise("- or with noise: "),
        ],
        "time limit reached": ["- give it more time: --budget 5m, sl.extract(model, budget=300)", trace_it],
    }
    if cause in by_cause and (result.minimised is None or cause in _OUTWEIGH):
        return by_cause[cause]

    # there is no automaton
    if result.minimised is None:
        reason, lines = result.reason or "", [trace_it]
        if "is no stack" in reason:
            none = "- no network of this kind has a real-time pushdown automaton: train one that has a stack"
            return [*lines, none]
        if "as stacks" in reason:
            other = "try another seed, or a kind with a stack"
            return [*lines, f"- it learned something that is no pushdown automaton: {other}"]
        if fidelity.graded_actions > 0:
            lines.append("- train until the actions are whole, or with another seed")
            lines += against_noise("- or with noise: ")
        return [*lines, more_states] if result.found is not None and result.found.disagreements else lines

    # something contradicts the automaton
    left_out, mended = list[str](), [f"- {line[0].lower()}{line[1:]}" for line in _mending(result)]
    if result.view is not None and result.view.wrong:
        left_out = [f"- with {result.view.name} it does as the automaton does: what that leaves out has added up there"]
    if isinstance(result.proof, Equal) and wrong is not None and wrong.other == "rounded network":
        return [
            f"- keep the automaton: it is right about {result.language_name}, and it is the network that leaves it",
            "- ask for no more states: they could only follow the network's drift, a word at a time",
            *mended,
            *against_noise("- or train one against noise, so that its values come back: "),
            *left_out,
            "- see how its values drift: print(result), or sl.trace(result.model, word).plot()",
        ]
    lines = ["- see where both runs part: print(result), or sl.trace(result.model, word).plot()", *left_out]
    if wrong is not None and wrong.kind == "pumped":
        lines.append("- its values drift from round to round, and more states do not mend that")
        return [*lines, *mended, *against_noise("- training against noise may: ")]
    if wrong is not None and wrong.other == "rounded network":
        return [*lines, *mended, more_states]
    return [*lines, "- the network itself has learned something else: train it longer, or with another seed"]


def _is_boxed(result: Extraction) -> bool:
    return result.found is not None and result.found.by_asking


def _word_in_a_line(word: Word) -> str:
    text = format_word(word)
    return (
        f"{text[:_LONGEST_SHOWN]}… ({len(word):,} symbols)" if len(word) > _LONGEST_SHOWN else wording.word_named(text)
    )
