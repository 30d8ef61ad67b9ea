"""Odd command lines: names, numbers and files that no command can do anything with are one line and status 2."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest
from tests.shell.commands import ZOO, Shell

from stacklens.cli.shell import MOST_JOBS

GOOD = ZOO / "nnpda-1n0n.pt"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run every command in a folder with a network, a pipe that nobody writes to, and files that are too large."""
    place = tmp_path / "place"
    place.mkdir()
    monkeypatch.chdir(place)
    shutil.copy(GOOD, "net.pt")
    os.link("net.pt", "hard.pt")
    Path("soft.json").symlink_to("net.pt")
    Path("circle.json").symlink_to("circle.json")
    Path("dangling.json").symlink_to("nowhere/at/all")
    Path("there.json").write_text("kept")
    Path("empty.json").touch()
    os.mkfifo("pipe")
    os.mkfifo("pipe.json")
    with open("huge.json", "wb") as file:
        file.truncate(1 << 34)  # 16 GB, of which nothing is on the disk
    return place


def timed_out(*_: object) -> None:
    raise AssertionError("it waited for ever")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        # what is read is looked at before it is opened
        ("extract-pda pipe", "pipe: is a pipe; expected a file with a network"),
        ("extract-pda pipe --format stack-rnn-cpp", "pipe: is a pipe; expected a file with a text file"),
        ("extract-pda /dev/zero", "/dev/zero: is a device; expected a file with a network"),
        ("extract-pda huge.json", "huge.json: larger than 256 MiB; expected a network"),
        ("extract-pda net.pt --language ./pipe", "pipe: is a pipe; expected a file with a grammar"),
        ("extract-pda net.pt --language /dev/zero", "/dev/zero: is a device; expected a file with a grammar"),
        ("extract-pda net.pt --language huge.json", "huge.json: larger than 32 MiB; expected a grammar"),
        ("stacklens verify net.pt --automaton pipe.json", "pipe.json: is a pipe; expected a file with an automaton"),
        ("stacklens verify net.pt --automaton /dev/zero", "/dev/zero: is a device; expected a file with an automaton"),
        ("stacklens verify net.pt --automaton huge.json", "huge.json: larger than 32 MiB; expected an automaton"),
        ("stacklens verify pipe", "pipe: is a pipe; expected"),
        ("stacklens judge net.pt pipe", "pipe: is a pipe; expected a file with a text with a word a line"),
        ("stacklens judge net.pt huge.json", "huge.json: larger than 32 MiB; expected a text with a word a line"),
        ("stacklens trace pipe 10", "pipe: is a pipe; expected"),
        ("stacklens export pipe --html x.html", "pipe: is a pipe; expected"),
        ("stacklens app pipe --port 0", "pipe: is a pipe; expected"),
        ("stacklens train nnpda --language 1n0n --resume pipe --out x.pt", "pipe: is a pipe; expected"),
        ("stacklens papers report --findings x.md --readme pipe", "pipe: is a pipe; expected a file with a Markdown"),
        # what is written can be written
        ("extract-pda net.pt --out LONG.json", "File name too long; nothing was written"),
        ("extract-pda net.pt --report LONG", "File name too long; nothing was written"),
        ("stacklens verify net.pt --journal LONG", "File name too long; nothing was written"),
        ("stacklens trace net.pt 10 --out LONG.csv", "File name too long; nothing was written"),
        ("stacklens train nnpda --language 1n0n --out LONG", "File name too long; nothing was written"),
        ("stacklens export LONG --html x.html", "File name too long; expected a network"),
        ("extract-pda LONG", "File name too long; expected a network"),
        ("extract-pda net.pt --language LONG.json", "File name too long; expected a grammar"),
        ("extract-pda net.pt --out circle.json", "cannot write circle.json: Too many levels of symbolic links"),
        ("extract-pda net.pt --report dangling.json", "nowhere/at cannot be written to; choose another name"),
        ("stacklens verify net.pt --journal /dev/null", "cannot write the journal /dev/null: it is no file; name"),
        ("stacklens verify net.pt --journal /dev/full", "cannot write the journal /dev/full: it is no file; name"),
        ("stacklens verify net.pt --journal pipe", "cannot write the journal pipe: it is no file; name another"),
        ("stacklens verify nofile.pt --report there.json", "nofile.pt: no such file; expected a network"),
        # each to a file of its own
        ("extract-pda net.pt --out z.json --report z.json", "cannot write both z.json and z.json: they are one file"),
        ("extract-pda net.pt --out z.json --report ./z.json", "cannot write both z.json and z.json: they are one"),
        ("extract-pda net.pt --out z.json --report ../place/z.json", "z.json and ../place/z.json: they are one file"),
        ("extract-pda net.pt --out z.json --report Z.json", "cannot write both z.json and Z.json: they are one file"),
        ("extract-pda net.pt --out z.dot --out z.dot", "cannot write both z.dot and z.dot: they are one file"),
        ("stacklens verify net.pt --journal z --report z", "cannot write both z and z: they are one file"),
        ("stacklens verify net.pt --report net.verify.jsonl", "net.verify.jsonl: they are one file"),
        ("stacklens trace net.pt 10 --out z.csv --out ./z.csv", "cannot write both z.csv and z.csv: they are one"),
        ("stacklens papers report --readme z.md --findings ./z.md", "cannot write both z.md and z.md: they are one"),
        ("extract-pda net.pt --report hard.pt", "cannot write hard.pt: it is the network's own file; choose another"),
        ("extract-pda net.pt --out soft.json", "cannot write soft.json: it is the network's own file; choose another"),
        ("stacklens verify net.pt --journal ./net.pt", "cannot write net.pt: it is the network's own file; choose"),
        ("stacklens verify net.pt --automaton there.json --report there.json", "there.json: it is the automaton's"),
        ("extract-pda net.pt --language there.json --out there.json", "there.json: it is the language's own file;"),
        # numbers
        ("extract-pda net.pt --seed " + 30 * "9", "Invalid value for '--seed': "),
        ("stacklens train nnpda --language 1n0n --seed " + 30 * "9", "Invalid value for '--seed': "),
        ("stacklens export net.pt --html x.html --seed " + 30 * "9", "Invalid value for '--seed': "),
        ("extract-pda net.pt --seed " + 5_000 * "9", "Invalid value for '--seed': "),
        ("extract-pda net.pt --jobs 100000", str(MOST_JOBS)),
        ("stacklens verify net.pt --jobs 100000", str(MOST_JOBS)),
        ("stacklens verify net.pt --max-length 1000000000", "too many to check one by one; ask for --max-length 42"),
        ("stacklens verify net.pt --max-length " + 30 * "9", "too many to check one by one; ask for --max-length 42"),
        ("extract-pda net.pt --language dyck-99999999999", "has too many kinds of brackets: expected dyck-1000 or"),
        ("extract-pda net.pt --language dyck-" + 5_000 * "9", "has too many kinds of brackets: expected dyck-1000 or"),
        ("stacklens train rnn --language dyck-1000", "dyck-1000 is too large a task: expected dyck-100 or less"),
        ("stacklens app --host \udcff --port 0", "cannot listen on \\udcff:0: "),
        ("extract-pda net.pt --language dyck-1000", "… (2,000 symbols), the network 1 0; name the language"),
        ("stacklens train nnpda --language 1n0n --neurons 1000000000", "64"),
        ("stacklens train rnn --language dyck-2 --hidden 1000000000", "2048"),
        ("stacklens train rnn --language dyck-2 --hidden 2048 --seeds 1000", "are too many; ask for --seeds 16"),
        ("extract-pda net.pt --states 1000000000", "1000"),
    ],
)
def test_an_odd_command_line_is_one_line_and_status_2_and_writes_nothing(
    arguments: str, message: str, folder: Path, shell: Shell
) -> None:
    before = {path.name: path.lstat().st_mtime_ns for path in folder.iterdir()}
    command, *words = [word.replace("LONG", 300 * "x") for word in arguments.split()]
    signal.signal(signal.SIGALRM, timed_out)
    signal.alarm(60)
    try:
        found = shell(command, *words)
    finally:
        signal.alarm(0)
    assert (found.status, found.out) == (2, "")
    assert found.error.startswith("error: ")
    assert message in found.error
    assert found.error.count("\n") == 1
    assert len(found.error) < 1_200
    assert {path.name: path.lstat().st_mtime_ns for path in folder.iterdir()} == before
