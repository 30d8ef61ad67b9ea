"""`stacklens verify`: what it prints, what it writes, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.shell.commands import DATA, ZOO, Shell, check_quickly

from stacklens.automata.formats.json import to_json
from stacklens.automata.formats.textbook import to_jflap
from stacklens.automata.pda import PushdownAutomaton
from stacklens.cli.verify import networks_in
from stacklens.languages.catalogue import get_language

NETWORK = ZOO / "nnpda-palindrome.pt"
PALINDROMES = get_language("palindrome").automaton


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def doctored() -> PushdownAutomaton:
    """Return palindromes in which b under a is no longer a palindrome."""
    rules = {key: step for key, step in PALINDROMES.transitions.items() if step.operations[0].name != "pop"}
    pops = [item for item in PALINDROMES.transitions.items() if item[1].operations[0].name == "pop"]
    return replace(PALINDROMES, transitions={**rules, **dict(pops[:1])})


def test_nothing_contradicts_the_right_automaton(shell: Shell) -> None:
    Path("pda.jff").write_text(to_jflap(PALINDROMES), encoding="utf-8")
    outcome = shell("stacklens", "verify", NETWORK, "--automaton", "pda.jff", "--max-length", "9")
    lines = outcome.out.splitlines()
    assert outcome.status == 0
    assert lines[0] == (
        "Equal to palindrome on all words of length <= 9 (not proved); rounded network and network follow it on all "
        "words of length <= 9."
    )
    assert lines[2] == "network    nnpda over a b c; language palindrome"
    assert lines[4:6] == [
        "horizon    rounded network: agrees on all words of length <= 9; no difference found in 29,524 words",
        "           network: agrees on all words of length <= 9; no difference found in 29,524 words",
    ]
    assert lines[6:10] == [
        "verified   against the language's automaton: 0 disagreements in 29,524 words, all of length <= 9",
        "verified   against the rounded network: 0 disagreements in 29,524 words, all of length <= 9",
        "verified   against the network: 0 disagreements in 29,524 words, all of length <= 9",
        "counted    31 accepted words of length <= 9, without running them: as many as were found by running all",
    ]
    assert [path.name for path in Path().iterdir()] == ["pda.jff"]  # the journal is gone


def test_the_report_is_the_same_whatever_the_number_of_processes(shell: Shell) -> None:
    Path("pda.json").write_text(to_json(doctored()), encoding="utf-8")
    command: list[str | Path] = ["verify", NETWORK, "--automaton", "pda.json", "--max-length", "13"]
    for jobs in ("1", "2"):
        outcome = shell("stacklens", *command, "--jobs", jobs, "--report", f"{jobs}.json", "--quiet")
        assert outcome.status == 1
        assert outcome.out.startswith(
            "different from palindrome, first on bcb; rounded network and network first differ"
        )
    assert Path("1.json").read_bytes() == Path("2.json").read_bytes()
    report = json.loads(Path("1.json").read_text(encoding="utf-8"))
    assert report["chunks"] > 2
    assert report["counts"]["equal"]
    found = report["checks"][0]
    assert found["between"] == ["automaton", "language"]
    assert (found["disagreements"], found["counterexample"]) == (120, "bcb")


def test_without_an_automaton_it_is_extracted_and_kept_in_the_journal(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_quickly(monkeypatch)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    command: list[str | Path] = ["verify", ZOO / "nnpda-parentheses.pt", "--max-length", "6"]
    with monkeypatch.context() as patch:
        patch.setattr("stacklens.extract.verification.exhaustive.verify_exhaustively", stop)
        assert shell("stacklens", *command).status == 130
    journal = Path("nnpda-parentheses.verify.jsonl")
    assert "automaton" in json.loads(journal.read_text(encoding="utf-8").splitlines()[1])["kept"]
    refused = shell("stacklens", *command)
    assert (refused.status, refused.error) == (
        2,
        f"error: {journal}: this job was begun and not finished; go on with --resume, or delete the file\n",
    )
    other = shell("stacklens", *command[:-1], "7", "--resume")
    assert "another job: its max_length is 6, this one's 7" in other.error
    monkeypatch.setattr("stacklens.extract.extraction.extract", stop)
    outcome = shell("stacklens", *command, "--resume")
    assert outcome.status == 0
    assert "0 disagreements in 127 words, all of length <= 6" in outcome.out
    assert not journal.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "which network? expected MODEL, a file with a trained network, or --all"),
        (["missing.pt"], "missing.pt"),
        ([NETWORK, "--automaton", "missing.json"], "missing.json: no such file; expected an automaton"),
        ([NETWORK, "--automaton", "dyck.json"], "dyck.json: reads ( ) [ ]; expected the network's symbols, a b c"),
        ([NETWORK, "--language", "dyck-2"], "language dyck-2 has the alphabet ( ) [ ], the network a b c"),
        ([NETWORK, "--report", "no/such/report.json"], "the folder no/such does not exist"),
        ([NETWORK, "--journal", "no/such/journal"], "cannot write no/such/journal: the folder no/such does not exist"),
        ([NETWORK, "--jobs", "0"], "--jobs"),
        ([ZOO / "stack-rnn-anbn.pt"], "anbn: not all words over its alphabet are meant"),
        ([ZOO / "marnn-stack-rnn-dyck-2.pt", "--automaton", "dyck.json"], "dyck.json: an automaton without outputs"),
        (["--all", "--published", "."], "--published .: no networks there; expected a folder"),
    ],
)
def test_bad_arguments_are_one_line(shell: Shell, arguments: list[str | Path], message: str) -> None:
    Path("dyck.json").write_text(to_json(get_language("dyck-2").automaton), encoding="utf-8")
    outcome = shell("stacklens", "verify", *arguments)
    assert outcome.status == 2
    assert message in outcome.error
    assert outcome.error.count("\n") == 1


def test_the_table_has_proof_counts_and_certificate(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    check_quickly(monkeypatch)
    zoo = [ZOO / "nnpda-parentheses.pt", DATA / "graded-pops.pt"]
    monkeypatch.setattr("stacklens.cli.verify.networks_in", lambda _: zoo)
    report = tmp_path / "verify.json"
    outcome = shell("stacklens", "verify", "--all", "--max-length", "8", "--report", report)
    assert outcome.status == 0
    rows = json.loads(report.read_text(encoding="utf-8"))["networks"]
    assert [row["network"] for row in rows] == ["nnpda-parentheses.pt", "graded-pops.pt"]
    assert rows[0]["proof"]["verdict"] == "equal"
    assert [check["words"] for check in rows[0]["checks"]] == [511] * 3
    assert rows[1]["status"] == 3
    assert rows[1]["automaton"] is None
    for column in (
        "proof",
        "certificate",
        "parentheses",
        "equal",
        "511 <= 8",
        "0, 0, 0",
        "graded-pops.pt: no automaton: ",
    ):
        assert column in outcome.out


def test_all_is_the_zoo_and_what_is_published(tmp_path: Path) -> None:
    assert networks_in(None) == sorted(ZOO.glob("*.pt")) != []
    (tmp_path / "notes.txt").write_text("nothing", encoding="utf-8")
    (tmp_path / "broken.pt").write_bytes(b"nothing")
    (tmp_path / "net.pt").write_bytes(NETWORK.read_bytes())
    assert networks_in(tmp_path) == [*networks_in(None), tmp_path / "net.pt"]
