"""Runs of a network beside the automaton that it is certified to follow; the automaton is a dict that is looked up."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from tests.attack.drawn_networks import Rng
from tests.attack.plain_networks import Overflowed, Plain, Seen

from stacklens.automata.pda import Configuration, PushdownAutomaton, Transition
from stacklens.extract.agreement import Certified
from stacklens.models.rounding import Rounded

_READ_PAST_A_CUT = 6  # symbols, to see that nothing is accepted there


class Walk(NamedTuple):
    """A word, and what each step of it has to do: letter, operations, and a mask of those that count."""

    letters: list[int]
    operations: list[tuple[int, ...]]
    masks: list[tuple[int, ...]]


def follow(model: Any, pda: PushdownAutomaton, found: Certified, rng: Rng, steps: int = 900) -> Counter[str]:
    """Return what was tried of a certificate; an assertion fails where the network does something else."""
    tried: Counter[str] = Counter()
    walks: list[Walk] = []
    while tried["certified steps"] < steps:
        order = rng if rng.random() < 0.5 else None
        walk = followed(model, pda, found.stack_limit, rng, order, int(rng.integers(1, steps)))
        tried["certified steps"] += len(walk.letters) + 1
        tried["words followed"] += 1
        walks.append(walk)
    together(model, pda, walks)
    return tried


def follow_to(model: Any, pda: PushdownAutomaton, length: int, rng: Rng, words: int) -> Counter[str]:
    """Return what was tried of a certificate for words of up to ``length``, as `follow` does."""
    past = _READ_PAST_A_CUT if model.task_kind == "recognition" else 0
    walks = []
    for number in range(words):
        most = length - past if number % 2 else int(rng.integers(max(1, length)))
        order = rng if rng.random() < 0.5 else None
        walks.append(followed(model, pda, None, rng, order, max(0, min(most, length - past))))
    together(model, pda, walks)
    return Counter({"certified steps": sum(len(walk.letters) for walk in walks), "words followed": words})


Shown = dict[tuple[str, ...], tuple[Seen, bool]]  # of a word: its last step, and whether it is accepted
_Reached = tuple[str, list[list[str]]] | None  # the automaton's state and stacks, None once it is cut


def steps_of(model: Any, words: Iterable[Sequence[str]]) -> Shown:
    """Return what a network does on every word that ``words`` begin with, the shortest first; all others than
    recognisers accept.
    """
    runs: dict[tuple[str, ...], Plain] = {(): Plain(model, None)}
    found = Shown()
    beginnings = {tuple(word[:end]): None for word in words for end in range(1, len(word) + 1)}
    for word in sorted(beginnings, key=len):
        runs[word] = runs[word[:-1]].copy()
        found[word] = runs[word].step(model.alphabet.index(word[-1])), verdict(runs[word].copy())
    return found


def verdict(net: Plain) -> bool:
    if net.kind == "recognition" and net.model.end is not None:
        net.step(len(net.model.alphabet))
    return net.kind != "recognition" or net.accepts()


def refuting(model: Any, pda: PushdownAutomaton, shown: Shown, kept: Sequence[int]) -> tuple[str, ...] | None:
    """Return the first word on which ``pda`` says something else than what was ``shown``, None if there is none.

    ``kept`` says which of the network's stacks are those of ``pda``.
    """
    reached: dict[tuple[str, ...], _Reached] = {(): (pda.initial, [[] for _ in range(pda.n_stacks)])}
    for word, (seen, accepted) in shown.items():
        before, reached[word] = reached.get(word[:-1]), None
        step = None if before is None else pda.transitions.get((before[0], word[-1], tops_of(pda, before[1])))
        if step is None or before is None:
            goes_on = model.task_kind == "next set" and not seen.rejected
            if (before is not None and goes_on) or (model.task_kind == "recognition" and accepted):
                return word
            continue
        stacks = [list(stack) for stack in before[1]]
        done = [seen.operations[i] & (3 if stack else 2) for i, stack in zip(kept, stacks, strict=True)]
        if seen.rejected and model.task_kind == "recognition":  # an automaton may go on to accept nothing
            done = [operation.pop + 2 * (operation.push is not None) for operation in step.operations]
        elif seen.rejected:
            return word
        if done != [operation.pop + 2 * (operation.push is not None) for operation in step.operations]:
            return word
        if step.output is not None and seen.output != (step.output if isinstance(step.output, str) else {*step.output}):
            return word
        for stack, operation in zip(stacks, step.operations, strict=True):
            del stack[len(stack) - operation.pop :]
            stack += [] if operation.push is None else [operation.push]
        reached[word] = step.target, stacks
        if model.task_kind == "recognition" and accepted != accepts(pda, step.target, stacks):
            return word
    return None


def tops_of(pda: PushdownAutomaton, stacks: list[list[str]]) -> tuple[str, ...]:
    return tuple(stack[-1] if stack else pda.bottom for stack in stacks)


def accepts(pda: PushdownAutomaton, state: str, stacks: list[list[str]]) -> bool:
    """Return whether the automaton accepts where it has read a word, but for its end marker."""
    current: str | None = state
    empty = not any(stacks)
    if pda.end_marker is not None:
        step = pda.transitions.get((state, pda.end_marker, tops_of(pda, stacks)))
        current = None if step is None else step.target
        if step is not None:
            left = [len(s) - op.pop + (op.push is not None) for s, op in zip(stacks, step.operations, strict=True)]
            empty = not any(left)
    final = current in pda.accepting
    return current is not None and {"both": final and empty, "final state": final, "empty stack": empty}[pda.acceptance]


def told(model: Any, pda: PushdownAutomaton, letters: list[int]) -> str:
    word = "".join(model.letters[letter] for letter in letters)
    if len(word) > 300:
        word = f"{word[:300]}… ({len(word)} letters)"
    return f"{model.name} {model.config()} {next(model.parameters()).dtype} on {word!r} against {dict(pda.transitions)}"


def followed(model: Any, pda: PushdownAutomaton, limit: int | None, rng: Rng, order: Rng | None, length: int) -> Walk:
    """Return a walk through the automaton that the network went along."""
    net, walk = Plain(model, order), Walk([], [], [])
    state, stacks = pda.initial, [list[str]() for _ in range(pda.n_stacks)]
    taste, mood = rng.exponential(size=len(model.alphabet)), int(rng.integers(3))
    for _ in range(length):
        check_verdict(net.copy(), pda, state, stacks, walk)
        if rng.random() < 0.01:
            mood = int(rng.integers(3))  # any, up, down
        tops = tuple(stack[-1] if stack else pda.bottom for stack in stacks)
        letter, step = chosen(model, pda, (state, tops), taste, mood, rng)
        if step is None:
            if model.task_kind in ("recognition", "next set"):
                check_cut(net, pda, letter, walk, rng)
            break
        if limit is not None and any(
            operation.push and not operation.pop and len(stack) >= limit
            for operation, stack in zip(step.operations, stacks, strict=True)
        ):
            break
        state = take(net, pda, step, letter, stacks, walk)
    return walk


def pump(model: Any, pda: PushdownAutomaton, limit: int | None, rng: Rng, steps: int) -> Counter[str]:
    """Return what was tried of words u v^k, of at least so many ``steps`` or of all short u and v, as `follow` does."""
    tried: Counter[str] = Counter()
    words = short_cycles(model, pda)
    for number in rng.permutation(len(words)):
        before, cycle = words[number]
        walk = read(model, pda, limit, [*before, *cycle * int(rng.choice([15, 40, 150]))])
        tried["pumped steps"] += len(walk.letters) + 1
        tried["words pumped"] += 1
        if tried["pumped steps"] >= steps:
            break
    return tried


def short_cycles(model: Any, pda: PushdownAutomaton, most: int = 3_000) -> list[tuple[list[int], list[int]]]:
    """Return all u and v, of 6 letters together or a little fewer, where v can be done again and again after u.

    It leads the automaton back to where it was, or there with more on its stacks.
    """
    found: dict[Any, tuple[list[int], list[int]]] = {}
    runs: list[tuple[list[int], list[Configuration]]] = [([], [pda.start])]
    for letters, heads in runs:
        for begin in range(max(0, len(letters) - 4), len(letters)):
            where = heads[begin].state, heads[begin].tops(""), tuple(letters[begin:])
            if again(heads[begin:]) and where not in found:
                found[where] = letters[:begin], letters[begin:]
        if len(letters) == 6:
            continue
        for letter, symbol in enumerate(model.alphabet):
            after = pda.step(heads[-1], symbol)
            if after is not None and len(runs) < most:
                runs.append(([*letters, letter], [*heads, after]))
    return list(found.values())


def again(heads: list[Configuration]) -> bool:
    """Return whether what led from the first to the last of ``heads`` can be done again there."""
    first, last = heads[0], heads[-1]
    kept = [min(len(head.stacks[i]) for head in heads) >= len(stack) for i, stack in enumerate(first.stacks)]
    return first.state == last.state and first.tops("") == last.tops("") and all(kept)


def read(model: Any, pda: PushdownAutomaton, limit: int | None, letters: list[int]) -> Walk:
    """Return the walk along ``letters``, as far as the automaton goes, on which the network did as it does."""
    net, walk, state = Plain(model, None), Walk([], [], []), pda.initial
    stacks = [list[str]() for _ in range(pda.n_stacks)]
    for letter in letters:
        tops = tuple(stack[-1] if stack else pda.bottom for stack in stacks)
        step = pda.transitions.get((state, model.alphabet[letter], tops))
        if step is None or (limit is not None and max(map(len, stacks)) >= limit):
            break
        state = take(net, pda, step, letter, stacks, walk)
    check_verdict(net, pda, state, stacks, walk)
    return walk


def climb(model: Any, pda: PushdownAutomaton, depth: int) -> Walk:
    """Return the walk up to ``depth`` cells and down again, on which the network did as the automaton."""
    net, walk, state = Plain(model, None), Walk([], [], []), pda.initial
    stacks = [list[str]() for _ in range(pda.n_stacks)]
    for up in (True, False):
        while len(stacks[0]) < depth if up else stacks[0]:
            tops = tuple(stack[-1] if stack else pda.bottom for stack in stacks)
            steps = [pda.transitions.get((state, letter, tops)) for letter in model.alphabet]
            ways = [
                (i, step)
                for i, step in enumerate(steps)
                if step is not None and (step.operations[0].push is not None) == up and step.operations[0].pop != up
            ]
            if not ways:
                return walk
            letter, step = ways[len(walk.letters) % len(ways)]
            state = take(net, pda, step, letter, stacks, walk)
    check_verdict(net, pda, state, stacks, walk)
    return walk


def take(net: Plain, pda: PushdownAutomaton, step: Transition, letter: int, stacks: list[list[str]], walk: Walk) -> str:
    """Return the automaton's next state; an assertion fails if the network does something else than ``step``."""
    model, masks = net.model, tuple(3 if stack else 2 for stack in stacks)  # a pop of nothing does nothing
    walk.letters.append(letter)
    try:
        seen = net.step(letter)
    except Overflowed:
        raise AssertionError(f"NaN or infinite where certified: {told(model, pda, walk.letters)}") from None
    wanted = tuple(operation.pop + 2 * (operation.push is not None) for operation in step.operations)
    done = tuple(number & mask for number, mask in zip(seen.operations, masks, strict=False))  # the automaton's stacks
    said = seen.output if isinstance(step.output, str | None) else tuple(sorted(seen.output))
    asked = step.output if isinstance(step.output, str | None) else tuple(sorted(step.output))
    assert not seen.rejected, f"certified, but rejects: {told(model, pda, walk.letters)}"
    assert done == wanted, f"certified, but {done} for {wanted}: {told(model, pda, walk.letters)}"
    assert asked is None or said == asked, f"certified, but says {said}: {told(model, pda, walk.letters)}"
    walk.operations.append(wanted)
    walk.masks.append(masks)
    for stack, operation in zip(stacks, step.operations, strict=True):
        if operation.pop:
            stack.pop()
        if operation.push is not None:
            stack.append(operation.push)
    return step.target


def chosen(
    model: Any, pda: PushdownAutomaton, head: tuple[str, tuple[str, ...]], taste: np.ndarray, mood: int, rng: Rng
) -> tuple[int, Transition | None]:
    """Return a letter and what the automaton does; more likely where it goes on, and up or down as it likes."""
    weights = taste.copy()
    steps = [pda.transitions.get((head[0], letter, head[1])) for letter in model.alphabet]
    for i, step in enumerate(steps):
        if step is None:
            weights[i] *= 0.002
        elif mood and any(op.push is not None if mood == 1 else op.pop for op in step.operations):
            weights[i] *= 100
    letter = int(rng.choice(len(weights), p=weights / weights.sum()))
    return letter, steps[letter]


def check_verdict(net: Plain, pda: PushdownAutomaton, state: str, stacks: list[list[str]], walk: Walk) -> None:
    """Check that a recogniser says of the word so far what the automaton says."""
    if net.kind != "recognition":
        return
    right = verdict(net) == accepts(pda, state, stacks)
    assert right, f"certified, but another verdict: {told(net.model, pda, walk.letters)}"


def check_cut(net: Plain, pda: PushdownAutomaton, letter: int, walk: Walk, rng: Rng) -> None:
    """Check that a predictor of sets rejects at once, or a recogniser accepts nothing from here."""
    model, letters = net.model, [*walk.letters, letter]
    if net.kind == "next set":
        assert net._unexpected(letter), f"certified, but goes on: {told(model, pda, letters)}"
        return
    for following in [letter, *rng.integers(len(model.alphabet), size=4).tolist()]:
        net.step(following)
        final = net.copy()
        if model.end is not None:
            final.step(len(model.alphabet))
        assert not final.accepts(), f"certified, but accepts: {told(model, pda, letters)}"


@torch.no_grad()
def together(model: Any, pda: PushdownAutomaton, walks: list[Walk], longest: int = 150) -> None:
    """Check that the package's own rounded network does the same on all walks at a time."""
    walks = [walk for walk in walks if walk.letters]
    if not walks:
        return
    network: Any = Rounded(model)
    state = network.initial_state(len(walks))
    kinds = {"push": 2, "pop": 1, "none": 0}
    for t in range(min(longest, max(len(walk.letters) for walk in walks))):
        step = network.step(torch.tensor([walk.letters[t] if t < len(walk.letters) else 0 for walk in walks]), state)
        state = step.state
        for row, walk in enumerate(walks):
            if t >= len(walk.letters):
                continue
            actions = step.actions[row].double().tolist()
            if model.name == "nnpda":
                done = [2 if a[0] > 0 else 1 if a[0] < 0 else 0 for a in actions]
            elif model.name == "neural-stack":
                done = [int(a[0]) + 2 * int(a[1]) for a in actions]
            else:
                done = [kinds[model.operations[int(np.argmax(a))]] for a in actions]
            masked = tuple(number & mask for number, mask in zip(done, walk.masks[t], strict=False))
            right = masked == walk.operations[t] and not bool(state.rejected[row])
            so_far = walk.letters[: t + 1]
            assert right, f"certified, but {masked} or rejects among {len(walks)} words: {told(model, pda, so_far)}"
