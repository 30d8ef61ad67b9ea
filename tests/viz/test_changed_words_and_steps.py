"""A step that is changed on the bench: the run after it is that of `intervene`, and what a sentence says of it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import torch
from flask.testing import FlaskClient
from tests.models.representatives import EVERY
from tests.viz.networks import NETWORKS, network
from tests.viz.page_client import asked

import stacklens as sl
from stacklens.models.checkpoint import ZOO, load_network
from stacklens.models.rounding import Rounded
from stacklens.probe.intervene import intervene
from stacklens.viz.bench.change import Change, changeable, changed_network, changed_word
from stacklens.viz.bench.run import answers_of, bench_run, pieces_at
from stacklens.viz.dashboard.panels import known_specification
from stacklens.viz.operations import operation_names, pieces_of

DYCK = "marnn-stack-rnn-dyck-2"
STEPWISE = [name for name in NETWORKS if name not in ("buffered-neural-stack", "linear")]
LENGTHS = ["nnpda", "neural-stack"]


def drawn_change(model: Any, steps: int, rng: np.random.Generator) -> Change:
    """Return any change that a network of this kind may allow."""
    numbers = {one["part"]: one["numbers"] for one in changeable(model)["parts"]}
    name = str(rng.choice([part for part in numbers if part != "height"]))
    drawn = rng.random(numbers[name])
    shares = name == "actions" and model.action_kind == "softmax"
    value = tuple((drawn / drawn.sum() if shares else drawn).round(3).tolist())
    at = int(rng.integers(steps))
    if name in ("hidden", "unit"):
        unit = int(rng.integers(numbers["hidden"])) if name == "unit" else None
        return Change(at, "hidden", "source" if rng.random() < 0.3 else value, None, 0, unit, ("a", "b"), 1)
    stack, cell = int(rng.integers(model.n_stacks)), int(rng.integers(3)) if name == "cells" else 0
    return Change(at, name, "zero" if rng.random() < 0.3 else value, stack, cell)


def traced(model: Any, word: str, change: Change, rounded: bool) -> Any:
    said = change.arguments()
    if "from_word" in said:
        said["from_word"] = [said["from_word"]]
    return intervene(model, (tuple(word),), **said, rounded=rounded)


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("name", STEPWISE)
def test_the_changed_run_is_that_of_intervene(name: str, rounded: bool) -> None:
    rng, model = np.random.default_rng(7), network(name)
    runner = Rounded(model) if rounded else model
    for word in ("a", "ab", "abba", "bbaabab"):
        for _ in range(6):
            change = drawn_change(model, len(word) + (model.end is not None), rng)
            run, seen = (
                bench_run(changed_network(runner, tuple(word), change), word),
                traced(model, word, change, rounded),
            )
            for part in ("actions", "pushed", "output", "hidden", "rejected", "reading"):
                assert np.array_equal(getattr(run.seen, part), getattr(seen, part)), (part, change)
            if run.cells is not None and seen.cells is not None:
                size = min(run.cells.shape[2], seen.cells.shape[3])
                assert np.array_equal(run.cells[:, :, :size], seen.cells[0, :, :, :size]), change
            if model.task_kind == "recognition":
                assert answers_of(run)[-1] == seen.verdicts[0], change
            json.dumps(changed_word(runner, word, change), allow_nan=False)


@pytest.mark.parametrize("rounded", [False, True])
def test_what_a_recogniser_would_say_of_a_word_that_ends_before_the_change_stays(rounded: bool) -> None:
    model = network("nnpda")  # it reads an end symbol
    runner = Rounded(model) if rounded else model
    for at in range(6):
        change = Change(at, "actions", (1.0,), stack=0)
        said, other = (
            answers_of(bench_run(one, "abbab")) for one in (runner, changed_network(runner, "abbab", change))
        )
        assert said[:at].tolist() == other[:at].tolist()
        for end in range(at + 1, 5):  # those after it are of words with the same change
            assert other[end - 1] == traced(model, "abbab"[:end], change, rounded).verdicts[0]


@pytest.mark.parametrize("name", LENGTHS)
def test_the_pieces_of_a_changed_stack_are_those_that_the_network_has(name: str) -> None:
    rng, model, word = np.random.default_rng(3), network(name, seed=5), tuple("abbabaab")
    cut = 0
    for _ in range(40):
        at, part = int(rng.integers(8)), str(rng.choice(["cells", "height", "actions"]))
        size = {"cells": model.cell_size, "height": 1, "actions": 1 if name == "nnpda" else 2}[part]
        value = (0.0,) if part == "height" else tuple(rng.random(size).tolist())
        change = Change(at, part, value, 0, int(rng.integers(3)))
        changed = changed_network(model, word, change)
        run = bench_run(changed, word)
        found = pieces_of(model, run.seen, then=pieces_at(changed, run.steps))
        for step, held in enumerate(stacks_held(changed_network(model, word, change), word)):
            there = sorted((one.bottom, one.top) for one in found if one.first <= step <= one.last)
            assert np.allclose(there, held, atol=1e-6), (change, step)
            cut += len(held)
    assert cut > 100


def stacks_held(model: Any, word: tuple[str, ...]) -> list[list[tuple[float, float]]]:
    """Return the intervals that a network's own stack has after every step, with the change before the next one."""
    state, held = model.entered(model.initial_state(1), 0), []
    letters = [*word, *([model.end] if model.end else [])]
    for step, letter in enumerate(letters):
        state = model.step(torch.tensor([model.letters.index(letter)]), state).state
        state = model.entered(state, step + 1)
        ends = zip(state.stack.bottoms[0].tolist(), state.stack.tops[0].tolist(), strict=True)
        held.append(sorted((bottom, top) for bottom, top in ends if top > bottom))
    return held


def sentence(name: str, word: str, change: Change, rounded: bool = False) -> str:
    model: Any = load_network(ZOO / f"{name}.pt").model
    runner = Rounded(model) if rounded else model
    found = changed_word(runner, word, change, known_specification(name), names={(0.9,): "s1"})
    return "".join(part["text"] for part in found["sentence"])


@pytest.mark.parametrize(
    ("name", "word", "change", "said"),
    [
        (DYCK, "([])", Change(1, "actions", (0.0, 1.0), 0), "With pop in place of push in step 2, it says something "
         "else after 1 of 3 symbols, first at step 4 ({( ) [}, was {( [}); 1 that was right is wrong."),
        (DYCK, "([])", Change(2, "cells", (0.9,), 0), "With s1 (0.9) in place of 0.0221 on top before step 3, it says "
         "something else after 2 of 2 symbols, first at step 3 ({( [ ]}, was {( ) [}); 2 that were right are wrong."),
        (DYCK, "([])", Change(2, "hidden", "zero"), "With the hidden vector at zero before step 3, it says something"),
        (DYCK, "([])", Change(2, "hidden", "source", None, 0, None, ("(", "("), 2), "With the hidden vector after 2 of "
         "the 2 symbols of ε before step 3, nothing that it says or does changes."),
        ("nnpda-palindrome", "abcba", Change(1, "actions", (-1.0,), 0), "it now rejects the word."),
        ("nnpda-palindrome", "abcba", Change(1, "actions", (1.0,), 0), "With push in step 2, nothing that it says or"),
        ("nnpda-palindrome", "abcbb", Change(1, "actions", (-1.0,), 0), "it still rejects the word."),
        ("stack-rnn-anbn", "aab", Change(2, "hidden", (0.0,), unit=3), "in hidden unit 4 before step 3"),
    ],
)  # fmt: skip
def test_the_sentence_says_what_has_changed(name: str, word: str, change: Change, said: str) -> None:
    assert said in sentence(name, word, change)


@pytest.mark.parametrize("rounded", [False, True])
def test_the_first_difference_and_the_errors_are_those_of_the_two_runs(rounded: bool) -> None:
    specification: Any = known_specification(DYCK)
    model: Any = load_network(ZOO / f"{DYCK}.pt").model
    runner, word = Rounded(model) if rounded else model, "([()])[]"
    expected = specification.answers(model, [word])[0][: len(word)]
    seen = 0
    for at in range(len(word)):
        change = Change(at, "cells", (0.9,), 0)
        found = changed_word(runner, word, change, specification)
        runs = [sl.trace(model, word, rounded=rounded), traced(model, word, change, rounded)]
        said = [np.where(run.rejected[0], -1, model.output_numbers(torch.from_numpy(run.output[0]))) for run in runs]
        does = [operation_names(model, run) for run in runs]
        apart = [t + 1 for t in range(len(word)) if said[0][t] != said[1][t] or does[0][t] != does[1][t]]
        assert found["first"] == (apart[0] if apart else None)
        assert found["wrong"] == [t + 1 for t in range(len(word)) if said[1][t] != expected[t]]
        assert found["changed"] == at + 1
        seen += bool(apart)
    assert seen > 2


@pytest.mark.parametrize("name", EVERY)
def test_every_network_of_the_zoo_says_what_can_be_changed(name: str, client: FlaskClient) -> None:
    if name.startswith("buffered"):
        assert "reads from a queue" in asked(client, "changeable", 400, network=name)["problem"]
        return
    word = asked(client, "other-word", network=name, seed=1)["word"]
    for part in asked(client, "changeable", network=name)["parts"]:
        if part["part"] in ("actions", "pushed", "cells"):
            assert part["choices"], part["part"]
            for choice in part["choices"]:
                given = {
                    "network": name,
                    "word": word,
                    "change": 2,
                    "set": part["part"],
                    "to": choice["to"],
                    "stack": 1,
                }
                assert asked(client, "change", **given)["changed"] == 2


def test_the_page_shows_the_numbers_of_intervene(client: FlaskClient) -> None:
    given: dict[str, Any] = {
        "network": DYCK,
        "word": "([()])",
        "change": 3,
        "set": "cells",
        "to": "0.9",
        "stack": 1,
        "cell": 1,
    }
    found = asked(client, "change", rounded=1, **given)
    seen = sl.intervene(DYCK, "([()])", at=2, set={"cells": 0.9}, cell=0, stack=0, rounded=True)
    rows = {row["name"]: row.get("values") for row in found["rows"]}
    assert seen.cells is not None
    assert rows["stack top"] == seen.cells[0, :, 0, 0, 0].round(3).tolist()
    assert rows["push"] == seen.actions[0, :, 0, 0].round(3).tolist()
    scope: dict[str, Any] = {}
    exec(found["python"].replace("sl.intervene", "seen = sl.intervene"), scope)
    assert scope["seen"] == seen


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"change": 0}, "there is no step 0 to change: the word has 4."),
        ({"change": 5}, "there is no step 5 to change: the word has 4."),
        ({"change": "x"}, 'change is "x"; expected a whole number from 0.'),
        ({"set": "mind"}, "expected one of hidden, actions, pushed, cells, height."),
        ({"to": "s9"}, "what is put there is 's9'; expected numbers, or zero, mean, rounded or source."),
        ({"to": "nan"}, "what is put there is 'nan'"),
        ({"to": "1 " * 9_000}, "cannot be set to numbers of shape"),
        ({"to": "1 2 3"}, "actions cannot be set to numbers of shape (3,)"),
        ({"stack": 2}, "there is no stack 1"),
        ({"stack": 0}, "stack is 0; expected a number from 1"),
        ({"set": "hidden", "to": "0", "unit": 99}, "there are no units"),
        ({"set": "cells", "to": "1", "cell": 10**8}, "cell is 100000000; expected a number from 1 to 10,000."),
        ({"set": "height", "to": "1"}, "soft actions leave the stack of a marnn-stack-rnn without a height"),
        ({"set": "height", "to": "9", "rounded": 1}, "height cannot be set to 9: the stack is 1 high"),
        ({"set": "hidden", "to": "source", "from": "x"}, "symbol 'x' is not in the alphabet"),
        ({"set": "hidden", "to": "source", "from": "((", "after": 3}, "nothing can be taken after 3 symbols of (("),
        ({"to": "source", "from": "", "after": 0}, "nothing can be taken after 0 symbols of ε"),
        ({"network": "buffered-neural-stack-reversal", "word": "01", "change": 1}, "reads from a queue when it likes"),
    ],
)
def test_what_cannot_be_changed_is_one_line(given: dict[str, Any], said: str, client: FlaskClient) -> None:
    usual = {"network": DYCK, "word": "([])", "change": 2, "set": "actions", "to": "0 1", "stack": 1}
    found = asked(client, "change", 400, **{**usual, **given})["problem"]
    assert said in found
    assert "\n" not in found
    assert len(found) < 300
