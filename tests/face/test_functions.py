"""What the functions of the package give, and what `load` opens."""

import inspect
import re
import shutil
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.face.quick import QUICK, quick_failure, quick_result
from tests.refusals import refused

import stacklens as sl
import stacklens.extract.extraction as deep
from stacklens.core.errors import FileFormatError, UnknownNameError, UnknownSymbolError
from stacklens.extract import extraction
from stacklens.languages.catalogue import get_language, get_task
from stacklens.models.checkpoint import ZOO, find_network, zoo_names
from stacklens.models.word_network import BlackBox

# ---- What the functions of the public face take, and what they give: names or values wherever one is wanted. ----
NAME = "marnn-stack-rnn-dyck-2-drifting"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("([])", ("([])",)),
        (["(", "[", "]", ")"], ("([])",)),
        (("(", ")"), ("()",)),
        (["([])", "()"], ("([])", "()")),
        ([["(", ")"], "[]", []], ("()", "[]", "")),
        ("", ("",)),
        ([], ("",)),
        ([""], ("",)),
    ],
)
def test_one_word_or_many_are_traced(words: list[str], expected: tuple[str, ...]) -> None:
    assert sl.trace(NAME, words).words == expected


def test_a_trace_draws_what_its_network_s_paper_draws() -> None:
    seen = sl.trace(NAME, ["([])", "()"])
    assert "marnn-stack-rnn" in str(seen.plot().layout.title)
    assert seen.plot(1, "actions").data
    refused("unknown figure 'nice'", seen.plot, figure="nice", error=UnknownNameError)
    refused("there is no word 2: the trace has 2 words, from 0", seen.plot, 2)


def test_an_automaton_is_verified_on_all_words(tmp_path: Path) -> None:
    result = quick_result(NAME)
    found = sl.verify(result, max_length=6)
    assert (found.words, found.disagreements, found.first, found.status) == (5_461, 0, None, 0)
    for given in (result.automaton, tmp_path / "pda.json", tmp_path / "result.json"):
        if isinstance(given, Path):
            (result.automaton if given.stem == "pda" else result).save(given)
        assert sl.verify(given, NAME, max_length=6) == found
    assert "0 disagreements in 5,461 words, all of length <= 6" in str(found)


def test_an_automaton_is_verified_against_a_language_alone() -> None:
    found = sl.verify(get_language("parentheses").automaton, language="dyck-1", max_length=8)
    assert (found.words, found.disagreements, found.first, found.status) == (511, 0, None, 0)
    wrong = sl.verify(get_language("anbn").automaton, language=get_language("anb2n"), max_length=6)
    assert (wrong.disagreements, wrong.first, wrong.status) == (5, "ab", 1)
    says = "the automaton reads a b; expected the alphabet of dyck-1"
    refused(says, sl.verify, get_language("anbn").automaton, language="dyck-1")
    refused("an automaton with outputs is no recogniser", sl.verify, quick_result(NAME).automaton, language="dyck-2")


def test_a_result_without_an_automaton_gives_the_reason_and_can_be_asked(tmp_path: Path) -> None:
    none, some = quick_failure(), quick_result("nnpda-palindrome")
    none.save(tmp_path / "none.json")
    for result in (none, sl.load(tmp_path / "none.json")):
        assert (result.minimised, result.status) == (None, 3)
        for use in (attrgetter("automaton"), sl.Extraction.grammar, sl.Extraction.causal, partial(sl.compare, some)):
            refused("there is no automaton: the budget of 1e-09 seconds ended", use, result)
        assert "automaton  none: the budget of 1e-09 seconds ended" in str(result)
    assert some.automaton is some.minimised


def test_a_certificate_is_for_an_automaton_or_a_result() -> None:
    result = quick_result("nnpda-palindrome")
    assert isinstance(sl.certify("nnpda-palindrome", result), sl.Certified)
    assert sl.certify(result.model, result.automaton) == result.certificate.certificate
    assert isinstance(sl.certify("nnpda-palindrome", get_language("palindrome").automaton), sl.Certified)
    other = sl.certify("nnpda-palindrome", get_language("palindrome").automaton, margin=0.4)
    assert isinstance(other, sl.NotCertified)


def test_automata_results_languages_and_names_are_compared() -> None:
    result, other = quick_result(NAME), quick_result("nnpda-palindrome")
    assert isinstance(sl.compare(result, "dyck-2"), sl.Equal)
    assert isinstance(sl.compare("dyck-2", result), sl.Equal)
    assert isinstance(sl.compare(get_task("dyck-2"), result), sl.Equal)
    assert isinstance(sl.compare(result, result), sl.Equal)
    assert isinstance(sl.compare(other, get_language("palindrome")), sl.Equal)
    assert isinstance(sl.compare("parentheses", "dyck-1"), sl.Equal)
    different = sl.compare("anbn", get_language("anb2n").automaton)
    assert isinstance(different, sl.Different)
    assert different.word in (("a", "b"), ("a", "b", "b"))
    refused("over the same alphabet", sl.compare, "anbn", "dyck-2")
    refused("cannot compare an int", sl.compare, 3, "dyck-2")


@pytest.mark.slow
def test_a_trained_network_knows_its_training_and_can_be_saved(tmp_path: Path) -> None:
    net = sl.train("marnn-stack-rnn", "dyck-1", seeds=2, seed=3, epochs=1, hidden=4)
    assert net.origin.task == {"kind": "next set", "language": "dyck-1"}
    assert net.origin.provenance["command"] == (
        "sl.train('marnn-stack-rnn', 'dyck-1', seeds=2, seed=3, epochs=1, hidden=4)"
    )
    assert net.origin.provenance["seed"] in (3, 4)
    seen = sl.trace(net, "(())")
    net.save(tmp_path / "net.pt")
    assert net.origin.path == str(tmp_path / "net.pt")
    assert sl.trace(tmp_path / "net.pt", "(())") == seen


SHOWN = "nnpda-palindrome"


def test_a_value_is_one_line_in_a_list() -> None:
    assert repr(sl.load(SHOWN)) == "<nnpda over a b c, trained on palindrome>"
    assert repr(sl.trace(SHOWN, ["abcba", "c"])) == "<Trace of 2 words of length <= 5, 6 steps>"
    brackets = "<PushdownAutomaton over ( ) [ ]: 1 state, 2 stack symbols, 8 transitions>"
    assert repr(get_language("dyck-2").automaton) == brackets
    assert repr(quick_result(SHOWN)) == (
        "<Extraction of nnpda-palindrome: 2 states, 2 stack symbols, 11 transitions; proved equal to palindrome; the "
        "rounded network follows it on words of every length that need at most 2^53 cells of a stack (certificate)>"
    )


def test_a_notebook_shows_drawings_that_ask_no_other_host() -> None:
    shown = {
        "network": sl.load(SHOWN)._repr_html_(),
        "trace": sl.trace(SHOWN, "abcba")._repr_html_(),
        "automaton": get_language("palindrome").automaton._repr_html_(),
        "result": quick_result(SHOWN)._repr_html_(),
    }
    assert shown["network"].startswith("<table>")
    assert "plotly" in shown["trace"]
    assert 'src="http' not in shown["trace"]
    assert shown["automaton"].startswith("<svg")
    assert shown["result"].startswith("<div><svg")
    assert "proof      equal for all words (proof)" in shown["result"]
    assert "<pre>No automaton: " in quick_failure()._repr_html_()


def test_what_a_file_says_cannot_leave_its_place_in_a_page() -> None:
    model = sl.load(SHOWN)
    model.origin.provenance["recipe"] = "<script>\x1b"
    assert "&lt;script&gt;" in model._repr_html_()
    assert "\x1b" not in str(model)


def test_where_it_is_not_faithful_it_says_why_and_what_to_do() -> None:
    why = quick_failure().why()
    assert why.startswith("There is no automaton: the budget of 1e-09 seconds ended")
    assert "\nMeasured:\n- rounding the actions changes " in why
    assert "\nWhat to do next:\n- " in why
    assert quick_result(SHOWN).why().startswith("Nothing contradicts the automaton")


FUNCTIONS = [
    *("saliency", "linear_probes", "horizon_curve", "ablate", "certify", "check", "compare", "extract", "harden"),
    *("intervene", "languages", "learn", "load", "repair", "sweep", "tasks", "trace", "train", "verify", "wrap", "zoo"),
]
TYPES = [
    *("Certified", "Different", "Equal", "Extraction", "Language", "NotCertified", "PushdownAutomaton"),
    *("StackModel", "StacklensError", "Task", "Trace", "Undecided"),
]


def test_the_names_are_these_and_every_one_is_there_and_no_other() -> None:
    assert dir(sl) == sorted(FUNCTIONS + TYPES)
    assert all(callable(getattr(sl, name)) for name in FUNCTIONS)
    assert all(isinstance(getattr(sl, name), type) for name in TYPES)
    assert all(inspect.getdoc(getattr(sl, name)) for name in dir(sl))
    with pytest.raises(AttributeError, match="module 'stacklens' has no attribute 'extrakt'"):
        sl.extrakt  # type: ignore[attr-defined]  # noqa: B018


def test_packages_with_a_function_s_name_are_both() -> None:
    assert deep is extraction is sl.extract.extraction  # type: ignore[attr-defined]
    assert list(inspect.signature(sl.extract).parameters)[:2] == ["model", "language"]
    assert "palindrome" in set(sl.languages().name)


def test_every_language_and_task_is_told_what_it_is_and_where_it_is_from() -> None:
    for table in (sl.languages(), sl.tasks(), sl.zoo()):
        assert not table.isna().any().any()
        assert table.name.is_unique
    assert sl.tasks().set_index("name").kind["dyck-N"] == "next set"


# ---- Names: of the zoo, of files, of what was saved; and what is said of those that lead nowhere. ----
ROOT = Path(__file__).parents[2]


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the test in an empty folder."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("name", ["nnpda-palindrome", "nnpda-palindrome.pt", ZOO / "nnpda-palindrome.pt"])
def test_a_network_of_the_zoo_knows_its_file_and_its_training(name: str) -> None:
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
    refused("unknown format 'stack': expected one of auto, mapping, marnns", sl.load, path, format="stack")
    refused(r"nnpda-palindrome\.pt: has the alphabet a b c, not a b", sl.load, "nnpda-palindrome", alphabet="ab")
    refused(r"nnpda-palindrome\.pt: ", sl.load, "nnpda-palindrome", format="marnns", error=FileFormatError)
    refused("expected an alphabet, as text or as a list of symbols, not an int", sl.load, path, alphabet=3)
    get_language("palindrome").automaton.save(tmp_path / "pda.json")
    refused("expected a network", sl.load, tmp_path / "pda.json", alphabet="abc", error=FileFormatError)


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
            refused(file, sl.load, file, kind=other, error=FileFormatError)
    for wrong in ("model", ["result"], 3):
        refused("unknown kind .* automaton, network, result, sweep, trace", sl.load, "result.json", kind=wrong)
    refused(r"of a network; trace\.npz is to be loaded as a trace", sl.load, "trace.npz", kind="trace", alphabet="ab")


def test_checkers_and_editors_know_the_names_of_the_zoo() -> None:
    text = (ROOT / "src" / "stacklens" / "face" / "opening.py").read_text(encoding="utf-8")
    (names,) = re.findall(r"ZooName = Literal\[([^]]*)\]", text)
    assert re.findall(r'"(.*?)"', names) == list(zoo_names())


@pytest.mark.usefixtures("elsewhere")
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
def test_a_name_that_leads_nowhere_gives_one_line(name: str, says: str) -> None:
    assert says in refused("", sl.load, name, error=FileFormatError)


@pytest.mark.parametrize("suffix", [".json", ".dot", ".jff"])
def test_an_automaton_that_was_saved_is_loaded(suffix: str, tmp_path: Path) -> None:
    pda = get_language("palindrome").automaton
    pda.save(tmp_path / f"pda{suffix}")
    assert isinstance(sl.compare(sl.load(tmp_path / f"pda{suffix}"), pda), sl.Equal)


LOAD_NAME = "nnpda-palindrome"


def test_words_that_can_be_gone_through_only_once_are_all_read() -> None:
    assert sl.trace(LOAD_NAME, (word for word in ["abc", "c"])).words == ("abc", "c")  # type: ignore[arg-type]
    assert sl.trace(LOAD_NAME, iter("abc")).words == ("abc",)  # type: ignore[arg-type]
    seen = sl.intervene(
        LOAD_NAME,
        (word for word in ["abcba", "c"]),  # type: ignore[arg-type]
        at=1,
        set={"hidden": "mean"},
        reference=(word for word in ["c", "ca"]),
    )
    assert seen.words == ("abcba", "c")
    assert sl.horizon_curve(LOAD_NAME, (word for word in ["abc", "ab"])).running == (2, 2, 1)  # type: ignore[arg-type]


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
    says = f"symbol 'x' is not in the alphabet a b c: {where}"
    assert refused("", sl.trace, LOAD_NAME, words, error=UnknownSymbolError) == says


def test_symbols_of_several_characters_are_counted_as_symbols() -> None:
    box = BlackBox(lambda words: [len(word) % 2 == 0 for word in words], ("the", "cat"))
    refused(r"position 1 of word 0 \(from 0\), 'the x cat'$", sl.trace, box, ["the x cat"])


def test_saliency_is_of_one_word() -> None:
    assert sl.saliency(LOAD_NAME, ["ab"]).word == sl.saliency(LOAD_NAME, ["a", "b"]).word == "ab"
    refused("saliency is of one word, not of 2; call it for each of them", sl.saliency, LOAD_NAME, ["ab", "ab"])


CALLS = "marnn-stack-rnn-dyck-2-drifting"
Call = Callable[[Any], Any]
face: Any = sl  # whose calls are given what their types forbid
MEANINGLESS: list[tuple[dict[str, Any], str]] = [
    ({"sead": 1}, "extract has no setting sead; it has max_length, "),
    ({"max_length": -1}, "max_length must be a whole number of at least 0, not -1"),
    ({"stack_symbols": 1.5}, "stack_symbols must be a whole number of at least 1, not 1.5"),
    ({"long_lengths": (9, 3)}, "long_lengths[1] must be a whole number of at least 9, not 3"),
    ({"walks": None}, "walks must be a whole number of at least 0, not None"),
    ({"seed": 2**32}, "a seed is a whole number from 0 to 4294967295, not 4294967296"),
]
REFUSED: list[tuple[Call, str]] = [
    *((lambda _, given=given: face.extract(LOAD_NAME, **given), says) for given, says in MEANINGLESS),
    (lambda _: face.trace(LOAD_NAME, torch.zeros(3)), "expected a word, as text or as a list of symbols, not a Tensor"),
    (lambda _: face.trace(LOAD_NAME, torch.zeros(())), "expected a word or a list of words, not a Tensor"),
    (lambda _: face.trace(LOAD_NAME, [["a", 3]]), "expected a word, as text or as a list of symbols, not a list with"),
    (lambda found: face.extract(found.model, 3), "expected a language or task, the name of one, the path"),
    (lambda _: face.train("nnpda", 3), "expected a language or a task, or the name of one, not"),
    (lambda _: face.train(3, "dyck-2"), "expected the name of a kind of network, such as"),
    (lambda found: face.extract(found.model, calls=3), "calls must be symbols of the alphabet, such as ('(',"),
    (lambda found: face.extract(found.model, long_lengths=3), "long_lengths must be two lengths, such as (50, 160),"),
    (lambda found: face.trace(found.model, "abcba").with_automaton(3), "expected an automaton, such as the"),
    (lambda found: face.trace(found.model, "abcba").plot(automaton=3), "expected an automaton, such as the"),
    (lambda found: face.trace(found.model, "abcba").save(3), "expected the path of a file to write, such as"),
    (
        lambda _: face.extract(LOAD_NAME, quick_result(CALLS).automaton),
        "an automaton with outputs is no language; give",
    ),
    (lambda found: face.extract(CALLS, found.automaton), "has the alphabet a b c, the network ( ) [ ]"),
    (lambda found: face.verify(found, max_length=-1), "max_length must be a whole number of at least 0, not -1"),
    (lambda found: face.verify(found, max_length=40), "too many to check one by one; ask for --max-length 26"),
    (lambda found: face.verify(found.automaton, max_length=5), "name its network or a language, or give the result:"),
    (
        lambda found: face.verify(found.automaton, "palindrome"),
        "palindrome is what a network should do, not a network:",
    ),
    (lambda found: face.verify(found, "palindrom"), "palindrom: no such file; expected a network"),
    (lambda found: face.verify(found.automaton, language=get_task("addition")), "an automaton without its network"),
    (lambda _: face.trace(LOAD_NAME, "abcba").plot("actions"), "word is 'actions'; expected its number in the trace,"),
    (lambda found: found.causal(seed=-1), "a seed is a whole number from 0 to "),
    (lambda found: found.causal(cases="x"), "cases must be a whole number of at least 2, not 'x'"),
    (lambda _: face.sweep(3), "expected networks, or their files, not one of type int"),
    (lambda _: face.ablate(LOAD_NAME, seed=-1), "a seed is a whole number from 0 to "),
    (lambda _: face.ablate(LOAD_NAME, words=[]), "nothing to ablate on: give some words"),
    (lambda _: face.repair(LOAD_NAME, seconds=float("inf")), "seconds is inf; expected processor time in seconds"),
    (lambda found: face.check(found.model, lambda word: word, 3), "expected a list of words, not one of type int"),
    (lambda _: face.learn(lambda words: [True] * len(words), "ab", words="x"), "words must be a whole number of at"),
    (lambda _: face.check(torch.nn.Linear(3, 4), torch.nn.Linear(3, 4), ["ab"]), "expected a network that"),
    (lambda _: face.learn(lambda _: True, "ab"), "the function answers 3 words with True, of type bool;"),
]


@pytest.mark.parametrize(("call", "says"), REFUSED, ids=[says for _, says in REFUSED])
def test_what_cannot_be_is_refused_in_one_line(call: Call, says: str) -> None:
    refused(re.escape(says), call, quick_result(LOAD_NAME))


def test_an_automaton_is_a_language_that_a_network_can_be_held_against(tmp_path: Path) -> None:
    automaton = get_language("palindrome").automaton
    found = sl.extract(LOAD_NAME, automaton, **QUICK)
    assert found.language_name == "the given automaton"
    assert isinstance(found.proof, sl.Equal)
    assert sl.verify(automaton, language=automaton, max_length=5).disagreements == 0
    found.save(tmp_path / "result.json")
    again = sl.load(tmp_path / "result.json")
    refused("checked against the given automaton, which is not in its file", sl.verify, again, max_length=3)
    assert sl.verify(again, language=automaton, max_length=3).status == 0
