"""The check on words that go round: every short cycle of an automaton, repeated up to a thousand times.

A network that leaves a little behind at every round is right on all short words, and on all drawn ones, which do not
repeat; and yet a word that anyone would type breaks it: `[()]` twelve times.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import torch

from ..automata.coverage import conformance_words
from ..automata.pda import PushdownAutomaton, Symbol, Word
from ..automata.product import is_stackless
from ..automata.pumping import Pump, pumps
from ..automata.rewriting import has_real_time_form
from ..languages.words import make_word, named_parts
from ..models.base import NetworkState, StackModel
from .agreement import Agreement, differing, side_name
from .answers import automaton_answers
from .specification import Specification

# ---- Families of words that go round, in numbers: what is read at every step, and what the automaton says to it.
#
# The automaton is asked for some numbers of rounds only. From one round to the next its answers repeat; families of
# which they do not, as where a state counts rounds, are left out.

ANY = -2  # in place of an answer that does not count
_ROUNDS_OF_A_LINE = (3, 5)  # those for which the automaton is asked

_Numbers = np.ndarray  # of letters or of answers, (T,) int64


@dataclass(frozen=True)
class LinePart:
    """Letters, and the answers to them (`ANY` from recognisers, which are asked at the end only)."""

    letters: _Numbers
    said: _Numbers

    def __len__(self) -> int:
        return len(self.letters)

    def times(self, n: int) -> LinePart:
        """Return it ``n`` times."""
        return LinePart(np.tile(self.letters, n), np.tile(self.said, n))


@dataclass(frozen=True)
class Line:
    """A family in numbers.

    Attributes:
        pump: the family.
        alphabet: what its words are made of.
        rounds: how often its cycle is repeated at most.
        lead, cycle: u v, and every further v.
        between: x.
        back: the first y, those between, and the last.
        afters: the endings.
        verdicts: what a recogniser should say after each ending; `ANY` from others.
    """

    pump: Pump
    alphabet: tuple[Symbol, ...]
    rounds: int
    lead: LinePart
    cycle: LinePart
    between: LinePart
    back: tuple[LinePart, LinePart, LinePart]
    afters: tuple[LinePart, ...]
    verdicts: tuple[int, ...]

    @property
    def steps(self) -> int:
        """Return how many symbols u v v v … has when all rounds are made."""
        return len(self.lead) + (self.rounds - 1) * len(self.cycle)

    def read(self, begin: int, end: int) -> LinePart:
        """Return the steps from ``begin`` to ``end`` of u v v v …."""
        steps = np.arange(begin, end)
        late = steps >= len(self.lead)
        places = np.where(late, len(self.lead) + (steps - len(self.lead)) % len(self.cycle), steps)
        both = _joined([self.lead, self.cycle])
        return LinePart(both.letters[places], both.said[places])

    def rounds_by(self, step: int) -> int:
        """Return how many rounds have begun, or are over, by ``step``."""
        return 1 + max(0, -(-(step - len(self.lead)) // len(self.cycle)))

    def rest_length(self, step: int) -> int:
        """Return how many symbols end the word from ``step`` on, with the longest ending."""
        n = self.rounds_by(step)
        stop = len(self.lead) + (n - 1) * len(self.cycle)
        return stop - step + len(self.between) + n * len(self.back[0]) + max(map(len, self.afters))

    def rest(self, step: int, after: int) -> LinePart:
        """Return what ends the word from ``step`` on, the round first, with an ending."""
        n = self.rounds_by(step)
        first, middle, last = self.back
        backs = [first] if n == 1 else [first, middle.times(n - 2), last]
        stop = len(self.lead) + (n - 1) * len(self.cycle)
        return _joined([self.read(step, stop), self.between, *backs, self.afters[after]])


def _joined(parts: Sequence[LinePart]) -> LinePart:
    return LinePart(np.concatenate([p.letters for p in parts]), np.concatenate([p.said for p in parts]))


def pump_lines(
    pda: PushdownAutomaton,
    model: StackModel[Any],
    pumps: Sequence[tuple[Pump, int]],
    domain: Specification | None = None,
) -> list[Line]:
    """Return the families of ``pumps`` in numbers, each with how often it is repeated at most.

    Args:
        pda: the automaton.
        model: the network whose letters and answers are meant.
        pumps: the families; those that are repeated less than once are left out.
        domain: says which answers count.
    """
    kept = [(pump, rounds) for pump, rounds in pumps if rounds >= 1]
    asked = [(pump, after) for pump, _ in kept for after in range(len(pump.afters))]
    few, more = (_answers(pda, model, asked, n, domain) for n in _ROUNDS_OF_A_LINE)
    lines, place = [], 0
    for pump, rounds in kept:
        rows = slice(place, place + len(pump.afters))
        line = _line(model, pump, rounds, few[rows], more[rows])
        place = rows.stop
        if line is not None:
            lines.append(line)
    return lines


def _answers(
    pda: PushdownAutomaton,
    model: StackModel[Any],
    asked: Sequence[tuple[Pump, int]],
    n: int,
    domain: Specification | None,
) -> np.ndarray:
    """Return the automaton's answers to each family's word of ``n`` rounds with an ending, `ANY` where none counts."""
    words = [make_word(pump.word(n, after), model.alphabet) for pump, after in asked]
    answers = automaton_answers(pda, model, words)
    scored = None if domain is None else domain.scored(words)
    if scored is not None:
        answers[~scored] = ANY
    return answers


def _line(model: StackModel[Any], pump: Pump, rounds: int, few: np.ndarray, more: np.ndarray) -> Line | None:
    """Return a family in numbers, None where the answers ``few`` and ``more`` do not repeat."""
    numbers = {symbol: number for number, symbol in enumerate(model.alphabet)}

    def part(word: Sequence[Symbol], said: np.ndarray) -> LinePart:
        letters = np.array([numbers[symbol] for symbol in word], dtype=np.int64)
        return LinePart(letters, said if model.task_kind != "recognition" else np.full(len(letters), ANY))

    if model.task_kind == "recognition":
        if (few != more).any():
            return None
        said, verdicts = np.full((len(more), 0), ANY), tuple(more[:, 0].tolist())
    else:
        said, verdicts = more, (ANY,) * len(more)
    u, v, x, y = (len(piece) for piece in pump[:4])
    n = _ROUNDS_OF_A_LINE[1]
    turn = u + n * v + x
    line = Line(
        pump,
        model.alphabet,
        rounds,
        part((*pump.before, *pump.cycle), said[0, : u + v]),
        part(pump.cycle, said[0, u + v : u + 2 * v]),
        part(pump.between, said[0, u + n * v : turn]),
        (
            part(pump.back, said[0, turn : turn + y]),
            part(pump.back, said[0, turn + y : turn + 2 * y]),
            part(pump.back, said[0, turn + (n - 1) * y : turn + n * y]),
        ),
        tuple(part(w, said[row, turn + n * y : turn + n * y + len(w)]) for row, w in enumerate(pump.afters)),
        verdicts,
    )
    known = model.task_kind == "recognition" or (_holds(line, few, _ROUNDS_OF_A_LINE[0]) and _holds(line, more, n))
    return line if known else None


def _holds(line: Line, answers: np.ndarray, n: int) -> bool:
    """Return whether ``line`` has the automaton's ``answers`` to ``n`` rounds with each ending, (A, T)."""
    step = len(line.lead) + (n - 1) * len(line.cycle)
    for after, said in enumerate(answers):
        whole = _joined([line.read(0, step), line.rest(step, after)]).said
        if not np.array_equal(whole, said[: len(whole)]):
            return False
    return True


# ---- The automaton against a network on words that go round and round: what adds up at every round shows nowhere
# else.
#
# All families of words u v^n x y^n w (see `automata.pumping`) run together, a row each. The rounds of v are walked
# once, since a longer word begins as a shorter one; now and then the rest x y^n w is tried from there. A row ends
# where the network has come to a standstill, or after so many rounds, and all end where the first of them part.

_TRIED_AT = (12, 24, 48, 96, 240, 480, 960, 1_920)  # steps after which the rest of a word is tried
_LONG_TRIED_AT = (12, 48, 120)  # where the rest is as long as what was before
_STILL = 120  # steps from one look at the network to the next: a multiple of the length of every short cycle
_NO_CHANGE = 1e-4  # from one look to the next, of which there are few: in all of them too little to cross a threshold


class Parting(NamedTuple):
    """Where a network's answers part from the automaton's: in which line, and after how many rounds.

    ``after`` is the ending that shows it; None if it shows on the way, in this round. It was not to be seen after
    ``before`` rounds.
    """

    line: Line
    rounds: int
    after: int | None
    before: int


@torch.no_grad()
def partings(network: StackModel[Any], lines: Sequence[Line]) -> tuple[list[Parting], int]:
    """Return where ``network``, rounded or not, first parts from the automaton, at most once in every line.

    And how many symbols the longest word has that was run to its end.
    """
    walk = _Walk(network, list(lines))
    step = 0
    for stop in walk.stops:
        if walk.shortest <= step or not walk.left:  # a way that parts later may still make a shorter word
            break
        walk.go(step, stop)
        step = stop
    return list(walk.found.values()), walk.longest


class _Walk:
    """Lines that are walked together, a row each.

    Attributes:
        stops: the steps at which something is looked at.
        left: the numbers of the lines that still go on, by row.
        found: where lines part, by their number.
        longest, shortest: the lengths of the longest word that was run to its end, and of the shortest that parts.
    """

    def __init__(self, network: StackModel[Any], lines: list[Line]) -> None:
        self.network, self.lines, self.left = network, lines, list(range(len(lines)))
        self.state, self.longest, self.shortest = network.initial_state(len(lines)), 0, math.inf
        self.seen: np.ndarray | None = None
        self.tried = [0] * len(lines)  # the step after which an ending was tried last
        self.found: dict[int, Parting] = {}
        looked_at = [*_TRIED_AT, *range(_STILL, max((line.steps for line in lines), default=0) + 1, _STILL)]
        self.ends = [max((step for step in looked_at if step <= line.steps), default=line.steps) for line in lines]
        self.stops = sorted({step for step in (*looked_at, *self.ends) if step <= max(self.ends, default=0)})

    def go(self, begin: int, stop: int) -> None:
        """Go on to a stop, try to end words there, and drop the lines that are over."""
        wrong, self.state = _walk(self.network, self.state, [self.lines[i] for i in self.left], begin, stop)
        for row, at in wrong.items():
            self._part(row, at, None)
        over = np.array([self.ends[i] <= stop or i in self.found for i in self.left]) | self._still(stop)
        tried = [row for row, i in enumerate(self.left) if i not in self.found and (over[row] or self._due(i, stop))]
        lines = [self.lines[self.left[row]] for row in tried]
        self.longest = max([self.longest, *(stop + line.rest_length(stop) for line in lines)])
        for row, after in _tried(self.network, self.state, tried, lines, stop).items():
            self._part(row, stop, after)
        for row in tried:
            self.tried[self.left[row]] = stop
        self._keep(np.flatnonzero(~over).tolist())

    def _part(self, row: int, step: int, after: int | None) -> None:
        number = self.left[row]
        line = self.lines[number]
        self.shortest = min(self.shortest, step + (0 if after is None else line.rest_length(step)))
        self.found[number] = Parting(line, line.rounds_by(step), after, line.rounds_by(self.tried[number]) - 1)

    def _due(self, number: int, step: int) -> bool:
        return step in (_LONG_TRIED_AT if self.lines[number].pump.back else _TRIED_AT)

    def _still(self, step: int) -> np.ndarray:
        """Return in which rows nothing has changed since the last look, (N,) bool; a climb goes on all the same."""
        if step % _STILL:
            return np.zeros(len(self.left), dtype=bool)
        before, self.seen = self.seen, _seen(self.state)
        flat = np.array([not self.lines[i].pump.climb for i in self.left])
        still: np.ndarray = flat & False if before is None else flat & (np.abs(self.seen - before) <= _NO_CHANGE).all(1)
        return still

    def _keep(self, rows: list[int]) -> None:
        if len(rows) < len(self.left):
            self.state = self.state.select(torch.tensor(rows, dtype=torch.int64, device=self.state.hidden.device))
            self.seen = None if self.seen is None else self.seen[rows]
            self.left = [self.left[row] for row in rows]


def _seen(state: NetworkState[Any]) -> np.ndarray:
    """Return what decides the next step but for the symbol, (N, H + R): where it returns, all that follows returns.

    Cells below those that are seen may still change, in a network that is not rounded; they count when they are read.
    """
    seen: np.ndarray = torch.cat([state.hidden, state.stack.reading().flatten(1)], 1).cpu().numpy()
    return seen


def _walk(
    network: StackModel[Any], state: NetworkState[Any], lines: list[Line], begin: int, end: int
) -> tuple[dict[int, int], NetworkState[Any]]:
    """Return in which rows, and at which steps first, the answers are wrong between two steps, and the state then."""
    parts = [line.read(begin, end) for line in lines]
    letters = torch.from_numpy(np.stack([part.letters for part in parts], 1)).to(state.hidden.device)
    answers = []
    for now in letters:
        state = network.step(now, state).state
        if network.task_kind != "recognition":
            answers.append(network.answer(state))
    if not answers:
        return {}, state
    wrong = _wrong(np.stack(answers, 1), np.stack([part.said for part in parts]))
    return {row: begin + int(wrong[row].argmax()) + 1 for row in np.flatnonzero(wrong.any(1)).tolist()}, state


def _wrong(answers: np.ndarray, said: np.ndarray) -> np.ndarray:
    """Return which answers are not those that were expected, of the same shape, bool."""
    wrong: np.ndarray = (answers != said) & (said != ANY)
    return wrong


def _tried(
    network: StackModel[Any], state: NetworkState[Any], rows: list[int], lines: list[Line], step: int
) -> dict[int, int]:
    """Return for which of ``rows`` an ending from ``step`` on shows a difference, with the first that does."""
    pairs = [(row, line, after) for row, line in zip(rows, lines, strict=True) for after in range(len(line.afters))]
    rests = [line.rest(step, after) for _, line, after in pairs]
    order = sorted(range(len(pairs)), key=lambda i: -len(rests[i]))  # those still running are always the first
    if not order:
        return {}
    letters, said = _padded([rests[i] for i in order])
    verdicts = np.array([pairs[i][1].verdicts[pairs[i][2]] for i in order])
    lengths = np.array([len(rests[i]) for i in order])
    state = state.select(torch.tensor([pairs[i][0] for i in order], device=state.hidden.device))
    wrong = _rest_is_wrong(network, state, letters, said, lengths, verdicts)
    found: dict[int, int] = {}
    for place in np.flatnonzero(wrong).tolist():
        row, _, after = pairs[order[place]]
        found[row] = min(after, found.get(row, after))
    return found


def _padded(parts: list[LinePart]) -> tuple[np.ndarray, np.ndarray]:
    """Return letters, -1 behind the end, and answers, `ANY` there, (N, T)."""
    shape = len(parts), max(map(len, parts))
    letters, said = np.full(shape, -1, dtype=np.int64), np.full(shape, ANY, dtype=parts[0].said.dtype)
    for row, part in enumerate(parts):
        letters[row, : len(part)], said[row, : len(part)] = part.letters, part.said
    return letters, said


def _rest_is_wrong(
    network: StackModel[Any],
    state: NetworkState[Any],
    letters: np.ndarray,
    said: np.ndarray,
    lengths: np.ndarray,
    verdicts: np.ndarray,
) -> np.ndarray:
    """Return in which rows, the longest of which come first, an answer or the verdict is not the expected one, (N,)."""
    recogniser = network.task_kind == "recognition"
    answers = np.full(said.shape, ANY, dtype=network.number_type)
    wrong, symbols = np.zeros(len(said), dtype=bool), torch.from_numpy(letters).to(state.hidden.device)
    running = len(said)
    for t in range(said.shape[1] + 1):
        still = int((lengths > t).sum())
        if recogniser and still < running:
            ended = state.select(torch.arange(still, running, device=symbols.device))
            wrong[still:running] = _wrong(network.answer(ended), verdicts[still:running])
        if not still:
            break
        if still < running:
            state, running = state.select(torch.arange(still, device=symbols.device)), still
        state = network.step(symbols[:still, t], state).state
        if not recogniser:
            answers[:still, t] = network.answer(state)
    parted: np.ndarray = wrong | _wrong(answers, said).any(1)
    return parted


# ---- The check on words that go round ----

_ROUNDS = 1_000
_STEPS = 1_000  # of all rounds of a cycle, if it is longer than two symbols
_STEPS_OF_TWO = 480  # of two cycles together: the second is run anew wherever the first is left; deep words go deeper
_FEW = 2
_ROUNDS_OF_A_LANGUAGE = (1, 2, 3, 10, 50)  # a proof says more; these are for languages that none is found for
_ROUNDS_OF_A_BOX, _LONGEST_ASKED = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 400), 400  # and symbols of a word
_CYCLES_OF_A_BOX, _SYMBOLS_A_WORD = 40, 4  # of a test, for each word that a box may be asked
_ROOM = 4  # cells of a finite stack that are left free
_SYMBOLS = 250_000  # of all words that are compared with a language
_LOOKED_AT = 3  # families at least of which the shortest word is looked for
_SYMBOLS_OF_BREAKS = 60_000  # of the words that are run for it, as soon as one is known
_AT_ONCE = 64  # numbers of rounds that are tried together
_LONGEST = 1_000  # symbols of a word for which fewer rounds are looked for

_Differ = Callable[[list[Word]], np.ndarray]


@dataclass(frozen=True)
class Broken:
    """A word on which an automaton and something else differ, and how it is made: its parts, and how often each comes.

    >>> str(Broken("[()[()[()]", (("", 1), ("[()", 3), ("]", 1))))
    "'[()' 3 times, then ']'"
    """

    word: Word
    parts: tuple[tuple[Word, int], ...]

    def __str__(self) -> str:
        return named_parts(self.parts)


def pumped_families(
    pda: PushdownAutomaton,
    model: StackModel[Any],
    specification: Specification | None,
    most: int,
    seed: int,
    cells: int | None = None,
) -> list[tuple[Pump, int]]:
    """Return families of words that repeat cycles of ``pda``, and how often each can be repeated on ``model``.

    No stack gets higher than ``cells``, by default as many as the model has.

    Where only some words are meant (see `Specification.restricted`), they come from the specification. There are none
    of an automaton whose ε-steps cannot be put into other steps.
    """
    if specification is not None and specification.partial_domain:
        families = specification.pumps(most, seed)
    elif has_real_time_form(pda):
        families = pumps(pda, most, seed, rejected=model.task_kind == "recognition")
    else:
        families = []
    cells = model.stack_limit if cells is None else cells
    return [(family, _most_rounds(family, cells)) for family in families]


def _most_rounds(pump: Pump, cells: int | None) -> int:
    most = _ROUNDS if len(pump.cycle) <= _FEW else _STEPS // len(pump.cycle)
    if pump.back:
        most = min(most, _STEPS_OF_TWO // (len(pump.cycle) + len(pump.back)))
    if cells is not None and pump.climb:
        most = min(most, (cells - _ROOM - pump.height) // pump.climb)
    return max(0, most)


def agree_on_pumps(
    pda: PushdownAutomaton,
    model: StackModel[Any],
    other: Specification | None,
    families: Sequence[tuple[Pump, int]],
    domain: Specification | None = None,
) -> Agreement:
    """Return the agreement on ``families`` with ``other``, or with ``model`` itself where that is None.

    What is counted are families: those in which a word was found on which they differ. Buffered networks and black
    boxes are compared as a language is, on some numbers of rounds: they answer to whole words.
    """

    def differ(words: list[Word]) -> np.ndarray:
        return differing(pda, model, other, words, domain)

    if other is None and model.real_time and not is_asked(model):
        lines = pump_lines(pda, model, families, domain)
        found, longest = partings(model, lines)
        broken = shortest_break(found, differ)
        count, wrong = len(lines), len(found) if broken is not None else 0
    else:
        count, wrong, longest, broken = _on_words(model, families, differ)
    name = side_name(model, other)
    word, made_of = (None, None) if broken is None else (broken.word, str(broken))
    return Agreement("pumped", name, longest, count, count, wrong, word, made_of=made_of)


def _on_words(
    model: StackModel[Any], families: Sequence[tuple[Pump, int]], differ: _Differ
) -> tuple[int, int, int, Broken | None]:
    """Return how many families are compared on some words, on how many they differ, the longest and a broken word."""
    rows = _rows(model, families)
    wrong = np.flatnonzero(differ([word.word for _, word in rows])).tolist() if rows else []
    broken = min((rows[i][1] for i in wrong), key=lambda found: len(found.word), default=None)
    longest = max((len(word.word) for _, word in rows), default=0)
    return len({number for number, _ in rows}), len({rows[i][0] for i in wrong}), longest, broken


def _rows(model: StackModel[Any], families: Sequence[tuple[Pump, int]]) -> list[tuple[int, Broken]]:
    """Return words of some rounds with the numbers of their families, as many as there is time for."""
    asked, rows, left = is_asked(model), list[tuple[int, Broken]](), _SYMBOLS
    dear = asked and model.task_kind != "recognition"  # which is asked for all beginnings, too
    for n in _ROUNDS_OF_A_BOX if asked else _ROUNDS_OF_A_LANGUAGE:
        for number, (pump, most) in enumerate(families):
            for after in range(len(pump.afters) if n <= most else 0):
                word = _broken(pump, model.alphabet, n, after)
                fits = not asked or len(word.word) <= (model.longest or _LONGEST_ASKED)
                left -= len(word.word) * (len(word.word) if dear else 1) if fits else 0
                rows += [(number, word)] if fits and left >= 0 else []
    return rows


def is_asked(model: StackModel[Any]) -> bool:
    """Return whether ``model`` is a function, of which every beginning of a word is asked as a word of its own."""
    return model.affordable is not None and model.answers_to(()) is not None


def box_words(
    pda: PushdownAutomaton, model: StackModel[Any], specification: Specification | None, seed: int
) -> list[Word]:
    """Return the words on which an automaton of answers is tested: those of the W-method, and its cycles repeated."""
    families = pumped_families(pda, model, specification, _CYCLES_OF_A_BOX, seed) if is_asked(model) else []
    words, _ = conformance_test(pda, model, specification, seed)
    return [*words, *(row.word for _, row in _rows(model, families))]


def conformance_test(
    pda: PushdownAutomaton, model: StackModel[Any], specification: Specification | None, seed: int
) -> tuple[list[Word], int | None]:
    """Return the words of the W-method for ``pda``, and for how many states more they are complete.

    There are none of an automaton with a stack, nor where only some words are meant.
    """
    partial_domain = specification is not None and specification.partial_domain
    if partial_domain or not is_stackless(pda) or not pda.real_time or pda.end_marker is not None:
        return [], None
    most = _SYMBOLS if model.affordable is None else min(_SYMBOLS, _SYMBOLS_A_WORD * model.affordable)
    found, more = conformance_words(pda, most, seed)
    kept = [word for word in found if model.longest is None or len(word) <= model.longest]
    return [make_word(word, model.alphabet) for word in kept], more if len(kept) == len(found) else None


def shortest_break(found: Sequence[Parting], differ: _Differ) -> Broken | None:
    """Return a shortest word of those that were ``found`` to break an automaton, with as few rounds as do it.

    ``differ(words)`` says on which of some words automaton and network differ, (N,) bool; what it does not confirm, as
    where rounding errors fall otherwise in other batches, does not count.
    """
    words = [_broken(parting.line.pump, parting.line.alphabet, parting.rounds, parting.after) for parting in found]
    order = sorted(range(len(found)), key=lambda i: _size(words[i]))
    best: Broken | None = None
    symbols = 0
    for place, i in enumerate(order):
        if best is not None and place >= _LOOKED_AT and symbols > _SYMBOLS_OF_BREAKS:
            break
        if best is not None and not _may_be_shorter(found[i], best, differ):
            continue
        symbols += min(_AT_ONCE, found[i].rounds - found[i].before) * len(words[i].word)
        fewer = _fewest(found[i], words[i], differ)
        if fewer is not None and (best is None or _size(fewer) < _size(best)):
            best = fewer
    return best


def _may_be_shorter(parting: Parting, best: Broken, differ: _Differ) -> bool:
    """Return whether one of the longest words of a family that are shorter than the ``best`` breaks it, too."""
    tried: list[Word] = []
    for after in dict.fromkeys((parting.after, 0)):
        rounds = range(parting.rounds, parting.before, -1)
        words = (_broken(parting.line.pump, parting.line.alphabet, n, after).word for n in rounds)
        tried += islice((word for word in words if len(word) < len(best.word)), _LOOKED_AT)
    return bool(tried) and bool(differ(tried).any())


def _size(broken: Broken) -> tuple[int, int]:
    return len(broken.word), len(str(broken))


def _fewest(parting: Parting, known: Broken, differ: _Differ) -> Broken | None:
    """Return the word of the fewest rounds on which they differ, as it was found or with its shortest ending."""
    low, high, best = parting.before + 1, parting.rounds, None
    ways = list(dict.fromkeys((parting.after, 0)))
    if len(known.word) > _LONGEST:
        return known if differ([known.word])[0] else None
    while low <= high:
        tried = sorted({int(n) for n in np.linspace(low, high, _AT_ONCE)})
        words = [_broken(parting.line.pump, parting.line.alphabet, n, after) for n in tried for after in ways]
        hits = np.flatnonzero(differ([word.word for word in words]))
        if not len(hits):
            break
        best, place = words[hits[0]], int(hits[0]) // len(ways)
        low, high = (tried[place - 1] + 1 if place else tried[0]), tried[place] - 1
        if place == 0:
            break
    return best


def _broken(pump: Pump, alphabet: Sequence[str], n: int, after: int | None) -> Broken:
    """Return the word of ``n`` rounds with an ending; without one, u v^n."""
    parts: list[tuple[Sequence[str], int]] = [(pump.before, 1), (pump.cycle, n)]
    if after is not None:
        parts += [(pump.between, 1), (pump.back, n), (pump.afters[after], 1)]
    word = make_word([symbol for part, times in parts for symbol in (*part,) * times], alphabet)
    return Broken(word, tuple((make_word(part, alphabet), times) for part, times in parts))
