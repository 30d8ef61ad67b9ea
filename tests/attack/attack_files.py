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
from collections import Counter
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

from tests.attack.campaign import Attack
from tests.attack.file_kinds import KINDS, spoiled

_FILES, _TAMPERED = 20, 6  # a round
_SECONDS, _WALL = 10, 120  # of processor time and of the clock, for one file
_MEMORY = 2 << 30  # more than the process had before the first file
_SERVER = get_context("forkserver")  # a fresh process a round without importing torch anew
_PRELOADED = ["tests.attack.attack_files", "tests.attack.file_uses"]


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
    _SERVER.set_forkserver_preload(_PRELOADED)
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    try:
        worker.start()
    finally:
        del os.environ["PYTHONPATH"]
        if before is not None:
            os.environ["PYTHONPATH"] = before


def _serve(pipe: Connection, kinds: tuple[str, ...], seed: int) -> None:
    """Open one file after the other, saying which before each and what came of it after."""
    from tests.attack.file_uses import use

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
    from tests.attack.made_results import DIGESTS, FORGERIES, forged, tampered

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
    import stacklens as sl

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


_NETWORKS = tuple(kind for kind, made in KINDS.items() if made.opened == "network")
_KEPT = ("result", "trace")
_TEXTS = tuple(kind for kind in KINDS if kind not in (*_NETWORKS, *_KEPT))

ATTACKS = (
    Attack("files: networks", lambda seed: _round(_NETWORKS, seed)),
    Attack("files: automata, grammars and word lists", lambda seed: _round(_TEXTS, seed)),
    Attack("files: results and traces", lambda seed: _round(_KEPT, seed)),
    Attack("files: tampered results", _tampered),
)
