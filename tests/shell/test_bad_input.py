from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from tests.shell.commands import ROOT, ZOO, Shell

GOOD = ZOO / "nnpda-1n0n.pt"


class Evil:
    """Makes a file when it is unpickled."""

    def __reduce__(self) -> tuple[object, ...]:
        return os.system, ("touch marker-that-code-ran",)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run every command in an empty folder, in which it must leave nothing."""
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    return empty


def bad_file(kind: str, path: Path) -> Path:
    """Return ``path`` with a file that is wrong in some way."""
    content = torch.load(GOOD, weights_only=True)
    weights = content["state_dict"]
    if kind == "empty":
        path.touch()
    elif kind == "text":
        path.write_text("hello\n")
    elif kind == "truncated":
        path.write_bytes(GOOD.read_bytes()[:1_500])
    elif kind == "pickle":
        path.write_bytes(pickle.dumps(Evil()))
    elif kind == "code":
        torch.save({**content, "provenance": Evil()}, path)
    elif kind == "shapes":
        torch.save({**content, "state_dict": {**weights, "state_bias": torch.zeros(2)}}, path)
    elif kind == "NaN":
        torch.save({**content, "state_dict": {**weights, "state_bias": weights["state_bias"] * torch.nan}}, path)
    elif kind == "folder":
        path.mkdir()
    return path


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("missing", "no such file; expected "),
        ("folder", "is a folder; expected "),
        ("empty", "the file is empty; expected "),
        ("text", "not a PyTorch file (it begins with b'hello\\n'); expected "),
        ("truncated", "damaged or truncated: 1500 bytes that torch cannot read"),
        ("pickle", "holds objects other than tensors and plain data, and loading them could run code; refused."),
        ("code", "holds objects other than tensors and plain data, and loading them could run code; refused."),
        ("shapes", "state_bias has shape (2,); expected (5,)"),
        ("NaN", "state_bias holds NaN or infinite weights; the network was not trained to an end"),
    ],
)
@pytest.mark.parametrize("command", ["extract-pda", "stacklens extract", "stacklens trace", "stacklens train"])
def test_a_bad_file_gives_one_line_that_names_it_and_status_2(
    command: str, kind: str, message: str, tmp_path: Path, folder: Path, shell: Shell
) -> None:
    path = bad_file(kind, tmp_path / "bad.pt")
    program, *words = command.split()
    arguments: Sequence[str | Path] = [path, "--out", "x.dot", "--report", "x.json"]
    if words == ["trace"]:
        arguments = [path, "10"]
    elif words == ["train"]:
        arguments = ["nnpda", "--language", "1n0n", "--resume", path, "--out", "x.pt"]
    found = shell(program, *words, *arguments)
    assert (found.status, found.out) == (2, "")
    assert found.error.startswith(f"error: {path}: {message}")
    assert found.error.count("\n") == 1
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("extract-pda", "Missing argument 'MODEL'; see extract-pda -h"),
        ("extract-pda GOOD --foo", "No such option: --foo"),
        ("extract-pda GOOD --language klingon", "unknown language 'klingon'"),
        ("extract-pda GOOD --language palindrome", "palindrome has the alphabet a b c, the network 1 0; name"),
        ("extract-pda GOOD --format onnx", "unknown format 'onnx': expected"),
        ("extract-pda GOOD --device gpu7", "device 'gpu7' cannot be used here; expected cpu, or cuda where there is"),
        ("extract-pda GOOD --device meta", "device 'meta' cannot be used here; expected cpu, or cuda where there is"),
        ("extract-pda GOOD --alphabet ab", "has the alphabet 1 0, not a b"),
        ("extract-pda GOOD --max-length -1", "Invalid value for '--max-length'"),
        ("extract-pda GOOD --max-length 4.5", "Invalid value for '--max-length'"),
        ("extract-pda GOOD --max-length 60", "too many"),
        ("extract-pda GOOD --seed -1", "Invalid value for '--seed'"),
        ("extract-pda GOOD --states 0", "Invalid value for '--states'"),
        ("extract-pda GOOD --jobs 0", "Invalid value for '--jobs'"),
        ("extract-pda GOOD --out none/x.dot", "cannot write none/x.dot: the folder none does not exist; make it first"),
        ("extract-pda GOOD --report none/x.json", "cannot write none/x.json: the folder none does not exist; make it"),
        ("extract-pda GOOD --report foo.txt", "cannot write foo.txt: expected a name that ends in .json"),
        ("stacklens verify GOOD --report foo.txt", "cannot write foo.txt: expected a name that ends in .json"),
        ("stacklens verify --all --report foo.txt", "cannot write foo.txt: expected a name that ends in .json"),
        ("stacklens verify --all nnpda-palindrome", "with its own language, and takes no MODEL nnpda-palindrome; leav"),
        ("stacklens verify --all --automaton a.json", "takes no --automaton a.json; leave out one or the other"),
        ("stacklens verify --all --language anbn", "takes no --language anbn; leave out one or the other"),
        ("stacklens verify --all --resume", "takes no --resume; leave out one or the other"),
        ("stacklens verify --all --journal j", "takes no --journal j; leave out one or the other"),
        ("stacklens verify --all GOOD --language x --resume", "(nor --language, --resume); leave out one or the other"),
        ("stacklens verify GOOD --published x", "--published x: only the table of --all has published networks; add"),
        ("extract-pda GOOD --out x.txt", "cannot write x.txt: expected a name that ends in .dot, .json, .jff, .cfg,"),
        ("extract-pda GOOD --out x", "cannot write x: expected a name that ends in .dot, .json, .jff, .cfg, .svg"),
        ("extract-pda GOOD --out x.dot --out x.doc", "cannot write x.doc: expected a name that ends in .dot"),
        ("stacklens", "Missing command; see stacklens -h"),
        ("stacklens fly", "No such command 'fly'; see stacklens -h"),
        ("stacklens train", "Missing command"),
        ("stacklens train nnpda", "Missing option '--language'; see stacklens train nnpda -h"),
        ("stacklens train nnpda --language 1n0n --seeds 0", ", not '0'; see stacklens train nnpda -h"),
        ("stacklens verify GOOD --jobs many", ", not 'many'; see stacklens verify -h"),
        ("stacklens verify GOOD --jbs 3", "No such option: --jbs"),
        ("stacklens verify GOOD --jbs 3", "; see stacklens verify -h"),
        ("stacklens probe horizn GOOD", "; see stacklens probe -h"),
        ("stacklens train transformer", "No such command 'transformer'"),
        ("stacklens train nnpda", "Missing option '--language'"),
        ("stacklens train nnpda --language klingon", "unknown language 'klingon'"),
        ("stacklens train nnpda --language 1n0n --order 4th", "order '4th' is not one of second, third, full"),
        ("stacklens train nnpda --language 1n0n --seeds 0", "Invalid value for '--seeds'"),
        ("stacklens train nnpda --language 1n0n --out none/x.pt", "cannot write none/x.pt: the folder none does not"),
        ("stacklens train nnpda --language 1n0n --out x.json", "cannot write x.json: expected a name that ends in .pt"),
        ("stacklens train nnpda --language 1n0n --out .", "cannot write .: it is a folder; expected the name of a"),
        ("stacklens train nnpda --language palindrome --no-hints", "there is no recipe without hints for palindrome"),
        ("stacklens train nnpda --language 1n0n --neurons 40 --order full", "an NNPDA of order full with 40 state"),
        ("stacklens train nnpda --language 1n0n --resume GOOD --out x.pt", "this training is over; there is nothing"),
        ("stacklens trace GOOD", "Missing argument 'WORD'"),
        ("stacklens trace GOOD 10x1", "symbol 'x' is not in the alphabet 1 0"),
        ("stacklens trace GOOD 10 --out x.txt", "expected a name that ends in .csv, .json, .html, .svg, .png"),
        ("stacklens trace GOOD 10 --figure x", "unknown figure 'x': expected one of actions, hidden, map, operations"),
        ("stacklens trace GOOD 10 --theme x", "unknown theme 'x': expected one of dark, light"),
        ("stacklens export GOOD --html x.htm", "cannot write x.htm: expected a name that ends in .html"),
        ("stacklens export GOOD --html none/x.html", "cannot write none/x.html: the folder none does not exist"),
        ("stacklens trace GOOD 10 --out none/x.csv", "cannot write none/x.csv: the folder none does not exist"),
    ],
)
def test_bad_arguments_give_one_line_and_status_2_and_write_nothing(
    arguments: str, message: str, folder: Path, shell: Shell
) -> None:
    command, *words = [str(GOOD) if word == "GOOD" else word for word in arguments.split()]
    found = shell(command, *words)
    assert (found.status, found.out) == (2, "")
    assert found.error.startswith("error: ")
    assert message in found.error
    assert found.error.count("\n") == 1
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("suffix", ["png", "pdf"])
def test_a_picture_without_graphviz_is_refused_before_the_network_is_read(
    suffix: str, folder: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(folder))
    assert shutil.which("dot") is None
    found = shell("extract-pda", "no-such-file.pt", "--out", f"x.{suffix}")
    assert found.status == 2
    assert found.error == (
        f"error: cannot render {suffix}: no Graphviz program `dot` was found; "
        "install Graphviz, or write .svg or .dot, which need none\n"
    )


def test_a_report_does_not_replace_the_network_that_it_is_about(tmp_path: Path, shell: Shell) -> None:
    path = tmp_path / "net.pt"
    shutil.copy(GOOD, path)
    outcome = shell("extract-pda", path, "--report", path)
    assert outcome.status == 2
    assert "it is the network's own file; choose another name" in outcome.error
    assert path.read_bytes() == GOOD.read_bytes()


def test_a_defect_of_ours_is_not_hidden_behind_one_line(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("stacklens.probe.trace.trace", fail)
    found = shell("stacklens", "trace", GOOD, "10")
    assert found.status == 70  # 1 would tell a script that something differs
    assert "Traceback" in found.error
    assert "ZeroDivisionError" in found.error
    assert found.error.splitlines()[-1].startswith("error: a defect of stacklens, not of what it was given; please ")


NET = str(ZOO / "nnpda-1n0n.pt")
JUDGE = ("judge", NET, "words.txt")
TRACE = ("trace", NET, "10")
LATE = """
import atexit, os, signal
from stacklens.cli.shell import new_app, run_app
app = new_app("late")
def later():
    os.kill(os.getpid(), signal.SIGINT)
    print("not reached")
@app.command()
def wait() -> None:
    atexit.register(later)
    try:
        os.kill(os.getpid(), signal.SIGINT)
    finally:
        if MOMENT == "cleanup":
            os.kill(os.getpid(), signal.SIGINT)
            print("not reached")
run_app(app)
"""


def started(
    folder: Path, *arguments: str, shell: str = "", program: tuple[str, ...] = ("-m", "stacklens"), **environment: str
) -> subprocess.CompletedProcess[str]:
    """Return how ``stacklens`` ended, started in ``folder`` by a shell that redirects as ``shell`` says."""
    (folder / "words.txt").write_text("10\n\nε\n110\n", encoding="utf-8")
    inherited = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    paths = {"PYTHONPATH": str(ROOT.parents[0]), "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {shell}', "sh", sys.executable, *program, *arguments],
        env={**inherited, **paths, **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("arguments", [JUDGE, TRACE, ("-h",)])
def test_a_full_disk_behind_the_output_is_one_line_and_status_2(arguments: tuple[str, ...], tmp_path: Path) -> None:
    found = started(tmp_path, *arguments, shell=">/dev/full")
    assert found.returncode == 2
    assert found.stderr == "error: cannot write the output: No space left on device\n"


@pytest.mark.parametrize(("shell", "status"), [(">&-", 0), ("<&- >&- 2>&-", 0), ("2>/dev/full", 0)])
def test_whoever_closes_the_output_gets_the_status_alone(shell: str, status: int, tmp_path: Path) -> None:
    assert started(tmp_path, *JUDGE, shell=shell).returncode == status
    assert started(tmp_path, "judge", NET, "none.txt", shell=shell).returncode == 2
    assert started(tmp_path, "judge", NET, "-", shell="<&-").returncode == 0


@pytest.mark.parametrize("moment", ["cleanup", "exit"])
def test_ctrl_c_twice_prints_no_traceback(moment: str, tmp_path: Path) -> None:
    found = started(tmp_path, program=("-c", f"MOMENT = {moment!r}\n{LATE}"))
    assert found.returncode == 130
    assert found.stdout == ""
    assert "Traceback" not in found.stderr
    assert "Exception ignored" not in found.stderr
