"""What a browser asks, read and checked before anything is done with it, and how it is answered."""

import json
import threading
import time
import tomllib
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from flask import Response, request

from ...core.errors import StacklensError
from ...core.progress import count

# the Python lines of panels, texts, how tables look, the headers of every answer
PAGE: dict[str, Any] = tomllib.loads((Path(__file__).parent / "assets" / "page.toml").read_text(encoding="utf-8"))

# ---- What is shown, as a value, read from the part of an address after `?`, so that a link shows the same again ----


@dataclass(frozen=True)
class View:
    """What is shown."""

    network: str = "marnn-stack-rnn-dyck-2"  # the name of a network, see `networks`
    word: str | None = None  # the word as it is typed; None for one that suits the network
    rounded: bool = False  # whether the rounded network is shown
    figure: str = "paper"  # which figure, one of `figures.FIGURES`
    step: int = 1  # the current step, from 1


def view_of(search: str | None) -> View:
    """Return the view that an address's ``search`` part asks for; what it leaves out or garbles is as by default.

    >>> view_of("?network=nnpda-1n0n&word=10&step=2&rounded=1")
    View(network='nnpda-1n0n', word='10', rounded=True, figure='paper', step=2)
    """
    asked = dict(parse_qsl((search or "").removeprefix("?"), keep_blank_values=True))
    step = asked.get("step", "")
    return View(
        network=asked.get("network", View.network),
        word=asked.get("word"),
        rounded=asked.get("rounded") == "1",
        step=int(step) if step.isascii() and step.isdigit() and 0 < len(step) < 7 else 1,
    )


# ---- Work on long words: one piece after another for all users, so that everybody else is answered meanwhile.
#
# Python runs one thread at a time: eight words of 10,000 symbols at once would keep all users waiting for all of them.
# So long words are worked on one at a time, first come first served, and a page that asks for one learns at once how
# many come first, and asks again. A process of its own does it, begun with the first: in a thread it would hardly run.

LONG = 500  # symbols of a word; a shorter one takes a fraction of a second
_WAITING = 24  # pieces of work; a word has two or three
_KEPT = 8  # results that are at hand; a page asks for them again when another panel changes
_SOON = 1.0  # seconds that a request waits for what is being worked on
_FORGOTTEN = 15.0  # seconds without a question after which a browser counts as gone


class NotYetError(StacklensError):
    """Raised in place of a result that is not there yet: ask again."""


@dataclass
class _Piece:
    """One piece of work: what does it, what comes of it, and when it was last asked for."""

    work: Callable[[], Any]
    found: Future[Any]
    asked: float = 0.0


class Turns:
    """Pieces of work that are done one after another by a thread that is there as long as there are any.

    So many may be ``waiting``, and a request waits ``soon`` seconds for what is being worked on. The thread is no
    executor's, which Python would wait for when the server ends.
    """

    def __init__(self, waiting: int = _WAITING, soon: float = _SOON) -> None:
        self._most, self._soon = waiting, soon
        self._lock = threading.Lock()
        self._pieces: dict[Any, _Piece] = {}  # those that are ended first, then in order of turns
        self._works = False

    def result(self, key: Any, work: Callable[[], Any], patience: float | None = None) -> Any:
        """Return what comes of ``work``, done in its turn; pieces with one ``key`` are one.

        It waits ``patience`` seconds, whatever comes first; by default only for what is being worked on.

        Raises:
            NotYetError: it is not there yet, or too much waits.
            Exception: as ``work`` raised it.
        """
        with self._lock:
            to_do = [name for name, piece in self._pieces.items() if not piece.found.done()]
            before = to_do.index(key) if key in to_do else len(to_do)
            if key not in self._pieces and before >= self._most:
                raise NotYetError(f"{_RULE}; {before} wait, which is the most: try again in a minute")
            piece = self._pieces.setdefault(key, _Piece(work, Future()))
            piece.asked = time.monotonic()
            if not self._works:
                self._works = True
                threading.Thread(target=self._do_all, daemon=True).start()
        # a piece that is ended already has its result at once, whatever is waited for it
        ended = wait([piece.found], patience if patience is not None else self._soon if before == 0 else 0).done
        if not ended:
            others = f"; {count(before, 'piece')} of work {'comes' if before == 1 else 'come'} first" if before else ""
            raise NotYetError(f"{_RULE}{others}: the result appears here by itself")
        return piece.found.result()

    def _do_all(self) -> None:
        while (piece := self._next()) is not None:
            try:
                piece.found.set_result(piece.work())
            except BaseException as error:  # raised where the result is asked for
                piece.found.set_exception(error)

    def _next(self) -> _Piece | None:
        """Return what is to be done now, without pieces that nobody asks for any more and the oldest results."""
        with self._lock:
            gone = time.monotonic() - _FORGOTTEN
            ended = [key for key, piece in self._pieces.items() if piece.found.done()]
            left = [key for key, piece in self._pieces.items() if not piece.found.done() and piece.asked < gone]
            for key in [*ended[: max(0, len(ended) - _KEPT)], *left]:
                del self._pieces[key]
            waits = [piece for piece in self._pieces.values() if not piece.found.done()]
            self._works = bool(waits)
            return waits[0] if waits else None


_RULE = f"proofs, and words of more than {LONG:,} symbols, are worked on one at a time"
TURNS = Turns()


# ---- What a browser asks, read and checked before anything is done with it, and how it is answered ----

LARGEST_JSON = 2_000_000  # bytes of what is sent when something is asked
_MOST = 2**31  # of what is counted
_SHOWN = 60  # characters of what was sent
Reader = Callable[[str], Any]  # of a parameter, given its name


def json_answer(value: Any, status: int = 200) -> Response:
    """Return ``value`` as the answer to a request, without spaces and without numbers that are none."""
    return Response(json.dumps(value, separators=(",", ":"), allow_nan=False), status, mimetype="application/json")


def answering(route: Callable[..., Any], readers: Mapping[str, Reader] | None = None) -> Callable[[], Response]:
    """Return a view that answers as JSON what ``route`` returns, given the parameters that ``readers`` read.

    What is wrong is one sentence, in "problem" or "wait".
    """

    def answer() -> Response:
        try:
            value = route(*(read(name) for name, read in (readers or {}).items()))
        except NotYetError as error:
            return json_answer({"wait": f"{error}."}, 202)
        except StacklensError as error:
            return json_answer({"problem": f"{error}."}, 400)
        return value if isinstance(value, Response) else json_answer(value)

    return answer


def body() -> dict[str, Any]:
    """Return the JSON object that a request sends."""
    if request.content_length is None or request.content_length > LARGEST_JSON:
        raise StacklensError(f"the body of this request is larger than {LARGEST_JSON:,} bytes, or of no known size")
    try:
        found = json.loads(request.get_data())
    except (ValueError, RecursionError):
        raise StacklensError("the body of this request is no JSON") from None
    if not isinstance(found, dict):
        raise StacklensError("the body of this request is no object")
    return found


def text(name: str, default: str | None = None, among: dict[str, Any] | None = None) -> str:
    """Return the parameter called ``name``, of the address or of ``among``."""
    found = (request.args if among is None else among).get(name, default)
    # half a letter outside the first plane cannot be written down
    if not isinstance(found, str) or found.encode(errors="ignore").decode() != found:
        raise StacklensError(f"{name} is {_shown_value_sent(found)}; expected a text")
    return found


def texts(name: str) -> list[str]:
    """Return the parts, with commas between, of the parameter called ``name``."""
    return [part for part in text(name, "").split(",") if part]


def flag(name: str) -> bool:
    """Return whether the parameter called ``name`` is 1."""
    return request.args.get(name) == "1"


def one_of(name: str, choices: tuple[str, ...], default: str | None = None, among: dict[str, Any] | None = None) -> str:
    """Return the parameter called ``name``, of the address or of ``among``, which is one of ``choices``."""
    found = text(name, default, among)
    if found not in choices:
        raise StacklensError(f"{name} is {_shown_value_sent(found)}; expected one of {', '.join(choices)}")
    return found


def number(name: str, default: int = 0) -> int:
    """Return the parameter called ``name``, a whole number from 0."""
    found = request.args.get(name, str(default))
    if not (found.isascii() and found.isdigit() and len(found) < 11 and int(found) < _MOST):
        raise StacklensError(f"{name} is {_shown_value_sent(found)}; expected a whole number from 0")
    return int(found)


def _shown_value_sent(value: Any) -> str:
    shown = json.dumps(value, default=str)
    return shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 3]}..."
