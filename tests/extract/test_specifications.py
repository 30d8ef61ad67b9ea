"""What a network is held against, which way gives an automaton, how long a search lasts, and which stacks matter."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.extract.certificate.proved import filled
from tests.extract.doctored import ResidueNet
from tests.extract.hand_built import HandMachine, Place, Rule, SuperpositionNet
from tests.models.hand_made import parentheses_net
from tests.refusals import refused

import stacklens
import stacklens as sl
from stacklens.automata.compare import Different, Equal, Undecided, compare
from stacklens.automata.formats.json import to_json
from stacklens.automata.pda import NONE, Key, PushdownAutomaton, Transition, Word
from stacklens.core.errors import FileFormatError, NoWordError, StacklensError
from stacklens.core.progress import check_time
from stacklens.extract import extraction
from stacklens.extract.by_name import specification_for, specification_of, specification_of_network, subject_named
from stacklens.extract.claims import claims_of
from stacklens.extract.config import Budget, BudgetUse, ExtractionConfig, parse_budget
from stacklens.extract.extraction import extract
from stacklens.extract.memory_use import relevant_stacks
from stacklens.extract.samples import (
    MOST_CHANGED,
    Fidelity,
    Rounding,
    caution,
    draw_samples,
    rounding_changes_behaviour,
)
from stacklens.extract.saved import load_result
from stacklens.extract.search.candidates import LEARNING, Candidate, Scorer
from stacklens.extract.specification import LanguageSpecification, TaskSpecification
from stacklens.extract.verification.checks import _whole_lengths, check_sampled
from stacklens.languages.catalogue import get_language, get_task, task_names
from stacklens.languages.classic import Dyck
from stacklens.languages.task import Task
from stacklens.models.base import Checkpoint
from stacklens.models.checkpoint import load_network, save_model
from stacklens.models.networks.joulin import StackRNN, StackRNNConfig
from stacklens.models.training import make_trainer
from stacklens.probe.trace import trace

# ---- A language or a task that is not of the network's kind: what was meant where that is clear, else one line.

QUICK = ExtractionConfig(max_length=5, long_words=50, deep_words=2, depth=20, height=5, walks=5)


@pytest.mark.parametrize("wrapped", [False, True])
def test_what_was_meant_is_found_from_the_networks_kind(wrapped: bool) -> None:
    given = LanguageSpecification(Dyck(1)) if wrapped else Dyck(1)
    task = TaskSpecification(get_task("dyck-1")) if wrapped else get_task("dyck-1")
    found = specification_for(given, "next set")
    assert isinstance(found, TaskSpecification)
    assert found.task == get_task("dyck-1")
    found = specification_for(task, "recognition")
    assert isinstance(found, LanguageSpecification)
    assert found.language == Dyck(1)
    for kind, subject in (("recognition", given), ("next set", task)):
        found = specification_for(subject, kind)  # type: ignore[arg-type]
        assert found is subject or not wrapped
    assert specification_for(None, "next set") is None
    assert isinstance(specification_for(get_task("parenthesis-prediction"), "transduction"), TaskSpecification)


def test_what_makes_no_sense_is_refused_in_one_line() -> None:
    for given, kind, message in (
        (get_language("anbn"), "next symbol", "next symbol network cannot be checked against the language anbn; give"),
        (
            get_task("anbn"),
            "recognition",
            "recognition network cannot be checked .* next symbol task anbn; give a lang",
        ),
        (get_task("anbn"), "next set", "cannot be checked against the next symbol task anbn; give a next set task"),
        (get_task("dyck-2"), "transduction", "against the next set task dyck-2; give a transduction task"),
    ):
        refused(message, specification_for, given, kind)


@pytest.mark.parametrize(
    ("network", "tasks"),
    [
        ("neural-stack-reversal", "transduction network; name its task, such as reversal, or see docs/own-tasks.md"),
        ("stack-rnn-anbn", "next symbol network; name its task, such as anb2n, anbn, or see docs/own-tasks.md"),
    ],
)
def test_the_file_of_a_language_is_refused_for_a_network_with_a_task_and_its_tasks_are_named(
    network: str, tasks: str, tmp_path: Path
) -> None:
    (tmp_path / "br.cfg").write_text("S -> ( S ) S | [ S ] S | ε\n", encoding="utf-8")
    assert refused("", specification_of, load_network(network), str(tmp_path / "br.cfg")) == (
        f"{tmp_path / 'br.cfg'}: a grammar or an automaton is for networks that accept or reject words, or predict "
        f"which symbols may come next, and this is a {tasks}"
    )


@pytest.mark.parametrize("name", ["own.json", "own.cfg", "ambiguous.cfg"])
def test_a_predictor_is_held_against_the_words_of_a_file(name: str, tmp_path: Path) -> None:
    Dyck(2).automaton.save(path := tmp_path / name)
    if name == "ambiguous.cfg":
        path.write_text("S -> S S | ( S ) | [ S ] | ε", encoding="utf-8")
    model = load_network("marnn-stack-rnn-dyck-2-firm").model
    result = extract(model, specification_of_network(model, str(path)), QUICK)
    assert result.status == 0
    assert isinstance(result.proof, Undecided if name == "ambiguous.cfg" else Equal)
    if isinstance(result.proof, Undecided):
        assert (
            "with ( next, S -> · is at odds with S -> · ( S ); words are compared by its chart" in result.proof.reason
        )
    # a network that says where a word may end as well
    for ends in ("⊣", ".", ""):
        task = subject_named(str(path), "next set", "()[]", [*"()[]", *ends])
        assert isinstance(task, Task)
        assert task.expected("()[") == [("(", ")", "["), ("(", "[", *ends), ("(", "[", "]")]
        assert set(task.sample(60, (1, 2), seed=1).words) == {"()", "[]"}
        assert (task.reference is None) is (name == "ambiguous.cfg")
        if task.reference is not None:  # before the first symbol nothing is said of the end
            assert task.reference.accepts("") is not bool(ends)
            assert task.reference.accepts("[()]")
    with pytest.raises(StacklensError, match=r"has the outputs x, y, which are no symbols of .* one at most"):
        subject_named(str(path), "next set", "()[]", "()[]xy")
    refused(r"no word of .* begins with \(\]", get_task(str(path)).expected, "(]", error=NoWordError)


@pytest.mark.parametrize(
    ("network", "name"), [("nnpda", "br.cfg"), ("nnpda", "br.json"), ("marnn-stack-rnn", "br.json")]
)
def test_a_network_trained_on_a_file_has_it_with_it(
    network: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, elsewhere = tmp_path / "there", tmp_path / "elsewhere"
    there.mkdir()
    elsewhere.mkdir()
    monkeypatch.chdir(there)
    if name.endswith(".cfg"):
        Path(name).write_text("S -> ( S ) S | ε\n", encoding="utf-8")
    else:
        get_language("dyck-1").automaton.save(name)
    trainer = make_trainer(network, name)
    if network == "nnpda":
        trainer.epoch()
        trainer.check()
    for kept, task in (("net.pt", trainer.learned), ("old.pt", {**trainer.learned, "text": None})):
        save_model(elsewhere / kept, Checkpoint(trainer.network(), task))
    monkeypatch.chdir(elsewhere)
    checkpoint = load_network("net.pt")
    result = extract(checkpoint.model, specification_of(checkpoint), replace(QUICK, budget=0.5))
    assert result.language_name == name
    result.save("r.json")
    (tmp_path / "r.json").write_bytes(Path("r.json").read_bytes())
    monkeypatch.chdir(tmp_path)
    loaded = sl.load("r.json")
    assert isinstance(loaded.language, LanguageSpecification | TaskSpecification)
    assert list(loaded.language.language.words(4)) == ["", "()", "(())", "()()"]
    with pytest.raises(FileFormatError, match=r"no such file.* was trained on it: --language"):
        specification_of(load_network(elsewhere / "old.pt"))
    other = tmp_path / name  # who names a file that is here means that one
    other.write_bytes(
        b"S -> ) ( | ( )" if name.endswith(".cfg") else to_json(get_language("dyck-2").automaton).encode()
    )
    for given, words in ((None, 4), (name, 2 if name.endswith(".cfg") else 11)):
        found = specification_of(load_network(elsewhere / "net.pt"), given)
        assert isinstance(found, LanguageSpecification | TaskSpecification)
        assert len(list(found.language.words(4))) == words
    monkeypatch.chdir(there)
    assert specification_of(load_network(elsewhere / "old.pt")) is not None


def test_a_text_in_a_file_never_stands_in_for_a_language_of_ours(tmp_path: Path) -> None:
    checkpoint = load_network("nnpda-parentheses")
    tampered = {**checkpoint.task, "text": "S -> ) ( | ε"}
    save_model(tmp_path / "net.pt", Checkpoint(checkpoint.model, tampered))
    for name in (None, "parentheses"):
        found = specification_of(load_network(tmp_path / "net.pt"), name)
        assert isinstance(found, LanguageSpecification)
        assert found.language == get_language("parentheses")


# ---- Equality with a task means the same acceptance, outputs and cuts on every word of a domain that is named.

SETS = ("dyck-1", "dyck-2", "homomorphic-palindrome", "homomorphic-palindrome-nonempty", "simple-palindrome-nonempty")
STREAMS = ("anbn", "anb2n", "anbmcnm", "memorization", "reversal")


def going_on(pda: PushdownAutomaton) -> PushdownAutomaton:
    """Return the automaton that goes on for ever, and accepts nothing, where ``pda`` is cut at its first symbol."""
    said = next(step.output for step in pda.transitions.values() if step.target not in pda.accepting)
    cut = [letter for letter in pda.input_alphabet if (pda.initial, letter, ("⊥",)) not in pda.transitions]
    step = Transition("astray", (NONE,), said)
    added: dict[Key, Transition] = {(pda.initial, letter, ("⊥",)): step for letter in cut}
    added |= {("astray", letter, ("⊥",)): step for letter in pda.input_alphabet}
    return replace(pda, states=(*pda.states, "astray"), transitions={**pda.transitions, **added})


@pytest.mark.parametrize("name", SETS)
def test_a_predictor_that_goes_on_where_the_task_is_cut_is_not_equal(name: str) -> None:
    pda = get_task(name).reference
    task = TaskSpecification(get_task(name))
    assert task.compare(pda) == Equal("all words")
    found = task.compare(going_on(pda))
    assert isinstance(found, Different)
    assert found.reason == "at its end the first goes on, the second has been cut"
    assert len(found.word) == 1
    assert found.shortest
    with pytest.raises(Exception, match="the run ends"):
        pda.transduce(found.word)
    assert len(going_on(pda).transduce(found.word)) == 1
    assert isinstance(compare(going_on(pda), pda), Different)
    assert isinstance(compare(pda, going_on(pda)), Different)


@pytest.mark.parametrize("name", [*SETS, *STREAMS])
def test_a_predictor_without_one_of_the_tasks_transitions_is_not_equal(name: str) -> None:
    pda = get_task(name).reference
    task = TaskSpecification(get_task(name))
    for key in list(pda.transitions)[:12]:
        rest = {other: step for other, step in pda.transitions.items() if other != key}
        found = task.compare(replace(pda, transitions=rest))
        assert isinstance(found, Different)
        assert key in set(pda.taken(found.word))


@pytest.mark.parametrize("name", STREAMS)
def test_beyond_the_words_of_a_task_nothing_is_asked_and_the_domain_says_so(name: str) -> None:
    pda = get_task(name).reference
    cut = {(state, letter) for state in pda.states for letter in pda.input_alphabet} - {k[:2] for k in pda.transitions}
    further: dict[Key, Transition] = {(*where, ("⊥",)): Transition(pda.initial, (NONE,), "anything") for where in cut}
    found = TaskSpecification(get_task(name)).compare(replace(pda, transitions={**further, **pda.transitions}))
    assert isinstance(found, Equal)
    assert found.domain.startswith("all words of the task")


# ---- Words of tasks to check networks on: every task has some, whatever its sizes are. ----

WORDED = [name for name in task_names() if name not in ("dyck-N", "dyck-K-M") and get_task(name).kind != "next set"]


@pytest.mark.parametrize("name", WORDED)
@pytest.mark.parametrize("number", [50, 300])
def test_words_up_to_a_length_are_all_words_up_to_it(name: str, number: int) -> None:
    specification = TaskSpecification(get_task(name))
    words = specification.short_words(number)
    longest = max(map(len, words))
    assert 1 < len(words) <= number
    assert len(set(words)) == len(words)
    if longest < 40:
        assert specification.short_words(100_000, longest) == words  # none of the longest is missing
    assert specification.short_words(number, longest - 1) == [word for word in words if len(word) < longest]


def test_more_words_than_are_compared_one_by_one_are_refused() -> None:
    specification = TaskSpecification(get_task("reversal"))
    refused(r"the task reversal has more than 50 words of length <= 12; ask for \d", specification.short_words, 50, 12)
    refused("words of length <= 1000000000 were asked; ask for 1000 or less", specification.short_words, 50, 10**9)
    with pytest.raises(StacklensError, match="there are more than 50 words of length <= 9 over 4 symbols; ask for 2"):
        TaskSpecification(get_task("dyck-2")).short_words(50, 9)


def test_the_length_that_is_asked_is_the_length_that_is_checked() -> None:
    asked = 12
    net = load_network(Path(f"{stacklens.__path__[0]}/models/zoo/stack-rnn-anbn.pt")).model
    config = ExtractionConfig(max_length=asked, long_words=20, long_lengths=(4, 8), height=3, walks=2)
    result = extract(net, get_task("anbn"), config)
    found = [check for check in result.checks if check.kind == "exhaustive"]
    assert len(found) == 3
    assert {check.max_length for check in found} == {asked}
    words = TaskSpecification(get_task("anbn")).short_words(10_000, asked)
    assert {check.words for check in found} == {len(words)}


def test_where_the_networks_stack_is_too_low_for_some_words_those_of_that_length_are_not_called_all() -> None:
    words: list[Word] = ["", "a", "b", "aa", "ab", "aaa"]
    some: list[Word] = ["", "a", "b", "ab"]
    assert _whole_lengths(words, words) == words
    assert _whole_lengths(words, some) == some[:3]
    assert _whole_lengths(words, []) == []


# ---- Which way gave an automaton, what the other one says, what a budget ends, and what is given out with its errors.

QUICK_WAYS = ExtractionConfig(
    max_length=5, long_words=40, long_lengths=(10, 20), deep_words=2, depth=30, height=8, walks=10, cycles=20
)
DYCK = get_language("parentheses")


def test_a_budget_that_is_used_up_at_once_ends_the_search_and_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    result = extract(parentheses_net(), DYCK, replace(QUICK_WAYS, method="learn", budget=1e-9))
    assert (result.status, result.minimised, result.report()["budget"]["ran_out"]) == (3, None, True)
    assert "the budget of 1e-09 seconds ended" in str(result)
    for stage in ("_proved", "_checked"):  # as one that ends before these
        monkeypatch.setattr(extraction, stage, lambda result, *_: result)
    result = extract(parentheses_net(), DYCK, QUICK_WAYS)
    assert (result.status, "checked    on no word" in str(result)) == (1, True)


def test_what_few_stacks_explain_is_what_the_network_does_and_not_how(tmp_path: Path) -> None:
    """Both stacks hold the same; what is said after a is read off the first, and after b off the second."""
    rules = dict[Place, Rule]()
    for first in (-1, 0):
        for second in (-1, 0):
            windows: tuple[tuple[int, ...], ...] = ((first,), (second,))
            rules[0, 0, windows] = Rule(0, (("push", 0), ("push", 0)), first + 1)
            rules[0, 1, windows] = Rule(0, (("pop", 0), ("pop", 0)), second + 1)
    net = SuperpositionNet(HandMachine(1, ("a", "b"), 1, 2, 1, "next symbol", rules, frozenset({0})), no_op=True)
    by_clusters = extract(net, None, QUICK_WAYS)
    assert (by_clusters.status, by_clusters.automaton.n_stacks) == (0, 2)
    result = extract(net, None, replace(QUICK_WAYS, method="learn"))
    assert (result.status, result.automaton.n_stacks) == (0, 1)
    assert (len(result.stacks.stacks), len(result.stacks.unseen), result.stacks.dropped) == (1, 1, ())
    assert "it tells what the network does, not how" in str(result)
    assert "stacks that the automaton does without" in str(result.certificate)
    assert result.second.automaton.n_stacks == 2
    assert "another automaton" in str(result)
    result.save(tmp_path / "result.json")
    assert str(load_result(tmp_path / "result.json", trusted=True)) == str(result)


def found_with(errors: int) -> Candidate:
    return Candidate("", 1, LEARNING, 1, errors, None, raw=DYCK.automaton, automaton=DYCK.automaton)


def test_few_errors_are_given_out_and_more_only_where_the_automaton_is_proved_right() -> None:
    net = parentheses_net()
    scorer = Scorer(net, draw_samples(net, LanguageSpecification(DYCK), 0), 0)
    alive = scorer.samples.alive()
    assert 100 < alive < len(scorer.samples.words) / 2  # most words are rejected by anything
    proved = replace(scorer, specification=LanguageSpecification(DYCK))
    cases = (0, True, True), (1, True, True), (alive // 20, False, True), (alive, False, False)
    for errors, near, near_if_proved in cases:
        assert scorer.is_near(found_with(errors)) is near
        assert proved.is_near(found_with(errors)) is near_if_proved


def test_an_automaton_with_errors_is_contradicted_by_a_word() -> None:
    net = parentheses_net()
    with torch.no_grad():
        net.action_weights.view(2, 6)[0, 4] = 0  # a closing bracket does nothing any more
    scorer = Scorer(net, draw_samples(net, LanguageSpecification(DYCK), 0), 0)
    (found,) = check_sampled(found_with(3), scorer, net, ())
    assert (found.kind, found.other) == ("sampled", "rounded network")
    assert found.disagreements > 0
    assert found.counterexample is not None
    assert not check_sampled(found_with(0), scorer, net, ())
    assert not check_sampled(found_with(3), scorer, net, (found,))  # one word is enough


def test_much_changed_by_rounding_calls_for_caution() -> None:
    def rounded(disagreements: int) -> Fidelity:
        return Fidelity(Rounding(1_000, disagreements, 100), None, 0.5, 0.0)

    assert caution(rounded(10)) is None
    assert "not what the network does" in (caution(rounded(24)) or "")
    result = extract(parentheses_net(), DYCK, QUICK_WAYS)
    assert (result.status, replace(result, caution="so").status) == (0, 1)


@pytest.mark.parametrize(("drive", "status"), [(1.386, 3), (2.95, 1)])
def test_what_rounding_changes_much_is_told_with_its_share_and_never_called_right(drive: float, status: int) -> None:
    net = parentheses_net()
    with torch.no_grad():
        net.action_weights[0, 3] = drive  # a push of 0.6, or of 0.9: they add up, and rounding makes them whole
    result = extract(net, None, QUICK_WAYS)
    mismatch = result.fidelity.rounding.mismatch
    assert mismatch > MOST_CHANGED if status == 3 else 0.1 < mismatch <= MOST_CHANGED
    assert result.status == status
    assert status == 3 or f"changes {result.fidelity.rounding.disagreements} of " in str(result.caution)


def test_what_soft_operations_leave_behind_is_read_from_the_network_as_it_is() -> None:
    """Rounded it slips on every word with a bracket; as it is, it is dyck-2's automaton on its own stack."""
    result = extract(ResidueNet(), get_language("dyck-2"), QUICK_WAYS)
    assert rounding_changes_behaviour(result.model, result.fidelity)
    assert result.fidelity.rounding.mismatch > MOST_CHANGED
    assert (result.status, isinstance(result.proof, Equal)) == (1, True)
    assert str(result.caution).startswith("read from the network as it is")
    wrong = {check.other: check.disagreements for check in result.checks if check.kind == "exhaustive"}
    assert wrong["network"] == 0
    assert wrong["rounded network"] > 0
    assert result.horizon["network"].length == QUICK_WAYS.max_length
    assert "boxes follow rounded ones" in str(result.certificate.reason)
    assert result.diagnosis.cause.name == "computes with leftovers"
    assert "though 0.0% of them are graded" in result.diagnosis.cause.measured
    assert "drift" not in result.why().split("What to do next:")[1]  # no value moves: something is left over
    clustered = extract(ResidueNet(), get_language("dyck-2"), replace(QUICK_WAYS, method="kmeans", budget=5.0))
    assert {one.method for one in clustered.candidates} <= {"kmeans"}  # who asks for clusters gets no other way
    graded = replace(result.fidelity, graded_actions=0.3)
    assert not rounding_changes_behaviour(result.model, graded)  # it means little which operation each is nearest to


@pytest.mark.parametrize("text", ["", "0", "0s", "-1", "60 seconds", "1e3", "nan", "inf", "2d", "s", "none!", "٣s"])
def test_what_is_no_time_is_refused_in_one_line(text: str) -> None:
    refused(r"^a budget is a time such as 60s, 2m or 1h, or none, not [^\n]*$", parse_budget, text)


@pytest.mark.parametrize(
    ("text", "seconds"), [("5", 5.0), ("60s", 60.0), ("2m", 120.0), (" 1.5 h ", 5_400.0), ("NONE", None)]
)
def test_a_time_has_a_unit_or_is_in_seconds(text: str, seconds: float | None) -> None:
    assert parse_budget(text) == seconds


def test_a_budget_is_over_when_it_is_used_up_and_without_one_nothing_is() -> None:
    now = [0.0]
    short, none = Budget(10.0, lambda: now[0]), Budget(None)
    with short.stage("first", 0.5):
        assert not short.over()
        now[0] = 5.0
        assert short.over()
    with none.stage("first"):
        assert not none.over()
    with short.stage("second"):
        now[0] = 10.0
        check_time()
        raise AssertionError("the time was over")
    assert (short.use(), none.use()) == (BudgetUse(10.0, True, False, ("first", "second")), BudgetUse(None, False))


@pytest.mark.parametrize("budget", [1.0, 5.0, 15.0])
@pytest.mark.parametrize("kind", ["stack", "box", "forward"])
def test_a_slow_network_is_done_when_its_budget_is(kind: str, budget: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock goes on by what the network is asked alone, so that what is over it is what asks too much at once."""
    now, asked = [0.0], 0.02 if kind == "stack" else 0.2
    monkeypatch.setattr(extraction, "Budget", partial(Budget, clock=lambda: now[0]))

    class Slow(type(parentheses_net())):  # type: ignore[misc]
        def step(self, *given: Any) -> Any:
            now[0] += asked
            return super().step(*given)

    def even(words: list[tuple[str, ...]]) -> list[bool]:
        now[0] += 0.002 * len(words)
        return [word.count("a") % 2 == 0 for word in words]

    def forward(codes: torch.Tensor) -> torch.Tensor:
        now[0] += asked
        return 1.0 - (codes == 0).sum(1, keepdim=True) % 2

    if kind == "stack":
        model = parentheses_net()
        model.__class__ = Slow
        result = extract(model, DYCK, replace(QUICK_WAYS, budget=budget))
    elif kind == "box":
        result = sl.learn(even, "ab", budget=budget, quiet=True)
    else:
        wrapped = sl.wrap(None, "ab", forward=forward, symbols="index", empty_word=True)
        result = sl.learn(wrapped, budget=budget, quiet=True)
    assert now[0] <= budget + 1.0 + asked * 10
    assert result.status in (0, 3)
    ended = [claim for claim in claims_of(result.report()) if claim.what == "budget"]
    if result.budget is not None and result.budget.ran_out and result.minimised is not None:
        assert [claim.verdict for claim in ended] == ["unknown"]
    for check in result.checks:  # what is said of all words is of all words
        if check.kind == "exhaustive":
            assert check.words == 2 ** (check.max_length + 1) - 1
        assert not (check.more_states and f"the conformance check against the {check.other}" in str(ended))


WORDS = ["aababbbaab", "abab", "bbbbaaaaab", "", "aaaaabbbbb", "abba"]


def counter(n_stacks: int = 3, used: int = 1) -> StackRNN:
    """Return a network that pushes on a and pops on b, on the stack ``used``, and says b as long as one is open.

    Stack 0 (or another that is not used) is never filled, later ones push always, and nobody looks at them.
    """
    net = filled(StackRNN(StackRNNConfig(("a", "b"), hidden=3, n_stacks=n_stacks, depth=2)))
    net.input_weights.data[:, :2] = torch.tensor([[20.0, -20.0], [-20.0, 20.0]])  # units 0 and 1 say what was read
    net.memory_weights.data[2, 2 * used] = 20.0  # unit 2: the used stack is not empty (a value near 1)
    for stack in range(n_stacks):
        push, pop = net.action_weights.data[2 * stack], net.action_weights.data[2 * stack + 1]
        if stack == used:
            push[0], pop[1] = 20.0, 20.0
        else:
            (push if stack > used else pop)[:2] = 20.0
    net.pushed_weights.data[:, :2] = 20.0
    net.output_weights.data[1, 2], net.output_weights.data[0, 1] = 20.0, 10.0
    return net


def test_only_the_stack_in_use_matters_and_without_the_others_the_network_does_the_same() -> None:
    net = counter()
    use = relevant_stacks(net, WORDS)
    assert use.kept == (1,)
    assert [(dropped.stack, dropped.reason) for dropped in use.dropped] == [(0, "never filled"), (2, "ignored")]
    assert (use.words, use.steps) == (6, sum(map(len, WORDS)))
    small = use.without(net)  # which does the same
    assert small.n_stacks == 1
    whole, part = trace(net, WORDS, rounded=True), trace(small, WORDS, rounded=True)
    np.testing.assert_array_equal(whole.actions[:, :, 1:2], part.actions)
    np.testing.assert_array_equal(np.nan_to_num(whole.output).argmax(-1), np.nan_to_num(part.output).argmax(-1))


def test_a_stack_whose_steady_reading_is_needed_is_replaced_by_that_reading() -> None:
    net = counter(n_stacks=2, used=0)
    # unit 2 needs the other stack too, which shows the same values but for the first steps; no b comes there
    net.memory_weights.data[2] = torch.tensor([30.0, 0.0, 40.0, 0.0])
    net.input_weights.data[:, 2] = -50.0
    use = relevant_stacks(net, ["ab" * 30 + "aabb"])
    assert use.kept == (0,)
    assert use.dropped[0].reason == "constant"
    assert use.dropped[0].shown == pytest.approx((1.0, 1.0))


def test_nothing_is_dropped_where_every_stack_matters() -> None:
    net = counter(n_stacks=2, used=0)
    net.action_weights.data[2:] = net.action_weights.data[:2].flip(1)  # pushes on b, pops on a
    net.memory_weights.data[2, 2] = 20.0
    net.memory_weights.data[2, 0] = 20.0
    use = relevant_stacks(net, WORDS)
    assert use.kept == (0, 1)
    assert use.without(net) is net


def test_a_stack_that_only_ever_pushes_counts_as_state() -> None:
    net = counter(n_stacks=2, used=0)
    net.memory_weights.data[2, 2:] = torch.tensor([15.0, -15.0])  # unit 2 sees what the other one wrote last
    net.pushed_weights.data[1] = torch.tensor([20.0, -20.0, 0.0])
    use = relevant_stacks(net, WORDS)
    assert (use.kept, use.push_only, use.stacks) == ((0, 1), (1,), (0,))
    small = use.without(net)
    assert (small.n_stacks, small.recurrent) == (1, True)
    whole, part = trace(net, WORDS, rounded=True), trace(small, WORDS, rounded=True)
    np.testing.assert_array_equal(whole.actions[:, :, :1], part.actions)
    np.testing.assert_array_equal(whole.output, part.output)
    np.testing.assert_array_equal(whole.reading[:, :, 1][whole.valid], part.hidden[:, :-1][whole.valid])
