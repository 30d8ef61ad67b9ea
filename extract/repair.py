"""From a network that learned to one that is right: training further on what breaks it, and actions made whole.

`harden` scales the layer that decides actions until every action is exactly 0 or 1 in the network's numbers: the
network as it is and the rounded one are then the same, and a certificate of one is a certificate of the other.
`repair` goes round: words that break the network, training further on them, until a certificate closes; then hardens.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.nn.utils import parameters_to_vector

from ..automata.compare import Comparison, Different, Equal, Undecided, compare
from ..automata.pda import Word
from ..automata.runs import greatest_heights
from ..core.errors import StacklensError
from ..core.progress import Told, count
from ..languages.language import format_word
from ..languages.task import Task
from ..models.base import Origin, StackModel, one_thread
from ..models.inference import differences, network_answers
from ..models.networks.joulin import StackRNN
from ..models.networks.layers import PaperNetwork
from ..models.rounding import Rounded, differing_bits, smallest_gap
from ..models.training import loop
from ..models.training.streams import word_accuracy
from ..models.training.supervised import batch_losses, numbered_for
from .agreement import CERTIFICATE_NOT_TRIED, Certification, Certified
from .by_name import specification_for, task_of
from .certificate.certify import certification
from .certificate.controllers import EXACT_GAPS
from .config import ExtractionConfig
from .cycles import pumped_families
from .extraction import extract
from .result import Extraction
from .samples import draw_samples
from .specification import Specification, TaskSpecification

# ---- Hardening: the sums that decide actions, so far apart that every action is exactly 0 or 1 ----

_ROOM = 4.0  # by how much more a gap is scaled that was only seen on words
_MOST_SCALE = 2.0**60  # a network that needs more is as good as undecided


@dataclass(frozen=True)
class Hardened:
    """A network whose actions are exactly 0 or 1."""

    model: StackModel[Any]
    # by what the weights and biases were multiplied that decide its actions, a power of two, so that no sum is rounded
    # in another way
    scale: float
    gap: float  # how far the sums behind the actions were from a tie before, at least (see `Certified.gap`)
    proved: bool  # whether a certificate shows that gap for all words; otherwise it was seen on ``words``
    words: int  # on how many words the network was run beside the rounded one, to the last bit
    different: int  # on how many of them an output differed, which is none where the gap is proved
    parameters: tuple[str, ...]  # the names of the weights and biases

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, without the network; a gap that is infinite, which JSON has not, is None there."""
        gap = self.gap if math.isfinite(self.gap) else None
        return {name: value for name, value in vars(self).items() if name != "model"} | {"gap": gap}

    def __str__(self) -> str:
        shown = "proved by the certificate" if self.proved else f"seen on {count(self.words, 'word')}"
        same = f"the same outputs as the rounded network, bit for bit, on {count(self.words, 'word')}"
        wrong = f"other outputs than the rounded network on {self.different:,} of {count(self.words, 'word')}"
        scaled = f"{', '.join(self.parameters)} times 2^{round(math.log2(self.scale))}"
        return f"{scaled}; gap {self.gap:.3g} before ({shown}); {wrong if self.different else same}"


def harden(result: Extraction) -> Hardened:
    """Return the network of ``result`` hardened, as `sl.harden` does. Raises StacklensError: no layer decides actions
    and nothing else, or no scale makes one whole: the one neuron of an NNPDA, where it means "none".
    """
    return scale_actions(result.model, result.language, result.certificate)


def scale_actions(model: StackModel[Any], specification: Specification | None, found: Certification) -> Hardened:
    """Return what `harden` returns, of a network with such a certificate."""
    words = [word for word in draw_samples(model, specification, 0).words if word or model.end is not None]
    layer = dict(model.action_layer())
    if not layer:
        raise StacklensError(f"a {model.name} has no layer of its own that decides its actions; there is none to scale")
    whole = EXACT_GAPS[model.action_kind][str(next(model.parameters()).dtype).removeprefix("torch.")]
    certificate = found.certificate
    proved = isinstance(certificate, Certified) and certificate.gap > 0
    with one_thread():
        gap, word, step = smallest_gap(model, words)
        if isinstance(certificate, Certified) and proved:
            gap = min(gap, certificate.gap)
        needed = max(1.0, (1 if proved else _ROOM) * whole / gap) if gap > 0 else math.inf
        if needed > _MOST_SCALE:
            raise StacklensError(
                f"no scale of {next(iter(layer))} makes the action whole on {format_word(word) or 'the empty word'}, "
                f"step {step + 1}: an action neuron that means none has no exact 0 there, so the network cannot be "
                "hardened; a network with softmax actions can"
            )
        scale = 1.0 if gap >= whole else 2.0 ** math.ceil(math.log2(needed))
        hardened = copy.deepcopy(model)
        with torch.no_grad():
            for name, rows in layer.items():
                hardened.get_parameter(name)[rows] *= scale
        for name in layer:
            if not torch.isfinite(scaled := hardened.get_parameter(name)).all():
                raise StacklensError(f"{name} leaves the numbers of {scaled.dtype} when it is scaled; use float64")
        different = differing_bits(hardened, words)
    task = specification.task if isinstance(specification, TaskSpecification) else None
    _marked(hardened, "hardened", task, hardened=f"{', '.join(layer)} times 2^{round(math.log2(scale))}")
    return Hardened(hardened, scale, gap, proved, len(words), different, tuple(layer))


def _marked(model: StackModel[Any], made: str, task: Task | None, **provenance: Any) -> StackModel[Any]:
    origin = model.origin or Origin(model.name)
    known = dict(origin.task) or ({} if task is None else {"kind": task.kind, "language": task.name})
    model.origin = Origin(f"{origin.name}-{made}", task=known, provenance={**origin.provenance, **provenance})
    return model


# ---- Repair: train further on what breaks a network, until a certificate closes ----

_STEPS = (2_000, 6_000, 12_000, *[24_000] * 5)  # of the rounds; too few make it worse, so each has more than the last
_WORDS, _BATCH, _RATE = 4_000, 32, 2e-3
_NOISE, _READING, _RISING = 0.3, 0.3, 0.4  # the disturbance, and over which share of the steps it rises


@dataclass(frozen=True)
class Way:
    """How a copy is trained further: what it pays for being unsure, on which words, and how much it is disturbed."""

    price: float  # what blurred units and actions, and open forget gates, cost
    hard: bool = True  # whether it is given the words that break the network
    disturbed: float = 1.0  # what share of the round's disturbance it bears

    def __str__(self) -> str:
        return f"price {self.price:g}{'' if self.disturbed == 1 else f', {self.disturbed:g} of the noise'}"


_FIRST, _FIRST_RING = Way(0.01), Way(0.3)  # the first round's only copy; then several side by side, the dearest last
# Without the words that break a network 6 of 8 were certified, with them 4; cells of one number bear little noise.
_WAYS = (Way(0.01, disturbed=0.25), *(Way(price, hard=False) for price in (0.01, 0.1, 0.3)))
_RING = 20.0, 0.4  # how much faster what is added to a ring's cells learns, and over which share of the steps
_HARD, _MOST_HARD, _LONGEST, _CUT = 0.1, 200, 130, 80  # share of words that break it; how many; symbols, of drawn ones
# words that a round is judged on: all short ones, drawn ones, deep ones, cycles and how often these are repeated
_SHORT, _DRAWN, _DEEP, _FAMILIES, _REPEATED = 3_000, 400, 100, 100, (2, 5, 9, 14, 20, 33, 60)
_TESTED, _ENDED_BY = 1_000, 20.0  # words of the paper's test; seconds by the clock, to extract from a changed network


@dataclass(frozen=True)
class Round:
    """One round of training further."""

    # steps, seed: how many updates of each copy, and the seed of its words and disturbances
    steps: int
    seed: int
    noise: float  # the largest disturbance of a hidden unit, see `draw_noise`
    way: Way  # how the best of its copies was trained
    hard: int  # how many different words were known that broke the network, see `Way.hard`
    seconds: float  # of processor time, with what it is judged by
    words: int
    # wrong, soft_wrong: on how many of ``words`` the rounded network was wrong then, and the network as it is
    wrong: int
    soft_wrong: int
    shortest: int | None  # the length of the shortest of these; None where there is none
    certified: bool  # whether a certificate closed
    kept: bool  # whether it was better than all before

    def __str__(self) -> str:
        found = f"wrong on {self.wrong:,} of {self.words:,} words rounded, {self.soft_wrong:,} as it is"
        found += "" if self.shortest is None else f", the shortest {self.shortest} symbols"
        noise = "" if self.noise == _NOISE else f", noise {self.noise:.2g}"
        noise += "" if self.way in (_FIRST, _FIRST_RING) else f", {self.way}"
        much = f"{self.steps:,} steps{noise}, {self.hard if self.way.hard else 'no'} hard words, {self.seconds:.0f} s"
        kept = f"{', certified' if self.certified else ''}; {'better' if self.kept else 'no better, dropped'}"
        return f"{much}: {found}{kept}"


@dataclass(frozen=True)
class Repair:
    """What came of a repair."""

    # the best network: hardened where it could be, and the one that came in where nothing was better
    model: StackModel[Any]
    # before, after: the extractions from the network that came in, and from `model`
    before: Extraction
    after: Extraction
    rounds: tuple[Round, ...]  # how it was trained further
    hardened: Hardened | None  # how its actions were made whole; None where they could not be, see `reason`
    reason: str | None  # why it is not certified, or not as itself; None where it is
    distance: float  # how far the weights moved, as a share of their size, before they were scaled
    same: Comparison  # whether the automata before and after are equal for all words
    # the share of words of the paper's own test that are right, before and after; None without a task
    accuracy: tuple[float, float] | None
    seconds: float  # of processor time

    @property
    def status(self) -> int:
        """Return 0 where the network is certified for words of every length and nothing contradicts it, else 1."""
        return 0 if _is_right(self.after) else 1

    def why(self) -> str:
        """Return what is still wrong, and what to do next; or that nothing is."""
        return self.after.why() if self.reason is None else f"{self.reason}\n{self.after.why()}"

    def to_dict(self) -> dict[str, Any]:
        """Return what changed, as plain data."""
        return {
            "before": self.before.headline,
            "after": self.after.headline,
            "rounds": [asdict(one) for one in self.rounds],
            "hardened": None if self.hardened is None else self.hardened.to_dict(),
            "reason": self.reason,
            "distance": self.distance,
            "same_automaton": type(self.same).__name__.lower(),
            "accuracy": self.accuracy,
            "seconds": self.seconds,
        }

    def __str__(self) -> str:
        lines = [f"before   {self.before.headline}", *(f"round    {one}" for one in self.rounds)]
        lines += [f"after    {self.after.headline}", f"actions  {self.hardened or 'not made whole'}"]
        same = {Equal: "equal for all words", Different: "different"}.get(type(self.same), "not compared")
        same += f": {self.same.reason}" if isinstance(self.same, Undecided) else ""
        lines += [] if self.reason is None else [f"left     {self.reason}"]
        lines.append(f"changed  weights by {self.distance:.1%} of their size; automata before and after: {same}")
        if self.accuracy is not None:
            lines.append(f"test     {self.accuracy[0]:.1%} of the task's own test before, {self.accuracy[1]:.1%} after")
        return "\n".join(lines)


@one_thread()
def repair(
    model: StackModel[Any] | Extraction,
    language: Any = None,
    config: ExtractionConfig | None = None,
    *,
    seconds: float = 120.0,
    seed: int = 0,
    progress: Told = lambda *_: None,
    on_round: Callable[[Round, StackModel[Any]], object] = lambda *_: None,
) -> Repair:
    """Return ``model`` trained further until the rounded network is certified, and hardened, or the best on the way.

    A round takes the words that break the best network so far, trains it further on them and on the task's words, its
    controller disturbed more and more, and judges it (see `Trial`). Rounds get longer, and disturb half as much after
    one, the first and shortest apart, that made nothing better: three kinds of brackets in cells of one number bear
    less than two. From the second on copies are trained side by side that pay more or less for being unsure, all but
    one on the task's words alone, and where no word is wrong rounded rounds add up.
    What comes back is never worse than what came in, neither on the words of the trial nor on the task's own test.

    Rounds that it went through before, which its file tells, are counted on: their seeds are not used again. The same
    seed gives the same network as long as no round was shortened for want of time.

    Args and errors are those of `sl.repair`; ``config`` is of the extractions. No round begins that would not be over
    after ``seconds``. ``on_round`` hears of every round that is over, with the best network so far, to keep it.
    """
    if not isinstance(seconds, int | float) or isinstance(seconds, bool) or not 0 < seconds < math.inf:
        raise StacklensError(f"seconds is {seconds!r:.50}; expected processor time in seconds, more than 0")
    known = model if isinstance(model, Extraction) and language is None else None
    language = known.language if known is not None else language
    model = model.model if isinstance(model, Extraction) else model
    specification = specification_for(language, model.task_kind, model.output_alphabet)
    task = task_of(model, specification)
    assert specification is not None
    begun, config = time.process_time(), config or ExtractionConfig()
    past = (model.origin or Origin("")).provenance
    again, noise = int(past.get("repair_rounds", 0)), float(past.get("repair_noise", _NOISE))

    def left() -> float:
        return seconds - (time.process_time() - begun)

    # Extract: what is known of the network as it came, and the automaton that it should follow.
    progress("extract from the network", 0, None)
    before = known or extract(model, specification, config, progress)
    trial = Trial.of(before, specification, seed)
    best, net, rounds, pace = trial.standing(model, before), model, list[Round](), math.inf
    stood, needed = [(best, net)], trial.needed(model)
    copied, first = isinstance(model, PaperNetwork), _FIRST_RING if getattr(model, "ring", False) else _FIRST
    for number, steps in enumerate(_STEPS):
        # No round that cannot be over in time: the first shows how long a step takes.
        ways = _WAYS if number and copied else (first,)  # copies can stand on a leading axis
        much = (1 + len(ways)) / 2  # a copy more costs half a step more
        steps = steps if pace == math.inf else min(steps, int(0.8 * left() / (pace * much)))
        if best.is_enough(model) or steps < _STEPS[0] or left() <= 0:
            break
        # Train further, from the best so far, on its words and those that break it.
        at, drawn, say = time.process_time(), seed + again + number, partial(progress, f"round {number + 1}: train on")
        hard = [word for word in best.broken if _is_of(task, word)][:_MOST_HARD]
        copies = train_further(net, task, hard, steps, drawn, noise, say, left, needed, ways)
        pace = (time.process_time() - at) / (steps * much)
        # Judge them, the surest first, and keep the best where it is better than what there was.
        progress(f"round {number + 1}: certify", 0, None)
        asked = len(trial.words)
        (after, trained, way), kept = trial.best_of(copies, ways), False
        if len(trial.words) > asked:  # reading the best found more words that break it: by these all are judged again
            stood = sorted(((trial.standing(one, read=False), one) for _, one in stood), key=lambda one: one[0].worth)
            best, net = stood[-1]
        _marked(trained, "repaired", task, repair_rounds=again + len(rounds) + 1, repair_noise=noise)
        if after.worth > best.worth or (after.worth == best.worth and not after.wrong):
            best, net, kept = after, trained, True
            stood.append((best, net))
        wrong, soft, some = map(len, (after.wrong, after.soft_wrong, trial.words))
        shortest, spent = min(map(len, after.broken), default=None), time.process_time() - at
        known_of = (len(hard), spent, some, wrong, soft, shortest, after.certified, kept)
        rounds.append(Round(steps, drawn, noise, way, *known_of))
        on_round(rounds[-1], net)
        noise = noise if kept or number == 0 else noise / 2

    # Harden: the best as itself, where nothing is lost by it. What is not certified as itself then does no worse on the
    # task's own test than what came in; else an earlier one comes back.
    progress("make actions whole", 0, None)
    for best, net in reversed(stood):
        reason, hardened, best_net = None, None, net
        try:
            hardened = scale_actions(net, specification, best.certificate)
            best_net = hardened.model
            if trial.standing(best_net, read=False).worth < best.worth:
                reason = "its graded actions do better than whole ones, or whole ones have no certificate"
                hardened, best_net = None, net
        except StacklensError as error:
            reason = str(error)
        accuracy = _accuracy(task, model, best_net)
        if (best.certified and hardened is not None) or accuracy is None or accuracy[1] >= accuracy[0]:
            break
    else:  # not even whole actions serve the network that came in
        hardened, best_net, accuracy = None, model, None if accuracy is None else (accuracy[0], accuracy[0])
    result = before if best_net is model else extract(best_net, specification, config, progress)
    if _is_right(result) and hardened is not None and not getattr(result.certificate.certificate, "itself", False):
        reason = "certified rounded; that its actions are whole is only seen on words"
    if not _is_right(result):
        spent_before = "" if rounds else ", too few for a round after the network had been read out"
        more = f"; {seconds:g} s were given{spent_before}" if left() <= 0 or len(rounds) < len(_STEPS) else ""
        reason = f"not certified after {count(len(rounds), 'round')}{more}: {result.certificate}"
        if best.is_enough(model):
            but = "certified there, and not again in time" if best.certified else "of others' code nothing is certified"
            reason = f"right on all {count(len(trial.words), 'word')} of its trial; {but}"
    one, two = (parameters_to_vector(own.parameters()).detach().double() for own in (model, net))
    distance = float((one - two).norm() / (one.norm() or 1.0))
    same: Comparison = Undecided(f"there is no automaton {'before' if before.minimised is None else 'after'}")
    if before.minimised is not None and result.minimised is not None:
        same = compare(before.minimised, result.minimised)
    spent, made = time.process_time() - begun, tuple(rounds)
    return Repair(result.model, before, result, made, hardened, reason, distance, same, accuracy, spent)


def _is_right(result: Extraction) -> bool:
    return result.status == 0 and isinstance(result.certificate.certificate, Certified)


@dataclass(frozen=True)
class Standing:
    """How a network does on the words of a trial."""

    certificate: Certification  # of the rounded network; not tried where it is wrong on a word
    # wrong, soft_wrong: the words on which the rounded network and the network are wrong, shortest first
    wrong: list[Word]
    soft_wrong: list[Word]

    @property
    def certified(self) -> bool:
        """Return whether the rounded network is proved right on words of every length."""
        return isinstance(self.certificate.certificate, Certified)

    def is_enough(self, model: StackModel[Any]) -> bool:
        """Return whether no more can be shown: a certificate, or of code that has none no word that is wrong."""
        return self.certified or (model.foreign and not self.broken)

    @property
    def broken(self) -> list[Word]:
        """Return all words that are wrong, rounded or not, shortest first."""
        return sorted(dict.fromkeys([*self.wrong, *self.soft_wrong]), key=len)

    @property
    def worth(self) -> tuple[float, ...]:
        """Return how good the network is; what comes first decides: certificate, horizon, margin."""
        found = self.certificate.certificate
        lengths = [len(words[0]) if words else math.inf for words in (self.wrong, self.soft_wrong)]
        margin = found.margin if isinstance(found, Certified) else 0.0
        return (self.certified, -len(self.wrong), lengths[0], -len(self.soft_wrong), lengths[1], round(margin, 3))


_Judged = tuple[Standing, StackModel[Any], Way]


@dataclass
class Trial:
    """What every network of a repair is judged by: words with their right answers, and a certificate.

    The words are all short ones, drawn long and deep ones, those that broke the network, and words that go round the
    cycles of what it should do, low, high and hovering (`automata.coverage`), as its cells allow. Reading an automaton
    from a network that is right on all of them adds the words that break this one.
    """

    # specification, words: what the network should do, and on which words
    specification: Specification
    words: list[Word]
    followed: Extraction  # from the network as it came, or the one that was certified last: what others may follow, too
    cells: int  # how high its words may pile them

    @classmethod
    def of(cls, before: Extraction, specification: Specification, seed: int) -> Trial:
        """Return the trial of a repair that began with ``before``."""
        model, reference = before.model, specification.automaton()
        cells = (model.stack_limit or 10**6) - 4
        words = list(specification.short_words(_SHORT))
        for lengths in ((10, 60), (100, 200)):
            words += specification.long_words(_DRAWN, lengths, seed)
        words += [*specification.deep_words(_DEEP, min(60, cells), seed), *_words_against(before)]
        if reference is not None:
            for pump, most in pumped_families(reference, model, specification, _FAMILIES, seed):
                words += [pump.word(rounds) for rounds in _REPEATED if rounds <= most]
        trial = cls(specification, [], before, cells)
        trial.add(words)
        return trial

    def add(self, words: Sequence[Word]) -> bool:
        """Return whether any of ``words`` is new, after asking those from now on that count and that the cells bear."""
        reference, before = self.specification.automaton(), len(self.words)
        heights = greatest_heights(reference, words) if reference is not None else np.zeros(len(words))
        counts = (self.specification.meant(words) & (heights <= self.cells)).tolist()
        kept = [word for word, good in zip(words, counts, strict=True) if good and word]
        self.words = list(dict.fromkeys([*self.words, *kept]))
        return len(self.words) > before

    def needed(self, model: StackModel[Any]) -> tuple[int, ...]:
        """Return the stacks that a Stack RNN needs which has more; none for all."""
        reference = self.specification.automaton()
        few = self.followed.stacks.stacks or tuple(range(0 if reference is None else reference.n_stacks))
        return few if isinstance(model, StackRNN) and len(few) < model.n_stacks else ()

    def best_of(self, models: Sequence[StackModel[Any]], ways: Sequence[Way]) -> _Judged:
        """Return the best of ``models`` with the way it was trained, the last first, until one is certified.

        Only the best is read again where it has learned to do it in another way, which takes longer than all the rest.
        """
        judged = list[_Judged]()
        for model, way in zip(reversed(models), reversed(ways), strict=True):
            judged.append((self.standing(model, read=False), model, way))
            if judged[-1][0].certified:
                break
        found, model, way = max(judged, key=lambda one: one[0].worth)
        return (found if found.certified or found.wrong else self.standing(model), model, way)

    def standing(self, model: StackModel[Any], known: Extraction | None = None, read: bool = True) -> Standing:
        """Return how ``model`` does; ``known`` is what was extracted from it, if that is known. ``read``: whether an
        automaton is read from it where it does not follow that of before.
        """
        expected = self.specification.answers(model, self.words)
        scored = self.specification.scored(self.words)
        wrong = []
        for network in (Rounded(model), model):
            different = differences(network_answers(network, self.words), expected, scored).any(1)
            wrong.append(sorted((self.words[i] for i in np.flatnonzero(different)), key=len))
        certificate = CERTIFICATE_NOT_TRIED if known is None else known.certificate
        if known is None and not wrong[0] and not model.foreign:
            # an automaton that is another one than the task's is none to follow
            if (seen := self.followed).minimised is not None and not isinstance(seen.proof, Different):
                certificate = certification(model, seen.minimised, seen.stacks, self.specification, view=seen.view)
            if read and not isinstance(certificate.certificate, Certified):
                found = extract(model, self.specification, ExtractionConfig(budget=_ENDED_BY))
                certificate = found.certificate
                if _is_right(found):
                    self.followed = found
                elif self.add(_words_against(found)):  # what reading it found is asked of all networks from now on
                    return self.standing(model, read=False)
        if wrong[0] or (known is not None and known.status):  # a certificate that holds of a wrong automaton
            certificate = CERTIFICATE_NOT_TRIED
        return Standing(certificate, *wrong)


def _words_against(found: Extraction) -> list[Word]:
    words = [check.counterexample for check in found.checks if check.counterexample is not None]
    words += [one.difference.word for one in found.horizon.values() if one.difference is not None]
    return [tuple(word) for word in words]


def _is_of(task: Task, word: Word) -> bool:
    with suppress(StacklensError):
        return len(word) <= _LONGEST and len(task.examples([word])) == 1
    return False


def train_further(
    model: StackModel[Any],
    task: Task,
    hard: Sequence[Word],
    steps: int,
    seed: int,
    noise: float = _NOISE,
    on_step: Callable[[int, int], None] = lambda *_: None,
    left: Callable[[], float] = lambda: math.inf,
    needed: Sequence[int] = (),
    ways: Sequence[Way] = (_FIRST,),
) -> list[StackModel[Any]]:
    """Return copies of ``model`` after ``steps`` more updates on words of ``task`` and ``hard`` ones, one for each way.

    What the controller sees is disturbed by up to ``noise``, more and more over the first steps, and blurred units and
    actions cost the price: what a disturbance must not change ends up where curves are flat, and what is flat forgets
    it (Jim, Giles & Horne 1996). Steps end when no seconds are ``left``. Of a Stack RNN only the stacks ``needed`` are
    trained, where some are named, and all others popped at every step, so that nothing follows from them. On a
    leading axis, which costs much less than one after the other, copies take their shares of the same draws.
    """
    # Words of the task, of which beginnings are examples, too, and among them a fixed share of hard ones.
    generator, rng = torch.Generator().manual_seed(seed), np.random.default_rng(seed)
    hard = [hard[i % len(hard)] for i in range(int(_WORDS * _HARD))] if hard else []
    examples = numbered_for(model, task.examples([*(w[:_CUT] for w in task.sample(_WORDS, seed=seed).words), *hard]))
    order = np.argsort(examples.lengths, kind="stable")
    used = model.with_stacks(needed) if needed and isinstance(model, StackRNN) else model
    one = copy.deepcopy(used).eval().requires_grad_(True)
    net, many = (one, ()) if len(ways) == 1 else (loop.stacked(one, len(ways)), (len(ways),))
    ring, like = getattr(net, "ring", False), next(net.parameters()).detach()
    added = [parameter for name, parameter in net.named_parameters() if ring and name.startswith("pushed_")]
    others = [parameter for parameter in net.parameters() if all(parameter is not one for one in added)]
    optimizer = torch.optim.Adam([{"params": some} for some in (others, added) if some], _RATE)
    ones = (1,) * len(many)
    # of each copy, (N,) or (): its price, whether hard words count, its share of the disturbance
    parts = ([getattr(way, name) for way in ways] for name in ("price", "hard", "disturbed"))
    unsure, given, moving = (torch.tensor(part, dtype=like.dtype).to(like.device).view(many) for part in parts)
    faster, early = _RING if ring else (1.0, 0.0)
    for step in range(steps):
        # the rate falls as half a cosine, the disturbance rises over the first steps
        for group, factor in zip(optimizer.param_groups, (1.0, faster if step < early * steps else 1.0), strict=False):
            group["lr"] = _RATE * factor * loop.cosine(step, steps)
        share = min(1.0, step / (_RISING * steps))
        # 32 words of like lengths, (T, B)
        at = int(rng.integers(0, max(1, len(order) - _BATCH)))
        chosen = order[at : at + _BATCH]
        batch = loop.Batch.of(examples, chosen, like)
        length, size = batch.symbols.shape
        moved = loop.draw_noise(net, length * (1 + net.extra_steps), size, share * noise, _READING, generator)
        # each copy its own words, (T, N, B), and disturbances, (S, N, B, H + R); without N where there is one
        counts = torch.where(torch.from_numpy(chosen < _WORDS).to(like.device), 1.0, given.unsqueeze(-1))
        batch = replace(batch, weights=batch.weights.view(length, *ones, size) * counts)
        moved = moved.view(-1, *ones, size, moved.shape[-1]) * moving[..., None, None]
        made = net.run(batch.symbols, net.initial_state(size), moved)
        # the task's own loss, and a price for what is neither 0 nor 1 and for what is never forgotten
        price = unsure.unsqueeze(-1) * share * (loop.blur(net, made) + loop.residue(net, made))  # (S, N, B)
        counted = batch.weights.repeat_interleave(1 + net.extra_steps, 0)  # steps behind a word count as its symbols do
        loss = batch_losses(net, batch, made) + unsure * loop.remembering(net) + (price * counted).sum((0, -1))
        optimizer.zero_grad()
        loss.sum().backward()  # type: ignore[no-untyped-call]
        (loop.clip_gradients if many else torch.nn.utils.clip_grad_norm_)(net.parameters(), 1.0)
        optimizer.step()
        if step % 50 == 0:
            on_step(step, steps)
            if left() <= 0:
                break
    weights = {name: value.detach() for name, value in net.named_parameters()}
    copies = [loop.unstacked(copy.deepcopy(one), weights, i) for i in range(len(ways))] if many else [net]
    if needed and isinstance(model, StackRNN):
        copies = [model.idle_but(needed, each) for each in copies]
    return [each.requires_grad_(False) for each in copies]


def _accuracy(task: Task, *models: StackModel[Any]) -> tuple[float, float] | None:
    if models[0].foreign and task.kind != "next set":  # of any numbers no share
        return None
    try:
        tested = numbered_for(models[0], task.sample(_TESTED, split="test", seed=1))
    except StacklensError:
        return None
    before, after = (float(word_accuracy(model, tested)[0]) for model in models)
    return before, after
