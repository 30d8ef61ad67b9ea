"""Bad input and odd arguments are one line; files are written whole; the app's link has a token."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.models.test_files import Evil
from tests.shell.commands import DATA, ROOT, ZOO, Shell, check_refused, page_server

import stacklens as sl
from stacklens.automata.formats.json import to_json
from stacklens.cli.shell import MOST_JOBS
from stacklens.core.files import write_whole
from stacklens.languages.catalogue import get_language

GOOD, DYCK = ZOO / "nnpda-1n0n.pt", ZOO / "marnn-stack-rnn-dyck-2.pt"


_DOT = "no Graphviz program `dot` was found; install Graphviz, or write .svg or .dot, which need none\n"


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("extract-pda none.pt --out x.png", f"cannot render png: {_DOT}"),
        ("extract-pda none.pt --out x.pdf", f"cannot render pdf: {_DOT}"),
        ("stacklens trace none.pt () --out t.svg", "cannot draw .svg, .png or .pdf: no Chrome or Chromium was found; "),
    ],
)
def test_a_picture_that_nothing_here_draws_is_refused_before_the_network_is_read(
    command: str, says: str, tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("BROWSER_PATH", "/none")
    found = shell(*command.split())
    assert found.status == 2
    assert found.error.startswith(f"error: {says}")


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


LIST = "papers", "list"  # which needs no torch, and so begins at once


@pytest.mark.parametrize(
    ("arguments", "shell", "status"),
    [
        *((LIST, shell, 0) for shell in (">&-", "<&- >&- 2>&-", "2>/dev/full")),
        *((("papers", "table", "none"), shell, 2) for shell in (">&-", "<&- >&- 2>&-", "2>/dev/full")),
        (JUDGE, ">&-", 0),
        (("judge", NET, "-"), "<&-", 0),
    ],
)
def test_whoever_closes_the_output_gets_the_status_alone(
    arguments: tuple[str, ...], shell: str, status: int, tmp_path: Path
) -> None:
    assert started(tmp_path, *arguments, shell=shell).returncode == status


@pytest.mark.parametrize("moment", ["cleanup", "exit"])
def test_ctrl_c_twice_prints_no_traceback(moment: str, tmp_path: Path) -> None:
    found = started(tmp_path, program=("-c", f"MOMENT = {moment!r}\n{LATE}"))
    assert found.returncode == 130
    assert found.stdout == ""
    assert "Traceback" not in found.stderr
    assert "Exception ignored" not in found.stderr


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


# ---- `stacklens app` where others can reach it: a warning, a link with a token, and nothing without it. ----
@pytest.mark.slow
def test_outside_this_machine_the_page_opens_with_the_printed_link_only(tmp_path: Path) -> None:
    with page_server(tmp_path, "--host", "0.0.0.0") as (process, line):
        assert process.stderr.readline().startswith("warning: others can reach this page: whoever has its link ")
        found = re.search(r"http://[^:]+:(\d+)(/\?token=[\w-]{32})", line())
        assert found
        base = f"http://127.0.0.1:{found[1]}"
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(base)
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        for path in (found[2], "/", "/api/papers"):
            with opener.open(base + path) as answer:
                assert answer.status == 200
                assert "token" not in answer.url


OWN = """
import torch
import stacklens as sl

def load():
    torch.manual_seed(0)
    cell, head = torch.nn.GRUCell(2, 6), torch.nn.Linear(6, 2)
    def step(symbols, hidden):
        hidden = cell(symbols, hidden)
        return hidden, torch.sigmoid(head(hidden))
    return sl.wrap(torch.nn.ModuleList([cell, head]), "()", step=step, outputs="next set", first="(")
"""


def test_the_page_says_where_it_is_opens_files_own_code_and_saved_results_and_ends(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN, encoding="utf-8")
    sl.extract("nnpda-1n0n", max_length=4, seed=3).save(tmp_path / "r.json")
    with page_server(tmp_path, str(GOOD), "mine:load", "r.json") as (process, line):
        file, own, saved, said = (line().strip() for _ in range(4))
        found = re.fullmatch(r"stacklens is at (http://127.0.0.1:\d+) \(Ctrl-C ends it\)", said)
        assert found
        base = found[1]
        assert re.fullmatch(re.escape(base) + r"/\?network=upload-[0-9a-f]{24}", file)
        with urllib.request.urlopen(file, timeout=30) as answer:
            assert b"<title>stacklens</title>" in answer.read()
        assert own.endswith("network=mine%3Aload")
        assert saved.endswith("network=nnpda-1n0n")
        shown = read(f"{base}/api/network?network=nnpda-1n0n")
        assert shown["settings"] == "sl.extract(network, max_length=4, seed=3)"
        assert read(f"{base}/api/word?network=mine:load&word=()")["letters"] == ["(", ")"]
        assert "mine:load" in [one["title"] for one in read(f"{base}/api/networks")["groups"][0]["networks"]]
        with pytest.raises(urllib.error.HTTPError, match="400"):
            read(f"{base}/api/network?network=os:getcwd")  # only what was typed is imported
        with ThreadPoolExecutor(40) as users:  # more than there are threads: some wait, which is no news
            list(users.map(lambda _: read(f"{base}/api/papers"), range(80)))
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        assert (line(), process.stderr and process.stderr.read()) == ("", "")


def read(address: str) -> Any:
    with urllib.request.urlopen(address) as answer:
        return json.load(answer)


# ---- Odd command lines: names, numbers and files that no command can do anything with are one line and status 2.
@pytest.fixture
def place(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run every command in a folder with a network, a pipe that nobody writes to, and files that are too large."""
    there = tmp_path / "place"
    there.mkdir()
    assert shell  # whose folder is another
    monkeypatch.chdir(there)
    shutil.copy(GOOD, "net.pt")
    shutil.copy(GOOD.with_suffix(".json"), "r.json")
    torch.save({**torch.load(GOOD, weights_only=True), "provenance": Evil(Path("marker-that-code-ran"))}, "code.pt")
    os.link("net.pt", "hard.pt")
    Path("soft.json").symlink_to("net.pt")
    Path("circle.json").symlink_to("circle.json")
    Path("dangling.json").symlink_to("nowhere/at/all")
    Path("there.json").write_text("kept")
    Path("bare").mkdir()
    Path("bad.txt").write_text("10\n1x\n")
    Path("dyck.json").write_text(to_json(get_language("dyck-2").automaton))
    Path("empty.json").touch()
    os.mkfifo("pipe")
    os.mkfifo("pipe.json")
    with open("huge.json", "wb") as file:
        file.truncate(1 << 34)  # 16 GB, of which nothing is on the disk
    return there


def timed_out(*_: object) -> None:
    raise AssertionError("it waited for ever")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        # arguments that are missing, unknown, or do not fit
        ("extract-pda", "Missing argument 'MODEL'; see extract-pda -h"),
        ("extract-pda net.pt --language klingon", "unknown language 'klingon'"),
        ("extract-pda net.pt --language palindrome", "palindrome has the alphabet a b c, the network 1 0; name"),
        ("extract-pda net.pt --format onnx", "unknown format 'onnx': expected"),
        ("extract-pda net.pt --device meta", "device 'meta' cannot be used here; expected cpu, or cuda where there is"),
        ("extract-pda net.pt --alphabet ab", "has the alphabet 1 0, not a b"),
        ("extract-pda net.pt --max-length -1", "Invalid value for '--max-length'"),
        ("extract-pda net.pt --max-length 60", "too many"),
        ("extract-pda net.pt --out none/x.dot", "cannot write none/x.dot: the folder none does not exist; make it fir"),
        ("extract-pda net.pt --report foo.txt", "cannot write foo.txt: expected a name that ends in .json"),
        ("stacklens verify --all --report foo.txt", "cannot write foo.txt: expected a name that ends in .json"),
        ("stacklens verify --all nnpda-palindrome", "with its own language, and takes no MODEL nnpda-palindrome; leav"),
        ("stacklens verify --all --automaton a.json", "takes no --automaton a.json; leave out one or the other"),
        ("stacklens verify --all net.pt --language x --resume", "takes no MODEL net.pt, --language x, --resume; leave"),
        ("stacklens verify net.pt --published x", "--published x: only the table of --all has published networks; add"),
        ("extract-pda net.pt --out x.txt", "cannot write x.txt: expected a name that ends in .dot, .json, .jff, .cfg,"),
        ("extract-pda net.pt --out x.dot --out x.doc", "cannot write x.doc: expected a name that ends in .dot"),
        ("stacklens", "Missing command; see stacklens -h"),
        ("stacklens fly", "No such command 'fly'; see stacklens -h"),
        ("stacklens train nnpda", "Missing option '--language'; see stacklens train nnpda -h"),
        ("stacklens train nnpda --language 1n0n --seeds 0", ", not '0'; see stacklens train nnpda -h"),
        ("stacklens verify net.pt --jbs 3", "No such option: --jbs (Possible options: --jobs); see stacklens verify -"),
        ("stacklens train nnpda --language 1n0n --order 4th", "order is '4th'; expected one of second, third, full"),
        ("stacklens train nnpda --language 1n0n --out x.json", "cannot write x.json: expected a name that ends in .pt"),
        ("stacklens train nnpda --language 1n0n --out .", "cannot write .: it is a folder; expected the name of a"),
        ("stacklens train nnpda --language palindrome --no-hints", "there is no recipe without hints for palindrome"),
        ("stacklens train nnpda --language 1n0n --neurons 40 --order full", "an NNPDA of order full with 40 state"),
        ("stacklens train nnpda --language 1n0n --resume net.pt --out x.pt", "this training is over; there is nothing"),
        ("stacklens train rnn --language nope", "unknown task 'nope'"),
        ("stacklens train rnn --language anbn", "anbn is an endless stream"),
        ("stacklens train stack-rnn --language dyck-2", "dyck-2 is none"),
        ("stacklens train neural-stack --language xor --controller gru", "controller is 'gru'; expected one of"),
        ("stacklens train lstm --language xor --device abacus", "device 'abacus' cannot be used here"),
        ("stacklens probe ablate net.pt --out t.txt", "cannot write t.txt: expected a name that ends in .csv"),
        ("stacklens probe saliency net.pt " + "1" * 1_001, "has 1,001 symbols; expected at most 1,000"),
        ("stacklens probe saliency net.pt ε", "the network decides nothing on the empty word"),
        (f"stacklens probe horizon {DATA}/rau/dyck2-depth3-transformer", "no stack whose actions could be rounded:"),
        ("stacklens probe linear neural-stack-reversal", "no hidden vector to probe"),
        ("stacklens probe causal no-such.json", "no-such.json"),
        ("stacklens sweep none-*.pt", "no file matches none-*.pt; expected trained networks"),
        ("stacklens sweep net.pt --out table.txt", "expected a name that ends in .csv, .json, .html, .svg, .png, .pdf"),
        ("stacklens sweep net.pt --language dyck-two", "dyck-two"),
        ("stacklens sweep net.pt --scheduler nowhere", "no Dask scheduler with a worker at 'nowhere'"),
        ("stacklens trace net.pt 10x1", "symbol 'x' is not in the alphabet 1 0"),
        ("stacklens trace net.pt 10 --out x.txt", "expected a name that ends in .csv, .json, .html, .svg, .png, .pdf"),
        ("stacklens trace net.pt 10 --figure x", "unknown figure 'x': expected one of actions, hidden, map, operation"),
        ("stacklens trace net.pt 10 --theme x", "unknown theme 'x': expected one of dark, light"),
        ("stacklens export net.pt --html x.htm", "cannot write x.htm: expected a name that ends in .html"),
        # what is read is looked at before it is opened
        ("extract-pda code.pt --report x.json", "code.pt: holds objects other than tensors and plain data, and loadin"),
        ("stacklens extract code.pt --out x.dot", "code.pt: holds objects other than tensors and plain data, and load"),
        ("stacklens trace code.pt 10", "code.pt: holds objects other than tensors and plain data, and loading them co"),
        ("stacklens train nnpda --language 1n0n --resume code.pt --out x.pt", "code.pt: holds objects other than tens"),
        ("extract-pda pipe", "pipe: is a pipe; expected a file with a network"),
        ("extract-pda pipe --format stack-rnn-cpp", "pipe: is a pipe; expected a file with a text file"),
        ("extract-pda huge.json", "huge.json: larger than 256 MiB; expected a network"),
        ("extract-pda net.pt --language ./pipe", "pipe: is a pipe; expected a file with a grammar"),
        ("extract-pda net.pt --language huge.json", "huge.json: larger than 32 MiB; expected a grammar"),
        ("stacklens verify net.pt --automaton /dev/zero", "/dev/zero: is a device; expected a file with an automaton"),
        ("stacklens verify pipe", "pipe: is a pipe; expected"),
        ("stacklens judge net.pt pipe", "pipe: is a pipe; expected a file with a text with a word a line"),
        ("stacklens judge net.pt huge.json", "huge.json: larger than 32 MiB; expected a text with a word a line"),
        ("stacklens app pipe --port 0", "pipe: is a pipe; expected"),
        ("stacklens train nnpda --language 1n0n --resume pipe --out x.pt", "pipe: is a pipe; expected"),
        ("stacklens papers report --findings x.md --readme pipe", "pipe: is a pipe; expected a file with a Markdown"),
        ("stacklens judge net.pt none.txt", "none.txt: no such file; expected a text with a word a line"),
        ("stacklens judge net.pt net.pt", "net.pt: not text in UTF-8; expected a text with a word a line"),
        ("stacklens judge net.pt bad.txt", "bad.txt: line 2: symbol 'x' is not in the alphabet 1 0"),
        ("stacklens verify", "which network? expected MODEL, a file with a trained network, or --all"),
        ("stacklens verify net.pt --automaton missing.json", "missing.json: no such file; expected an automaton"),
        ("stacklens verify net.pt --automaton dyck.json", "reads ( ) [ ]; expected the network's symbols, 1 0"),
        ("stacklens verify net.pt --language dyck-2", "language dyck-2 has the alphabet ( ) [ ], the network 1 0"),
        (f"stacklens verify {ZOO}/stack-rnn-anbn.pt", "anbn: not all words over its alphabet are meant"),
        (f"stacklens verify {DYCK} --automaton dyck.json", "dyck.json: an automaton without outputs"),
        ("stacklens verify --all --published bare", "--published bare: no networks there; expected a folder"),
        # what is written can be written
        ("stacklens judge net.pt bad.txt --out x.txt", "cannot write x.txt: expected a name that ends in .csv"),
        ("stacklens verify net.pt --journal net.pt/j", "cannot write net.pt/j: net.pt is a file; expected a folder"),
        ("extract-pda net.pt --out LONG.json", "File name too long; nothing was written"),
        ("stacklens verify net.pt --journal LONG", "File name too long; nothing was written"),
        ("extract-pda LONG", "File name too long; expected a network"),
        ("extract-pda net.pt --language LONG.json", "File name too long; expected a grammar"),
        ("extract-pda net.pt --out circle.json", "cannot write circle.json: Too many levels of symbolic links"),
        ("extract-pda net.pt --report dangling.json", "nowhere/at cannot be written to; choose another name"),
        ("stacklens verify net.pt --journal /dev/null", "cannot write the journal /dev/null: it is no file; name"),
        ("stacklens verify net.pt --journal pipe", "cannot write the journal pipe: it is no file; name another"),
        ("stacklens verify nofile.pt --report there.json", "nofile.pt: no such file; expected a network"),
        ("stacklens verify r.json --automaton a.json", "r.json has an automaton with it; leave out --automaton"),
        ("stacklens judge r.json bad.txt --automaton a.json", "r.json has an automaton with it"),
        ("stacklens show r.json --out x.txt", "cannot write x.txt: expected a name that ends in"),
        ("stacklens show none.json", "none.json: no such file; expected a result that stacklens saved"),
        ("stacklens show nnpda-1n0n", "nnpda-1n0n: no such file; expected a result that stacklens saved"),
        ("stacklens extract net.pt --save x.txt", "cannot write x.txt: expected a name that ends in .json"),
        # each to a file of its own
        ("stacklens show r.json --out r.json", "cannot write r.json: it is the result's own file"),
        ("stacklens extract net.pt --save x.json --report x.json", "they are one file"),
        ("extract-pda net.pt --out z.json --report ./z.json", "cannot write both z.json and z.json: they are one"),
        ("extract-pda net.pt --out z.json --report ../place/z.json", "z.json and ../place/z.json: they are one file"),
        ("extract-pda net.pt --out z.json --report Z.json", "cannot write both z.json and Z.json: they are one file"),
        ("extract-pda net.pt --out z.dot --out z.dot", "cannot write both z.dot and z.dot: they are one file"),
        ("stacklens verify net.pt --report net.verify.jsonl", "net.verify.jsonl: they are one file"),
        ("stacklens trace net.pt 10 --out z.csv --out ./z.csv", "cannot write both z.csv and z.csv: they are one"),
        ("stacklens papers report --readme z.md --findings ./z.md", "cannot write both z.md and z.md: they are one"),
        ("extract-pda net.pt --report hard.pt", "cannot write hard.pt: it is the network's own file; choose another"),
        ("extract-pda net.pt --out soft.json", "cannot write soft.json: it is the network's own file; choose another"),
        ("stacklens verify net.pt --journal ./net.pt", "cannot write net.pt: it is the network's own file; choose"),
        ("stacklens verify net.pt --automaton there.json --report there.json", "there.json: it is the automaton's"),
        ("extract-pda net.pt --language there.json --out there.json", "there.json: it is the language's own file;"),
        # numbers
        ("stacklens train nnpda --language 1n0n --seed " + 30 * "9", "Invalid value for '--seed': "),
        ("extract-pda net.pt --seed " + 5_000 * "9", "Invalid value for '--seed': "),
        ("extract-pda net.pt --jobs 100000", str(MOST_JOBS)),
        ("stacklens verify net.pt --max-length 1000000000", "too many to check one by one; ask for --max-length 42"),
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
    arguments: str, message: str, place: Path, shell: Shell
) -> None:
    before = {path.name: path.lstat().st_mtime_ns for path in place.iterdir()}
    command, *words = [word.replace("LONG", 300 * "x") for word in arguments.split()]
    signal.signal(signal.SIGALRM, timed_out)
    signal.alarm(60)
    try:
        found = shell(command, *words)
    finally:
        signal.alarm(0)
    check_refused(found, message)
    assert {path.name: path.lstat().st_mtime_ns for path in place.iterdir()} == before
