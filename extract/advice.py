"""Why an automaton is not faithful, or why there is none: what was measured, and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stacklens.automata.compare import Different, Equal
from stacklens.extract.wording import as_sentence, best_claim, view_claim, word_named, words_of_kind
from stacklens.languages.words import format_word, make_word
from stacklens.models.training.factory import OPTIONS
from stacklens.progress import count

if TYPE_CHECKING:
    from stacklens.automata.pda import Word
    from stacklens.extract.partings import Parting
    from stacklens.extract.result import Extraction
    from stacklens.extract.search.candidates import Candidate

__all__ = ["advice"]

_LONGEST_SHOWN = 60  # symbols of a word
_OUTWEIGH = (
    "adapter suspicious",
    "another threshold",
    "not learned",
    "computes with leftovers",
)  # what contradicts is no news beside these


def advice(result: Extraction) -> str:
    """Return in a few lines why the automaton cannot be relied on, or that nothing contradicts it."""
    if result.minimised is None:
        lines = [f"There is no automaton: {result.reason}."]
        lines += [*_diagnosed(result), "", "Measured:", *_measures(result), "", "What to do next:"]
        return "\n".join([*lines, *(_of_box(result) or _by_cause(result) or _without_automaton(result))])
    reasons, said = _contradictions(result), as_sentence(result.headline)
    if not reasons:
        lines = [f"Nothing contradicts the automaton. {said}", *_caused(result)]
        return "\n".join([*lines, "Print the result for what it was checked on."])
    lines = [said, *reasons, *_caused(result), *_diagnosed(result), "", "Measured:", *_measures(result)]
    lines += ["", "What to do next:"]
    said_by_cause = result.diagnosis is not None and result.diagnosis.cause.name in _OUTWEIGH
    return "\n".join([*lines, *(_of_box(result) or (_by_cause if said_by_cause else _with_automaton)(result))])


def _caused(result: Extraction) -> list[str]:
    """Return which automaton is what the network computes, where interchanges were made."""
    return [] if result.causality is None else [as_sentence(result.causality.verdict)]


def _diagnosed(result: Extraction) -> list[str]:
    """Return likely cause, accuracy by size, where who parts from whom, and what was tried, a paragraph each."""
    found = result.diagnosis
    if found is None:  # saved before there was one
        return []
    lines = ["", f"Likely cause: {found.cause.name}: {found.cause.measured}."]
    name = "automaton" if result.minimised is not None else "best automaton"
    if found.accuracy is not None:
        lines += ["", f"Right about {result.language_name}:", *found.accuracy.lines(name)]
    if found.partings:
        lines += ["", "Where they part first, on words of the search or of the checks:"]
        lines += [f"- {_parting_claim(one, name)}" for one in found.partings]
    if result.best is not None:
        lines += ["", f"Best automaton, {best_claim(result.best.to_dict())}."]
    return [*lines, "", "Tried:", *(f"- {line}" for line in _tried(result))]


def _parting_claim(one: Parting, name: str) -> str:
    first, second = (name if who == "automaton" else who for who in (one.one, one.other))
    step = "" if one.step is None else f", at step {one.step:,}"
    told = f"{first} {_says(one.says)}, {second} {_says(one.other_says)}"
    return f"{first} and {second}: on {_shown(one.word)}{step}: {told}"


def _says(said: str) -> str:
    return said if said in ("accepts", "rejects") else f"says {said}"


def _tried(result: Extraction) -> list[str]:
    """Return for each way how many candidates there were, and what came nearest."""
    ways: dict[str, list[Candidate]] = {}
    for candidate in result.candidates:
        ways.setdefault(candidate.way, []).append(candidate)
    lines = []
    for way, some in ways.items():
        scored = [one for one in some if one.disagreements is not None]
        best = min(scored, key=lambda one: one.disagreements or 0, default=None)
        sizes = sorted({one.states for one in some})
        states = f"{sizes[0]:,} to {sizes[-1]:,} states" if len(sizes) > 1 else count(sizes[0], "state")
        wrong = "none came out" if best is None else f"the best wrong of {count(best.disagreements or 0, 'word')}"
        lines.append(f"{way}: {count(len(some), 'candidate')} of {states}, {wrong}")
    if result.view is not None:
        lines += [f"{one.name}: {count(one.candidates, 'candidate')}" for one in result.view.tried]
    return lines or ["nothing: it was given up before the search"]


def _of_box(result: Extraction) -> list[str]:
    """Return what to do where answers alone were learned from: there are no steps to look at, and no other way."""
    if not _is_boxed(result) or (result.diagnosis is not None and result.diagnosis.cause.name in _OUTWEIGH[:2]):
        return []
    lines = ["- ask it the shortest of these words itself, and keep the automaton for shorter ones"]
    if all(one.method != "learn-vpa" for one in result.candidates) and result.network.task_kind == "recognition":
        lines.append("- if it nests, say which symbols push and which pop: sl.learn(…, calls=…, returns=…)")
    if result.budget is not None and result.budget.ran_out:
        lines.append("- give it more time: sl.learn(…, budget=300)")
    return [*lines, *_against_noise(result, "- its answers drift with length: ")]


def _is_boxed(result: Extraction) -> bool:
    return result.found is not None and result.found.by_asking


def _against_noise(result: Extraction, why: str) -> list[str]:
    """Return to train it against noise, where stacklens trains networks of its kind so."""
    kind = result.network.kind
    return [f"{why}sl.train({kind!r}, …, noise_robust=True)"] if "noise_robust" in OPTIONS.get(kind, ()) else []


def _by_cause(result: Extraction) -> list[str]:
    """Return what to do where the likely cause, some of which outweigh what contradicts the automaton, says what."""
    name = "" if result.diagnosis is None else result.diagnosis.cause.name
    trace = "- look at what the network does: sl.trace(result.model, word).plot()"
    own = "- compare step by step with its own forward pass: sl.check(network, forward, words) names what is off"
    better = None if result.threshold is None else result.threshold.better
    number = "…" if better is None else f"{better.threshold:.9g}"
    advice = {
        "adapter suspicious": [own, "- then extract again: nothing else is worth trying before"],
        "another threshold": [
            f"- ask for it, and extract again: sl.wrap(…, threshold={number}); sl.load(…, threshold={number}) or "
            f'--threshold {number} of a language model; "threshold": {number} in a mapping file',
            own,
        ],
        "not learned": [
            "- train it longer, with another seed, or on shorter words first: there is nothing to extract yet",
            *([own] if result.network.file is None else []),
            trace,
        ],
        "counts in its hidden state": [
            "- learn what it does from its answers: sl.learn(model), --method ask; with calls and returns if it nests",
            "- train it with a smaller hidden state, so that it needs its stack",
            *_against_noise(result, "- or with noise: "),
        ],
        "too many stacks": ["- train it with fewer stacks, or learn from its answers: sl.learn(model), --method ask"],
        "computes with leftovers": [
            "- keep the automaton for what the network does; it says nothing of how far the leftovers carry",
            "- see them on the stack: sl.trace(result.model, word).plot(), beside the same word with rounded=True",
            "- train until nothing is left over: longer, or with another seed",
            *_against_noise(result, "- or with noise: "),
        ],
        "time limit reached": ["- give it more time: --budget 5m, sl.extract(model, budget=300)", trace],
    }
    return advice.get(name, [])


def _contradictions(result: Extraction) -> list[str]:
    lines = []
    if (wrong := result.contradicted) is not None:
        what = words_of_kind(wrong.kind).removesuffix(", all")
        where = "" if wrong.counterexample is None else f", such as {_shown(wrong.counterexample)}"
        other = "black box" if _is_boxed(result) and wrong.other != "language" else wrong.other
        lines.append(
            f"The automaton differs from the {other} on {wrong.disagreements:,} of {wrong.words:,} {what}{where}."
        )
    if isinstance(result.proof, Different):
        word = make_word(result.proof.word, result.network.alphabet)
        lines.append(f"The automaton is not {result.language_name}: {result.proof.reason}, on {_shown(word)}.")
    if result.counts is not None and not result.counts.equal:
        lines.append(f"Its accepted words of length {result.counts.first_different} were counted twice, differently.")
    return lines


def _measures(result: Extraction) -> list[str]:
    found, rounding = result.fidelity, result.fidelity.rounding
    lines = []
    if found.action_margin is not None and not _is_boxed(result):
        lines += [
            f"- rounding the actions changes {rounding.disagreements:,} of {rounding.words:,} verdicts",
            f"- {found.graded_actions:.1%} of the actions are graded; the smallest margin is {found.action_margin:.3f}",
        ]
    if result.view is not None:
        lines.append(f"- seen as {view_claim(result.view.to_dict())}")
    if found.minority_transitions is not None:
        lines.append(f"- {found.minority_transitions:.1%} of the transitions are outvoted (3% is good, 6% is bad)")
    if result.candidates:
        best = "" if result.found is None else f"; the best has {count(result.found.states, 'state')}"
        lines.append(f"- {count(len(result.candidates), 'candidate')} tried{best}")
    if result.found is not None and result.found.disagreements:
        other = "black box" if _is_boxed(result) else "rounded network"
        lines.append(f"- it differs from the {other} on {count(result.found.disagreements, 'checking word')}")
    return lines


def _without_automaton(result: Extraction) -> list[str]:
    lines = ["- look at what the network does: sl.trace(result.model, word).plot()"]
    if "is no stack" in (result.reason or ""):
        return [*lines, "- no network of this kind has a real-time pushdown automaton: train one that has a stack"]
    if "as stacks" in (result.reason or ""):
        return [
            *lines,
            "- it learned something that is no pushdown automaton: try another seed, or a kind with a stack",
        ]
    if result.fidelity.graded_actions > 0:
        lines.append("- train until the actions are whole, or with another seed")
        lines += _against_noise(result, "- or with noise: ")
    if result.found is not None and result.found.disagreements:
        lines.append("- ask for more states or stack symbols: sl.extract(model, states=…, stack_symbols=…)")
    return lines


def _with_automaton(result: Extraction) -> list[str]:
    wrong = result.contradicted
    left_out = []
    if result.view is not None and result.view.wrong:
        left_out = [f"- with {result.view.name} it does as the automaton does: what that leaves out has added up there"]
    if isinstance(result.proof, Equal) and wrong is not None and wrong.other == "rounded network":
        return [
            f"- keep the automaton: it is right about {result.language_name}, and it is the network that leaves it",
            "- ask for no more states: they could only follow the network's drift, a word at a time",
            *_against_noise(result, "- train the network against noise, so that its values come back: "),
            *left_out,
            "- see how its values drift: print(result), or sl.trace(result.model, word).plot()",
        ]
    lines = ["- see where both runs part: print(result), or sl.trace(result.model, word).plot()", *left_out]
    if wrong is not None and wrong.kind == "pumped":
        lines.append("- its values drift from round to round, and more states do not mend that")
        lines += _against_noise(result, "- training against noise may: ")
    elif wrong is not None and wrong.other == "rounded network":
        lines.append("- ask for more states or stack symbols: sl.extract(model, states=…, stack_symbols=…)")
    else:
        lines.append("- the network itself has learned something else: train it longer, or with another seed")
    return lines


def _shown(word: Word) -> str:
    text = format_word(word)
    return f"{text[:_LONGEST_SHOWN]}… ({len(word):,} symbols)" if len(word) > _LONGEST_SHOWN else word_named(text)
