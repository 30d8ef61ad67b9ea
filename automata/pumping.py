"""Words with parts that can be repeated: a run that comes back to its head can go round again, as often as one likes.

A cycle leads from a head (state and tops) back to it without looking below the top that it began on. One that leaves
the stacks as they were can be repeated alone, u v^n w; one that leaves cells behind needs another to take them away,
u v^n x y^n w. Those are the words of the pumping lemmas (Bar-Hillel, Perles & Shamir 1961), made of runs and not of
derivations. What a network leaves behind at a round adds up on them and nowhere else: drawn words do not repeat.
"""

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from .counting import StackNode
from .coverage import Driver, Point
from .pda import PushdownAutomaton, State, Symbol, Tops
from .summaries import Event, PushdownStep, cells_after, shortest_runs

LONGEST_CYCLE = 6  # symbols
_LONGEST_CLIMB = 3  # symbols of a cycle that leaves cells behind
_NODES = 20_000  # letters tried behind prefixes of cycles, over all heads: a tenth of a second
_HEADS = 60  # heads from which cycles are looked for, those nearest to the start
_DERIVATIONS = 50_000  # in the search for ways to heads
_CONFIGURATIONS = 500  # looked at for heads of automata with several stacks
_LONGEST_WAY = 60  # symbols of a way to a head
_FURTHER = 2  # symbols of a cycle that is repeated after another, or between the pops of one
_LETTERS = 2  # letters that an undefined one is taken for, at the end of a word

_Word = tuple[Symbol, ...]


class Pump(NamedTuple):
    """The words u v^n x y^n w, for each of several w."""

    # before, cycle, between, back: u, v, x and y; x and y are empty where v leaves nothing behind
    before: _Word
    cycle: _Word
    between: _Word
    back: _Word
    afters: tuple[_Word, ...]  # the words w, the first of which ends the word; the others are rejected inputs
    climb: int  # how many cells a round of v leaves on the stacks, at least 0
    height: int  # how many cells there are at most before the first round, and in it

    def word(self, n: int, after: int = 0) -> _Word:
        """Return the word of ``n`` rounds with the ending ``after``."""
        return (*self.before, *self.cycle * n, *self.between, *self.back * n, *self.afters[after])


def pumps(pda: PushdownAutomaton, most: int, seed: int, *, rejected: bool = True) -> list[Pump]:
    """Return at most ``most`` families of words that repeat a cycle of ``pda``, those with short cycles first. Cycles
    are all those of at most six symbols from every head, as far as these are not too many, and more of them than
    ``most`` are drawn from. With ``rejected`` words that end with an undefined input are there, too.

    >>> from stacklens.languages.classic import Dyck
    >>> sorted({"".join(pump.word(3)) for pump in pumps(Dyck(1).automaton, 4, seed=0)})
    ['(((())))', '((()))((()))((()))', '(()(())()(())()(()))', '()()()']
    """
    driver = Driver(pda)
    # cycles of heads with what may follow their rounds, as far as the automaton can walk that
    families = [
        family
        for cycle in _cycles(driver)
        for family in _families(driver, *cycle)
        if driver.walk(family.home.point, (*family.round.word, *family.between, *family.back)) is not None
    ]
    families.sort(key=lambda family: len(family.round.word) + len(family.back))
    # The shorter half of what is wanted, and as many drawn from the others.
    kept, others = families[: most // 2], families[most // 2 :]
    places = sorted(Random(seed).sample(range(len(others)), min(len(others), most - len(kept))))
    return [_pump(driver, family, rejected) for family in (*kept, *(others[i] for i in places))]


class _Home(NamedTuple):
    """A head, as a shortest way leads to it."""

    word: _Word
    point: Point
    head: tuple[State, Tops]


class _Round(NamedTuple):
    """A cycle: what it reads, how many cells it leaves on each stack, and how high it gets."""

    word: _Word
    left: tuple[int, ...]
    height: int


class _Family(NamedTuple):
    """A cycle, and the x and y that follow its rounds."""

    home: _Home
    round: _Round
    between: _Word = ()
    back: _Word = ()


def _homes(driver: Driver) -> list[_Home]:
    """Return the heads from which a word can be ended, nearest first."""
    words = _head_words(driver) if driver.ways is not None else _met_configurations(driver)
    homes: dict[tuple[State, Tops], _Home] = {}
    for word in words:
        point = driver.walk(driver.start, word)
        if point is not None and driver.live(point):
            head = point.state, driver.tops(point)
            homes.setdefault(head, _Home(word, point, head))
        if len(homes) == _HEADS:
            break
    return list(homes.values())


def _head_words(driver: Driver) -> Iterator[_Word]:
    """Yield a shortest word to every head of an automaton with one stack."""
    pda = driver.pda

    def moves(
        state: State, top: Symbol | None
    ) -> Iterator[PushdownStep[State, Symbol] | Event[tuple[State, Symbol | None]]]:
        yield Event(None, (state, top))
        for letter in pda.input_alphabet:
            step = pda.transitions.get((state, letter, (top or pda.bottom,)))
            if step is not None:
                yield PushdownStep(letter, step.target, cells_after(step.operations[0], top))

    runs = shortest_runs(pda.initial, moves, _DERIVATIONS)
    for head, length in sorted(runs.lengths.items(), key=lambda pair: pair[1]):
        if length <= _LONGEST_WAY:
            yield runs.word(head)


def _met_configurations(driver: Driver) -> Iterator[_Word]:
    """Yield the words to the first configurations of an automaton with several stacks."""
    queue: list[tuple[_Word, Point]] = [((), driver.start)]
    known = {driver.start}
    for word, point in queue:  # the list grows while it is walked
        yield word
        for option in driver.options(point):
            if len(queue) < _CONFIGURATIONS and option.to not in known:
                known.add(option.to)
                queue.append(((*word, option.letter), option.to))


def _heights(point: Point) -> tuple[int, ...]:
    stacks = point.stacks
    return (stacks.height,) if isinstance(stacks, StackNode) else tuple(map(len, stacks))


def _cycles(driver: Driver) -> list[tuple[_Home, list[_Round]]]:
    """Return the cycles of every head, as far as there is time for them: all of a length, then those longer by one."""
    homes = _homes(driver)
    levels = [[(home.word[:0], home.point, 0)] for home in homes]
    found: list[tuple[_Home, list[_Round]]] = [(home, []) for home in homes]
    tried = 0
    # all cycles of a length at every head before longer ones, as long as there is time
    for length in range(1, LONGEST_CYCLE + 1):
        for place, (home, rounds) in enumerate(found):
            tried += len(levels[place]) * len(driver.pda.input_alphabet)
            levels[place] = list(_longer(driver, home, levels[place], length)) if tried <= _NODES else []
            base = _heights(home.point)
            for word, point, height in levels[place]:
                left = tuple(now - before for now, before in zip(_heights(point), base, strict=True))
                back = (point.state, driver.tops(point)) == home.head
                # A power of a shorter cycle is there already, as that cycle.
                power = any(length % size == 0 and word == word[:size] * (length // size) for size in range(1, length))
                if back and (length <= _LONGEST_CLIMB or not any(left)) and not power:
                    rounds.append(_Round(word, left, sum(base) + height))
    return found


def _longer(
    driver: Driver, home: _Home, level: list[tuple[_Word, Point, int]], length: int
) -> Iterator[tuple[_Word, Point, int]]:
    base = _heights(home.point)
    for word, point, height in level:
        for option in driver.options(point):
            left = [now - before for now, before in zip(_heights(option.to), base, strict=True)]
            if min(left) >= 0 and (length <= _LONGEST_CLIMB or sum(left) <= LONGEST_CYCLE - length):
                yield (*word, option.letter), option.to, max(height, sum(left))


def _families(driver: Driver, home: _Home, rounds: list[_Round]) -> Iterator[_Family]:
    """Yield the families of a head's cycles: alone, before another one, or with those that take back what they leave.
    Between the pops of what a short cycle leaves there is room for other cycles, too.
    """
    flat = [other for other in rounds if not any(other.left)]
    short = [other.word for other in flat if len(other.word) <= _FURTHER]
    for round_ in rounds:
        if not any(round_.left):
            yield _Family(home, round_)
            if len(round_.word) <= _FURTHER:
                yield from (_Family(home, round_, (), other) for other in short if other != round_.word)
        elif found := _way_back(driver, home, round_):
            between, back = found
            yield _Family(home, round_, between, back)
            if len(round_.word) <= _FURTHER:
                below = driver.walk(home.point, (*round_.word * 3, *between, *back))
                there = below is not None and (below.state, driver.tops(below)) == home.head
                yield from (_Family(home, round_, between, (*back, *other)) for other in short if there)


def _way_back(driver: Driver, home: _Home, round_: _Round) -> tuple[_Word, _Word] | None:
    """Return x and y such that n rounds are taken back by x y^n, read off the shortest endings after some rounds. None
    where these are not of that form, as where a stack is left full.
    """
    if driver.ways is None:
        # x and y for several stacks, whose shortest endings are not known: where only one letter can follow
        for letter in driver.pda.input_alphabet:
            walks = [_forced(driver, driver.walk(home.point, round_.word * n), letter, 40) for n in (4, 5, 6)]
            if all(walks):
                found = _repeated(*walks)
                if found is not None and len(found[1]) <= LONGEST_CYCLE:
                    return found
        return None
    endings = []
    for n in (2, 3, 4):
        point = driver.walk(home.point, round_.word * n)
        if point is None:
            return None
        endings.append(driver.ending(point))
    return _repeated(*endings)


def _forced(driver: Driver, point: Point | None, letter: Symbol, most: int) -> _Word:
    """Return ``letter`` and the only ways on from there, () if it cannot be read or there is no end to them."""
    word: list[Symbol] = []
    while point is not None and len(word) < most:
        options = driver.options(point)
        if word and len(options) != 1:
            return tuple(word)
        option = next((option for option in options if (not word and option.letter == letter) or word), None)
        if option is None:
            return ()
        word.append(option.letter)
        point = option.to
    return ()


def _repeated(first: _Word, second: _Word, third: _Word) -> tuple[_Word, _Word] | None:
    """Return x and y such that each word is the one before it with a y more behind x, None where that is not so."""
    size = len(second) - len(first)
    if size <= 0 or len(third) - len(second) != size:
        return None
    for place in range(len(first) + 1):
        back = second[place : place + size]
        if second == first[:place] + back + first[place:] and third == first[:place] + back * 2 + first[place:]:
            return first[:place], back
    return None


def _pump(driver: Driver, family: _Family, rejected: bool) -> Pump:
    home, round_, between, back = family
    end = driver.walk(home.point, (*round_.word, *between, *back))
    assert end is not None
    afters = {driver.ending(end): None}
    if rejected:
        afters |= dict.fromkeys(driver.probes((), end, _LETTERS))
    return Pump(home.word, round_.word, between, back, tuple(afters), sum(round_.left), round_.height)
