"""Names: of the zoo, of files, of what was saved; and what is said of those that lead nowhere."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import torch
from tests.face.quick import quick_result

import stacklens as sl
from stacklens.core.errors import FileFormatError, UnknownNameError
from stacklens.languages.catalogue import get_language
from stacklens.models.checkpoint import ZOO, find_network, zoo_names

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
