"""Mutated files of every format, each opened in a process with limits: it loads, or one line says why not.

The files are saved by our own writers, or written here as the formats are described, with small networks. They are then
spoiled in one to three ways. What still loads has to survive a short word too.
"""

import ctypes
import json
import os
import random
import resource
import signal
import sys
import tempfile
import traceback
from collections import Counter
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from unittest import mock

import torch
from tests.attack.campaign import Attack
from tests.attack.file_kinds import KINDS, spoiled
from tests.attack.made_results import DIGESTS, FORGERIES, forged, tampered

import stacklens as sl
from stacklens.automata.enumeration import compile_tables
from stacklens.automata.formats import read_automaton
from stacklens.automata.formats.json import from_json, to_json
from stacklens.automata.pda import PushdownAutomaton
from stacklens.core.errors import StacklensError
from stacklens.extract.by_name import specification_of
from stacklens.extract.evaluation.judge import parse_words
from stacklens.languages.catalogue import language_from_file
from stacklens.languages.language import make_word
from stacklens.models.checkpoint import load_network
from stacklens.models.rounding import Rounded
from stacklens.probe.trace import trace

_FILES, _TAMPERED = 20, 6  # a round
_SECONDS, _WALL = 10, 120  # of processor time and of the clock, for one file
_MEMORY = 2 << 30  # more than the process had before the first file
_SERVER = get_context("forkserver")  # a fresh process a round without importing torch anew


def _round(kinds: tuple[str, ...], seed: int) -> Counter[str]:
    """Return what was opened in a process of its own; a file that kills it is known by the number it gave last."""
    ours, theirs = _SERVER.Pipe()
    worker = _SERVER.Process(target=_serve, args=(theirs, kinds, seed))
    _start(worker)
    theirs.close()
    tried: Counter[str] = Counter()
    now = "no file yet"
    try:
        while True:
            what, text = ours.recv()
            if what == "opening":
                now = text
            elif what == "over":
                break
            else:
                tried[what] += 1
                assert what in ("files that load", "files refused"), f"seed {seed}, {now}: {text}"
    except EOFError:
        worker.join()
        code = worker.exitcode or 0
        how = signal.Signals(-code).name if code < 0 else f"status {code}"
        raise AssertionError(f"seed {seed}, {now}: the process ended with {how}") from None
    finally:
        worker.kill()
        worker.join()
        ours.close()
    return tried


def _start(worker: BaseProcess) -> None:
    """Start ``worker``, and before the first one the server, which imports from where we import from."""
    _SERVER.set_forkserver_preload(["tests.attack.attack_files"])
    with mock.patch.dict(os.environ, PYTHONPATH=os.pathsep.join(path for path in sys.path if path)):
        worker.start()


def _serve(pipe: Connection, kinds: tuple[str, ...], seed: int) -> None:
    """Open one file after the other, saying which before each and what came of it after."""
    rng = random.Random(seed)
    _limit_memory()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(_FILES):
            kind = rng.choice(kinds)
            one = random.Random(f"{seed} {number}")
            path = Path(folder) / f"{number}{KINDS[kind].suffix}"
            pipe.send(("opening", f"file {number} of {kind}, being made"))
            data, how = spoiled(kind, one)
            path.write_bytes(data)
            pipe.send(("opening", f"file {number}, {kind}, {len(data)} bytes, spoiled by {how}"))
            signal.setitimer(signal.ITIMER_PROF, _SECONDS)  # whoever takes longer ends with SIGPROF, or SIGALRM
            signal.alarm(_WALL)
            what = use(kind, path)
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.alarm(0)
            pipe.send(what)
            path.unlink()
    pipe.send(("over", ""))
    pipe.close()


def _limit_memory() -> None:
    ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = pages * os.sysconf("SC_PAGE_SIZE") + _MEMORY
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _tampered(seed: int) -> Counter[str]:
    """Return how many tampered results ended as a line, or told no claim that is not marked or true.

    A third are forged, with digests that fit, do not, or are gone; of the others one place is changed.
    """
    rng, tried = random.Random(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "result.json"
        for number in range(_TAMPERED):
            what, digests = rng.choice(sorted(FORGERIES)), rng.choice(DIGESTS)
            content, how = tampered(rng) if number % 3 else (forged(what, digests), f"{what}, digests {digests}")
            path.write_text(json.dumps(content), encoding="utf-8")
            tried[_judged(path, f"seed {seed}, {how}")] += 1
    return tried


def _judged(path: Path, how: str) -> str:
    """Return what became of a tampered result; its claims are held against a search of their own."""
    try:
        loaded = sl.load(path)
    except sl.StacklensError as error:
        line = str(error)
        assert line.isprintable(), f"{how}: {line!r}"
        assert line.startswith(f"{path}: "), f"{how}: {line}"
        return "tampered results refused"
    claims = ("horizon ", "checked ", "counted ", "proof ", "certified ", "rounding ", "causal ")
    for line in str(loaded).splitlines():
        assert not line.startswith(claims) or line.endswith("(as stored, not checked)"), f"{how}: {line}"
    assert "as stored, not checked" in repr(loaded), how
    again = loaded.checked_again()
    told = str(again)
    if again.automaton is None or "proof" in again.as_stored:
        return "tampered results that could not be checked"
    assert again.language is not None, how
    words = again.language.short_words(2_000)
    if again.model.task_kind == "recognition":
        mine = [again.automaton.accepts(word) for word in words]
        wrong = [word for word, one in zip(words, mine, strict=True) if one != (word in again.language.language)]
        assert not (wrong and told.startswith("Proved equal")), f"{how}: proved equal, and differs on {wrong[:1]}"
    certificate = sl.certify(again.model, again) if "certificate" not in again.as_stored else None
    if isinstance(again.certificate.certificate, sl.Certified):
        assert certificate is None or again.certificate.words != "all" or isinstance(certificate, sl.Certified), how
    return "tampered results checked again"


# ---- What is done with a file that may be spoiled: it is opened, and if that works, put to a small use. ----
_LONGEST = 2_100  # characters of a message about a file


def use(kind: str, path: Path) -> tuple[str, str]:
    """Return "files that load" or "files refused", or else what is wrong with how the file ended, and the details."""
    torch.set_num_threads(1)
    try:
        _USES[KINDS[kind].opened](path)
    except StacklensError as error:
        message = str(error)
        if not message.isprintable() or len(message) > _LONGEST + len(str(path)) or not message:
            return "messages that are no line", repr(message[:3_000])
        return "files refused", message
    except MemoryError:
        return "files that fill the memory", traceback.format_exc()[-2_000:]
    except Exception:
        return "tracebacks", traceback.format_exc()[-3_000:]
    return "files that load", ""


def _network(path: Path) -> None:
    checkpoint = load_network(path)
    model, rng = checkpoint.model, random.Random(1)
    repr(checkpoint.task)
    repr(checkpoint.provenance)
    words = [make_word([rng.choice(model.alphabet) for _ in range(n)], model.alphabet) for n in (0, 1, 3)]
    for network in (model, Rounded(model)):
        trace(network, words[1:])
    specification_of(checkpoint)


def _automaton(path: Path) -> None:
    pda = read_automaton(path)
    assert from_json(to_json(pda)) == pda
    _run(pda)
    compile_tables(pda)


def _run(pda: PushdownAutomaton) -> None:
    rng = random.Random(2)
    for length in (0, 1, 4):
        word = [rng.choice(pda.input_alphabet) for _ in range(length)] if pda.input_alphabet else []
        pda.accepts(word)
        list(pda.run(word))


def _language(path: Path) -> None:
    language = language_from_file(path)
    rng = random.Random(3)
    for length in (0, 1, 4):
        word = make_word([rng.choice(language.alphabet) for _ in range(length)], language.alphabet)
        assert (word in language) in (True, False)
        language.is_live(word)
    if len(language.alphabet) <= 8:
        list(language.words(2))


def _words(path: Path) -> None:
    parse_words(path.read_text(encoding="utf-8", errors="replace"), "()[]")


def _result(path: Path) -> None:
    result = sl.load(path)
    if not isinstance(result, sl.Extraction):  # a file may say that it is an automaton
        return
    shown = f"{result}{result!r}{result.why()}"
    assert all(c.isprintable() or c == "\n" for c in shown), shown
    assert result == result
    result.save(path)
    assert sl.load(path) == result


def _trace(path: Path) -> None:
    seen = sl.load(path)
    str(seen)
    assert seen == seen
    seen.save(path)
    assert sl.load(path) == seen


_USES = {
    "network": _network,
    "automaton": _automaton,
    "language": _language,
    "words": _words,
    "result": _result,
    "trace": _trace,
}

_NETWORKS = tuple(kind for kind, made in KINDS.items() if made.opened == "network")
_KEPT = ("result", "trace")
_TEXTS = tuple(kind for kind in KINDS if kind not in (*_NETWORKS, *_KEPT))

ATTACKS = (
    Attack("files: networks", lambda seed: _round(_NETWORKS, seed)),
    Attack("files: automata, grammars and word lists", lambda seed: _round(_TEXTS, seed)),
    Attack("files: results and traces", lambda seed: _round(_KEPT, seed)),
    Attack("files: tampered results", _tampered),
)
