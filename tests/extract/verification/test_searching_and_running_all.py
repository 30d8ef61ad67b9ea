"""Words that part automaton and network: searched, shortened, explained; and all words, in chunks and processes."""

import json
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.attack.plain_networks import Plain
from tests.extract.doctored import SlipperyNet, WornNet, forgetful, right, to_depth
from tests.extract.hand_built import HandMachine, StrengthNet, SuperpositionNet, hand_machines
from tests.extract.verification.leaking_networks import leaking, pushing_and_popping, rising
from tests.models.hand_made import hand_made
from tests.refusals import refused

from stacklens.automata.coverage import pumps
from stacklens.automata.enumeration import count_all
from stacklens.automata.pda import PushdownAutomaton, Transition, Word
from stacklens.core.errors import FileFormatError, StacklensError
from stacklens.extract.agreement import Agreement, agree_on, agree_on_all, count_again, search_words, shorten
from stacklens.extract.by_name import specification_for, specification_of
from stacklens.extract.config import Effort, ExtractionConfig
from stacklens.extract.cycles import partings, pump_lines, pumped_families
from stacklens.extract.extraction import extract
from stacklens.extract.jobs import Journal
from stacklens.extract.specification import LanguageSpecification, TaskSpecification
from stacklens.extract.verification.checks import agree_on_pumps, check_all
from stacklens.extract.verification.divergence import divergence, drift
from stacklens.extract.verification.exhaustive import Work, reference_automaton, verify_exhaustively
from stacklens.languages.catalogue import get_language, get_task
from stacklens.models.base import StackModel
from stacklens.models.checkpoint import ZOO, load_model, load_network
from stacklens.models.inference import automaton_answers
from stacklens.models.rounding import Rounded
from stacklens.viz.curves import drift_figure

QUICK = Effort(height=15, climbs=2, walks=10)


def depth(word: Word) -> int:
    heights = np.cumsum([1 if letter in "([" else -1 for letter in word])
    return int(heights.max(initial=0))


@given(st.text("abc", max_size=40), st.integers(0, 5))
def test_what_is_left_still_differs_and_no_symbol_of_it_can_go(word: str, least: int) -> None:
    def differ(words: list[Word]) -> np.ndarray:
        return np.array([list(word).count("a") >= least for word in words])

    assume(word.count("a") >= least)
    assert shorten(word, differ) == "a" * least


def test_brackets_are_taken_out_in_pairs() -> None:
    language = get_language("dyck-2")

    def differ(words: list[Word]) -> np.ndarray:
        return np.array([word in language and depth(word) > 12 for word in words])

    for word in language.deep(4, 40, seed=1):
        short = shorten(word, differ, language.automaton)
        assert len(short) == 26
        assert differ([short]).all()


def test_words_come_from_the_automaton_and_from_the_reference() -> None:
    brackets, palindromes = get_language("dyck-2"), get_language("palindrome")
    kinds = dict(search_words(brackets.automaton, None, QUICK, seed=0))
    assert list(kinds) == ["covering", "driven"]
    assert max(depth(word) for word in kinds["driven"]) >= 15
    assert not set(kinds["driven"]) & set(kinds["covering"])
    both = dict(search_words(palindromes.automaton, LanguageSpecification(palindromes), QUICK, seed=0))
    assert any(word in palindromes and len(word) > 20 for word in both["driven"])


def test_only_words_of_the_task_are_tried_where_only_these_are_meant() -> None:
    specification = TaskSpecification(get_task("reversal"))
    automaton = specification.automaton()
    for _, words in search_words(get_language("dyck-2").automaton, specification, QUICK, seed=0):
        assert words
        for word in words:
            assert len(list(automaton.run(word))) == len(word) + 1
    nothing = TaskSpecification(get_task("anbncn"))
    assert search_words(get_language("dyck-2").automaton, nothing, QUICK, seed=0) == []


# ---- What is wrong only below some depth is found by default checks; only the exhaustive ones are shorter here.

DYCK = get_language("dyck-2")
DEFAULT = ExtractionConfig(max_length=6)  # all else as it comes

DRIVEN = replace(DEFAULT, long_words=10, deep_words=0)
LESS = replace(DRIVEN, height=20, walks=10)


def found(check: Agreement) -> str:
    assert isinstance(check.counterexample, str)
    return check.counterexample


@pytest.mark.parametrize("doctored", [to_depth(12), forgetful(13)])
def test_an_automaton_that_is_wrong_below_a_depth_is_caught(doctored: PushdownAutomaton) -> None:
    checks = check_all(doctored, hand_made(right(), end="$"), LanguageSpecification(DYCK), LESS)
    caught = [check for check in checks if check.disagreements]
    assert {check.other for check in caught} == {"language", "rounded network", "network"}
    assert {check.kind for check in caught} <= {"covering", "driven", "long", "pumped"}
    for check in caught:
        word = found(check)
        assert doctored.accepts(word) != (word in DYCK)
    driven = [check for check in caught if check.kind == "driven"]
    assert {len(found(check)) for check in driven} == {26}
    assert {depth(found(check)) for check in driven} == {13}


@pytest.mark.parametrize("specification", [None, LanguageSpecification(DYCK)])
def test_a_network_that_slips_at_one_depth_only_is_caught_though_its_automaton_is_right(
    specification: LanguageSpecification | None,
) -> None:
    checks = check_all(right(), SlipperyNet(13), specification, DRIVEN)
    caught = [check for check in checks if check.disagreements and check.other == "rounded network"]
    assert "driven" in {check.kind for check in caught}
    assert min(len(found(check)) for check in caught) == 26
    assert all(depth(found(check)) == 13 and found(check) not in DYCK for check in caught)
    assert not any(check.disagreements for check in checks if check.other == "language")


def test_extraction_by_default_is_not_content_with_such_networks() -> None:
    """Refinement goes after the network, which is wrong at depth 13: so the automaton may be, too."""
    slippery = extract(SlipperyNet(13), DYCK, replace(DEFAULT, long_words=500, depth=50))
    assert slippery.status == 1
    for check in slippery.checks:
        if check.disagreements:
            assert depth(found(check)) >= 13
            assert len(found(check)) < 50


# ---- Words that repeat a cycle break networks that stand all short words, all drawn ones and all that climb. ----


def pumped(model: StackModel[Any], name: str, most: int = 300) -> Agreement:
    task = TaskSpecification(get_task(name))
    automaton = task.automaton()
    return agree_on_pumps(automaton, model, None, pumped_families(automaton, model, task, most, 0), task)


def predicted_one_by_one(model: StackModel[Any], word: str) -> list[str]:
    """Return what is predicted after every symbol, by the network's own equations on a list."""
    plain = Plain(model, None)
    sets = [plain.step(model.alphabet.index(symbol)).output for symbol in word]
    return ["".join(symbol for symbol in model.alphabet if symbol in said) for said in sets]


def test_a_block_of_four_brackets_twelve_times_breaks_a_network_that_stood_a_million_words() -> None:
    model = load_model(ZOO / "marnn-stack-rnn-dyck-2-drifting.pt")
    found = pumped(Rounded(model), "dyck-2")
    assert found.disagreements > 0
    assert found.made_of == "'[', then '()][' 11 times, then ']'"
    assert found.counterexample == "[()]" * 11 + "[]"
    for word in ("[()]" * 11 + "[]", "[()]" * 12):
        expected = [sorted(said or (), key=model.alphabet.index) for said in get_task("dyck-2").expected(word)]
        said = predicted_one_by_one(model, word)
        assert said[:-1] == ["".join(one) for one in expected[:-1]]
        assert said[-1] != "".join(expected[-1])


def test_extraction_says_so_with_status_1_and_does_not_try_to_mend_what_drifts() -> None:
    quick = ExtractionConfig(max_length=6, long_words=200, deep_words=2, depth=50, height=12, walks=10)
    model = load_model(ZOO / "marnn-stack-rnn-dyck-2-drifting.pt")
    result = extract(model, specification_for(get_task("dyck-2")), quick)
    assert result.status == 1
    assert result.contradicted.kind == "pumped"
    assert len(result.contradicted.counterexample or "") <= 48
    shortest = result.horizon["rounded network"].difference
    assert len(shortest.word) <= len(result.contradicted.counterexample or "")
    assert (result.divergence.word, result.divergence.first) == (shortest.word, len(shortest.word) - 1)


@pytest.mark.parametrize("slips_at", [30, 200])
def test_a_network_that_wears_out_is_caught_at_the_round_at_which_it_does(slips_at: int) -> None:
    checks = check_all(right(), WornNet(slips_at), LanguageSpecification(DYCK), replace(DRIVEN, long_words=0))
    caught = {check.kind: check for check in checks if check.disagreements and check.other == "rounded network"}
    word = caught["pumped"].counterexample
    assert isinstance(word, str)
    assert word.count("]") == slips_at + (word[-1] == "]")
    assert word not in DYCK
    assert f"{slips_at} times" in str(caught["pumped"].made_of)
    assert slips_at == 30 or set(caught) == {"pumped"}  # no other search repeats anything so often


def test_nothing_is_found_where_there_is_nothing() -> None:
    checks = check_all(right(), hand_made(right(), end="$"), LanguageSpecification(DYCK), DRIVEN)
    mine = [check for check in checks if check.kind == "pumped"]
    assert [check.other for check in mine] == ["language", "rounded network", "network"]
    assert all(check.words > 100 and not check.disagreements for check in mine)
    assert min(check.max_length for check in mine[1:]) >= 480  # what climbs goes on to the end: v and y, 240 times each


@pytest.mark.parametrize("name", ["stack-rnn-anbn", "stack-rnn-anb2n", "stack-rnn-anbmcnm", "neural-stack-reversal"])
def test_streams_and_transductions_are_walked_inside_their_task(name: str) -> None:
    model = load_model(ZOO / f"{name}.pt")
    task = TaskSpecification(get_task(name.rsplit("-", 1)[1]))
    families = pumped_families(task.automaton() or right(), model, task, 100, 0)
    assert families
    for pump, _ in families:
        get_task(task.name).expected(pump.word(3))  # raises on a word that is none of the task's
    found = pumped(Rounded(model), task.name, most=100)
    assert found.words == len(families)
    assert not found.disagreements


@torch.no_grad()
def test_the_walk_says_what_one_run_a_word_says() -> None:
    """What the walk finds broken is wrong at 20 rounds at the latest, one word at a time and by a plain loop."""
    model = load_model(ZOO / "marnn-stack-rnn-dyck-2-drifting.pt")
    task = TaskSpecification(get_task("dyck-2"))
    automaton = task.automaton()
    families = [(pump, 20) for pump, _ in pumped_families(automaton, model, task, 60, 0) if not pump.climb]
    lines = pump_lines(automaton, model, families, task)
    broken = {parting.line.pump for parting in partings(Rounded(model), lines)[0]}
    for pump, _ in families:
        word = "".join(pump.word(20))
        wrong = any(
            said != "".join(sorted(expected or (), key=model.alphabet.index))
            for said, expected in zip(predicted_one_by_one(model, word), get_task("dyck-2").expected(word), strict=True)
        )
        assert wrong or pump not in broken  # the walk ends at the first that break, so others may break later
    assert broken


@pytest.mark.parametrize("name", ["marnn-stack-rnn-dyck-2", "marnn-stack-rnn-string-reversal", "nnpda-palindrome"])
def test_a_family_in_numbers_has_the_letters_and_answers_of_its_words(name: str) -> None:
    model, subject = load_model(ZOO / f"{name}.pt"), name.split("-", 3 if "marnn" in name else 1)[-1]
    recogniser = model.task_kind == "recognition"
    pda = get_language(subject).automaton if recogniser else TaskSpecification(get_task(subject)).automaton()
    families = [(pump, 9) for pump in pumps(pda, 40, 1, rejected=recogniser)]
    lines = pump_lines(pda, model, families)
    assert len(lines) > 5
    for line, n in product(lines, (1, 2, 3, 6, 9)):
        for after, step in product(range(len(line.verdicts)), (0, line.length(n) - 1, line.length(n))):
            rounds = line.rounds_by(step)
            word = line.pump.word(rounds, after)
            begun, rest = line.read(0, step), line.rest(step, after)
            said = automaton_answers(pda, model, [word])[0]
            assert [model.alphabet[i] for i in (*begun.letters, *rest.letters)] == [*word]
            assert len(rest.letters) <= line.rest_length(step)
            if recogniser:
                assert line.verdicts[after] == said[0]
            else:
                assert [*begun.answers, *rest.answers] == said.tolist()


@settings(max_examples=40)
@given(hand_machines(("none", "pop", "push"), ("recognition", "next symbol", "next set"), 2), st.data())
def test_a_network_and_its_own_automaton_never_part(machine: HandMachine, data: st.DataObject) -> None:
    word = data.draw(st.text("".join(machine.letters), max_size=12))
    found = divergence(machine.automaton(), SuperpositionNet(machine, no_op=True), word)
    assert found.first is None
    assert found.accepted == found.network_accepts
    assert len(found.moments) == len(word)


@settings(max_examples=60)
@given(hand_machines(("none", "pop", "push", "replace"), ("next symbol", "next set")), st.data())
def test_a_changed_transition_is_where_they_part(machine: HandMachine, data: st.DataObject) -> None:
    word = data.draw(st.text("".join(machine.letters), min_size=1, max_size=12))
    pda = machine.automaton()
    taken = list(pda.taken(word))
    assume(taken)
    key = data.draw(st.sampled_from(taken))
    changed = dict(pda.transitions)
    removed = changed.pop(key)
    cut = divergence(replace(pda, transitions=changed), StrengthNet(machine), word)
    assert cut.first == taken.index(key)
    assert cut.moments[cut.first].cut
    changed[key] = Transition(removed.target, removed.operations, "?")
    other = divergence(replace(pda, transitions=changed), StrengthNet(machine), word)
    assert other.first == taken.index(key)
    assert other.moments[other.first].output == "?" != other.moments[other.first].network_output


def test_a_slip_is_found_where_it_happens() -> None:
    word = "(" * 13 + "]" + ")" * 12
    found = divergence(right(), SlipperyNet(13), word)
    assert (found.first, found.accepted, found.network_accepts) == (13, False, True)
    moment = found.moments[13]
    assert (moment.symbol, moment.tops, moment.operations, moment.network_operations) == ("]", ("(",), (), ("pop",))
    assert moment.cut
    assert moment.margin == pytest.approx(0.5)
    assert json.loads(json.dumps(found.to_dict()))["first_step"] == 13


@settings(max_examples=30)
@given(hand_machines(("none", "pop", "push"), ("recognition", "next symbol", "next set")))
def test_both_counts_are_equal_for_every_kind_of_network(machine: HandMachine) -> None:
    pda = machine.automaton()
    network = SuperpositionNet(machine, no_op=True)
    check = agree_on_all(pda, network, None, 5)
    by_length = [list(product(pda.input_alphabet, repeat=length)) for length in range(6)]
    whole = [[len(list(pda.run(word))) == len(word) + 1 for word in words] for words in by_length]  # never cut short
    if machine.kind == "recognition":
        whole = [[pda.accepts(word) for word in words] for words in by_length]
    assert check.by_length == tuple(map(sum, whole))
    listed = agree_on(pda, network, None, [word for words in by_length for word in words], "covering")
    assert (listed.words, listed.accepted) == (check.words, check.accepted) == (check.words, sum(check.by_length))
    assert count_again(pda, [check], machine.kind == "recognition").equal


# ---- Why a word that goes round breaks a network: the number that moves is found, and where it tips the decision.


def test_a_hidden_unit_that_grows_is_named_with_its_rate_and_its_threshold() -> None:
    net, pda, word = leaking(1.13), pushing_and_popping(), "ab" * 40
    found = drift(pda, net, word)
    assert (found.quantity, found.cycle) == ("hidden unit 2", "ab")
    first = divergence(pda, net, word).first
    assert found.first_broken == first // 2 + 1
    assert found.cycles == tuple(range(1, found.first_broken + 1))
    assert min(found.margins[:-1]) > 0 >= found.margins[-1]
    assert found.per_cycle > 0
    assert found.values[-2] < found.threshold <= found.values[-1]
    assert str(found).startswith(f"hidden unit 2 where {found.symbol} is read rises by ")
    assert str(found).endswith(f"at cycle {found.first_broken} output a is gone")
    assert found.to_dict()["values"] == list(found.values)
    # the curve ends where the margin is gone, and shows the threshold
    figure = drift_figure(found)
    value, margin, *marks = figure.data
    assert (tuple(value.x), tuple(value.y), tuple(margin.y)) == (found.cycles, found.values, found.margins)
    assert [tuple(mark.x) for mark in marks] == [(found.first_broken,)] * 2
    assert any(f"threshold {found.threshold:.3f}" in note.text for note in figure.layout.annotations)


def test_what_grows_from_cell_to_cell_is_seen_on_the_stack() -> None:
    found = drift(pushing_and_popping(), rising(6.0, -2.3), "a" * 30)
    assert found.quantity in ("the top of the stack", "hidden unit 3")
    assert found.first_broken == 5
    assert found.values[0] < found.values[-1]


@pytest.mark.parametrize("word", ["", "ab", "abaabb", "ab" * 3])
def test_a_word_that_breaks_nothing_or_repeats_nothing_has_no_drift(word: str) -> None:
    assert drift(pushing_and_popping(), leaking(1.13), word) is None


# ---- All words in chunks are all words: the sum of the chunks is what one run over everything finds. ----

NETWORKS = {"nnpda-palindrome": 7, "nnpda-1n0n": 9, "marnn-stack-rnn-dyck-2": 6}


@cache
def loaded(name: str) -> tuple[StackModel[Any], PushdownAutomaton]:
    """Return a network of the zoo, and the automaton of what it should do."""
    checkpoint = load_network(ZOO / f"{name}.pt")
    specification = specification_of(checkpoint)
    pda = reference_automaton(specification)
    return checkpoint.model, replace(pda, input_alphabet=checkpoint.model.alphabet)


def doctored(pda: PushdownAutomaton) -> PushdownAutomaton:
    """Return ``pda`` without one of its transitions that pop."""
    wrong = next(key for key, step in reversed(list(pda.transitions.items())) if step.operations[0].name == "pop")
    return replace(pda, transitions={key: step for key, step in pda.transitions.items() if key != wrong})


@pytest.mark.parametrize(
    ("name", "stem"), [("nnpda-palindrome", 0), ("nnpda-palindrome", 3), *zip(NETWORKS, (1, 1, 1), strict=True)]
)
def test_however_they_are_split_chunks_add_up_to_one_run(name: str, stem: int) -> None:
    model, right = loaded(name)
    for pda in (right, doctored(right)):
        found = verify_exhaustively(Work(pda, model, right, NETWORKS[name], stem))
        by_other = {check.other: check for check in found.checks}
        assert by_other["network"] == agree_on_all(pda, model, None, NETWORKS[name])
        assert by_other["rounded network"] == agree_on_all(pda, Rounded(model), None, NETWORKS[name])
        assert (by_other["language"].disagreements == 0) == (pda is right)
        assert found.counts.equal
        assert found.status == (0 if pda is right else 1)
        assert found.contradicted == (None if pda is right else by_other["language"])


@pytest.mark.parametrize("stem", [0, 1, 4])
def test_every_word_is_in_one_chunk(stem: int) -> None:
    model, pda = loaded("nnpda-palindrome")
    work = Work(pda, model, None, 6, stem)
    tallies = [work.tally(chunk)[1] for chunk in work.chunks]
    assert [tally.words for tally in tallies] == [work.words(chunk) for chunk in work.chunks]
    assert sum(map(work.words, work.chunks)) == count_all(3, 6) == 1_093
    assert work.others == ("rounded network", "network")


def test_two_processes_find_what_one_finds() -> None:
    model, pda = loaded("nnpda-palindrome")
    work = Work(doctored(pda), model, pda, 9, 2)
    assert verify_exhaustively(work, jobs=2) == verify_exhaustively(work)


# ---- The journal: whatever of its last line was written, what is finished is known, once; and no other job goes on.

JOB = {"model": "abc", "max_length": 5}


def work() -> Work:
    """Return a small work that finds disagreements."""
    model, pda = loaded("nnpda-palindrome")
    return Work(doctored(pda), model, pda, 5, 1)


def test_wherever_it_was_cut_off_the_job_is_finished_right(tmp_path: Path) -> None:
    path, expected = tmp_path / "journal", verify_exhaustively(work())
    with Journal.open(path, JOB, resume=False) as journal:
        journal.keep(automaton="it", seed=3)
        assert verify_exhaustively(work(), journal) == expected
    whole = path.read_bytes()
    starts = [0, *(i + 1 for i, byte in enumerate(whole) if byte == ord("\n"))]
    for cut in sorted({*starts, *(start + 5 for start in starts[:-1]), len(whole) - 1}):
        path.write_bytes(whole[:cut])
        with Journal.open(path, JOB, resume=True) as journal:
            n_lines = whole[:cut].count(b"\n")
            assert len(journal.done) == max(0, n_lines - 2)
            assert journal.kept == ({"automaton": "it", "seed": 3} if n_lines >= 2 else {})
            assert verify_exhaustively(work(), journal) == expected
        chunks = [json.loads(line).get("chunk") for line in path.read_bytes().splitlines()]
        assert sorted(chunk for chunk in chunks if chunk is not None) == list(work().chunks)


def test_what_is_finished_is_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Journal.open(tmp_path / "journal", JOB, resume=True) as journal:
        expected = verify_exhaustively(work(), journal)
    monkeypatch.setattr(Work, "tally", None)
    words: list[int] = []
    with Journal.open(tmp_path / "journal", JOB, resume=True) as journal:
        assert verify_exhaustively(work(), journal, progress=words.append) == expected
        journal.remove()
    assert words == [364]
    assert not (tmp_path / "journal").exists()


def test_another_job_does_not_go_on(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    Journal.open(path, JOB, resume=False).file.close()
    refused(r"journal: this job was begun and not finished; go on with --resume", Journal.open, path, JOB, resume=False)
    for resume in (True, False):
        with pytest.raises(StacklensError, match="of another job: its max_length is 5, this one's 6; name another"):
            Journal.open(path, {**JOB, "max_length": 6}, resume)


def test_a_job_that_never_began_leaves_no_journal_in_the_way_of_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "journal"

    def fail(resume: bool, **kept: str) -> None:
        with Journal.open(path, JOB, resume) as journal:
            if kept:
                journal.keep(**kept)
            raise StacklensError("nothing could be done")

    for resume in (False, True):
        refused("nothing could be done", fail, resume)
        assert not path.exists()
    refused("nothing could be done", fail, False, automaton="it")  # which took long to find
    with Journal.open(path, JOB, resume=True) as journal:
        assert journal.kept == {"automaton": "it"}
    assert path.exists()


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"S -> a\n", 1),
        (b"somebody's notes without an end of line", 1),
        (b'{"format": "other"}\n', 1),
        (b"[]\n", 1),
        (b"HEAD\nnothing\n", 2),
        (b'HEAD\n{"chunk": 1}\n', 2),
        (b'HEAD\n{"kept": {}}\n{"chunk": 1, "words": 3, "accepted": 4, "compared": {}}\n', 3),
        (b'HEAD\n{"chunk": 1, "words": 3, "accepted": [4], "compared": {"network": 3}}\n', 2),
    ],
)
def test_a_file_that_is_no_journal(content: bytes, line: int, tmp_path: Path) -> None:
    path = tmp_path / "journal"
    Journal.open(path, JOB, resume=False).file.close()
    path.write_bytes(content.replace(b"HEAD\n", path.read_bytes()))
    before = path.read_bytes()
    with pytest.raises(FileFormatError, match=f"journal, line {line}: not a line of a journal"):
        Journal.open(path, JOB, resume=True)
    assert path.read_bytes() == before


def test_a_journal_without_all_its_words(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with Journal.open(path, JOB, resume=False) as journal:
        verify_exhaustively(work(), journal)
    path.write_bytes(path.read_bytes().replace(b'"words": 121', b'"words": 120', 1))
    with (
        Journal.open(path, JOB, resume=True) as journal,
        pytest.raises(StacklensError, match="chunks have 363 words, expected 364"),
    ):
        verify_exhaustively(work(), journal)
