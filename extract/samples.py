"""What is measured of a network before anything is extracted: how near it is to a discrete machine, and on which words.

On the same words candidates are compared with the rounded network later.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import permutations, product
from typing import Any, NamedTuple

import numpy as np
import torch

from ..automata.pda import PushdownAutomaton, Word
from ..core.errors import StacklensError
from ..core.progress import OutOfTimeError, count, part_of_time
from ..languages.language import all_words, format_word, make_word
from ..models.base import ActionKind, StackModel
from ..models.inference import answers_in_time, differences, network_answers
from ..models.rounding import Rounded, is_stack
from ..models.word_network import BlackBox
from ..probe.trace import Trace
from .specification import Specification, default_max_length, random_words
from .wording import CONTRADICTS

# ---- How near a network is to being a discrete machine ----

MOST_STACKS = 3  # of an automaton; the heads of more are too many to combine
_GRADED = 0.25  # a margin below this is nearer to the threshold than to a whole operation
_MOST_GRADED = 0.2  # of the actions: of a network with more of them it means little which whole one each is nearest to
_LARGEST_MISMATCH = 0.1  # rounding may change the verdict on this share of the accepted words, not on more
_GREW = 40  # states of what was learned from answers: one with more of them that is wrong may need any number
MOST_CHANGED = 0.5  # up to this share an exact automaton of the rounded network is worth telling, with this share


@dataclass(frozen=True)
class Rounding:
    """What rounding the actions changes."""

    words: int  # how many words were compared
    disagreements: int  # on how many network and rounded network give different verdicts
    # how many at least one of them accepts. Most words are rejected by anything, so a mismatch is counted among these
    accepted_by_either: int

    @property
    def mismatch(self) -> float:
        """Return the share of the words accepted by either that only one accepts, in [0, 1]."""
        return self.disagreements / max(1, self.accepted_by_either)

    def changes(self, what: str = "acceptances") -> str:
        """Return in words on how many of the words accepted by either something is changed."""
        return f"changes {self.disagreements:,} of {self.accepted_by_either:,} {what}"


@dataclass(frozen=True)
class Fidelity:
    """The measures that a report gives."""

    rounding: Rounding  # what rounding the actions changes
    # share of traced steps outvoted by others with the same state, symbol and top, in [0, 1]; at most 0.03 is good,
    # 0.06 or more is bad. None where no machine was tried
    minority_transitions: float | None
    # how far the least certain traced action is from being rounded otherwise, in [0, 0.5]; None for a network without
    # actions, which were 0 in earlier files
    action_margin: float | None
    # share of traced actions nearer to the threshold than to a whole push, pop or no-op, in [0, 1]
    graded_actions: float

    def __post_init__(self) -> None:
        if self.action_margin == 0 and self.graded_actions == 0:  # an action without any margin would be graded
            object.__setattr__(self, "action_margin", None)

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report's "fidelity"."""
        return {**asdict(self), "rounding": {**asdict(self.rounding), "mismatch": self.rounding.mismatch}}


UNMEASURED = Fidelity(Rounding(0, 0, 0), None, None, 0.0)


def rounding_fidelity(analog: np.ndarray, rounded: np.ndarray, scored: np.ndarray | None = None) -> Rounding:
    """Return what rounding changes, from the answers of a network and its rounded twin, (N, 1) or (N, T) each.

    A word is accepted where its last answer is not a rejection; only answers that are ``scored`` (same shape) count.
    """
    different = differences(analog, rounded, scored)
    if analog.shape[1] == 1:  # recognisers say 0 for a rejection
        accepted = (analog > 0) | (rounded > 0)
        return Rounding(len(analog), int(different.sum()), int(accepted.sum()))
    alive = ((analog >= 0) | (rounded >= 0)).any(1)
    return Rounding(len(analog), int(different.any(1).sum()), int(alive.sum()))


def action_margins(model: StackModel[Any], seen: Trace) -> tuple[float | None, float]:
    """Return the smallest margin, and the share of graded actions, of steps of an analog trace that matter."""
    counts = seen.valid & ~seen.rejected
    if model.task_kind == "recognition":  # a pop of an empty stack rejects, and rounded otherwise it would not
        last = seen.rejected & ~np.pad(seen.rejected, ((0, 0), (1, 0)))[:, :-1]
        hidden = torch.from_numpy(seen.hidden[:, 1:][last])
        if len(hidden):  # an own network may not be able to begin no run at all
            counts[last] = ~model.rejects(hidden, model.initial_state(len(hidden)).stack).numpy()
    found = margins(model.action_kind, seen.actions[counts])
    if not found.size:
        return None, 0.0
    return float(found.min()), float((found < _GRADED).mean())


def margins(kind: ActionKind, actions: np.ndarray) -> np.ndarray:
    """Return how far ``actions`` (M, S, A) are from being rounded otherwise, in [0, 0.5]: (M, S) of softmax."""
    if kind == "none":
        return np.zeros(0)
    if kind == "softmax":  # the winner's lead over the next
        ordered = np.sort(actions, -1)
        return np.asarray((ordered[..., -1] - ordered[..., -2]) / 2)
    sizes = np.abs(actions) if kind == "signed" else actions
    return np.asarray(np.minimum(np.abs(sizes - 0.5), 0.5))


def caution(fidelity: Fidelity) -> str | None:
    """Return that an automaton tells of the rounded network only, where rounding changes much, else None."""
    if fidelity.rounding.mismatch <= _LARGEST_MISMATCH:
        return None
    tells = "the automaton tells what the rounded network does, and not what the network does"
    return f"rounding its actions {fidelity.rounding.changes()}: {tells}"


def rounding_changes_behaviour(model: StackModel[Any], fidelity: Fidelity) -> bool:
    """Return whether a network with nearly whole actions does something else when rounded: it counts with leftovers."""
    much = fidelity.rounding.mismatch > MOST_CHANGED
    return much and is_stack(model) and model.action_kind != "none" and fidelity.graded_actions <= _MOST_GRADED


def unrounded_caution(fidelity: Fidelity) -> str:
    """Return that an automaton tells of the network itself, of which only what is read of its actions is rounded."""
    return (
        "read from the network as it is, each operation as the whole one that it is nearest to: the automaton tells "
        f"what the network does, and rounding its actions {fidelity.rounding.changes()}, so of how it does that only "
        "what it does most"
    )


def reason_actions_graded(fidelity: Fidelity) -> str | None:
    """Return in one sentence that a buffered network does not read and write in whole steps, or None if it does."""
    rounding = fidelity.rounding
    if rounding.mismatch <= _LARGEST_MISMATCH:
        return None
    return (
        "the network does not read, write, push and pop in whole steps: rounding its strengths changes what it writes "
        f"on {rounding.disagreements:,} of {rounding.accepted_by_either:,} words, {fidelity.graded_actions:.1%} of the "
        f"strengths are graded, and the least certain is {fidelity.action_margin:.2f} from being rounded otherwise"
    )


def reason_not_learned(method: str, states: int, disagreements: int | None, words: int, largest: int = 0) -> str | None:
    """Return why nothing learned from answers, up to ``largest`` states, can stand for a network, None if it can."""
    if disagreements is None:
        return "nothing was learned from its answers"
    if not disagreements:
        return None
    best = f"the best automaton ({method}, {count(states, 'state')})"
    says = f"{best} differs on {disagreements:,} of {words:,} checking words"
    if largest <= _GREW:
        return says
    grew = f"it had {largest} when the learner stopped, and each longer word asked for more"
    return f"{says}; {grew}: the network counts, or is bounded at a depth not seen"


def why_unfaithful(model: StackModel[Any], fidelity: Fidelity, disagreements: int | None, words: int) -> str | None:
    """Return in one sentence why no automaton can stand for the network, with the measures, or None if one can.

    ``disagreements``: of the best candidate on ``words`` words; None if there was none.
    """
    rounding = fidelity.rounding
    parts = [] if model.action_kind == "none" else [f"{fidelity.graded_actions:.1%} of its actions are graded"]
    if fidelity.minority_transitions is not None:
        parts.append(f"{fidelity.minority_transitions:.1%} of its transitions are outvoted")
    measures = f" ({', '.join(parts)})" if parts else ""
    if not model.real_time:
        return reason_actions_graded(fidelity)
    if not is_stack(model):
        what = f"the memory of a {model.name} is no stack: it can {', '.join(model.operations)}"
        return f"{what}; rounding its actions {rounding.changes('answers')}{measures}"
    if rounding.mismatch > _LARGEST_MISMATCH:
        if model.noisy and model.action_kind == "none":  # of which nothing is rounded
            return f"{CONTRADICTS}: asking again {rounding.changes()}"
        return f"the network does not use its stack as a stack: rounding its actions {rounding.changes()}{measures}"
    if disagreements is None and model.n_stacks > MOST_STACKS:
        return f"{model.n_stacks} of its stacks matter, more than the {MOST_STACKS} that can be explored{measures}"
    if disagreements is None:
        return f"no finite set of states was found that closes under the network's steps{measures}"
    if disagreements:
        return (
            f"no number of states reproduces the rounded network: the best candidate differs on {disagreements:,} of "
            f"{words:,} checking words{measures}"
        )
    return None


# ---- The words on which candidates are compared with the rounded network ----

_SHORT = 20_000  # all words up to the length that gives at most so many
_DRAWN, _LENGTHS = 800, (10, 60)
_TOGETHER = 4_000  # words on which an automaton is run at once
_DEEPEST = 200  # how often parts of a word are nested
_RUNGS = (*range(1, 13), 16, 20, 25, 32, 40, 50, 64, 80, 100, 128, 160, 200)  # depths, where all are too many
_NESTED, _MOST_NESTED = (4, 9, 20, 60, 200), 8  # those of pairs that do not seem to count, and symbols of these
_FEW_SYMBOLS, _MANY = 4, 10_000  # up to so many symbols parts have two, where so many words may be asked
_POWERS = 320_000  # twice the symbols of words that repeat a part, where many words may be asked
_SHALLOW = 3  # who counts so far may count further
_COUNTING, _PUMPS = 4, 100  # families at most that are nested to every depth, and those of a reference to choose from
_TRIALS, _TRIAL_LENGTHS = 60, (2, 14)  # words on which another adapter or threshold is tried, and their lengths
_SAMPLED, _LEAST_SAMPLED = 0.25, 0.5  # of the time, for answers to words to search on, and seconds at least
_TRACED = 400  # words of each sort whose hidden vectors are clustered


@dataclass(frozen=True)
class Samples:
    """Checking words with the answers of a network and its rounded twin."""

    words: list[Word]  # all short words, then drawn longer ones
    rounded: np.ndarray  # what the rounded network says of them, (N, 1) or (N, T) int (see `answers`)
    analog: np.ndarray  # what the network itself says of the short ones; on longer words its errors sum up
    scored: np.ndarray | None  # which answers count, of the same shape; None for all
    n_short: int  # how many of the words are the short ones
    traced: list[Word]  # some of them on which hidden vectors are gathered: drawn ones, accepted ones and others
    short_traced: list[Word]  # the short ones among these

    def differing(self, answers_to: Callable[[list[Word]], np.ndarray], enough: int | None = None) -> list[Word]:
        """Return the words on which ``answers_to`` some, (M, 1) or (M, T'), differ from the rounded network's, in
        order.

        More than ``enough`` of them end the search, which looks at drawn words first; None to look at all.
        """
        wrong: list[int] = []
        # drawn words, then some short ones at a time, which are of like lengths
        blocks = (range(first, min(first + _TOGETHER, self.n_short)) for first in range(0, self.n_short, _TOGETHER))
        for part in map(list, (range(self.n_short, len(self.words)), *blocks)):
            answers = answers_to([self.words[i] for i in part])
            width = answers.shape[1]
            scored = None if self.scored is None else self.scored[part, :width]
            different = np.any(differences(answers, self.rounded[part, :width], scored), axis=1)
            wrong += [part[i] for i in np.flatnonzero(different).tolist()]
            if enough is not None and len(wrong) > enough:
                break
        return [self.words[i] for i in sorted(wrong)]

    def alive(self) -> int:
        """Return how many words the rounded network accepts, or does not cut short: disagreements are a share of it."""
        width = self.rounded.shape[1]
        ends = np.array([0 if width == 1 else max(0, len(word) - 1) for word in self.words], np.int64)
        last = self.rounded[np.arange(len(self.words)), ends]
        return int((last > 0 if width == 1 else last >= 0).sum())

    def rounding(self) -> Rounding:
        """Return what rounding changes on the short words."""
        n, width = self.analog.shape
        scored = None if self.scored is None else self.scored[:n, :width]
        return rounding_fidelity(self.analog, self.rounded[:n, :width], scored)


def draw_samples(model: StackModel[Any], specification: Specification | None, seed: int) -> Samples:
    """Return the checking words for ``model``; without a specification the drawn ones are uniformly random."""
    most = _SHORT if model.affordable is None else min(_SHORT, model.affordable)
    lengths = _LENGTHS if model.longest is None else (min(_LENGTHS[0], model.longest), min(_LENGTHS[1], model.longest))
    if specification is None:
        short = all_words(model.alphabet, default_max_length(len(model.alphabet), most))
        drawn = random_words(model.alphabet, _DRAWN, lengths, seed)
    else:
        short = specification.short_words(most)
        drawn = specification.long_words(_DRAWN, lengths, seed)
    if model.longest is not None:
        short, drawn = ([word for word in words if len(word) <= model.longest] for words in (short, drawn))
    # a slow network answers fewer: of the time a third each is for drawn words, for short ones, and for these as it is
    for share, least in ((_SAMPLED, _LEAST_SAMPLED), (1.0, 0.0)):  # all, where no word is answered so soon
        with part_of_time(share, least):
            with part_of_time(1 / 3):
                long_answers = answers_in_time(Rounded(model), drawn)
            with part_of_time(1 / 2):
                short_answers = answers_in_time(Rounded(model), short)
            # the soft network, the same one without actions, is asked short words only: on long ones its errors sum up
            same = model.action_kind == "none"
            analog = short_answers[: len(short)] if same else answers_in_time(model, short[: len(short_answers)])
        if len(analog) or not short:
            break
    else:
        raise OutOfTimeError
    short, drawn = short[: len(analog)], drawn[: len(long_answers)]
    words, width = [*short, *drawn], max(long_answers.shape[1], short_answers.shape[1])
    both = short_answers[: len(analog)], long_answers
    rounded = np.concatenate([np.pad(one, ((0, 0), (0, width - one.shape[1])), constant_values=-1) for one in both])
    accepted = rounded[: len(short)].max(1, initial=-1) > 0
    # hidden vectors are gathered on accepted words as well, which are few among all short ones
    rng = np.random.default_rng(seed)
    traced: list[Word] = []
    for pool in (np.flatnonzero(accepted), np.arange(len(short))):
        traced += [short[i] for i in rng.permutation(pool)[:_TRACED]]
    scored = None if specification is None else specification.scored(words)
    return Samples(words, rounded, analog, scored, len(short), [*drawn, *traced], traced)


def drawn_examples(model: StackModel[Any], specification: Specification) -> tuple[list[Word], np.ndarray]:
    """Return some short words, of a task its beginnings, perhaps none, and the answers expected of ``model``."""
    low, high = (length if model.longest is None else min(length, model.longest) for length in _TRIAL_LENGTHS)
    words: list[Word] = []
    with suppress(StacklensError):  # there are none of these lengths
        words = specification.long_words(_TRIALS, (low, high), 0)
        if 0 < len(words) < _TRIALS:  # of some tasks fewer come than are asked for
            words = specification.long_words(_TRIALS**2 // len(words), (low, high), 0)
    words = [word for word in words if len(word)]
    expected = specification.answers(model, words) if words else np.zeros((0, 1), np.int32)
    if model.task_kind == "next set":
        whole = [row for row, word in enumerate(words) if (expected[row, : len(word)] >= 0).all()]
        words, expected = [words[row] for row in whole], expected[whole]
    return words, expected


def changed_answers(model: StackModel[Any], words: Sequence[Word]) -> tuple[int, int]:
    """Return how many of ``words``, or of those a function was asked, get another answer now, and of how many."""
    if isinstance(model, BlackBox):
        return model.changed_answers(len(words))
    once, again = (answers_in_time(model, words) for _ in range(2))
    rows, columns = np.minimum(once.shape, again.shape)
    return int(differences(once[:rows, :columns], again[:rows, :columns]).any(1).sum()), int(rows)


class _Nest(NamedTuple):
    """The words u v^n x y^m z^m … w."""

    before: tuple[str, ...]
    cycle: tuple[str, ...]
    between: tuple[str, ...]
    backs: tuple[tuple[str, ...], ...]
    after: tuple[str, ...] = ()

    def word(self, n: int, m: int, alphabet: tuple[str, ...]) -> Word:
        back = (symbol for part in self.backs for symbol in part * m)
        return make_word((*self.before, *self.cycle * n, *self.between, *back, *self.after), alphabet)

    def most(self, model: StackModel[Any]) -> int:
        """Return up to which n its words, with m = n + 1, are asked of ``model``."""
        back = sum(map(len, self.backs))
        longest = 2 * _DEEPEST if model.longest is None else min(2 * _DEEPEST, model.longest - len(self.word(0, 1, ())))
        most = longest // (len(self.cycle) + back)
        return most if model.stack_limit is None else min(most, (model.stack_limit - 4) // len(self.cycle))


class NestedWords(NamedTuple):
    """Words that see depth, which random words do not; by default none."""

    words: tuple[Word, ...] = ()  # the words
    # the words on which a network was seen to count as far as was asked, and how far; None where it was not. No
    # automaton with fewer states, without a stack, gives its answers to them
    endless: str | None = None


def nested_words(model: StackModel[Any], specification: Specification | None) -> NestedWords:
    """Return words u v^n x y^m z^m … w with m = n - 1, n, n + 1, at every n up to 200, where ``model`` counts so.

    It does where it tells v^3 from less by what follows, and where the reference automaton of the ``specification``
    climbs. Of other pairs of symbols there are a^n b^n and a^n b^(n + 1) at some depths, and powers of symbols. Where
    all beginnings of a word are asked for, or few words may be, there are fewer depths, too.
    """
    alphabet, many = model.alphabet[:_MOST_NESTED], model.affordable is None or model.affordable >= _MANY
    partial_domain = specification is not None and specification.partial_domain
    meant = [] if specification is None else [one for one in specification.pumps(_PUMPS, 0) if one.climb and one.back]
    nests = [_Nest(*pump[:3], (pump.back,), pump.afters[0]) for pump in meant][:_COUNTING]
    if not partial_domain:
        short = [nest for nest in _short_nests(alphabet, many) if nest.most(model) >= _SHALLOW + 1]
        counting = [nest for nest, tells in zip(short, _tells(model, short, _SHALLOW), strict=True) if tells]
        others = {(nest.cycle, nest.backs): nest for nest in reversed(counting)}  # with the shortest x
        nests += sorted(others.values(), key=counting.index)[:_COUNTING]
    # every n of each family, or rungs of a ladder where words are dear
    asked = sum(3 * nest.most(model) for nest in nests)
    dear = model.affordable is not None and (model.task_kind != "recognition" or asked > 2 * model.affordable)
    words: dict[Word, None] = {}
    for nest in dict.fromkeys(nests):
        rungs = [*(n for n in _RUNGS[:: 1 if many else 2] if n < nest.most(model)), nest.most(model)]
        for n in rungs if dear else range(1, nest.most(model) + 1):
            words |= {nest.word(n, m, model.alphabet): None for m in (n, n + 1, n - 1)}
    if specification is None:
        pairs = [_Nest((), (a,), (), ((b,),)) for a in alphabet for b in alphabet if a != b]
        words |= {nest.word(n, n + more, model.alphabet): None for n in _NESTED for nest in pairs for more in (0, 1)}
        # a^n for every n, and (ab)^n, as far as there is room, or the longest where all beginnings are seen
        room = min(2 * _DEEPEST, int((_POWERS / len(alphabet)) ** 0.5)) if many else _DEEPEST // 2
        twos = [(a, b) for a in alphabet for b in alphabet if a < b][: len(alphabet) // 2]
        for unit in (*((a,) for a in alphabet), *twos):
            most = room // len(unit)
            first = 1 if model.task_kind == "recognition" else most
            words |= {make_word(unit * n, model.alphabet): None for n in range(first, most + 1)}
    deep = [nest for nest in nests if not partial_domain and nest.most(model) > _SHALLOW]
    for below in (1, None):  # most families show at once that they do not count so far
        deep = [nest for nest in deep if _tells(model, [nest], nest.most(model), below)[0]]
    kept = tuple(word for word in words if model.longest is None or len(word) <= model.longest)
    if not deep:
        return NestedWords(kept)
    # the family in words
    nest = deep[0]
    repeated = [(nest.cycle, " n times"), (nest.between, ""), *((part, " n times") for part in nest.backs)]
    parts = [(part, how) for part, how in ((nest.before, ""), *repeated, (nest.after, "")) if part]
    shown = ", then ".join(f"{format_word(make_word(part, model.alphabet))!r}{how}" for part, how in parts)
    return NestedWords(kept, f"on {shown} every n up to {nest.most(model)}")


def _short_nests(alphabet: tuple[str, ...], many: bool) -> list[_Nest]:
    """Return families whose parts are a symbol or two, those with fewer parts and symbols first."""
    letters: list[tuple[str, ...]] = [(a,) for a in alphabet]
    few = many and len(alphabet) <= _FEW_SYMBOLS
    parts = letters + list(product(alphabet, repeat=2)) if few else letters
    twice = {(a, a) for a in alphabet}  # of which (aa)^n (bb)^n says no more than a^n b^n
    found = [_Nest((), v, (), (y,)) for v, y in product(parts, parts) if v != y and not twice >= {v, y}]
    sides = parts if len(alphabet) < _FEW_SYMBOLS else letters
    found += [_Nest((), v, x, (y,)) for x, v, y in product(letters, sides, sides) if many and not twice >= {v, y}]
    some = letters[:_FEW_SYMBOLS]  # a^n b^n c^n, and with d^n
    return found + [_Nest((), v, (), tuple(ys)) for n in (3, 4) for v, *ys in permutations(some, n)]


def _tells(model: StackModel[Any], nests: Sequence[_Nest], n: int, below: int | None = None) -> list[bool]:
    """Return of each family whether its answers tell v^n from v^j for all j < n, or so many ``below``, by y^m.

    The m are near n. An automaton without a stack has then at least n + 1 states: if v^i and v^j led to the same one,
    so would v^n and a v^k with a smaller k.
    """
    some = range(n, -1 if below is None else n - 1 - below, -1)
    asked = [nest.word(j, m, model.alphabet) for nest in nests for j in some for m in (n - 1, n, n + 1)]
    answers = network_answers(model, asked)
    ends = [0 if model.task_kind == "recognition" else max(0, len(word) - 1) for word in asked]
    last = answers[np.arange(len(asked)), ends].reshape(len(nests), len(some), 3)
    return [bool(differ) for differ in (last[:, :1] != last[:, 1:]).any(2).all(1).tolist()]


def walk_words(pda: PushdownAutomaton, n: int, lengths: tuple[int, int], seed: int) -> list[Word]:
    """Return ``n`` random walks over the transitions of ``pda``, shorter where none leads on, half with an error."""
    rng = np.random.default_rng(seed)
    words: list[Word] = []
    for number, size in enumerate(rng.integers(lengths[0], lengths[1], n)):
        current, word = pda.rest(pda.start), []
        for _ in range(size):
            options = [(x, after) for x in pda.input_alphabet if (after := pda.step(current, x)) is not None]
            if not options:
                break
            symbol, current = options[rng.integers(len(options))]
            current = pda.rest(current)
            word.append(symbol)
        if number % 2:
            word.append(pda.input_alphabet[rng.integers(len(pda.input_alphabet))])
        words.append(make_word(word, pda.input_alphabet))
    return words
