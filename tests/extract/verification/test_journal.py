"""The journal: whatever of its last line was written, what is finished is known, once; and no other job goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.extract.verification.test_exhaustive import doctored, loaded

from stacklens.core.errors import FileFormatError, StacklensError
from stacklens.extract.jobs import Journal
from stacklens.extract.verification.exhaustive import Work, verify_exhaustively

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
    with pytest.raises(StacklensError, match=r"journal: this job was begun and not finished; go on with --resume"):
        Journal.open(path, JOB, resume=False)
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
        with pytest.raises(StacklensError, match="nothing could be done"):
            fail(resume)
        assert not path.exists()
    with pytest.raises(StacklensError, match="nothing could be done"):
        fail(False, automaton="it")  # which took long to find
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
