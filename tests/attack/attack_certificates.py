"""Attacks on certificates: networks drawn, built and moved; whatever is certified is followed on long, deep words.

What a certificate says is compared with runs of `plain_networks`, which shares nothing with the package, and of the
network itself, rounded, many words at a time.
"""

import copy
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
import torch
from tests.attack.built_networks import COUNTING, built, two_counters
from tests.attack.campaign import Attack
from tests.attack.certified_runs import climb, follow, follow_to, followed, pump, refuting, steps_of
from tests.attack.drawn_networks import DTYPES, KINDS, Rng, Watcher, drawn

from stacklens.automata.pda import NONE, POP, PushdownAutomaton, StackOp, push
from stacklens.automata.pda import replace as replaced
from stacklens.core.errors import StacklensError
from stacklens.extract.agreement import Certified
from stacklens.extract.certificate.abstraction import Affine, Arithmetic, Box
from stacklens.extract.certificate.bounded import certify_length
from stacklens.extract.certificate.certify import LAYOUTS, certify
from stacklens.models.rounding import Rounded

_MOST = 60  # transitions of an automaton that is worth asking about
_HIGH = 2_100  # just above what float16 counts to


def random_networks(seed: int) -> Counter[str]:
    """Draw networks of every kind, guess automata by watching them, and follow what is certified."""
    rng, tried = np.random.default_rng(seed), Counter[str]()
    while tried["networks"] < 16 and tried["automata guessed"] < 2:
        model = drawn(rng, KINDS[rng.integers(len(KINDS))])
        tried["networks"] += 1
        pda = Watcher(model, rng).automaton(words=10, length=16)
        if pda is None or len(pda.transitions) > _MOST:
            continue
        tried["automata guessed"] += 1
        found = certify(model, pda, margin=float(rng.choice([0.0, 1e-6])))
        if isinstance(found, Certified):
            tried["certificates"] += 1
            tried[f"certificates: {getattr(model, 'model', model).name}"] += 1
            tried[f"certificates: {found.number_format}"] += 1
            tried += follow(model, pda, found, rng, steps=500)
            tried += pump(model, pda, found.stack_limit, rng, steps=300)
            tried += hardened(model, pda, rng)
    return tried


def hardened(model: Any, pda: PushdownAutomaton, rng: Rng) -> Counter[str]:
    """Scale the action layer: a network certified as itself must be its rounded form, bit for bit, on long words."""
    tried, other, scale = Counter[str](), copy.deepcopy(model).eval(), 2.0 ** int(rng.integers(0, 14))
    inner = getattr(other, "model", other)  # of a ring or lists the network itself, not its view
    with torch.no_grad(), suppress(StacklensError):  # a weight may leave its format
        for name, rows in inner.action_layer().items():
            inner.get_parameter(name)[rows] *= scale
        found = certify(other, pda)
        for _ in range(8 if isinstance(found, Certified) and found.itself else 0):
            letters = followed(other, pda, getattr(found, "stack_limit", None), rng, rng, 80).letters
            if not letters:
                continue
            read = torch.tensor(letters, dtype=torch.int64).unsqueeze(1)
            soft, rounded = (net.run(read, net.initial_state(1)) for net in (inner, Rounded(inner)))
            assert soft.output.equal(rounded.output), letters
            assert soft.hidden.equal(rounded.hidden), letters
            tried["words of networks certified as themselves"] += 1
    return tried


def stacks_of(pda: PushdownAutomaton) -> tuple[int, ...]:
    """Return which of a network's stacks are those of its automaton: the first; a ring has one more."""
    return tuple(range(pda.n_stacks))


def copied(model: Any, dtype: torch.dtype) -> Any:
    if hasattr(model, "model"):
        return type(model)(copied(model.model, dtype)).eval()
    other = type(model)(model.shape)
    other.load_state_dict(model.state_dict())
    return other.to(dtype).eval()


def moved_networks(seed: int) -> Counter[str]:
    """Move the weights of built networks, farther and farther, and follow them as long as they are certified."""
    rng, tried = np.random.default_rng(seed), Counter[str]()
    model, pda = built(rng)
    dtype = DTYPES[rng.integers(len(DTYPES))]
    model = copied(model, dtype)
    at_rest = {name: parameter.detach().double() for name, parameter in model.named_parameters()}
    directions = {name: torch.from_numpy(rng.normal(size=tuple(value.shape))) for name, value in at_rest.items()}
    by, relative = 10.0 ** rng.uniform(-4, -1), bool(rng.random() < 0.5)
    for _ in range(4):
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                there = (
                    at_rest[name] * (1 + by * directions[name]) if relative else at_rest[name] + by * directions[name]
                )
                parameter.copy_(there.clamp(-float(torch.finfo(dtype).max), float(torch.finfo(dtype).max)))
        tried["networks"] += 1
        found = certify(model, pda, stacks=stacks_of(pda), margin=0.0)
        if not isinstance(found, Certified):
            break
        tried["certificates"] += 1
        tried[f"certificates: {found.number_format}"] += 1
        tried += follow(model, pda, found, rng, steps=400)
        tried += pump(model, pda, found.stack_limit, rng, steps=300)
        by *= float(rng.choice([2.0, 5.0, 20.0]))
    return tried


def bounded_lengths(seed: int) -> Counter[str]:
    """Draw networks, or move built ones until they drift, and follow them as far as a bounded certificate goes."""
    rng, tried = np.random.default_rng(seed), Counter[str]()
    for _ in range(4):
        tried["networks"] += 1
        if rng.random() < 0.5:
            model = drawn(rng, KINDS[rng.integers(len(KINDS))])
            pda = Watcher(model, rng).automaton(words=10, length=16)
        else:
            model, pda = built(rng)
            model = copied(model, DTYPES[rng.integers(2, len(DTYPES))])
            by = 10.0 ** rng.uniform(-2, 0)
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter.add_(torch.from_numpy(rng.normal(size=tuple(parameter.shape)) * by).to(parameter.dtype))
        if pda is None or len(pda.transitions) > _MOST:
            continue
        found = certify_length(model, pda, stacks=stacks_of(pda), longest=30, margin=float(rng.choice([0.0, 1e-6])))
        if found.length:
            tried["lengths proved"] += 1
            tried[f"lengths proved: {getattr(model, 'model', model).name}"] += 1
            tried["not to the end"] += found.length < 30
            tried += follow_to(model, pda, found.length, rng, words=8)
    return tried


def tall_stacks(seed: int) -> Counter[str]:
    """Climb as high as a certificate speaks of, in the numbers that count least far, and down again."""
    rng, tried = np.random.default_rng(seed), Counter[str]()
    model, pda = COUNTING[rng.integers(len(COUNTING))](rng)
    model = copied(model, DTYPES[rng.integers(2)])
    found = certify(model, pda)
    tried["networks"] += 1
    if isinstance(found, Certified):
        walk = climb(model, pda, min(_HIGH, _HIGH if found.stack_limit is None else found.stack_limit))
        tried["certificates"] += 1
        tried["certified steps"] += len(walk.letters)
    return tried


def spoiled(pda: PushdownAutomaton, rng: Rng, outputs: list[Any]) -> PushdownAutomaton:
    """Return the automaton with one transition altered or missing, or other accepting states."""
    rules = dict(pda.transitions)
    key = list(rules)[rng.integers(len(rules))]
    step = rules[key]
    how = rng.integers(5)
    if how == 0:
        del rules[key]
    elif how == 1:
        rules[key] = replace(step, output=outputs[rng.integers(len(outputs))])
    elif how == 2:
        rules[key] = replace(step, target=pda.states[rng.integers(len(pda.states))])
    elif how == 3:
        stack = int(rng.integers(pda.n_stacks))
        options = [NONE, *map(push, pda.stack_alphabet)]
        if key[2][stack] != pda.bottom:
            options += [POP, *map(replaced, pda.stack_alphabet)]
        other: StackOp = options[rng.integers(len(options))]
        operations = *step.operations[:stack], other, *step.operations[stack + 1 :]
        rules[key] = replace(step, operations=operations)
    else:
        return replace(pda, accepting=frozenset(state for state in pda.states if rng.random() < 0.5))
    return replace(pda, transitions=rules)


def altered_automata(seed: int) -> Counter[str]:
    """Alter the automaton of a certified network; where that is certified too, the network has to do it."""
    rng, tried = np.random.default_rng(seed), Counter[str]()
    model, pda = built(rng)
    model = copied(model, DTYPES[rng.integers(2, len(DTYPES))])
    for _ in range(5):
        other = spoiled(pda, rng, outputs_of(model))
        tried["automata altered"] += 1
        found = certify(model, other, stacks=stacks_of(pda))
        if isinstance(found, Certified):
            tried["certificates"] += 1
            tried += follow(model, other, found, rng, steps=150)
            asked = found.margin * float(rng.choice([0.5, 0.99, 1.0, 1.01, 2.0]))
            again = certify(model, other, stacks=stacks_of(pda), margin=asked)
            assert not isinstance(again, Certified) or again.margin > asked, f"margin {again} of more than {asked}"
    return tried


def outputs_of(model: Any) -> list[Any]:
    """Return the outputs that a network may have, every set of up to three symbols."""
    letters = model.output_alphabet
    if model.task_kind == "next set":
        return [some for size in range(min(3, len(letters)) + 1) for some in combinations(letters, size)]
    return [None] if model.task_kind == "recognition" else list(letters)


def alterations(model: Any, pda: PushdownAutomaton) -> Iterator[PushdownAutomaton]:
    """Yield ``pda`` with each transition missing or altered in output, target, or what is done to one stack; with one
    more; and with each state accepting that is not, and the other way round.
    """
    for key, step in pda.transitions.items():
        others = [replace(step, output=output) for output in outputs_of(model)]
        others += [replace(step, target=state) for state in pda.states]
        for stack, top in enumerate(key[2]):
            for operation in (NONE, *([] if top == pda.bottom else [POP]), *map(push, pda.stack_alphabet)):
                done = *step.operations[:stack], operation, *step.operations[stack + 1 :]
                others.append(replace(step, operations=done))
        yield from (replace(pda, transitions={**pda.transitions, key: other}) for other in others if other != step)
        yield replace(pda, transitions={other: step for other, step in pda.transitions.items() if other != key})
    heads = {(state, letter, tops) for state in pda.states for _, letter, tops in pda.transitions}
    for key in sorted(heads - pda.transitions.keys()):
        likely = [step for (_, letter, tops), step in pda.transitions.items() if (letter, tops) == key[1:]]
        yield replace(pda, transitions={**pda.transitions, key: likely[0]})
    yield from (replace(pda, accepting=pda.accepting ^ {state}) for state in pda.states)


def every_transition(seed: int) -> Counter[str]:
    """Alter transitions, mostly of machines on two stacks; none that does something else on some word is certified."""
    rng, tried = np.random.default_rng(seed), Counter[str]()
    model, pda = two_counters(rng) if rng.random() < 0.7 else built(rng)
    shown = steps_of(model, product(model.alphabet, repeat=7))
    kept = stacks_of(pda)
    if refuting(model, pda, shown, kept) is not None:
        return Counter({"networks too unsure": 1})
    others = list(alterations(model, pda))
    for number in rng.permutation(len(others))[:20]:
        other = others[number]
        word = refuting(model, other, shown, kept)
        found = certify(model, other, stacks=kept, layouts=LAYOUTS[:2])
        tried["automata altered"] += 1
        tried["altered where a word shows it"] += word is not None
        tried["certificates"] += isinstance(found, Certified)
        assert word is None or not isinstance(found, Certified), f"certified, but {word} refutes {other.transitions}"
    if word is not None:
        length = certify_length(model, other, stacks=kept, longest=9).length
        assert length < len(word), f"proved to length {length}, but {word} refutes {other.transitions}"
    return tried


def bounds_of_sums(seed: int) -> Counter[str]:
    """Sum in drawn orders in every format, layers after each other; the bounds hold it, or say that it may overflow."""
    rng, tried = np.random.default_rng(seed), Counter[str]()
    for dtype in DTYPES:
        arithmetic, largest = Arithmetic.of(dtype), float(torch.finfo(dtype).max)
        for _ in range(6):
            rows, size, inner = 8, int(rng.integers(1, 40)), int(rng.integers(1, 20))
            spread = (0.0, 0.5, 3.0)[rng.integers(3)]
            draws = []
            for shape in ((inner, size), (inner,), (4, inner), (rows, size)):
                scale = min(10.0 ** rng.uniform(-6, 4), largest)
                values = rng.normal(size=shape) * scale * 10.0 ** (rng.normal(size=shape) * spread)
                draws.append(torch.from_numpy(np.clip(values, -largest, largest)).to(dtype))
            first, bias, second, seen = draws
            layer = Affine.of(second.double().numpy()).after(Affine.of(first.double().numpy(), bias.double().numpy()))
            with np.errstate(over="ignore", invalid="ignore"):
                bounds = layer.of_box(Box.point(seen.double().numpy()), arithmetic)
            between = summed(first, seen, rng) + bias
            got = summed(second, between, rng).double().numpy()
            torchs = torch.nn.functional.linear(torch.nn.functional.linear(seen, first, bias), second).double().numpy()
            for computed in (got, torchs):
                inside = (bounds.low <= computed) & (computed <= bounds.high)
                assert (inside | np.isnan(bounds.low)).all(), f"seed {seed}: {dtype} sums leave their bounds"
                tried["sums"] += computed.size
                tried["sums that may overflow"] += int(np.isnan(bounds.low).sum())
    return tried


def summed(weights: torch.Tensor, values: torch.Tensor, rng: Rng) -> torch.Tensor:
    """Return W x of rows (M, I), product by product in a drawn order, each sum rounded."""
    total = torch.zeros(len(values), len(weights), dtype=weights.dtype)
    for column in rng.permutation(weights.shape[1]):
        total = total + values[:, column, None] * weights[None, :, column]
    return total


ATTACKS: tuple[Attack, ...] = (
    Attack("certificates: networks drawn at random", random_networks),
    Attack("certificates: networks moved until they do something else", moved_networks),
    Attack("certificates: automata with one transition altered", altered_automata),
    Attack("certificates: altered several-stack automata", every_transition),
    Attack("certificates: networks that drift, as far as is proved", bounded_lengths),
    Attack("certificates: stacks as high as is certified", tall_stacks),
    Attack("certificates: bounds of sums in any order", bounds_of_sums),
)
