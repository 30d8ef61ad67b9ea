from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import stacklens
from stacklens.core.errors import StacklensError
from stacklens.core.files import write_whole


def test_a_file_is_written_and_replaced_with_the_usual_permissions(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    write_whole(path, "ä\n")
    write_whole(str(path), b"\x00\xff")
    assert path.read_bytes() == b"\x00\xff"
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link_and_what_it_points_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("kept/real.txt")
    write_whole(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "kept" / "real.txt").read_text() == "new"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with subprocess.Popen(["cat", str(fifo)], stdout=subprocess.PIPE) as reader:
        write_whole(fifo, "through")
        assert reader.communicate(timeout=20)[0] == b"through"
    assert fifo.is_fifo()


def test_a_file_that_outgrows_its_disk_is_not_there_at_all(tmp_path: Path) -> None:
    path = tmp_path / "x.bin"
    path.write_text("old")
    limit = 10_000
    program = (
        "import sys; from stacklens.core.errors import StacklensError; from stacklens.core.files import write_whole\n"
        "try: write_whole(sys.argv[1], b'x' * 100_000)\n"
        "except StacklensError as error: print(error)"
    )
    found = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        env={**os.environ, "PYTHONPATH": str(Path(stacklens.__file__).parents[1]), "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout == f"cannot write {path}: File too large; nothing was written\n"
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_or_a_file_in_place_of_a_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StacklensError, match=r"^cannot write .*: it is a folder; expected the name of a file$"):
        write_whole(tmp_path, "x")
    (tmp_path / "file").touch()
    with pytest.raises(StacklensError, match=r"/file does not exist; make it first$"):
        write_whole(tmp_path / "file" / "x", "x")
