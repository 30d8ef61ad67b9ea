"""A self-check of certificates: run the rounded network at random, and see that nothing leaves its boxes."""

from collections import defaultdict

import numpy as np

from stacklens.automata.pda import PushdownAutomaton, Symbol, Tops, Transition
from stacklens.extract.agreement import agree_on
from stacklens.extract.certificate.abstraction import Tag, Value
from stacklens.extract.certificate.certify import Proof
from stacklens.models.rounding import Rounded
from stacklens.probe.trace import trace

_AT_ONCE, _LENGTH = 30_000, 300  # steps, symbols of a word at most
_HIDDEN = -1  # in place of a stack's number
_Where = tuple[int, Tag]  # a stack or `_HIDDEN`, and the tag of its boxes
_Walk = list[tuple[Symbol, Tops, Transition]]


def replay(proof: Proof, steps: int = 1_000_000, seed: int = 0) -> tuple[int, int]:
    """Return how many random steps were made, at least ``steps``, and how many vectors and values were in no box.

    On the way it holds that the network does as the automaton on the same words.
    """
    system, rng, boxes, made, outside = proof.system, np.random.default_rng(seed), _by_tag(proof), 0, 0
    network = Rounded(system.model)
    while made < steps:
        goal, walks = min(steps, made + _AT_ONCE), list[_Walk]()
        while made < goal:
            walks.append(_walk(system.automaton, system.stack_limit or _LENGTH, rng))
            made += len(walks[-1])
        words = [tuple(symbol for symbol, _, _ in walk) for walk in walks]
        assert agree_on(system.automaton, network, None, words, "long").disagreements == 0
        seen, found = trace(network, words, stacks=False), defaultdict[_Where, list[np.ndarray]](list)
        for row, walk in enumerate(walks):
            for t, (symbol, tops, step) in enumerate(walk):
                both = (symbol, *tops)
                if system.model.recurrent:
                    tag = (step.target, *(both if system.layout.tops else both[:1]))
                    found[_HIDDEN, tag].append(seen.hidden[row, t + 1])
                for stack, operation in zip(system.stacks, step.operations, strict=False):
                    if operation.push is not None:
                        tag = (operation.push, *(both if system.layout.value_tops else both[:1]))
                        found[stack, tag].append(seen.pushed[row, t, stack])
        for place, rows in found.items():
            low, high = boxes[place]  # (B, D) each
            values = np.array(rows)[:, None]
            inside = np.all((low <= values) & (values <= high), axis=-1)  # (rows, B)
            outside += int(np.sum(~np.any(inside, axis=1)))
    return made, outside


def _walk(pda: PushdownAutomaton, limit: int, rng: np.random.Generator) -> _Walk:
    """Return a run that likes some letters better than others, so that its stacks grow high and shrink again."""
    taste, here, walk = rng.exponential(size=len(pda.input_alphabet)), pda.start, _Walk()
    for chance in rng.random(_LENGTH):
        tops, full = here.tops(pda.bottom), max(map(len, here.stacks)) >= limit
        steps = [pda.transitions.get((here.state, symbol, tops)) for symbol in pda.input_alphabet]
        fits = np.array([step and not (full and any(o.push for o in step.operations)) for step in steps], bool)
        if not fits.any():
            break
        likes = (taste * fits).cumsum()
        chosen = int((likes > chance * likes[-1]).argmax())
        walk.append((pda.input_alphabet[chosen], tops, steps[chosen]))
        here = pda.step(here, pda.input_alphabet[chosen])
    return walk


def _by_tag(proof: Proof) -> dict[_Where, tuple[np.ndarray, np.ndarray]]:
    """Return the boxes of each tag, (B, D) each."""
    found = defaultdict[_Where, list[tuple[np.ndarray, np.ndarray]]](list)
    system = proof.system
    size = 2 + (system.automaton.n_stacks if system.layout.tops else 0)  # of a tag without the steps before the last
    for key, bounds in proof.bounds.items():
        if isinstance(key, Value):
            found[key.stack, key.tag].append(bounds)
        else:
            found[_HIDDEN, key.tag[:size]].append(bounds)
    low, high = ({place: np.stack([box[side] for box in boxes]) for place, boxes in found.items()} for side in (0, 1))
    return {place: (low[place], high[place]) for place in found}
