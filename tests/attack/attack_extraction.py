"""Whole extractions of networks built by hand whose weights are moved until they do something else.

What an extraction claims is confronted with runs of the network, of the automaton and of the language that are written
from their definitions. Where a decision of the network hangs by rounding errors, nothing is asked.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, product

import torch
from tests.attack.campaign import Attack
from tests.attack.plain_automaton import MEMBER, repeated, run_automaton
from tests.attack.plain_machines import (
    Fault,
    FaultyStrengths,
    FaultySuperposition,
    PlainRun,
    random_machine,
    run_machine,
    run_nnpda,
)
from tests.extract.hand_built import HandMachine
from tests.models.hand_made import hand_made

from stacklens.automata.compare import Different, Equal
from stacklens.automata.pda import Output, PushdownAutomaton
from stacklens.core.errors import StacklensError
from stacklens.extract.agreement import Agreement, Certified
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.extract.horizon import Horizon
from stacklens.extract.result import Extraction
from stacklens.extract.verification.divergence import Divergence
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
    tried, before = Counter[str](), hand_made(language.automaton, end=end)
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


def _blocks(times: int, depth: int, word: tuple[str, ...]) -> bool:
    n = word.count("a")
    return n <= depth and word == ("a",) * n + ("b",) * (times * n)


def _saturates(depth: int, word: tuple[str, ...]) -> bool:
    height = 0
    for symbol in word:
        height += {"a": height < depth, "b": -1}.get(symbol, 0)
        if height < 0:
            return False
    return height == 0


def _cyclic(depth: int, word: tuple[str, ...]) -> bool:
    return (word.count("a") - word.count("b")) % depth == 0


def _from_length(depth: int, word: tuple[str, ...]) -> bool:
    return (word.count("a") % 3 == 0) ^ (len(word) >= depth)


BOXES: dict[str, Callable[[int, tuple[str, ...]], bool]] = {
    "brackets": _brackets,
    "a^n b^n": partial(_blocks, 1),
    "a saturating count": _saturates,
    "a^n b^2n": partial(_blocks, 2),
    "as many modulo": _cyclic,
    "wrong from a length on": _from_length,
}

ATTACKS = (
    Attack("extraction: NNPDAs whose weights are moved until they err", nnpda_round),
    Attack("extraction: black boxes that are bounded at some depth", box_round),
    Attack("extraction: tables whose pushed values drift until they err", machine_round),
)


# ---- What an extraction claims, against runs that share nothing with it. ----
SURE = 1e-6  # decisions nearer than this to their threshold may fall either way
LONG, LONGEST = 30, 120  # how many long words are tried, and about how long they are
Answer = tuple[bool, tuple[Output, ...]]  # whether the word is accepted, and what is said until it is rejected


@dataclass(frozen=True)
class Case:
    """A network's run on a word, soft or rounded, and membership in the language that it was extracted for."""

    run: Callable[[Sequence[str], bool], PlainRun]
    alphabet: Sequence[str]
    recogniser: bool = True
    member: Callable[[str], bool] | None = None

    def answer(self, other: str, word: Sequence[str]) -> Answer | None:
        """Return what "language", "rounded network" or "network" says; None where rounding errors decide it."""
        if other == "language":
            return self.member("".join(word)), ()
        made = self.run(word, other == "rounded network")
        return (made.accepted, made.outputs or ()) if made.margin > SURE else None

    def automaton(self, pda: PushdownAutomaton, word: Sequence[str]) -> Answer:
        """Return what the automaton says; who is no recogniser accepts what it does not cut short."""
        made = run_automaton(pda, word)
        return (made.accepted, ()) if self.recogniser else (made.cut is None, made.outputs)

    def against(self, other: str, pda: PushdownAutomaton, words: Sequence[Sequence[str]]) -> list[str]:
        """Return the words on which the automaton surely differs at the end, as at no shorter prefix need be."""
        answers = [(word, self.answer(other, word), self.automaton(pda, word)) for word in words]
        return ["".join(word) for word, said, ours in answers if said is not None and last(said) != last(ours)]


def last(answer: Answer) -> tuple[bool, tuple[Output, ...]]:
    """Return what is said in the end: the verdict, and the last output unless the word is rejected."""
    return answer[0], answer[1][-1:] if answer[0] else ()


def confront(result: Extraction, case: Case, rng: random.Random) -> Counter[str]:
    """Return what was claimed and held; raises AssertionError at the first claim that does not."""
    pda = result.minimised
    tried = Counter({f"status {result.status}": 1})
    if pda is None:
        return tried
    for check in result.checks:
        tried += _check(pda, check, case)
    long_words = [repeated(rng, case.alphabet, LONGEST) for _ in range(LONG)]
    if isinstance(result.proof, Equal):
        assert case.against("language", pda, long_words) == [], "proved equal"
        tried["proofs"] += 1
    elif isinstance(result.proof, Different):
        word = result.proof.word
        assert case.against("language", pda, [word]) != [], f"proved different on {word}"
        tried["proofs"] += 1
    certificate = result.certificate.certificate
    if isinstance(certificate, Certified):
        assert result.certificate.words == "all"
        assert case.against("rounded network", pda, long_words) == [], f"certified: {certificate}"
        tried["certificates"] += 1
        tried["long words"] += len(long_words)
    bounded, known = result.certificate.bounded, result.horizon["rounded network"]
    if bounded is not None and known.difference is not None:  # a horizon ends before the word in any case
        assert bounded.length < len(known.difference.word), f"{bounded} is refuted by {known.difference}"
    for other, horizon in result.horizon.items():
        tried += _horizon(pda, other, horizon, case, rng)
    if result.divergence is not None:
        _divergence(pda, result.divergence, case)
        tried["divergences"] += 1
    return tried


def _check(pda: PushdownAutomaton, check: Agreement, case: Case) -> Counter[str]:
    """Refute what one check says: its word, and where it is of all words how many disagree, and the shortest."""
    if (word := check.counterexample) is not None:
        said = case.answer(check.other, word)
        assert said is None or said != case.automaton(pda, word), f"no counterexample: {check}"
        assert check.disagreements > 0, check
    assert (word is None) == (check.disagreements == 0), check
    if check.kind != "exhaustive":
        return Counter(counterexamples=word is not None)
    words = [word for n in range(check.max_length + 1) for word in product(case.alphabet, repeat=n)]
    assert check.words == len(words), check
    unsure = sum(case.answer(check.other, word) is None for word in words)
    wrong = case.against(check.other, pda, words if case.recogniser else words[1:])  # nothing is said of the empty one
    assert len(wrong) <= check.disagreements <= len(wrong) + unsure, f"{len(wrong)} wrong, {unsure} unsure: {check}"
    assert word is None or not wrong or len(word) <= len(wrong[0]), f"{wrong[0]} is shorter: {check}"
    # a predictor has cut nothing of the empty word, so it is among those that it accepts
    lengths = Counter(len(word) for word in words if (not word and not case.recogniser) or case.automaton(pda, word)[0])
    assert check.by_length == tuple(lengths[n] for n in range(check.max_length + 1)), f"{lengths}: {check.by_length}"
    return Counter(counterexamples=int(word is not None)) + Counter({"words, all": len(words)})


def _horizon(pda: PushdownAutomaton, other: str, horizon: Horizon, case: Case, rng: random.Random) -> Counter[str]:
    """Refute what a horizon says: its word, and that no word of a length that it covers is one on which they differ."""
    if (found := horizon.difference) is not None:
        said = case.answer(other, found.word)
        assert said is None or said != case.automaton(pda, found.word), f"no difference from the {other}: {found}"
        assert horizon.length is None or len(found.word) > horizon.length, horizon
    if horizon.shown_by is None:
        return Counter()
    longest = LONGEST if horizon.length is None else min(LONGEST, horizon.length)
    words = [repeated(rng, case.alphabet, LONGEST)[: rng.randint(min(1, longest), longest)] for _ in range(LONG)]
    wrong = case.against(other, pda, [word for word in words if word or case.recogniser])
    assert wrong == [], f"within the horizon of the {other}, {horizon.length} by {horizon.shown_by}"
    return Counter({f"horizons by {horizon.shown_by}": 1})


def _divergence(pda: PushdownAutomaton, found: Divergence, case: Case) -> None:
    """Find the step at which the runs part again: another operation or output, or only one of them is cut."""
    ours, theirs = run_automaton(pda, found.word), case.run(found.word, True)
    if theirs.margin <= SURE:
        return
    accepted = ours.accepted if case.recogniser else ours.cut is None
    assert (found.accepted, found.network_accepts) == (accepted, theirs.accepted), found.word
    first = None
    for step in range(len(found.word) + (pda.end_marker is not None)):
        ends = (ours.cut == step, theirs.rejected == step)
        if any(ends):
            first = None if all(ends) or (case.recogniser and accepted == theirs.accepted) else step
            break
        said = theirs.outputs is None or ours.outputs[step] == theirs.outputs[step]
        if ours.operations[step] != (theirs.operations[step],) or not said:
            first = step
            break
    assert found.first == first, f"they part at {first}: {found.word} at {found.first}"
