"""Interventions and interchanges in Stack-RNNs, many words at once, against lists and loops, one word at a time."""

from collections import Counter
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from tests.attack.campaign import Attack
from tests.probe.causal.mechanisms import BRACKETS, claim
from tests.probe.plain_interventions import PlainStackRNN

from stacklens.automata.pda import PushdownAutomaton, Symbol
from stacklens.models.checkpoint import load_network
from stacklens.models.networks.suzgun import MarnnConfig, MarnnStackRNN
from stacklens.models.rounding import Rounded
from stacklens.probe import interchange as experiments
from stacklens.probe.intervene import intervene

_LETTERS = "abc"
_WORDS, _LONGEST = 12, 9
_CLOSE = 1e-7  # of numbers that many steps of round-off lie between


def _network(rng: Random) -> MarnnStackRNN:
    net = MarnnStackRNN(MarnnConfig(tuple(_LETTERS), hidden=rng.randint(1, 5), cell_size=rng.randint(1, 3)))
    generator = torch.Generator().manual_seed(rng.randrange(2**31))
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype) * 2)
    return net.eval()


def _word(rng: Random, least: int = 0) -> str:
    return "".join(rng.choices(_LETTERS, k=rng.randint(least, _LONGEST)))


def _run(net: MarnnStackRNN, word: str, rounded: bool) -> PlainStackRNN:
    run = PlainStackRNN(net, rounded)
    for symbol in word:
        run.read(_LETTERS.index(symbol))
    return run


def put_from_other_runs(seed: int) -> Counter[str]:
    """Put another run's hidden vector, units or cell into drawn words at once, and hold every word against lists."""
    rng = Random(seed)
    net, rounded = _network(rng), rng.random() < 0.5
    part = rng.choice(("hidden", "cells", "units"))
    words, sources = [_word(rng, 1) for _ in range(_WORDS)], [_word(rng) for _ in range(_WORDS)]
    at, cells = [rng.randint(0, len(word)) for word in words], [rng.randint(0, 4) for _ in words]
    units = sorted(rng.sample(range(net.shape.hidden), rng.randint(1, net.shape.hidden))) if part == "units" else None
    named = "cells" if part == "cells" else "hidden"
    seen = intervene(net, words, at, named, from_word=sources, units=units, cell=cells, rounded=rounded)
    for row, word in enumerate(words):
        plain, source = _run(net, word[: at[row]], rounded), _run(net, sources[row], rounded)
        _replace(plain, source, units if part == "units" else None, cells[row] if part == "cells" else None)
        for symbol in word[at[row] :]:
            plain.read(_LETTERS.index(symbol))
        ours = seen.hidden[row, len(word)]
        told = f"seed {seed}: {part} of {sources[row]!r} into {word!r} before step {at[row]}, cell {cells[row]}"
        assert np.allclose(ours, plain.hidden, atol=_CLOSE), f"{told}: {ours} for {plain.hidden}"
    return Counter({f"words with {part} replaced": len(words)})


def _replace(plain: PlainStackRNN, source: PlainStackRNN, units: list[int] | None, cell: int | None) -> None:
    size: int = plain.net.cell_size
    empty: list[Any] = [[0.0] * size for _ in range(6)]
    if cell is not None:
        plain.cells += empty[: max(0, cell + 1 - len(plain.cells))]
        plain.cells[cell] = [*source.cells, *empty][cell]
        return
    for unit in range(len(plain.hidden)) if units is None else units:
        plain.hidden[unit] = source.hidden[unit]


def _interchanges(seed: int) -> Counter[str]:
    """Count interchanges in the zoo's D2 network again, by a run of the automaton and one of the network over lists."""
    net: Any = load_network("marnn-stack-rnn-dyck-2-drifting").model
    met = list[tuple[Any, Any]]()
    asked = experiments._swaps_as_predicted

    def listening(kind: Any, network: Any, drawn: Any, *more: Any) -> Any:
        met.append((kind, drawn))
        return asked(kind, network, drawn, *more)

    with patch.object(experiments, "_swaps_as_predicted", listening):
        found = experiments.interchange(claim(net), Rounded(net), None, cases=60, seed=seed)
    counts = Counter[str]()
    for part in found.kinds[:3]:
        kind, drawn = next((kind, drawn) for kind, drawn in met if kind.what == part.what)
        mine = Counter[tuple[str, bool]]()
        for row in range(len(drawn.base)):
            sort, right = _recounted(net, part.what, kind, drawn, row)
            mine[sort, right] += 1
        told = f"seed {seed}: {part.what}: {dict(mine)} for {part}"
        for sort in ("same", "different", "untold"):
            share = getattr(part, sort)
            assert (mine[sort, True], mine[sort, True] + mine[sort, False]) == (share.right, share.of), told
        counts["interchanges counted again"] += len(drawn.base)
    return counts


def _recounted(net: MarnnStackRNN, what: str, kind: Any, drawn: Any, row: int) -> tuple[str, bool]:
    """Return of which sort one interchange is, and whether the network does as predicted."""
    base, source = (str(kind.prefixes.words[kind.prefix[items[row]]]) for items in (drawn.base, drawn.source))
    rest = [net.alphabet[code] for code in drawn.letters[row].tolist() if code >= 0]
    state, stack = _configured(BRACKETS, base)
    donor_state, donor_stack = _configured(BRACKETS, source)
    run, other = PlainStackRNN(net, True), PlainStackRNN(net, True)
    for plain, word in ((run, base), (other, source)):
        for symbol in word:
            plain.read(net.alphabet.index(symbol))
    alone = _predicted(BRACKETS, state, stack, rest)
    if what == "symbols":
        into, out_of = (int(kind.cells[0][1][items[row]]) for items in (drawn.base, drawn.source))
        same = stack[-1 - into] == donor_stack[-1 - out_of]
        stack = [*stack[: len(stack) - 1 - into], donor_stack[-1 - out_of], *stack[len(stack) - into :]]
        run.cells[into] = other.cells[out_of]
    else:
        same, run.hidden = (state, stack[-1:]) == (donor_state, donor_stack[-1:]), other.hidden
        state = donor_state
        if what == "heads" and stack:
            stack = [*stack[:-1], donor_stack[-1]]
            run.cells[0] = other.cells[0]
        same = same or what == "states"  # there is one
    predicted = _predicted(BRACKETS, state, stack, rest)
    said = list[Any]()
    for number, symbol in enumerate(rest):
        refused = bool(said) and (said[-1] is None or symbol not in said[number - 1])
        run.read(net.alphabet.index(symbol))
        said.append(None if refused else {x for x, may in zip(net.alphabet, run.output, strict=True) if may > 0.5})
    right = all(one == other for one, other in zip(predicted, said, strict=False))
    differs = any(one != other for one, other in zip(predicted, alone, strict=False))
    changes = bool(drawn.telling[row]) if same else differs  # of the same it is a decoy that would change something
    return ("untold" if not changes else "same" if same else "different"), right


def _configured(pda: PushdownAutomaton, word: str) -> tuple[str, list[Symbol]]:
    state, stack = pda.initial, list[Symbol]()
    for symbol in word:
        step = pda.transitions[state, symbol, (stack[-1] if stack else pda.bottom,)]
        stack = stack[: len(stack) - step.operations[0].pop] + [x for x in (step.operations[0].push,) if x is not None]
        state = step.target
    return state, stack


def _predicted(pda: PushdownAutomaton, state: str, stack: list[Symbol], letters: list[str]) -> list[Any]:
    """Return the sets that are predicted after each letter, None for a rejection, as far as anything is predicted."""
    found = list[Any]()
    for letter in letters:
        if found and letter not in found[-1]:
            return [*found, None]
        step = pda.transitions.get((state, letter, (stack[-1] if stack else pda.bottom,)))
        if step is None:
            return found
        stack = stack[: len(stack) - step.operations[0].pop] + [x for x in (step.operations[0].push,) if x is not None]
        state = step.target
        found.append(set(step.output or ()))
    return found


ATTACKS = (
    Attack("probing: interventions against lists", put_from_other_runs),
    Attack("probing: interchanges against lists", _interchanges),
)
