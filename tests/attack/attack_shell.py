"""Odd command lines, built from pieces: whatever they are, one line, a status that is true, and nothing overwritten.

The commands run in this process, in a folder full of odd files. What would take long once a line is accepted is done
quickly: extraction checks on few words, training trains nothing, the page is not served. Everything before that, which
is what can be wrong with a command line, is as it is.
"""

import contextlib
import hashlib
import io
import os
import random
import shlex
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from tests.attack.campaign import Attack

_LINES = 12  # a round
_ZOO = Path(__file__).parents[2] / "models" / "zoo"
_SLOW = "stack-rnn-anbn.pt"  # to extract from, not to run
_PLAIN = ("nnpda-1n0n.pt", "nnpda-palindrome.pt", "marnn-stack-rnn-dyck-2.pt", _SLOW)
_GRAMMAR = "S -> 1 S 0 | 1 0\n"
_AUTOMATON = """{"states": ["q"], "input_alphabet": ["1", "0"]}"""
_LONG = 35  # words of two symbols that nobody can run all of
_MAY_DIFFER = ("extract", "verify", "judge", "export", "extract-pda")  # whose status 1 means something

_NAMES = (
    *_PLAIN, "nofile.pt", ".", "/", "", " ", "empty", "text.txt", "cut.pt", "pipe", "huge.json", "loop", "dangling",
    "link.pt", "./nnpda-1n0n.pt", "no/such/file", "-dash.pt", "--", "ü🙂é.pt", "a\nb.pt", "\x1b[31m.pt", "\udcff.pt",
    "/dev/null", "/dev/zero", "/dev/full", "/dev/stdin", "/dev/tty", "/proc/self/mem", "/proc/self/environ",
    "x" * 300, "nnpda-1n0n.pt/x", "words.txt", "g.cfg", "a.json", "deep.json", "nest.json", "utf16.txt", "~", "$HOME",
)  # fmt: skip
_SUFFIXES = (".json", ".dot", ".jff", ".svg", ".csv", ".html", ".txt", "", ".JSON", ".json.", ".pt")
_OUTPUTS = (
    "new", "NEW", "./new", "there", "no/new", "x" * 300, "folder", "ü🙂", "-new", "a b", "a\nb", "\udcff", "loop",
    "dangling", "../place/new", "sealed/new",
)  # fmt: skip
_NUMBERS = (
    "0", "1", "2", "4", "-1", "", " 3", "1e3", "2.5", "0x10", "1_0", "٣", "99", "1000", "100000", "4294967295",
    "4294967296", "9223372036854775808", 30 * "9", 5_000 * "9", "nan", "inf", "--",
)  # fmt: skip
_LANGUAGES = (
    "1n0n", "palindrome", "dyck-2", "dyck-0", "dyck-1000", "dyck-1001", "dyck-99999999999", "dyck-" + 5_000 * "9",
    "dyck-٣", "", "klingon", "g.cfg", "deep.json", "nest.json", "a.json", "./pipe", "pipe", "folder", "/dev/zero",
    "huge.json", "empty", "x" * 100_000, "anbn", "addition", "\udcff",
)  # fmt: skip
_WORDS = (
    "10", "", "ε", "1x0", "1" * 99, "1" * 5_000, "( )", "\n", "🙂", "\udcff", "1 0", "-", "--rounded", "ab", "#", "()",
)  # fmt: skip
_STREAMS = ("utf-8", "ascii", "latin-1", "utf-16")


@dataclass(frozen=True)
class _Ended:
    """How a command line ended."""

    status: object
    out: str
    error: str


def _round(seed: int) -> Counter[str]:
    rng, tried = random.Random(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as name, _quick(), _kept_places():
        for number in range(_LINES):
            place = Path(name) / str(number) / "place"
            _furnish(place)
            os.chdir(place)
            program, words = _line(rng)
            environment = {
                "COLUMNS": str(rng.randint(20, 300)),
                "TERM": rng.choice(("dumb", "xterm", "")),
                "HOME": rng.choice(("", "/nonexistent", name)),
            }
            before, read = _seen(place), _contents(words)
            encoding, given = rng.choice(_STREAMS), rng.choice((None, b"", b"10\n", b"\xff\xfe\n", b"1\0 0\n" * 99))
            ended = _run(program, words, environment, encoding, given)
            shown = f"{shlex.join([program, *words])[:2_000]!a} in {environment} on {encoding}, input {given!r}"
            _judge(program, words, ended, before == _seen(place), read == _contents(words), shown)
            tried["command lines"] += 1
            tried[f"status {ended.status}"] += 1
            os.chdir("/")
    return tried


def _judge(program: str, words: list[str], ended: _Ended, untouched: bool, unread: bool, shown: str) -> None:
    """Assert that a command line ended as it should."""
    command = words[0] if program == "stacklens" and words else program
    told = f"{shown}: {ended}"[:6_000]
    assert "Traceback" not in ended.error + ended.out, told
    assert ended.status in (0, 1, 2, 3, 130), told
    assert ended.status not in (1, 3) or command in _MAY_DIFFER, f"a status without a meaning: {told}"
    assert unread, f"a file that was read was overwritten: {told}"
    if ended.status == 2:
        assert ended.error.startswith("error: "), told
        assert ended.error.count("\n") == 1, f"not one line: {told}"
        assert len(ended.error) < 6_000, f"a very long line: {told}"
        late = words[:2] == ["papers", "report"] or "/dev/full" in words  # the first of two files, a journal
        assert untouched or late, f"something was written: {told}"


def _run(program: str, words: list[str], environment: dict[str, str], encoding: str, given: bytes | None) -> _Ended:
    from stacklens import __main__ as stacklens_command
    from stacklens.cli import extract as extract_command

    out, error = (io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2))
    stdin = None if given is None else io.TextIOWrapper(io.BytesIO(given), encoding="utf-8")
    patches = (("argv", [program, *words]), ("stdout", out), ("stderr", error), ("stdin", stdin))
    status: object = "returned"
    with contextlib.ExitStack() as patched:
        patched.enter_context(mock.patch.dict(os.environ, environment))
        for name, value in patches:
            patched.enter_context(mock.patch.object(sys, name, value))
        try:
            (extract_command if program == "extract-pda" else stacklens_command).main()
        except SystemExit as ended:
            status = ended.code
    texts = []
    for stream in (out, error):
        stream.flush()
        binary = stream.buffer
        assert isinstance(binary, io.BytesIO)
        texts.append(binary.getvalue().decode(encoding))
    return _Ended(status, *texts)


def _line(rng: random.Random) -> tuple[str, list[str]]:
    """Return a program and its arguments."""
    kind = rng.choices(list(_COMMANDS), [weight for weight, _ in _COMMANDS.values()])[0]
    words = [*kind.split(), *_COMMANDS[kind][1](rng)]
    if rng.random() < 0.1:  # anything, anywhere
        words.insert(rng.randrange(1, len(words) + 1), rng.choice((*_NAMES, *_WORDS, "-h", "--quiet", "--nonsense")))
    program, *words = words
    return program, [word.replace("\0", "") for word in words]


def _options(rng: random.Random, *choices: tuple[str, Callable[[random.Random], str]]) -> list[str]:
    """Return some of the options, each with a value."""
    words: list[str] = []
    for option, value in rng.sample(choices, min(len(choices), rng.choice((0, 1, 1, 2, 3)))):
        words += [option] if option == "--quiet" else [option, value(rng)]
    return words


def _name(rng: random.Random) -> str:
    return rng.choice(_PLAIN if rng.random() < 0.6 else _NAMES)


def _output(suffixes: tuple[str, ...]) -> Callable[[random.Random], str]:
    def chosen(rng: random.Random) -> str:
        if rng.random() < 0.2:
            return rng.choice([name for name in _NAMES if name not in ("pipe", "/dev/stdin", "/dev/tty")])
        suffix = rng.choice(suffixes if rng.random() < 0.8 else _SUFFIXES)
        return rng.choice(_OUTPUTS) + suffix

    return chosen


def _any(*values: str) -> Callable[[random.Random], str]:
    return lambda rng: rng.choice(values)


_number, _language = _any(*_NUMBERS), _any(*_LANGUAGES)
_small = _any(*(number for number in _NUMBERS if number not in ("99", "1000")))
_PICTURES = (".dot", ".json", ".jff", ".svg")
_QUIET = ("--quiet", _number)


def _extract(rng: random.Random) -> list[str]:
    options = _options(
        rng, ("--out", _output(_PICTURES)), ("--out", _output(_PICTURES)), ("--report", _output((".json",))),
        ("--language", _language), ("--seed", _number), ("--jobs", _any("1", "0", "100000", "x")), _QUIET,
        ("--states", _number), ("--stack-symbols", _number), ("--alphabet", _any("", "10", "1 0", "11", "🙂", " ")),
        ("--format", _any("auto", "onnx", "", "marnns", "stacknn", "stack-rnn-cpp", "stacklens")),
        ("--device", _any("cpu", "meta", "", "cuda:99", "gpu", "cpu:1")),
    )  # fmt: skip
    model = [_name(rng)] * (rng.random() < 0.95)
    if model == [_SLOW]:
        model = ["nnpda-1n0n.pt"]
    return [*model, "--max-length", rng.choice(("3", "4", _number(rng))), *options]


def _verify(rng: random.Random) -> list[str]:
    options = _options(
        rng, ("--automaton", _name), ("--language", _language), ("--jobs", _any("1", "0", "100000")), _QUIET,
        ("--journal", _output(("", ".jsonl"))), ("--report", _output((".json",))), ("--scheduler", _any("x", "")),
    )  # fmt: skip
    resume = ["--resume"] * (rng.random() < 0.2)
    return [*([_name(rng)] * (rng.random() < 0.95)), "--max-length", rng.choice(("3", _number(rng))), *options, *resume]


def _judge_line(rng: random.Random) -> list[str]:
    options = _options(rng, ("--automaton", _name), ("--language", _language), ("--out", _output((".csv",))))
    return [_name(rng), rng.choice(("words.txt", "-", *_NAMES)), *options]


def _trace(rng: random.Random) -> list[str]:
    options = _options(
        rng, ("--out", _output((".csv", ".json"))), ("--out", _output((".csv", ".json", ".html"))),
        ("--figure", _any("paper", "x", "")), ("--theme", _any("light", "dark", "x")), ("--automaton", _name),
    )  # fmt: skip
    return [_name(rng), rng.choice(_WORDS), *(["--rounded"] * (rng.random() < 0.3)), *options]


def _export(rng: random.Random) -> list[str]:
    options = _options(rng, ("--word", _any(*_WORDS)), ("--language", _language), ("--seed", _number), _QUIET)
    model = _name(rng).replace(_SLOW, "nnpda-1n0n.pt")
    return [model, "--html", _output((".html",))(rng), "--max-length", rng.choice(("3", _number(rng))), *options]


def _train(rng: random.Random) -> list[str]:
    options = _options(
        rng, ("--seed", _number), ("--seeds", _small), ("--out", _output((".pt", ""))), ("--resume", _name), _QUIET,
        ("--hidden", _small), ("--epochs", _number), ("--neurons", _small), ("--order", _any("second", "x")),
    )  # fmt: skip
    language = _language(rng).replace("dyck-1000", "dyck-2")  # whose words take long to draw
    return [rng.choice(("nnpda", "rnn", "transformer")), "--language", rng.choice(("1n0n", language)), *options]


def _papers(rng: random.Random) -> list[str]:
    command = rng.choice(("list", "table", "report", "run", "x"))
    results = ["--results", rng.choice(_NAMES)] * (rng.random() < 0.7)
    given = {"list": [], "table": [rng.choice(("sun1993", "", "x"))], "run": ["none", "--seeds", _number(rng)], "x": []}
    if command == "report":
        return ["report", "--readme", _output((".md",))(rng), "--findings", _output((".md", ".txt"))(rng)]
    return [command, *given[command], *results]


def _app(rng: random.Random) -> list[str]:
    hosts, ports = _any("", "x", "256.1.1.1", "🙂", "\udcff"), _any("0", "-1", "99999", "x")
    return [*_options(rng, ("--port", ports), ("--host", hosts)), "nofile.pt"]


_COMMANDS: dict[str, tuple[float, Callable[[random.Random], list[str]]]] = {
    "extract-pda": (2, _extract),
    "stacklens extract": (1, _extract),
    "stacklens verify": (3, _verify),
    "stacklens judge": (3, _judge_line),
    "stacklens trace": (3, _trace),
    "stacklens export": (0.5, _export),
    "stacklens train": (1.5, _train),
    "stacklens papers": (1, _papers),
    "stacklens app": (0.3, _app),
    "stacklens": (0.3, lambda rng: [rng.choice((*_NAMES, "--version", "-h"))]),
}


def _furnish(place: Path) -> None:
    """Make a folder with all that a command may be given."""
    place.mkdir(parents=True)
    for name in _PLAIN:
        shutil.copy(_ZOO / name, place / name)
    whole = (place / _PLAIN[0]).read_bytes()
    for name in ("-dash.pt", "ü🙂é.pt", "a\nb.pt", "\x1b[31m.pt", "\udcff.pt"):
        (place / name).write_bytes(whole)
    (place / "cut.pt").write_bytes(whole[: len(whole) // 2])
    texts = {"empty": "", "text.txt": "hello\n", "words.txt": "10\n\nε\n110\n", "g.cfg": _GRAMMAR, "a.json": _AUTOMATON}
    texts |= {"deep.json": 100_000 * "[", "nest.json": 3_000 * '{"a":' + "1" + 3_000 * "}", "there.json": "kept"}
    for name, text in texts.items():
        (place / name).write_text(text, encoding="utf-8")
    (place / "utf16.txt").write_text("10\n", encoding="utf-16")
    (place / "link.pt").symlink_to(_PLAIN[0])
    (place / "loop").symlink_to("loop")
    (place / "dangling").symlink_to("nowhere/at/all")
    os.mkfifo(place / "pipe")
    (place / "folder").mkdir()
    (place / "sealed").mkdir(mode=0o500)
    with (place / "huge.json").open("wb") as file:
        file.truncate(1 << 34)


def _seen(place: Path) -> dict[str, tuple[int, int]]:
    return {os.fsdecode(path): (path.lstat().st_mtime_ns, path.lstat().st_size) for path in place.parent.rglob("*")}


def _contents(words: list[str]) -> dict[str, str]:
    """Return a checksum of every network among the arguments: no command writes to what it reads."""
    read = {os.path.realpath(name) for name in words if name.endswith(".pt") and "--resume" not in words}
    read -= {os.path.realpath(after) for option, after in pairwise(words) if option == "--out"}
    return {name: hashlib.sha256(Path(name).read_bytes()).hexdigest() for name in sorted(read) if os.path.isfile(name)}


@contextlib.contextmanager
def _kept_places() -> Iterator[None]:
    """Put back the folder that the process is in, and what Ctrl-C does."""
    import signal

    here, interrupted = os.getcwd(), signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        os.chdir(here)
        signal.signal(signal.SIGINT, interrupted)


@contextlib.contextmanager
def _quick() -> Iterator[None]:
    """Let what comes after an accepted command line be quick."""
    from stacklens.extract import extraction

    whole = extraction.extract

    def few(model: Any, language: Any, config: Any, *rest: Any) -> Any:
        asked = config.max_length
        length = 4 if asked is None or asked < _LONG else asked  # what is too long is refused
        config = replace(config, max_length=length, long_words=30, deep_words=1, depth=10, height=3, climbs=1, walks=3)
        return whole(model, language, config, *rest)

    served = SimpleNamespace(run=lambda: None, close=lambda: None)
    with (
        mock.patch("stacklens.extract.extraction.extract", few),
        mock.patch("stacklens.cli.train._run_trainer", return_value=None),
        mock.patch("waitress.create_server", return_value=served),
    ):
        yield


ATTACKS = (Attack("shell: odd command lines", _round),)
