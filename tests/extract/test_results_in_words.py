"""What a result says of itself: why, how sure, beside a black box, and of its causes."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.extract.planted_causes import balanced_sets, counter_in_hidden, guessing, many_stacks, swapped
from tests.face.quick import QUICK
from tests.shell.commands import DATA, Shell, check_quickly
from torch import Tensor

import stacklens as sl
from stacklens.automata.compare import Different, Equal
from stacklens.automata.formats import read_automaton
from stacklens.automata.pda import NONE, Key, PushdownAutomaton, Transition
from stacklens.extract.black_box import _compare_answers
from stacklens.extract.by_name import specification_of_network
from stacklens.extract.causality import _is_renamed
from stacklens.extract.claims import claims_of, headline
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.evaluation.judge import said_by_all
from stacklens.extract.extraction import extract
from stacklens.extract.result import Extraction
from stacklens.extract.samples import Fidelity, Samples, why_unfaithful
from stacklens.extract.saved import load_result
from stacklens.extract.summary import summary_text
from stacklens.extract.wording import as_sentence, horizon_cell, horizon_claim, whole_word
from stacklens.languages.catalogue import get_language, get_task
from stacklens.models.checkpoint import ZOO, load_model
from stacklens.models.inference import network_answers

# ---- Why there is no automaton, or none that is faithful: every cause is planted in a network, found, and measured.

pytestmark = pytest.mark.usefixtures("processor_time")
BRIEF: dict[str, Any] = {**QUICK, "max_length": 6, "method": "learn", "budget": 4.0, "quiet": True}
FOUND = {**BRIEF, "budget": 30.0}  # where there is an automaton, which a slow machine should find, too
PLANTED: dict[str, tuple[Callable[[], Any], str | None, str, str]] = {
    "hidden": (
        counter_in_hidden,
        "dyck-1",
        "counts in its hidden state",
        "shown empty stacks at every step it changes",
    ),
    "swapped": (swapped, "dyck-1", "adapter suspicious", "and with actions=(pop, none, push) on 100.0%"),
    "logits": (
        lambda: counter_in_hidden((-2.0, 0.5, 3.0)),
        "dyck-1",
        "adapter suspicious",
        "its shares sum to 1.5 and the least is -2",
    ),
    "guessing": (guessing, "dyck-1", "not learned", "the network is right on 50.0% of the words of length 1 to 16"),
    "stacks": (many_stacks, None, "too many stacks", "5 of its stacks matter, more than the 3"),
    "graded": (lambda: DATA / "graded-pops.pt", None, "graded actions", "rounding its actions changes 81.8%"),
}


@cache
def planted(name: str) -> sl.Extraction:
    network, language, _, _ = PLANTED[name]
    # "hidden" has a best one to find, "graded" a judgement to come to, and "logits" the adapter to look at
    budgets = {"swapped": 30.0, "graded": 30.0, "hidden": 8.0, "logits": 8.0}
    return sl.extract(network(), language, **{**BRIEF, "budget": budgets.get(name, 4.0)})


@pytest.mark.parametrize("name", PLANTED)
def test_the_planted_cause_is_found_and_its_measure_told(name: str) -> None:
    _, _, cause, measured = PLANTED[name]
    result = planted(name)
    assert result.status == (1 if name == "swapped" else 3)
    assert result.diagnosis.cause.name == cause
    assert measured in result.diagnosis.cause.measured
    assert f"\nLikely cause: {cause}: " in result.why()
    assert "\nWhat to do next:\n- " in result.why()
    assert name == "graded" or "noise" not in result.why()  # stacklens does not train what is wrapped


@pytest.mark.parametrize(("low", "high", "threshold"), [(0.6, 0.7, "0.65"), (0.02, 0.0201, "0.02005")])
def test_the_threshold_at_which_a_predictor_is_right_is_told_and_works(low: float, high: float, threshold: str) -> None:
    def scaled(p: Tensor) -> Tensor:
        return low + (high - low) * p

    result = sl.extract(balanced_sets(scaled), "dyck-1", **BRIEF)
    assert result.status == 1
    found = result.threshold.better
    assert found.right < found.right_there == found.words
    assert (round(found.low, 6), round(found.high, 6)) == (low, high)
    assert f"{found.threshold:g}" == threshold
    told = result.why()
    assert "\nLikely cause: another threshold: it is right on " in told
    assert f"with threshold={threshold} (any from" in told
    assert f"- ask for it, and extract again: sl.wrap(…, threshold={threshold});" in told
    assert f"with threshold={threshold} (any" in str(result)
    again = sl.extract(balanced_sets(scaled, threshold=found.threshold), "dyck-1", **BRIEF)
    assert again.threshold.better is None
    assert again.diagnosis is None or again.diagnosis.cause.name != "another threshold"


def test_probabilities_taken_for_logits_and_logits_for_probabilities_are_no_better_threshold() -> None:
    soft: dict[str, Any] = {"forward": lambda p: 0.01 + 0.98 * p}
    for made, measured in (
        (balanced_sets(**soft, activation="sigmoid"), "between 0.502 and 0.729, as the sigmoid of probabilities does"),
        (balanced_sets(lambda p: 8 * p - 4), "outputs lie between -4 and 4, as logits do"),
    ):
        result = sl.extract(made, "dyck-1", **BRIEF)
        assert result.diagnosis.cause.name == "adapter suspicious"
        assert measured in result.diagnosis.cause.measured


@pytest.mark.parametrize("name", ["nnpda-1n0n", "marnn-stack-rnn-dyck-2-drifting"])
def test_one_word_alone_is_said_by_all(name: str) -> None:
    """As the shortest word of a check is looked at, which is none of the search: no word is drawn then."""
    model = sl.load(name)
    specification = specification_of_network(model)
    word = model.alphabet[0] * 3
    answers = network_answers(model, [word])
    samples = Samples([word], answers, answers, None, 1, [], [])
    said = said_by_all(model, specification, sl.extract(name, **FOUND).automaton, (0,), samples)
    assert set(said.answers) == {"network", "rounded network", "automaton", "language"}
    assert all((one == answers).all() for one in said.answers.values())
    assert said.parting("automaton", "network") is None


def test_a_network_that_drifts_is_told_with_the_step_at_which_it_parts() -> None:
    """The trained Baby-NTM leaves its automaton on a word of a check: longer than those of the search."""
    few: dict[str, Any] = {**QUICK, "max_length": 6, "cycles": 40, "quiet": True}
    result = sl.extract("baby-ntm-dyck-2-drifting", **few)
    found = result.diagnosis
    assert found.cause.name == "values drift"
    assert "the automaton is proved equal to dyck-2, and the rounded network leaves it on" in found.cause.measured
    (parted,) = [one for one in found.partings if one.one == "automaton"]
    known = result.horizon["rounded network"].difference
    assert parted.word == known.word
    assert result.divergence is not None
    assert parted.says != parted.other_says
    early = sl.extract("baby-ntm-dyck-2-drifting", **{**few, "method": "learn", "budget": 1e-6}).diagnosis
    assert early.cause.name == "time limit reached"


def test_where_they_part_is_the_shortest_word_and_all_say_so_themselves() -> None:
    result = planted("graded")
    parted = {(one.one, one.other): one for one in result.diagnosis.partings}
    first = parted["rounded network", "network"]
    said = {rounded: bool(sl.trace(result.model, first.word, rounded=rounded).verdicts[0]) for rounded in (False, True)}
    assert (first.says, first.other_says) == ("accepts", "rejects")
    assert (said[True], said[False]) == (True, False)
    for shorter in ("", "0"):
        both = [bool(sl.trace(result.model, shorter, rounded=rounded).verdicts[0]) for rounded in (False, True)]
        assert both[0] is both[1]
    assert parted["network", "language"].other_says == "rejects"


def test_the_best_automaton_comes_with_its_errors_and_is_marked(tmp_path: Path) -> None:
    result = planted("hidden")
    assert result.minimised is None
    best = result.best
    assert 0 < best.error_rate < 0.5
    of_network = next(one for one in best.errors if one.other == "network")
    assert best.automaton.accepts(of_network.word) != bool(sl.trace(result.model, of_network.word).verdicts[0])
    assert "\nbest       NOT FAITHFUL: " in str(result)
    assert result.report()["best"]["error_rate"] == best.error_rate
    assert planted("swapped").best is None
    result.save(tmp_path / "r.json")
    loaded = load_result(tmp_path / "r.json", trusted=True)
    assert (loaded, loaded.why(), str(loaded)) == (result, result.why(), str(result))
    assert "\nbest       NOT FAITHFUL: " in str(sl.load(tmp_path / "r.json"))
    assert json.dumps(loaded.report()) == json.dumps(result.report())
    assert loaded.best == best


def test_the_shell_writes_the_best_only_where_it_is_asked_to_and_marks_the_file(
    tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_quickly(monkeypatch)
    outs, kept = [tmp_path / f"x.{suffix}" for suffix in ("json", "jff", "dot")], tmp_path / "r.json"
    targets: list[str | Path] = [word for out in outs for word in ("--out", out)]
    given: list[str | Path] = [DATA / "graded-pops.pt", "--max-length", "4", *targets]
    found = shell("extract-pda", *given, "--save", kept)
    assert (found.status, any(out.exists() for out in outs)) == (3, False)
    assert "\nLikely cause: graded actions: " in found.out
    assert "no automaton was written; with --best --out writes the best, which is not faithful" in found.out
    for command, arguments in (("extract-pda", given), ("stacklens", ["show", kept, *targets])):
        found = shell(command, *arguments, "--best")
        assert found.status == 3
        for out in outs:
            assert f"wrote {out}" in found.out
            assert "NOT FAITHFUL, wrong of the network on " in out.read_text(encoding="utf-8")
            assert read_automaton(out) == sl.load(kept).best.automaton
            out.unlink()


# ---- What a report says in words: the same wherever it is shown. ----

SMALL = ExtractionConfig(max_length=4, long_words=20, long_lengths=(8, 12), deep_words=2, depth=5, height=3, walks=2)


def test_the_summary_prints_the_list_of_claims_and_each_names_its_evidence() -> None:
    report = (result := extract(load_model(ZOO / "nnpda-1n0n.pt"), get_language("1n0n"), SMALL)).report()
    summary, found = summary_text(result), {claim.what: claim for claim in claims_of(report, asides=True)}
    for label, what in {"rounding": "rounding", "counted": "counted twice", "certified": "certificate"}.items():
        assert f"{label:10} {found[what].in_brief}" in summary
    sizes, before = found["automaton"].words.split("; ")
    assert f"automaton  {sizes}\n" in summary
    assert f"({before}; read off " in summary
    for claim in found.values():
        assert report.get(claim.evidence.split(".")[0], "") is not None
        assert claim.in_brief in summary or claim.what == "result" or claim.evidence == "checks"
    stored = claims_of({**report, "as_stored": ["proof", "checks"]})
    marked = [claim for claim in stored if claim.words.endswith("(as stored, not checked)")]
    assert {(claim.evidence, claim.verdict) for claim in marked} == {("proof", "unknown"), ("checks", "unknown")}


def test_of_a_network_without_actions_no_margin_is_told() -> None:
    result = extract(balanced_sets(), get_task("dyck-1"), replace(SMALL, budget=1.0))
    assert result.fidelity.action_margin is None
    for said in (summary_text(result), result.why(), *(claim.words for claim in claims_of(result.report()))):
        assert "margin" not in said
        assert "graded" not in said
    assert "graded" not in (why_unfaithful(result.model, result.fidelity, None, 1) or "")
    assert Fidelity(result.fidelity.rounding, None, 0.0, 0.0) == result.fidelity  # as earlier files have it


def test_of_a_large_automaton_the_first_transitions_are_shown() -> None:
    result = extract(load_model(ZOO / "nnpda-1n0n.pt"), get_language("1n0n"), SMALL)
    assert "more: print(result.automaton)" not in str(result)
    rows: dict[Key, Transition] = {(f"q{n}", "1", ("⊥",)): Transition(f"q{n + 1}", (NONE,)) for n in range(223)}
    states = tuple(f"q{n}" for n in range(224))
    large = PushdownAutomaton(states, ("0", "1"), (), rows, "q0", frozenset(states))
    shown = str(replace(result, minimised=large))
    assert "q39" in shown
    assert "q42" not in shown
    assert "and 183 transitions more: print(result.automaton) has all, --out pda.svg draws them\naccepts  " in shown
    assert "q222" in str(large)


def horizon(length: int | None = 10, first: str | None = None, **more: Any) -> dict[str, Any]:
    known = None if first is None else {"word": first, "length": len(first), "height": 2, "made_of": None}
    return {
        "length": length,
        "every_length": False,
        "shown_by": "all words run",
        "domain": "all words",
        "words": 1_400,
        "cycles": 20,
        "others": 400,
        "shortest_difference": known,
        "exact": False,
        **more,
    }


def checked(other: str, word: str | None = None) -> dict[str, Any]:
    return {
        "kind": "exhaustive",
        "between": ["automaton", other],
        "max_length": 10,
        "words": 1_000,
        "disagreements": int(word is not None),
        "counterexample": word,
    }


CERTIFIED = {"verdict": "certified", "words": "all", "stack_limit": 2**53, "cuts": 0}
NOT_CERTIFIED = {"verdict": "not certified", "reason": "at (q): why"}
EQUAL = {"verdict": "equal", "counterexample": None, "reason": None, "domain": "all words"}
UNDECIDED = {"verdict": "undecided", "counterexample": None, "reason": "two stacks", "domain": None}
DIFFERENT = {"verdict": "different", "counterexample": "([", "reason": "one accepts", "domain": None, "shortest": True}
DRIFTS = {"word": "[()]" * 12, "length": 48, "height": 2, "made_of": "'[()]' 12 times"}
NOT_FOUND = horizon()


def report(
    proof: dict[str, Any], certificate: dict[str, Any], rounded: dict[str, Any], network: dict[str, Any], **more: Any
) -> dict[str, Any]:
    return {
        "automaton": {},
        "language": "dyck-2",
        "model": {"alphabet": list("()[]")},
        "proof": proof,
        "certificate": certificate,
        "checks": [checked("language")],
        "horizon": {"rounded network": rounded, "network": network},
        **more,
    }


ALL = "on all words of length <= 10 and on all others tried"
BOTH = f"rounded network and network follow it {ALL}"
CELLS = "on words of every length that need at most 2^53 cells of a stack (certificate)"
WITHIN = "on words of the task of every length that need at most 104 cells of a stack (certificate)"
REPORTS = {
    "certified": report(EQUAL, CERTIFIED, NOT_FOUND, horizon(first="[" * 90)),
    "within": report(EQUAL, {**CERTIFIED, "words": "the task's", "stack_limit": 104}, NOT_FOUND, NOT_FOUND),
    "equal": report(EQUAL, NOT_CERTIFIED, NOT_FOUND, NOT_FOUND),
    "drifts": report(
        EQUAL, NOT_CERTIFIED, horizon(shortest_difference=DRIFTS), horizon(first="([" * 6 + "]", others=9)
    ),
    "exact": report(EQUAL, NOT_CERTIFIED, horizon(3, "()[]", exact=True), horizon(3, "()[]", exact=True)),
    "bounded": report(EQUAL, NOT_CERTIFIED, horizon(40, shown_by="bounded certificate"), horizon(cycles=0, others=0)),
    "two stacks": report(UNDECIDED, NOT_CERTIFIED, NOT_FOUND, NOT_FOUND),
    "wrong": report(DIFFERENT, CERTIFIED, NOT_FOUND, NOT_FOUND),
    "no language": report(UNDECIDED, NOT_CERTIFIED, NOT_FOUND, NOT_FOUND, language=None, checks=[]),
    "none": report(EQUAL, CERTIFIED, NOT_FOUND, NOT_FOUND, automaton=None, reason="its actions are graded"),
}
HEADLINES = {
    "certified": f"proved equal to dyck-2; the rounded network follows it {CELLS}; the network is first known to "
    f"differ on {'[' * 60}… (length 90)",
    "within": f"proved equal to dyck-2; the rounded network follows it {WITHIN}; the network follows it {ALL}",
    "equal": f"proved equal to dyck-2; {BOTH}",
    "drifts": "proved equal to dyck-2; the rounded network is first known to differ on '[()]' 12 times (length 48), "
    "the network on ([([([([([([] (length 13)",
    "exact": "proved equal to dyck-2; rounded network and network first differ on ()[]",
    "bounded": "proved equal to dyck-2; the rounded network follows it on all words of length <= 40 (bounded "
    "certificate) and on all others tried; the network follows it on all words of length <= 10",
    "two stacks": f"equal to dyck-2 on all words of length <= 10 (not proved); {BOTH}",
    "wrong": f"different from dyck-2, first on ([; the rounded network follows it {CELLS}; the network follows it "
    + ALL,
    "no language": f"held against no language; {BOTH}",
    "none": "no automaton: its actions are graded",
}


@pytest.mark.parametrize("name", REPORTS)
def test_the_headline_says_which_of_the_three_it_equals(name: str) -> None:
    says = HEADLINES[name]
    assert headline(REPORTS[name]) == says
    assert as_sentence(headline(REPORTS[name])) == f"{says[0].upper()}{says[1:]}."


def test_the_headline_of_a_report_without_horizons_is_made_of_its_checks() -> None:
    old = report(EQUAL, NOT_CERTIFIED, {}, {}, counts={"equal": False})
    del old["horizon"]
    old["checks"] = [checked("language"), checked("rounded network"), checked("network", "(" * 12)]
    old["checks"] += [{**checked("rounded network", "[" * 20), "kind": "pumped"}]
    assert headline(old) == (
        f"proved equal to dyck-2; the rounded network is first known to differ on {'[' * 20} (length 20); the network "
        f"first differs on {'(' * 12} (length 12); its accepted words were counted twice, differently"
    )


def test_a_contradicted_certificate_is_not_told() -> None:
    told = headline(report(EQUAL, CERTIFIED, horizon(first="[" * 20), NOT_FOUND))
    assert "certificate" not in told


FIRST = "the shortest word known on which it differs"
HORIZONS = {  # by what stands in a cell of a table
    "<= 10": horizon(),
    "every length": horizon(None, every_length=True, shown_by="certificate"),
    "<= 2^53 cells": horizon(None, every_length=True, shown_by="certificate", stack_limit=2**53),
    "<= 104 cells": horizon(103, shown_by="certificate", stack_limit=104, domain="all words of the task"),
    "<= 9, not 10": horizon(9, "a" * 10, stack_limit=4),
    "<= 40": horizon(40, shown_by="bounded certificate", cycles=0, domain="all words of the task"),
    "<= 10, not 250": horizon(first="[" * 250),
    "<= 3, not 4": horizon(3, "([])", exact=True),
    "not 1": horizon(None, "a", shown_by=None),
}
CLAIMS = {
    "<= 10": "agrees on all words of length <= 10; no difference found in 1,400 words and 20 repeated cycles",
    "every length": "agrees on words of every length (certificate)",
    "<= 2^53 cells": f"agrees {CELLS}",
    "<= 104 cells": f"agrees {WITHIN}",
    "<= 9, not 10": "agrees on all words of length <= 9, and on words of every length that need at most 4 cells of a "
    f"stack (certificate); {FIRST}: aaaaaaaaaa (length 10), height 2",
    "<= 40": "agrees on all words of the task of length <= 40 (bounded certificate); no difference found in 1,400 "
    "words",
    "<= 10, not 250": f"agrees on all words of length <= 10; {FIRST}: {'[' * 200}… (length 250), height 2",
    "<= 3, not 4": "agrees on all words of length <= 3; first differs on ([]), height 2",
    "not 1": f"agreement is shown for no length; {FIRST}: a, height 2",
}


@pytest.mark.parametrize("cell", HORIZONS)
def test_a_horizon_is_told_with_both_ends(cell: str) -> None:
    assert horizon_claim(HORIZONS[cell]) == CLAIMS[cell]
    assert horizon_cell(HORIZONS[cell]) == cell
    assert horizon_cell(None) == "–"


def test_a_word_that_is_cut_or_told_by_its_parts_is_there_in_full_to_be_pasted() -> None:
    assert whole_word(horizon(first="[" * 250)) == "[" * 250
    assert whole_word(horizon(first="[" * 401)) == (
        "all 401 symbols are in the result and in the report (--save, --report)"
    )
    assert [whole_word(horizon(first=word)) for word in (None, "", "([])", "[" * 20)] == [None] * 4
    assert whole_word(horizon(None, every_length=True, shown_by="certificate")) is None


# ---- White box against black box: equal ones are proved equal; others are told apart by a word that all are asked.

NAME = "nnpda-1n0n"


def test_what_both_ways_give_is_proved_equal_and_kept(tmp_path: Path) -> None:
    result = sl.extract(NAME, **QUICK).black_box()
    assert isinstance(result.box.comparison, Equal)
    assert isinstance(result.box.proof, Equal)
    assert result.asked.by_asking
    assert "; proved equal to the automaton on all words" in str(result)
    assert result.report()["black_box"]["comparison"]["verdict"] == "equal"
    result.save(tmp_path / "r.json")
    loaded = load_result(tmp_path / "r.json", trusted=True)
    assert loaded == result
    assert str(loaded) == str(result)
    assert json.dumps(loaded.report()) == json.dumps(result.report())


def test_where_they_differ_the_network_itself_is_asked() -> None:
    result = sl.extract(NAME, **QUICK)
    other = get_language("1n0n").automaton
    shortest = "10"
    wrong = replace(other, accepting=frozenset(), acceptance="final state")
    comparison, agree_to, said = _compare_answers(wrong, result.automaton, result.model, result.language)
    assert isinstance(comparison, Different)
    assert agree_to is None
    assert (said.word, said.shortest, said.step) == (shortest, True, None)
    assert (said.white, said.black, said.network, said.rounded) == ("rejects", "accepts", "accepts", "accepts")


def test_the_shell_compares_where_it_is_asked_to(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    check_quickly(monkeypatch)
    found = shell("extract-pda", NAME, "--black-box", "--max-length", "6")
    assert (found.status, found.error) == (0, "")
    assert "\nblack box  from answers alone (" in found.out


# ---- Interchange experiments on results: what `result.causal` takes, where it is undefined, and that it is kept.


@pytest.fixture(scope="module")
def reversal() -> Extraction:
    return sl.extract("marnn-stack-rnn-string-reversal", quiet=True, max_length=5)


def test_a_result_says_what_its_states_and_symbols_are_the_cause_of(reversal: Any) -> None:
    found = reversal.causal(seed=1, cases=300)
    assert found.symbols.accuracy == 1.0
    assert found.symbols.interval[0] > 0.95
    assert found.symbols.baseline < 0.6
    assert found.symbols.worst is None
    assert found == reversal.causal(seed=1, cases=300)
    assert reversal.causal(cases=100, automaton="raw").automaton == "raw"
    assert reversal.causal(cases=100, automaton=reversal.automaton).automaton == "given"
    assert 0 <= reversal.causal(cases=100, values="centre").states.accuracy <= 1


def test_equal_automata_stand_side_by_side_with_what_a_random_network_does(reversal: Any) -> None:
    found = reversal.causal(seed=1, cases=300)
    assert list(found.automata) == ["minimised", "raw", "learned", "reference"]
    assert all(one.equal for one in found.automata.values())
    assert found.verdict.startswith("of four automata that are proved equal, the minimised one is what the network")
    assert found.learned.sizes[0] == 1
    assert found.learned.states.share.of == 0  # one state tells nothing apart
    assert found.learned.states.same.accuracy < 1.0  # a leak between reading and writing: see docs/probing.md
    for one in found.automata.values():
        assert one.symbols.baselines["random weights"].accuracy < 0.3
        assert one.symbols.baselines["permuted labels"].accuracy < 0.3
    assert reversal.causal(cases=100, automaton="reference").states == replace(
        reversal.causal(cases=100).reference.states
    )


def test_an_automaton_under_other_names_is_asked_once() -> None:
    result = sl.load("models/zoo/nnpda-palindrome.json")
    found = result.causal(cases=60)
    assert found.reference.same_as == "minimised"
    assert found.reference.states == found.states
    assert ("reference 2/2", "as minimised") in [row[:2] for row in found.table()]
    swapped = {key: replace(step, output=None) for key, step in list(result.automaton.transitions.items())[1:]}
    assert not _is_renamed(replace(result.automaton, transitions=swapped), result.automaton)


def test_what_was_found_is_in_report_summary_and_file(reversal: Any, tmp_path: Path) -> None:
    result = replace(reversal, causality=reversal.causal(cases=100))
    assert f"causal     {result.causality.verdict}" in str(result)
    assert "causal" not in str(reversal)
    assert result.causality.verdict[1:] in result.why()
    entry = result.report()["causality"]
    assert entry["symbols"]["accuracy"] == 1.0
    assert (entry["mechanism"], entry["others"]["raw"]["automaton"]) == (result.causality.mechanism, "raw")
    result.save(tmp_path / "r.json")
    loaded = sl.load(tmp_path / "r.json")
    assert loaded == result
    assert loaded.causality == result.causality
    assert loaded.causal(cases=100) == result.causality
