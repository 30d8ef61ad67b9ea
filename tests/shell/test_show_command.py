"""Results that are kept by `extract-pda --save`, and what `show`, `verify` and `judge` make of them."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

import pytest
from tests.attack.made_results import DIGESTS, FORGERIES, forged
from tests.shell.commands import ZOO, Shell, check_quickly

import stacklens as sl

_IN_VAIN = ("buffered-neural-stack-reversal", "--method", "learn", "--budget", "0.000001s")

NAME = "nnpda-palindrome"


_SAVED: dict[str, bytes] = {}  # what was printed, and the file: made once


@pytest.fixture
def kept(tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, str]:
    """Return a saved result, and what extract-pda printed of it; the working directory is an empty folder."""
    monkeypatch.chdir(tmp_path)
    if not _SAVED:
        check_quickly(monkeypatch)
        found = shell("extract-pda", NAME, "--max-length", "5", "--save", "r.json")
        assert found.status == 0
        assert found.out.endswith("wrote r.json\n")
        _SAVED[found.out.removesuffix("wrote r.json\n")] = Path("r.json").read_bytes()
    ((printed, content),) = _SAVED.items()
    Path("r.json").write_bytes(content)
    return tmp_path / "r.json", printed


def test_a_kept_result_is_shown_again(kept: tuple[Path, str], shell: Shell) -> None:
    path, printed = kept
    shown = shell("stacklens", "show", path)
    assert shown.status == 0
    certified = "the rounded network follows it on words of every length that need at most 2^53 cells of a stack"
    assert shown.out.startswith(f"Proved equal to palindrome; {certified} (certificate); ")
    for line in printed.splitlines():  # all that was printed, marked where it was not shown again
        whole = [told for told in shown.out.splitlines() if told.startswith(line[:40])]
        assert whole
        again = line.startswith(("proof ", "certified ", "network ", "automaton ", "horizon ", "depth ")) or "│" in line
        assert again <= (line in shown.out)
    why = shell("stacklens", "show", path, "--why")
    assert why.out.startswith("as stored, not checked:\nNothing contradicts the automaton")
    out = ("--out", "pda.svg", "--out", "pda.json", "--out", "pda.cfg")
    drawn = shell("stacklens", "show", path, *out)
    assert drawn.out.endswith("wrote pda.svg\nwrote pda.json\nwrote pda.cfg\n")
    assert Path("pda.cfg").read_text(encoding="utf-8").endswith(f"\n{sl.load(path).grammar()}\n")
    assert str(sl.load(path).grammar()) == "S -> a S a | b S b | c"
    assert sl.load("pda.json") == sl.load(path).automaton
    assert "palindrome, read out of nnpda-palindrome.pt" in unescape(Path("pda.svg").read_text(encoding="utf-8"))


def test_a_kept_result_is_verified_and_judged_without_its_automaton_in_another_file(
    kept: tuple[Path, str], shell: Shell
) -> None:
    path, _ = kept
    found = shell("stacklens", "verify", path, "--max-length", "6")
    assert found.status == 0
    assert "0 disagreements in 1,093 words, all of length <= 6" in found.out
    assert not Path("r.verify.jsonl").exists()
    Path("words.txt").write_text("abcba\nabc\n", encoding="utf-8")
    judged = shell("stacklens", "judge", path, "words.txt", "--out", "table.csv")
    assert judged.status == 0
    assert Path("table.csv").read_text(encoding="utf-8").splitlines()[0].count("automaton") == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["verify", "r.json", "--automaton", "a.json"], "r.json has an automaton with it; leave out --automaton"),
        (["judge", "r.json", "w.txt", "--automaton", "a.json"], "r.json has an automaton with it"),
        (["show", "r.json", "--out", "r.json"], "cannot write r.json: it is the result's own file"),
        (["show", "r.json", "--out", "x.txt"], "cannot write x.txt: expected a name that ends in"),
        (["show", "none.json"], "none.json: no such file; expected a result that stacklens saved"),
        (["show", NAME], f"{NAME}: no such file; expected a result that stacklens saved"),
        (["extract", NAME, "--save", "x.txt"], "cannot write x.txt: expected a name that ends in .json"),
        (["extract", NAME, "--save", "x.json", "--report", "x.json"], "they are one file"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], says: str, kept: tuple[Path, str], shell: Shell) -> None:
    before = kept[0].read_bytes()
    found = shell("stacklens", *arguments)
    assert (found.status, found.out, found.error.count("\n")) == (2, "", 1)
    assert says in found.error
    assert kept[0].read_bytes() == before


def test_a_result_without_an_automaton_is_kept_and_shown_too(
    tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kept = shell("extract-pda", *_IN_VAIN, "--save", "r.json")
    shown = shell("stacklens", "show", "r.json", "--out", "pda.dot")
    assert (kept.status, shown.status) == (3, 3)
    first, *others = shown.out.splitlines()
    assert first == f"{kept.out.splitlines()[0].removesuffix('.')} (as stored, not checked)."
    assert {line.removesuffix(" (as stored, not checked)") for line in others} >= set(kept.out.splitlines()[1:-1])
    assert not Path("pda.dot").exists()
    verified = shell("stacklens", "verify", "r.json")
    assert verified.status == 3
    assert verified.out.endswith("(as stored, not checked)\n")


def test_names_of_the_zoo_work_from_any_folder(tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    traced = shell("stacklens", "trace", "marnn-stack-rnn-dyck-2", "([])")
    assert (traced.status, traced.out.splitlines()[-1]) == (0, "accepted")
    found = shell("stacklens", "trace", "marnn-stack-rnn-dick-2", "([])")
    assert found.status == 2
    assert "did you mean marnn-stack-rnn-dyck-2, " in found.error
    helped = shell("stacklens", "trace", "-h")
    assert "a file of that name here comes first" in " ".join(helped.out.split())


def test_the_word_on_which_a_network_differs_can_be_pasted(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    saved, network = ZOO / "marnn-stack-rnn-dyck-2.json", "marnn-stack-rnn-dyck-2"
    shown = shell("stacklens", "show", saved)
    words = [line.split(":")[1].strip() for line in shown.out.splitlines() if line.startswith("           in full: ")]
    assert len(words) == 2
    for word in words:
        assert shell("stacklens", "trace", network, word).status == 0
    verified = shell("stacklens", "verify", saved, "--max-length", "3")
    assert [f"           in full: {word}" in verified.out.splitlines() for word in words] == [True, True]


@pytest.mark.parametrize("digests", DIGESTS)
@pytest.mark.parametrize("what", FORGERIES)
def test_no_command_repeats_what_a_file_claims_falsely(
    what: str, digests: str, tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("r.json").write_text(json.dumps(forged(what, digests)), encoding="utf-8")
    deep = "1010" if "10^18" in what else "aca" if what == "other counts" else "(" * 8
    Path("words.txt").write_text(f"{deep}\n", encoding="utf-8")
    commands = (("show", "r.json"), ("verify", "r.json", "--max-length", "3"), ("judge", "r.json", "words.txt"))
    shown, verified, judged = (shell("stacklens", *command) for command in commands)
    if digests == "stale":
        for found in (shown, verified, judged):
            assert (found.status, found.out) == (2, "")
            assert found.error.startswith("error: r.json: was changed since it was saved")
        return
    false = what in ("an automaton that is cut", "the certificate of another network")
    assert shown.status == verified.status == int(false)
    assert judged.status == int(what == "an automaton that is cut")
    for found in (shown, verified):
        told = [line for line in found.out.splitlines() if "as stored, not checked" not in line]
        assert not any("1,000,000,000,000,000,000" in line for line in told)
        assert false == any("which could not be shown" in line for line in found.out.splitlines())
    if what == "an automaton that is cut":
        assert shown.out.startswith("Different from dyck-2, first on ((((((((")
        assert verified.out.startswith("Different from dyck-2, first on ((((((((")
    if what == "the certificate of another network":
        assert all("certified  not certified: " in found.out for found in (shown, verified))
    counted = [line for line in shown.out.splitlines() if line.startswith("counted ")]
    assert all(line.endswith("(as stored, not checked)") for line in counted)
    if what == "other counts":
        assert "counted    3 accepted words of length <= 3" in verified.out
