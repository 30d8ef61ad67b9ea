"""Why there is no automaton, or none that is faithful: every cause is planted in a network, found, and measured."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.extract.planted_causes import balanced_sets, counter_in_hidden, guessing, many_stacks, swapped, unnormalised
from tests.face.quick import QUICK as FEW
from tests.shell.commands import DATA, Shell, check_quickly
from torch import Tensor

import stacklens as sl
from stacklens.automata.formats.by_suffix import read_automaton
from stacklens.extract.answers import network_answers
from stacklens.extract.by_name import specification_of_network
from stacklens.extract.partings import said_by_all
from stacklens.extract.report import load_result
from stacklens.extract.samples import Samples

QUICK: dict[str, Any] = {**FEW, "max_length": 6, "method": "learn", "budget": 0.5, "quiet": True}
FOUND = {**QUICK, "budget": 30.0}  # where there is an automaton, which a slow machine should find, too
PLANTED: dict[str, tuple[Callable[[], Any], str | None, str, str]] = {
    "hidden": (
        counter_in_hidden,
        "dyck-1",
        "counts in its hidden state",
        "shown empty stacks at every step it changes",
    ),
    "swapped": (swapped, "dyck-1", "adapter suspicious", "and with actions=(pop, none, push) on 100.0%"),
    "logits": (unnormalised, "dyck-1", "adapter suspicious", "its shares sum to 1.5 and the least is -2"),
    "guessing": (guessing, "dyck-1", "not learned", "the network is right on 50.0% of the words of length 1 to 16"),
    "stacks": (many_stacks, None, "too many stacks", "5 of its stacks matter, more than the 3"),
    "graded": (lambda: DATA / "graded-pops.pt", None, "graded actions", "rounding its actions changes 81.8%"),
}


@cache
def planted(name: str) -> sl.Extraction:
    network, language, _, _ = PLANTED[name]
    budget = {"swapped": FOUND["budget"], "hidden": 4.0}.get(name, QUICK["budget"])  # "hidden" has a best one to find
    return sl.extract(network(), language, **{**QUICK, "budget": budget})


@pytest.mark.parametrize("name", PLANTED)
def test_the_planted_cause_is_found_and_its_measure_told(name: str) -> None:
    _, _, cause, measured = PLANTED[name]
    result = planted(name)
    assert result.status == (1 if name == "swapped" else 3)
    assert result.diagnosis is not None
    assert result.diagnosis.cause.name == cause
    assert measured in result.diagnosis.cause.measured
    assert f"\nLikely cause: {cause}: " in result.why()
    assert "\nWhat to do next:\n- " in result.why()
    assert name == "graded" or "noise" not in result.why()  # stacklens does not train what is wrapped


@pytest.mark.parametrize(
    ("low", "high", "threshold"),
    [(0.005, 0.025, "0.01"), (0.6, 0.7, "0.65"), (0.0, 0.4, "0.2"), (0.02, 0.0201, "0.02005")],
)
def test_the_threshold_at_which_a_predictor_is_right_is_told_and_works(low: float, high: float, threshold: str) -> None:
    def scaled(p: Tensor) -> Tensor:
        return low + (high - low) * p

    result = sl.extract(balanced_sets(scaled), "dyck-1", **QUICK)
    assert result.status == 1
    assert result.threshold is not None
    found = result.threshold.better
    assert found is not None
    assert found.right < found.right_there == found.words
    assert (round(found.low, 6), round(found.high, 6)) == (low, high)
    assert f"{found.threshold:g}" == threshold
    told = result.why()
    assert "\nLikely cause: another threshold: it is right on " in told
    assert f"with threshold={threshold} (any from" in told
    assert f"- ask for it, and extract again: sl.wrap(…, threshold={threshold});" in told
    assert f"with threshold={threshold} (any" in str(result)
    again = sl.extract(balanced_sets(scaled, threshold=found.threshold), "dyck-1", **QUICK)
    assert again.threshold is not None
    assert again.threshold.better is None
    assert again.diagnosis is None or again.diagnosis.cause.name != "another threshold"


def test_probabilities_taken_for_logits_and_logits_for_probabilities_are_no_better_threshold() -> None:
    soft: dict[str, Any] = {"forward": lambda p: 0.01 + 0.98 * p}
    for made, measured in (
        (balanced_sets(**soft, activation="sigmoid"), "between 0.502 and 0.729, as the sigmoid of probabilities does"),
        (balanced_sets(lambda p: 8 * p - 4), "outputs lie between -4 and 4, as logits do"),
    ):
        result = sl.extract(made, "dyck-1", **QUICK)
        assert result.diagnosis is not None
        assert result.diagnosis.cause.name == "adapter suspicious"
        assert measured in result.diagnosis.cause.measured


@pytest.mark.parametrize("name", ["nnpda-1n0n", "marnn-stack-rnn-dyck-2"])
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


@pytest.mark.slow
def test_a_network_that_drifts_is_told_with_the_step_at_which_it_parts() -> None:
    """The trained Baby-NTM leaves its automaton on a word of a check: longer than those of the search."""
    few: dict[str, Any] = {**FEW, "max_length": 6, "cycles": 40, "quiet": True}
    result = sl.extract("baby-ntm-dyck-2", **few)
    found = result.diagnosis
    assert found is not None
    assert found.cause.name == "values drift"
    assert "the automaton is proved equal to dyck-2, and the rounded network leaves it on" in found.cause.measured
    (parted,) = [one for one in found.partings if one.one == "automaton"]
    known = result.horizon["rounded network"].difference
    assert known is not None
    assert parted.word == known.word
    assert result.divergence is not None
    assert parted.says != parted.other_says
    early = sl.extract("baby-ntm-dyck-2", **{**few, "method": "learn", "budget": 1e-6}).diagnosis
    assert early is not None
    assert early.cause.name == "time limit reached"


def test_where_they_part_is_the_shortest_word_and_all_say_so_themselves() -> None:
    result = planted("graded")
    assert result.diagnosis is not None
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
    assert best is not None
    assert 0 < best.error_rate < 0.5
    of_network = next(one for one in best.errors if one.other == "network")
    assert of_network.word is not None
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
