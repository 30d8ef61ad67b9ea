"""Words that repeat a cycle break networks that stand all short words, all drawn ones and all that climb."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.extract.doctored import WornNet, right
from tests.extract.verification.test_words_that_break import DRIVEN
from tests.models.hand_made import hand_made

from stacklens.extract.agreement import Agreement
from stacklens.extract.by_name import specification_for
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.cycles import agree_on_pumps, partings, pump_lines, pumped_families
from stacklens.extract.extraction import extract
from stacklens.extract.specification import LanguageSpecification, TaskSpecification
from stacklens.extract.verification.checks import check_all
from stacklens.languages.catalogue import get_language, get_task
from stacklens.models.base import StackModel
from stacklens.models.checkpoint import load_model
from stacklens.models.rounding import Rounded

ZOO = Path(__file__).parents[3] / "models" / "zoo"
DYCK = get_language("dyck-2")


def pumped(model: StackModel[Any], name: str, most: int = 300) -> Agreement:
    task = TaskSpecification(get_task(name))
    automaton = task.automaton()
    assert automaton is not None
    return agree_on_pumps(automaton, model, None, pumped_families(automaton, model, task, most, 0), task)


def predicted_one_by_one(model: StackModel[Any], word: str) -> list[str]:
    """Return what is predicted after every symbol, by a plain loop over the network's own equations."""
    weights = {name: value.numpy() for name, value in model.state_dict().items()}
    h, cells, said = np.zeros(weights["hidden_bias"].shape), [np.zeros(weights["pushed_bias"].shape)] * 104, []
    for letter in word:
        before = h + weights["memory_weights"] @ cells[0] + weights["memory_bias"]
        x = weights["input_weights"][:, model.alphabet.index(letter)] + weights["input_bias"]
        h = np.tanh(x + weights["hidden_weights"] @ before + weights["hidden_bias"])
        push, pop = weights["action_weights"] @ h + weights["action_bias"]
        value = 1 / (1 + np.exp(-(weights["pushed_weights"] @ h + weights["pushed_bias"])))
        cells = [value, *cells[:-1]] if push > pop else [*cells[1:], np.zeros_like(value)]
        output = weights["output_weights"] @ h + weights["output_bias"]
        said.append("".join(symbol for symbol, size in zip(model.alphabet, output, strict=True) if size > 0))
    return said


def test_a_block_of_four_brackets_twelve_times_breaks_a_network_that_stood_a_million_words() -> None:
    model = load_model(ZOO / "marnn-stack-rnn-dyck-2.pt")
    found = pumped(Rounded(model), "dyck-2")
    assert found.disagreements > 0
    assert found.made_of == "'[', then '()][' 11 times, then ']'"
    assert found.counterexample == "[()]" * 11 + "[]"
    for word in ("[()]" * 11 + "[]", "[()]" * 12):
        expected = [sorted(said or (), key=model.alphabet.index) for said in get_task("dyck-2").expected(word)]
        said = predicted_one_by_one(model, word)
        assert said[:-1] == ["".join(one) for one in expected[:-1]]
        assert said[-1] != "".join(expected[-1])


def test_extraction_says_so_with_status_1_and_does_not_try_to_mend_what_drifts() -> None:
    quick = ExtractionConfig(max_length=6, long_words=200, deep_words=2, depth=50, height=12, walks=10)
    result = extract(load_model(ZOO / "marnn-stack-rnn-dyck-2.pt"), specification_for(get_task("dyck-2")), quick)
    assert result.status == 1
    assert result.contradicted is not None
    assert result.contradicted.kind == "pumped"
    assert len(result.contradicted.counterexample or "") <= 48
    assert result.divergence is not None
    shortest = result.horizon["rounded network"].difference
    assert shortest is not None
    assert len(shortest.word) <= len(result.contradicted.counterexample or "")
    assert (result.divergence.word, result.divergence.first) == (shortest.word, len(shortest.word) - 1)


@pytest.mark.parametrize("slips_at", [30, 200])
def test_a_network_that_wears_out_is_caught_at_the_round_at_which_it_does(slips_at: int) -> None:
    checks = check_all(right(), WornNet(slips_at), LanguageSpecification(DYCK), replace(DRIVEN, long_words=0))
    caught = {check.kind: check for check in checks if check.disagreements and check.other == "rounded network"}
    word = caught["pumped"].counterexample
    assert isinstance(word, str)
    assert word.count("]") == slips_at + (word[-1] == "]")
    assert word not in DYCK
    assert f"{slips_at} times" in str(caught["pumped"].made_of)
    assert slips_at == 30 or set(caught) == {"pumped"}  # no other search repeats anything so often


def test_nothing_is_found_where_there_is_nothing() -> None:
    checks = check_all(right(), hand_made(right(), end="$"), LanguageSpecification(DYCK), DRIVEN)
    mine = [check for check in checks if check.kind == "pumped"]
    assert [check.other for check in mine] == ["language", "rounded network", "network"]
    assert all(check.words > 100 and not check.disagreements for check in mine)
    assert min(check.max_length for check in mine[1:]) >= 480  # what climbs goes on to the end: v and y, 240 times each


@pytest.mark.parametrize("name", ["stack-rnn-anbn", "stack-rnn-anb2n", "stack-rnn-anbmcnm", "neural-stack-reversal"])
def test_streams_and_transductions_are_walked_inside_their_task(name: str) -> None:
    model = load_model(ZOO / f"{name}.pt")
    task = TaskSpecification(get_task(name.rsplit("-", 1)[1]))
    families = pumped_families(task.automaton() or right(), model, task, 100, 0)
    assert families
    for pump, _ in families:
        get_task(task.name).expected(pump.word(3))  # raises on a word that is none of the task's
    found = pumped(Rounded(model), task.name, most=100)
    assert found.words == len(families)
    assert not found.disagreements


@torch.no_grad()
def test_the_walk_says_what_one_run_a_word_says() -> None:
    """What the walk finds broken is wrong at 20 rounds at the latest, one word at a time and by a plain loop."""
    model = load_model(ZOO / "marnn-stack-rnn-dyck-2.pt")
    task = TaskSpecification(get_task("dyck-2"))
    automaton = task.automaton()
    assert automaton is not None
    families = [(pump, 20) for pump, _ in pumped_families(automaton, model, task, 60, 0) if not pump.climb]
    lines = pump_lines(automaton, model, families, task)
    broken = {parting.line.pump for parting in partings(Rounded(model), lines)[0]}
    for pump, _ in families:
        word = "".join(pump.word(20))
        wrong = any(
            said != "".join(sorted(expected or (), key=model.alphabet.index))
            for said, expected in zip(predicted_one_by_one(model, word), get_task("dyck-2").expected(word), strict=True)
        )
        assert wrong or pump not in broken  # the walk ends at the first that break, so others may break later
    assert broken
