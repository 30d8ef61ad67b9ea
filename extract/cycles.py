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

from ..automata.coverage import Pump, conformance_words, pumps
from ..automata.pda import PushdownAutomaton, Symbol, Word
from ..automata.rewriting import has_real_time_form
from ..core.progress import check_time
from ..languages.language import make_word, named_parts
from ..models.base import NetworkState, StackModel
from ..models.inference import automaton_answers
from .specification import Specification

# ---- Families of words that go round, in numbers: what is read at every step, and the automaton's answer to it.
#
# The automaton is asked for some numbers of rounds only. From one round to the next its answers repeat; families of
# which they do not, as where a state counts rounds, are left out.

ANY = -2  # in place of an answer that does not count
_ROUNDS_OF_A_LINE = (3, 5)  # those for which the automaton is asked


class LinePart(NamedTuple):
    """Letters, and the answers to them (`ANY` from recognisers, which are asked at the end only), (T,) int64 each."""

    letters: np.ndarray
    answers: np.ndarray


@dataclass(frozen=True)
class Line:
    """A family in numbers: one of its words, in which every symbol of the others has its place."""

    pump: Pump
    alphabet: tuple[Symbol, ...]  # what its words are made of
    rounds: int  # how often its cycle is repeated at most
    # u v^n x y^n for the larger of the numbers that the automaton is asked for, and all endings behind it
    known: LinePart
    verdicts: tuple[int, ...]  # what a recogniser should say after each ending; `ANY` from others

    def _part(self, places: np.ndarray) -> LinePart:
        return LinePart(self.known.letters[places], self.known.answers[places])

    def _way(self, begin: int, end: int) -> np.ndarray:
        """Return the places of the steps from ``begin`` to ``end`` of u v v v …: all rounds but the first are alike."""
        steps, cycle = np.arange(begin, end), len(self.pump.cycle)
        lead = len(self.pump.before) + cycle
        return np.where(steps < lead, steps, lead + (steps - lead) % cycle)

    def length(self, n: int) -> int:
        """Return how many symbols u v^n has."""
        return len(self.pump.before) + n * len(self.pump.cycle)

    def read(self, begin: int, end: int) -> LinePart:
        """Return the steps from ``begin`` to ``end`` of u v v v …."""
        return self._part(self._way(begin, end))

    def rounds_by(self, step: int) -> int:
        """Return how many rounds have begun, or are over, by ``step``."""
        return 1 + max(0, -(-(step - self.length(1)) // len(self.pump.cycle)))

    def rest_length(self, step: int) -> int:
        """Return how many symbols end the word from ``step`` on, with the longest ending."""
        n, pump = self.rounds_by(step), self.pump
        return self.length(n) - step + len(pump.between) + n * len(pump.back) + max(map(len, pump.afters))

    def rest(self, step: int, after: int) -> LinePart:
        """Return what ends the word from ``step`` on, the round first, with an ending."""
        n, last, pump = self.rounds_by(step), _ROUNDS_OF_A_LINE[1], self.pump
        turn, size = self.length(last), len(pump.back)
        back = turn + len(pump.between)
        # of y the first, those between, which are alike, and the last
        numbers = np.minimum(np.arange(n), 1)
        numbers[1:][-1:] = last - 1
        backs = back + size * numbers[:, None] + np.arange(size)
        end = back + last * size + sum(map(len, pump.afters[:after]))
        ending = np.arange(end, end + len(pump.afters[after]))
        way = self._way(step, self.length(n))
        return self._part(np.concatenate([way, np.arange(turn, back), backs.ravel(), ending]))

    def answers_are(self, answers: np.ndarray, n: int) -> bool:
        """Return whether these are the ``answers`` to ``n`` rounds with each ending, (A, T)."""
        step = self.length(n)
        for after, row in enumerate(answers):
            whole = np.concatenate([self.read(0, step).answers, self.rest(step, after).answers])
            if not np.array_equal(whole, row[: len(whole)]):
                return False
        return True


def pump_lines(
    pda: PushdownAutomaton,
    model: StackModel[Any],  # the network whose letters and answers are meant
    pumps: Sequence[tuple[Pump, int]],  # the families; those that are repeated less than once are left out
    domain: Specification | None = None,  # decides which answers count
) -> list[Line]:
    """Return the families of ``pumps`` in numbers, each with how often it is repeated at most."""
    kept, recogniser = [(pump, rounds) for pump, rounds in pumps if rounds >= 1], model.task_kind == "recognition"

    # the automaton's answers to words of few and of more rounds, one for every family and ending
    answered = []
    for n in _ROUNDS_OF_A_LINE:
        words = [make_word(pump.word(n, i), model.alphabet) for pump, _ in kept for i in range(len(pump.afters))]
        answers = automaton_answers(pda, model, words)
        scored = None if domain is None else domain.scored(words)
        if scored is not None:
            answers[~scored] = ANY
        answered.append(answers)

    numbers = {symbol: number for number, symbol in enumerate(model.alphabet)}
    lines, place = [], 0
    for pump, rounds in kept:
        ends = pump.afters
        few, more = (answers[place : place + len(ends)] for answers in answered)
        place += len(ends)
        word = pump.word(_ROUNDS_OF_A_LINE[1])
        begun = len(word) - len(ends[0])
        letters = np.array([numbers[symbol] for part in (word[:begun], *ends) for symbol in part], dtype=np.int64)
        if recogniser:
            known, verdicts = np.full(len(letters), ANY), tuple(more[:, 0].tolist())
        else:
            pieces = [more[0, :begun], *(row[begun : begun + len(end)] for row, end in zip(more, ends, strict=True))]
            known, verdicts = np.concatenate(pieces), (ANY,) * len(ends)
        line = Line(pump, model.alphabet, rounds, LinePart(letters, known), verdicts)
        repeats = (few == more).all() if recogniser else all(map(line.answers_are, (few, more), _ROUNDS_OF_A_LINE))
        lines += [line] if repeats else []
    return lines


# ---- The automaton against a network on words that go round: what adds up at every round shows nowhere else ----
#
# All families of words u v^n x y^n w (see `automata.coverage`) run together, a row each. The rounds of v are walked
# once, since a longer word begins as a shorter one; now and then the rest x y^n w is tried from there. A row ends
# where the network has come to a standstill, or after so many rounds, and all end where the first of them part.

_TRIED_AT = (12, 24, 48, 96, 240, 480, 960, 1_920)  # steps after which the rest of a word is tried
_LONG_TRIED_AT = (12, 48, 120)  # where the rest is as long as what was before
_STILL = 120  # steps from one look at the network to the next: a multiple of the length of every short cycle
_NO_CHANGE = 1e-4  # from one look to the next, of which there are few: in all of them too little to cross a threshold


class LineParting(NamedTuple):
    """Where a network's answers part from the automaton's, after so many rounds, but not after those ``before``.

    ``after`` is the ending that shows it; None if it shows on the way, in this round.
    """

    line: Line
    rounds: int
    after: int | None
    before: int


@torch.no_grad()
def partings(network: StackModel[Any], lines: Sequence[Line]) -> tuple[list[LineParting], int]:
    """Return where ``network`` first parts from the automaton, once in every line at most, and the longest word run."""
    steps = [line.length(line.rounds) for line in lines]
    looked_at = [*_TRIED_AT, *range(_STILL, max(steps, default=0) + 1, _STILL)]
    ends = [max((step for step in looked_at if step <= most), default=most) for most in steps]
    found: dict[int, LineParting] = {}  # by the number of the line
    tried = [0] * len(lines)  # the step after which an ending was tried last
    left = list(range(len(lines)))  # the lines that still go on, a row of the state each
    state, seen, longest, shortest, begin = network.initial_state(len(lines)), None, 0, math.inf, 0

    def part(number: int, step: int, after: int | None) -> None:
        nonlocal shortest
        line = lines[number]
        shortest = min(shortest, step + (0 if after is None else line.rest_length(step)))
        found[number] = LineParting(line, line.rounds_by(step), after, line.rounds_by(tried[number]) - 1)

    for stop in sorted({step for step in (*looked_at, *ends) if step <= max(ends, default=0)}):
        if shortest <= begin or not left:  # a way that parts later may still make a shorter word
            break

        # read u v v v ... on to the stop
        wrong, state = _read_rounds(network, state, [lines[i] for i in left], begin, stop)
        for row, step in wrong.items():
            part(left[row], step, None)

        # a line is over at its end, where it parts, or where nothing has changed; a climb changes all the same
        over = np.array([ends[i] <= stop or i in found for i in left])
        if stop % _STILL == 0:
            # what decides the next step but for the symbol, (N, H + R): where it returns, all that follows returns
            before, seen = seen, torch.cat([state.hidden, state.stack.reading().flatten(1)], 1).cpu().numpy()
            if before is not None:
                flat = np.array([not lines[i].pump.climb for i in left])
                over |= flat & (np.abs(seen - before) <= _NO_CHANGE).all(1)

        # try to end words here
        due = [
            row
            for row, i in enumerate(left)
            if i not in found and (over[row] or stop in (_LONG_TRIED_AT if lines[i].pump.back else _TRIED_AT))
        ]
        some = [lines[left[row]] for row in due]
        longest = max([longest, *(stop + line.rest_length(stop) for line in some)])
        for row, after in _wrong_endings(network, state, due, some, stop).items():
            part(left[row], stop, after)
        for row in due:
            tried[left[row]] = stop

        # drop the lines that are over
        rows = np.flatnonzero(~over).tolist()
        if len(rows) < len(left):
            state = state.select(torch.tensor(rows, dtype=torch.int64, device=state.hidden.device))
            seen = None if seen is None else seen[rows]
            left = [left[row] for row in rows]
        begin = stop
    return list(found.values()), longest


def _read_rounds(
    network: StackModel[Any], state: NetworkState[Any], lines: list[Line], begin: int, end: int
) -> tuple[dict[int, int], NetworkState[Any]]:
    """Return in which rows, and at which steps first, the answers are wrong between two steps, and the state then."""
    parts = [line.read(begin, end) for line in lines]
    letters = torch.from_numpy(np.stack([part.letters for part in parts], 1)).to(state.hidden.device)
    answers = []
    for now in letters:
        check_time()
        state = network.step(now, state).state
        if network.task_kind != "recognition":
            answers.append(network.answer(state))
    if not answers:
        return {}, state
    wrong = _differ_where_asked(np.stack(answers, 1), np.stack([part.answers for part in parts]))
    return {row: begin + int(wrong[row].argmax()) + 1 for row in np.flatnonzero(wrong.any(1)).tolist()}, state


def _differ_where_asked(answers: np.ndarray, expected: np.ndarray) -> np.ndarray:
    return np.asarray((answers != expected) & (expected != ANY))


def _wrong_endings(
    network: StackModel[Any], state: NetworkState[Any], rows: list[int], lines: list[Line], step: int
) -> dict[int, int]:
    """Return for which of ``rows`` an ending from ``step`` on shows a difference, with the first that does."""
    ways = [
        (row, after, line.verdicts[after], line.rest(step, after))
        for row, line in zip(rows, lines, strict=True)
        for after in range(len(line.verdicts))
    ]
    if not ways:
        return {}
    ways.sort(key=lambda way: -len(way[3].letters))  # so that those still running are always the first rows
    rests, verdicts = [way[3] for way in ways], np.array([way[2] for way in ways])
    lengths = np.array([len(part.letters) for part in rests])

    # letters, -1 behind the end, and expected answers, `ANY` there, (N, T)
    shape = len(rests), max(lengths)
    letters, expected = np.full(shape, -1, dtype=np.int64), np.full(shape, ANY, dtype=rests[0].answers.dtype)
    for row, part in enumerate(rests):
        letters[row, : lengths[row]], expected[row, : lengths[row]] = part

    device, recogniser = state.hidden.device, network.task_kind == "recognition"
    state = state.select(torch.tensor([row for row, *_ in ways], device=device))
    symbols, running = torch.from_numpy(letters).to(device), len(rests)
    answers, wrong = np.full(shape, ANY, dtype=network.number_type), np.zeros(len(rests), dtype=bool)
    for t in range(shape[1] + 1):
        still = int((lengths > t).sum())
        if recogniser and still < running:  # some end here, and a recogniser answers now
            ended = state.select(torch.arange(still, running, device=device))
            wrong[still:running] = _differ_where_asked(network.answer(ended), verdicts[still:running])
        if not still:
            break
        if still < running:
            state, running = state.select(torch.arange(still, device=device)), still
        check_time()
        state = network.step(symbols[:still, t], state).state
        if not recogniser:
            answers[:still, t] = network.answer(state)
    wrong |= _differ_where_asked(answers, expected).any(1)

    first: dict[int, int] = {}
    for place in np.flatnonzero(wrong).tolist():
        row, after, *_ = ways[place]
        first[row] = min(after, first.get(row, after))
    return first


# ---- The check on words that go round ----

_ROUNDS = 1_000
_STEPS = 1_000  # of all rounds of a cycle, if it is longer than two symbols
_STEPS_OF_TWO = 480  # of two cycles together: the second is run anew wherever the first is left; deep words go deeper
_FEW = 2
_ROUNDS_OF_A_LANGUAGE = (1, 2, 3, 10, 50)  # a proof says more; these are for languages without a proof
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
    """Return families of words that repeat cycles of ``pda``, and how often each is repeated on ``model``.

    No stack gets higher than ``cells``, by default the model's. Where only some words are meant, they are the
    specification's; there are none of an automaton without a real-time form.
    """
    if specification is not None and specification.partial_domain:
        families = specification.pumps(most, seed)
    elif has_real_time_form(pda):
        families = pumps(pda, most, seed, rejected=model.task_kind == "recognition")
    else:
        families = []
    cells = model.stack_limit if cells is None else cells
    repeated = []
    for family in families:
        most = _ROUNDS if len(family.cycle) <= _FEW else _STEPS // len(family.cycle)
        if family.back:
            most = min(most, _STEPS_OF_TWO // (len(family.cycle) + len(family.back)))
        if cells is not None and family.climb:
            most = min(most, (cells - _ROOM - family.height) // family.climb)
        repeated.append((family, max(0, most)))
    return repeated


def pumped_words(model: StackModel[Any], families: Sequence[tuple[Pump, int]]) -> list[tuple[int, Broken]]:
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
    return [*words, *(row.word for _, row in pumped_words(model, families))]


def conformance_test(
    pda: PushdownAutomaton, model: StackModel[Any], specification: Specification | None, seed: int
) -> tuple[list[Word], int | None]:
    """Return the words of the W-method for ``pda``, and for how many more states they suffice; none with a stack."""
    partial_domain = specification is not None and specification.partial_domain
    if partial_domain or not pda.stackless or not pda.real_time or pda.end_marker is not None:
        return [], None
    most = _SYMBOLS if model.affordable is None else min(_SYMBOLS, _SYMBOLS_A_WORD * model.affordable)
    found, more = conformance_words(pda, most, seed)
    kept = [word for word in found if model.longest is None or len(word) <= model.longest]
    return [make_word(word, model.alphabet) for word in kept], more if len(kept) == len(found) else None


def shortest_break(found: Sequence[LineParting], differ: _Differ) -> Broken | None:
    """Return a shortest word of those that were ``found`` to break an automaton, with as few rounds as do it.

    ``differ(words)`` gives the words on which automaton and network differ, (N,) bool; what it does not confirm, as
    where rounding errors fall otherwise in other batches, does not count.
    """
    words = [_broken(parting.line.pump, parting.line.alphabet, parting.rounds, parting.after) for parting in found]
    order = sorted(range(len(found)), key=lambda i: _break_size(words[i]))
    best: Broken | None = None
    symbols = 0
    for place, i in enumerate(order):
        if best is not None and place >= _LOOKED_AT and symbols > _SYMBOLS_OF_BREAKS:
            break
        if best is not None:  # is there a word that is shorter, with as many rounds or less?
            line, tried = found[i].line, list[Word]()
            for after in dict.fromkeys((found[i].after, 0)):
                rounds = range(found[i].rounds, found[i].before, -1)
                made = (_broken(line.pump, line.alphabet, n, after).word for n in rounds)
                tried += islice((word for word in made if len(word) < len(best.word)), _LOOKED_AT)
            if not tried or not differ(tried).any():
                continue
        symbols += min(_AT_ONCE, found[i].rounds - found[i].before) * len(words[i].word)
        fewer = _fewest(found[i], words[i], differ)
        if fewer is not None and (best is None or _break_size(fewer) < _break_size(best)):
            best = fewer
    return best


def _break_size(broken: Broken) -> tuple[int, int]:
    return len(broken.word), len(str(broken))


def _fewest(parting: LineParting, known: Broken, differ: _Differ) -> Broken | None:
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
