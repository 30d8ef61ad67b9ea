"""Names: of the zoo, of files, of what was saved; and what is said of those that lead nowhere."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.face.quick import QUICK, quick_result

import stacklens as sl
from stacklens.core.errors import FileFormatError, UnknownNameError, UnknownSymbolError
from stacklens.languages.catalogue import get_language, get_task
from stacklens.models.checkpoint import ZOO, find_network, zoo_names
from stacklens.models.word_network import BlackBox

ROOT = Path(__file__).parents[2]


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder, in which the test runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["nnpda-palindrome", "nnpda-palindrome.pt", ZOO / "nnpda-palindrome.pt"])
def test_a_network_of_the_zoo_knows_its_file_and_its_training(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    model = sl.load(name)
    assert model.origin.name == model.origin.path == "nnpda-palindrome"
    assert model.origin.task == {"kind": "recognition", "language": "palindrome"}
    assert model.origin.provenance["seed"] == 5
    assert len(model.origin.sha256) == 64


@pytest.mark.usefixtures("elsewhere")
def test_a_file_of_that_name_here_comes_first() -> None:
    shutil.copy(ZOO / "nnpda-1n0n.pt", "nnpda-palindrome")
    assert sl.load(Path("nnpda-palindrome")).origin.task["language"] == "1n0n"
    Path("nnpda-palindrome").unlink()
    Path("nnpda-palindrome").mkdir()  # a folder is no network
    assert find_network("nnpda-palindrome") == ZOO / "nnpda-palindrome.pt"


def test_format_and_alphabet_are_those_of_the_shell(tmp_path: Path) -> None:
    from tests.models.formats.test_published_formats import state_dict

    path = tmp_path / "net.dat"
    torch.save(state_dict(), path)
    assert sl.load(path).alphabet == ("0", "1", "#")
    for alphabet in ("xyz", ["x", "y", "z"], " x y  z"):
        assert sl.load(path, format="stacknn", alphabet=alphabet).alphabet == ("x", "y", "z")
    assert sl.load(path, alphabet="open close #").alphabet == ("open", "close", "#")
    assert sl.load("nnpda-palindrome", format="stacklens", alphabet="abc").alphabet == ("a", "b", "c")
    with pytest.raises(UnknownNameError, match="unknown format 'stack': expected one of auto, mapping, marnns"):
        sl.load(path, format="stack")
    with pytest.raises(FileFormatError, match=r"nnpda-palindrome\.pt: has the alphabet a b c, not a b"):
        sl.load("nnpda-palindrome", alphabet="ab")
    with pytest.raises(FileFormatError, match=r"nnpda-palindrome\.pt: "):
        sl.load("nnpda-palindrome", format="marnns")
    with pytest.raises(sl.StacklensError, match="expected an alphabet, as text or as a list of symbols, not an int"):
        sl.load(path, alphabet=3)  # type: ignore[call-overload]
    get_language("palindrome").automaton.save(tmp_path / "pda.json")
    with pytest.raises(FileFormatError, match="expected a network"):
        sl.load(tmp_path / "pda.json", alphabet="abc")


@pytest.mark.usefixtures("elsewhere")
def test_a_kind_is_what_a_file_has_to_be() -> None:
    result = quick_result("nnpda-palindrome")
    result.save("result.json")
    sl.sweep("nnpda-palindrome", max_length=2, long_words=10, cycles=0).save("sweep.json")
    sl.trace("nnpda-palindrome", "aca").save("trace.npz")
    result.automaton.save("automaton.json")
    files = {"network": "nnpda-palindrome", "trace": "trace.npz"}
    files |= {kind: f"{kind}.json" for kind in ("result", "sweep", "automaton")}
    for kind, file in files.items():
        loaded = sl.load(file, kind=kind)  # type: ignore[call-overload]  # a checker wants to see which
        assert type(loaded) is type(sl.load(Path(file)))
        for other in files.keys() - {kind}:
            with pytest.raises(FileFormatError, match=file):
                sl.load(file, kind=other)  # type: ignore[call-overload]
    for wrong in ("model", ["result"], 3):
        with pytest.raises(UnknownNameError, match=r"unknown kind .* automaton, network, result, sweep, trace"):
            sl.load("result.json", kind=wrong)  # type: ignore[call-overload]
    with pytest.raises(sl.StacklensError, match=r"of a network; trace\.npz is to be loaded as a trace"):
        sl.load("trace.npz", kind="trace", alphabet="ab")  # type: ignore[call-overload]


def test_checkers_and_editors_know_the_names_of_the_zoo() -> None:
    text = (ROOT / "src" / "stacklens" / "face" / "opening.py").read_text(encoding="utf-8")
    (names,) = re.findall(r"ZooName = Literal\[([^]]*)\]", text)
    assert re.findall(r'"(.*?)"', names) == list(zoo_names())


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nnpda-palindrom", "did you mean nnpda-palindrome, "),
        ("marnn-stack-rnn-dyck-4.pt", "did you mean marnn-stack-rnn-dyck-"),
        ("zzz", "such as baby-ntm-dyck-2"),
        ("no/nnpda-palindrome", "no/nnpda-palindrome: no such file; expected a network"),
        ("x" * 5_000, "File name too long"),
        ("a\0b", "embedded null byte"),
        ("none.json", "none.json: no such file; expected "),
        ("none.npz", "none.npz: no such file; expected a trace"),
        ("", "is a folder"),
    ],
)
def test_a_name_that_leads_nowhere_gives_one_line(
    name: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileFormatError) as error:
        sl.load(name)
    assert says in str(error.value)
    assert str(error.value).isprintable()


@pytest.mark.parametrize("suffix", [".json", ".dot", ".jff"])
def test_an_automaton_that_was_saved_is_loaded(suffix: str, tmp_path: Path) -> None:
    pda = get_language("palindrome").automaton
    pda.save(tmp_path / f"pda{suffix}")
    loaded = sl.load(tmp_path / f"pda{suffix}")
    assert isinstance(sl.compare(loaded, pda), sl.Equal)


NAME = "nnpda-palindrome"


def test_words_that_can_be_gone_through_only_once_are_all_read() -> None:
    assert sl.trace(NAME, (word for word in ["abc", "c"])).words == ("abc", "c")  # type: ignore[arg-type]
    assert sl.trace(NAME, iter("abc")).words == ("abc",)  # type: ignore[arg-type]
    seen = sl.intervene(
        NAME,
        (word for word in ["abcba", "c"]),  # type: ignore[arg-type]
        at=1,
        set={"hidden": "mean"},
        reference=(word for word in ["c", "ca"]),
    )
    assert seen.words == ("abcba", "c")
    assert sl.horizon_curve(NAME, (word for word in ["abc", "ab"])).running == (2, 2, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "where"),
    [
        ("abx", "position 2 of the word (from 0), 'abx'"),
        (["abc", "abx"], "position 2 of word 1 (from 0), 'abx'"),
        (["abc", ["a", "x"]], "position 1 of word 1 (from 0), 'ax'"),
        ([50 * "a" + "x"], f"position 50 of word 0 (from 0), '{40 * 'a'}…'"),
    ],
)
def test_a_symbol_that_is_not_known_is_found_in_its_word(words: Any, where: str) -> None:
    with pytest.raises(UnknownSymbolError) as caught:
        sl.trace(NAME, words)
    assert str(caught.value) == f"symbol 'x' is not in the alphabet a b c: {where}"
    assert caught.value.symbol == "x"


def test_symbols_of_several_characters_are_counted_as_symbols() -> None:
    with pytest.raises(UnknownSymbolError, match=r"position 1 of word 0 \(from 0\), 'the x cat'$"):
        sl.trace(BlackBox(_even, ("the", "cat")), ["the x cat"])


def _even(words: list[tuple[str, ...]]) -> list[bool]:
    return [len(word) % 2 == 0 for word in words]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (torch.zeros(3), "expected a word, as text or as a list of symbols, not a Tensor"),
        (torch.zeros(()), "expected a word or a list of words, not a Tensor"),
        ([["a", 3]], "expected a word, as text or as a list of symbols, not a list with an int"),
    ],
)
def test_what_is_no_word_is_named(words: Any, expected: str) -> None:
    with pytest.raises(sl.StacklensError, match=expected):
        sl.trace(NAME, words)


def test_saliency_is_of_one_word() -> None:
    assert sl.saliency(NAME, ["ab"]).word == sl.saliency(NAME, ["a", "b"]).word == "ab"
    with pytest.raises(sl.StacklensError, match="saliency is of one word, not of 2; call it for each of them"):
        sl.saliency(NAME, ["ab", "ab"])


CALLS = "marnn-stack-rnn-dyck-2"
Call = Callable[[Any], Any]
face: Any = sl  # whose calls are given what their types forbid
REFUSED: list[tuple[Call, str]] = [
    (lambda found: face.extract(found.model, 3), "expected a language or task, the name of one, the path"),
    (lambda _: face.train("nnpda", 3), "expected a language or a task, or the name of one, not"),
    (lambda _: face.train(3, "dyck-2"), "expected the name of a kind of network, such as"),
    (lambda found: face.extract(found.model, calls=3), "calls must be symbols of the alphabet, such as ('(',"),
    (lambda found: face.extract(found.model, long_lengths=3), "long_lengths must be two lengths, such as (50, 160),"),
    (lambda found: face.trace(found.model, "abcba").with_automaton(3), "expected an automaton, such as the"),
    (lambda found: face.trace(found.model, "abcba").plot(automaton=3), "expected an automaton, such as the"),
    (lambda found: face.trace(found.model, "abcba").save(3), "expected the path of a file to write, such as"),
    (
        lambda _: face.extract(NAME, quick_result(CALLS).automaton),
        "an automaton with outputs is no language; give",
    ),
    (lambda found: face.extract(CALLS, found.automaton), "a next set network cannot be checked against the"),
    (lambda found: face.verify(found, max_length=-1), "max_length must be a whole number of at least 0, not -1"),
    (lambda found: face.verify(found, max_length="a"), "max_length must be a whole number of at least 0, not 'a'"),
    (lambda found: face.verify(found.automaton, language="palindrome", max_length=2.5), "max_length must be a"),
    (lambda found: face.verify(found, max_length=40), "too many to check one by one; ask for --max-length 26"),
    (lambda found: face.verify(found, max_length=3, jobs=0), "jobs must be a whole number of at least 1, not 0"),
    (lambda found: face.verify(found.automaton, max_length=5), "name its network or a language, or give the result:"),
    (
        lambda found: face.verify(found.automaton, "palindrome"),
        "palindrome is what a network should do, not a network:",
    ),
    (lambda found: face.verify(found, "addition"), "addition is what a network should do, not a network:"),
    (lambda found: face.verify(found, "palindrom"), "palindrom: no such file; expected a network"),
    (lambda found: face.verify(found.automaton, language=get_task("addition")), "an automaton without its network"),
    (lambda _: face.trace(NAME, "abcba").plot("actions"), "word is 'actions'; expected its number in the trace,"),
    (lambda found: found.causal(seed=-1), "a seed is a whole number from 0 to "),
    (lambda found: found.causal(cases="x"), "cases must be a whole number of at least 2, not 'x'"),
    (lambda _: face.sweep(3), "expected networks, or their files, not one of type int"),
    (lambda _: face.sweep(NAME, 3), "expected a language or task, the name of one, the path"),
    (lambda _: face.ablate(NAME, seed=-1), "a seed is a whole number from 0 to "),
    (lambda _: face.linear_probes(NAME, seed=-1), "a seed is a whole number from 0 to "),
    (lambda _: face.horizon_curve(NAME, seed=-1), "a seed is a whole number from 0 to "),
    (lambda found: face.check(found.model, lambda word: word, 3), "expected a list of words, not one of type int"),
    (lambda _: face.learn(lambda words: [True] * len(words), "ab", words="x"), "words must be a whole number of at"),
    (lambda _: face.check(torch.nn.Linear(3, 4), torch.nn.Linear(3, 4), ["ab"]), "expected a network that"),
    (lambda _: face.learn(lambda _: True, "ab"), "the function answers 3 words with True, of type bool;"),
]


@pytest.mark.parametrize(("call", "says"), REFUSED, ids=[says for _, says in REFUSED])
def test_what_cannot_be_is_refused_in_one_line(call: Call, says: str) -> None:
    with pytest.raises(sl.StacklensError, match=re.escape(says)) as caught:
        call(quick_result(NAME))
    assert "\n" not in str(caught.value)


def test_an_automaton_is_a_language_that_a_network_can_be_held_against(tmp_path: Path) -> None:
    automaton = get_language("palindrome").automaton
    found = sl.extract(NAME, automaton, **QUICK)
    assert found.language_name == "the given automaton"
    assert isinstance(found.proof, sl.Equal)
    assert sl.verify(automaton, language=automaton, max_length=5).disagreements == 0
    found.save(tmp_path / "result.json")
    again = sl.load(tmp_path / "result.json")
    with pytest.raises(sl.StacklensError, match="checked against the given automaton, which is not in its file"):
        sl.verify(again, max_length=3)
    assert sl.verify(again, language=automaton, max_length=3).status == 0
