"""Whole extractions of networks built by hand whose weights are moved until they do something else.

What an extraction claims is confronted with runs of the network, of the automaton and of the language that are written
from their definitions. Where a decision of the network hangs by rounding errors, nothing is asked.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import accumulate, product

import torch
from tests.attack.campaign import Attack
from tests.attack.confrontation import Case, confront
from tests.attack.plain_automaton import MEMBER, repeated
from tests.attack.plain_machines import Fault, FaultyStrengths, FaultySuperposition, random_machine, run_machine
from tests.attack.plain_nnpda import run_nnpda
from tests.attack.plain_run import PlainRun
from tests.extract.hand_built import HandMachine
from tests.models.hand_made import hand_made

from stacklens.core.errors import StacklensError
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.face.results import learn
from stacklens.languages.catalogue import get_language
from stacklens.models.networks.nnpda import NNPDA

QUICK = ExtractionConfig(
    max_length=4, long_words=40, long_lengths=(10, 20), deep_words=2, depth=20, height=6, climbs=1, walks=8
)
# one number of clusters and of symbols, and splits where it is wrong: walking through all of them takes too long here
NARROW = replace(QUICK, states=3, stack_symbols=4)
LEARNED = replace(QUICK, method="learn", proved_length=30)
STEPS = 12


def nnpda_round(seed: int) -> Counter[str]:
    """Extract the last network on the way that does what the first did, and the first that does not."""
    rng = random.Random(seed)
    name, end = rng.choice(sorted(MEMBER)), rng.choice((None, "$"))
    language = get_language(name)
    automaton = language.automaton
    assert automaton is not None
    tried, before = Counter[str](), hand_made(automaton, end=end)
    words = [word for n in range(5) for word in product(before.alphabet, repeat=n)]
    right = behaviour(before, words)
    for after in moved(before, rng):
        tried["networks"] += 1
        if behaviour(after, words) != right:
            break
        before = after
    for net in (before, after):
        try:
            result = extract(net, language, QUICK)
        except StacklensError as error:
            if "rejects every word at its first symbol" not in str(error):
                raise
            tried["refusals"] += 1
            continue
        tried += confront(result, Case(partial(run_nnpda, net), before.alphabet, member=MEMBER[name]), rng)
    return tried


def moved(net: NNPDA, rng: random.Random) -> Iterator[NNPDA]:
    """Yield copies of ``net`` whose weights lie further and further away in one direction, less or all at once."""
    generator = torch.Generator().manual_seed(rng.randrange(2**31))
    share = rng.choice((0.02, 0.2, 1.0))
    ways = {}
    for name, weights in net.state_dict().items():
        chosen = torch.rand(weights.shape, generator=generator) < share
        ways[name] = torch.randn(weights.shape, generator=generator, dtype=weights.dtype) * chosen
    for step in range(STEPS):
        far = NNPDA(net.shape)
        far.load_state_dict({name: weights + 2.0**step * ways[name] / 4 for name, weights in net.state_dict().items()})
        yield far.eval()


def behaviour(net: NNPDA, words: list[tuple[str, ...]]) -> list[bool]:
    return [run_nnpda(net, word, rounded=True).accepted for word in words]


def machine_round(seed: int) -> Counter[str]:
    """Extract the last faulty network that does what its table does, and the first that does not."""
    rng = random.Random(seed)
    tried = Counter[str]()
    strengths, drifts, sign = rng.random() < 0.5, rng.random() < 0.5, rng.choice((-1, 1))
    faults = [Fault(drift=sign * 0.002 * 1.4**n) if drifts else Fault(leak=sign * 0.06 * 1.25**n) for n in range(STEPS)]
    while True:  # with most small tables no fault changes anything
        machine = random_machine(rng, ("none", "pop", "push", "replace") if strengths else ("none", "pop", "push"))
        words = [repeated(rng, machine.letters, 30) for _ in range(40)]
        right = said(machine, Fault(), words)
        tried["tables"] += 1
        if said(machine, faults[0], words) == right != said(machine, faults[-1], words):
            break
    number = next(n for n, fault in enumerate(faults) if said(machine, fault, words) != right)
    before, after = faults[number - 1 : number + 1]
    for fault in (before, after):
        net = FaultyStrengths(machine, fault) if strengths else FaultySuperposition(machine, fault)
        try:
            result = extract(net, None, rng.choice((NARROW, LEARNED)))
        except StacklensError as error:
            if "rejects every word at its first symbol" not in str(error):
                raise
            tried["refusals"] += 1
            continue
        case = Case(partial(run_machine, machine, fault), machine.letters, machine.kind == "recognition")
        tried += confront(result, case, rng)
    return tried


def said(machine: HandMachine, fault: Fault, words: list[tuple[str, ...]]) -> list[PlainRun]:
    return [replace(run_machine(machine, fault, word, rounded=True), margin=0) for word in words]


def box_round(seed: int) -> Counter[str]:
    """Learn a black box that is bounded at some depth, or not at all, and ask both words of that depth."""
    rng = random.Random(seed)
    name, depth = rng.choice(list(BOXES)), rng.choice((rng.randrange(4, 40), rng.randrange(40, 80), 10**6))
    alphabet, member = rng.choice(("ab", "ab", "abc")), partial(BOXES[name], depth)
    result = learn(lambda words: [member(word) for word in words], alphabet, quiet=True, seed=seed, budget=4)
    tried = Counter({f"boxes of status {result.status}": 1})
    if result.status or result.minimised is None:
        return tried
    blocks = [rng.choice(("a", "b", "ab", "ba", "aab", "bba")) for _ in range(3)]
    words = [tuple("a" * n + "b" * m) for n in range(1, 190) for m in {n - 1, n, n + 1, 2 * n, min(n, depth)}]
    words += [tuple("".join(rng.choice(blocks) * rng.randrange(1, 40) for _ in range(4))) for _ in range(200)]
    words += [tuple(rng.choice(alphabet) for _ in range(rng.randrange(40))) for _ in range(400)]
    for word in words:
        tried["words"] += 1
        said = result.automaton.accepts(word)
        assert said == member(word), f"status 0 for {name} {depth}, wrong on {''.join(word)[:80]}"
    return tried


def _brackets(depth: int, word: tuple[str, ...]) -> bool:
    heights = list(accumulate(((x == "a") - (x == "b") for x in word), initial=0))
    return min(heights) == heights[-1] == 0 and max(heights) <= depth


def _stages(depth: int, word: tuple[str, ...]) -> bool:
    n = word.count("a")
    return n <= depth and word == ("a",) * n + ("b",) * n


def _saturates(depth: int, word: tuple[str, ...]) -> bool:
    height = 0
    for symbol in word:
        height += {"a": height < depth, "b": -1}.get(symbol, 0)
        if height < 0:
            return False
    return height == 0


def _twice(depth: int, word: tuple[str, ...]) -> bool:
    n = word.count("a")
    return n <= depth and word == ("a",) * n + ("b",) * (2 * n)


def _cyclic(depth: int, word: tuple[str, ...]) -> bool:
    return (word.count("a") - word.count("b")) % depth == 0


def _from_length(depth: int, word: tuple[str, ...]) -> bool:
    return (word.count("a") % 3 == 0) ^ (len(word) >= depth)


BOXES: dict[str, Callable[[int, tuple[str, ...]], bool]] = {
    "brackets": _brackets,
    "a^n b^n": _stages,
    "a saturating count": _saturates,
    "a^n b^2n": _twice,
    "as many modulo": _cyclic,
    "wrong from a length on": _from_length,
}

ATTACKS = (
    Attack("extraction: NNPDAs whose weights are moved until they err", nnpda_round),
    Attack("extraction: black boxes that are bounded at some depth", box_round),
    Attack("extraction: tables whose pushed values drift until they err", machine_round),
)
