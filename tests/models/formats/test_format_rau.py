"""Model folders of rau: read without it, they say of its test words what it measured, and of damage one line."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import stacklens as sl
from stacklens.errors import FileFormatError
from stacklens.models.formats.rau import RauRecurrent, RauSizes, expected_shapes, read_rau
from stacklens.models.own.language_model import LanguageModel, default_threshold

FOLDER = Path(__file__).parents[2] / "data" / "rau"
LSTM, TRANSFORMER = FOLDER / "dyck2-depth3-lstm", FOLDER / "dyck2-depth3-transformer"
MEASURED = {LSTM: 0.885, TRANSFORMER: 0.889}  # cross entropy a token on test.tok, by rau itself


@pytest.mark.parametrize("folder", MEASURED, ids=lambda path: path.name)
def test_the_cross_entropy_is_the_one_that_rau_measured(folder: Path) -> None:
    model = read_rau(folder)
    lost, symbols = 0.0, 0
    for line in (FOLDER / "test.tok").read_text(encoding="utf-8").splitlines():
        word = line.split()
        said = model.probabilities(word)
        wanted = [*(model.alphabet.index(symbol) for symbol in word), len(model.alphabet)]
        lost -= float(np.log(said[np.arange(len(wanted)), wanted]).sum())
        symbols += len(wanted)
    assert round(lost / symbols, 3) == MEASURED[folder]


@pytest.mark.parametrize("folder", MEASURED, ids=lambda path: path.name)
def test_sets_are_the_probabilities_above_the_threshold(folder: Path) -> None:
    model = sl.load(folder)
    assert isinstance(model, LanguageModel)
    assert (model.threshold, model.first) == (1 / 15, ("(", "["))
    for word in ("([])", "(([", "()[][]"):
        likely = model.probabilities(word)[1:, :4] > model.threshold
        seen = sl.trace(model, word)
        assert (seen.output[0] > 0.5).tolist() == likely.tolist()
        assert not seen.rejected.any()
    assert sl.trace(model, ["(]", ")"]).verdicts.tolist() == [False, False]


def test_a_recurrent_network_is_torchs_own_with_one_bias() -> None:
    """No RNN of rau is at hand: its steps are held by plain tanh steps."""
    sizes = RauSizes("rnn", 3, 3, 2, 5, 0, 0, None, 2)
    generator = torch.Generator().manual_seed(0)
    weights = {name: torch.randn(shape, generator=generator) for name, shape in expected_shapes(sizes).items()}
    said = RauRecurrent(sizes, weights)(torch.tensor([[0, 1, 1]]))[0]
    state = [torch.tanh(weights["initial"][n]) for n in range(2)]
    rows = [state[1] @ weights["output"].T]
    for symbol in (0, 1, 1):
        x = weights["embeddings"][symbol]
        for n in range(2):
            x = torch.tanh(
                weights[f"weight_ih_l{n}"] @ x + weights[f"bias_ih_l{n}"] + weights[f"weight_hh_l{n}"] @ state[n]
            )
            state[n] = x
        rows.append(x @ weights["output"].T)
    torch.testing.assert_close(said, torch.stack(rows))


def test_the_lstm_gives_an_automaton_proved_equal_and_a_word_that_its_probabilities_confirm() -> None:
    few: dict[str, Any] = {"max_length": 6, "long_words": 200, "deep_words": 2, "height": 8, "walks": 10, "quiet": True}
    model = sl.load(LSTM)
    result = sl.extract(model, "dyck-2-3", **few)
    assert result.status == 1
    assert result.headline.startswith("proved equal to dyck-2-3; the black box ")
    assert result.automaton is not None
    assert len(result.automaton.states) == 15
    first = result.horizon["network"].difference
    assert first is not None
    word = first.word
    said = model.probabilities(word)[1:, :4] > model.threshold
    meant = [set(result.automaton.transitions[key].output or ()) for key in result.automaton.taken(word)]
    sets = [{symbol for symbol, likely in zip(model.alphabet, row, strict=True) if likely} for row in said]
    assert sets[: len(meant)] != meant
    margin = result.threshold
    assert margin is not None
    assert margin.below is not None
    assert margin.above is not None
    assert margin.below <= model.threshold < margin.above
    assert margin.word_above is not None
    row = model.probabilities(margin.word_above)[-1, :4]
    assert math.isclose(row[row > model.threshold].min(), margin.above, rel_tol=1e-4)
    assert "\nthreshold  a symbol may come next where its probability is above 0.0667; in " in str(result)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    shutil.copytree(LSTM, tmp_path / "net")
    shutil.copy(FOLDER / "main.vocab", tmp_path / "net" / "main.vocab")
    return tmp_path / "net"


def with_json(**changed: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / "kwargs.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))

    return change


def with_vocabulary(content: Any) -> Callable[[Path], None]:
    return lambda folder: torch.save(content, folder / "main.vocab")


def with_weights(change: Callable[[dict[str, Any]], Any]) -> Callable[[Path], None]:
    def changed(folder: Path) -> None:
        path = folder / "parameters" / "main.pt"
        content = torch.load(path, weights_only=True)
        torch.save(change(content), path)

    return changed


def cut(name: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).write_bytes((folder / name).read_bytes()[:40])

    return change


INITIAL = "first.first.second.initial_hidden_state_inputs"
BAD: dict[str, tuple[Callable[[Path], Any], str]] = {
    "architecture": (
        with_json(architecture="mamba"),
        "architecture is 'mamba'; expected one of rnn, lstm, transformer",
    ),
    "size": (with_json(hidden_units=-3), "hidden_units is -3; expected a whole number from 1"),
    "size that is text": (with_json(num_layers="1"), "num_layers is '1'; expected a whole number"),
    "eos": (with_json(eos_index=None), "eos_index is None; expected one of 5 outputs"),
    "other size": (with_json(hidden_units=16), "expected .* from kwargs.json"),
    "json": (cut("kwargs.json"), "kwargs.json: not JSON"),
    "weights cut": (cut("parameters/main.pt"), "main.pt: damaged or truncated"),
    "vocabulary cut": (cut("main.vocab"), "main.vocab: damaged or truncated"),
    "vocabulary of something else": (with_vocabulary([1, 2]), "main.vocab: found a list; expected a vocabulary of rau"),
    "numbers for tokens": (
        with_vocabulary({"tokens": [1, 2, 3, 4]}),
        "expected a vocabulary of rau, with a list of tokens",
    ),
    "tokens with spaces": (
        with_vocabulary({"tokens": ["(", ")", "[ [", "]"]}),
        "main.vocab: the alphabet .* must hold non-empty strings without whitespace",
    ),
    "tokens twice": (with_vocabulary({"tokens": ["(", ")", "(", "]"]}), "main.vocab: the alphabet .* has a repetition"),
    "too few tokens": (with_vocabulary({"tokens": ["(", ")"]}), "2 symbols .*, and eos is number 4; expected as many"),
    "an unknown token": (
        with_vocabulary({"tokens": ["(", ")", "[", "]"], "allow_unk": True}),
        "5 symbols .*, and eos is number 4; expected as many",
    ),
    "no vocabulary": (lambda folder: (folder / "main.vocab").unlink(), "no main.vocab in it or beside it"),
    "no weights": (
        lambda folder: (folder / "parameters" / "main.pt").unlink(),
        "main.pt: no such file; expected a model",
    ),
    "a weight less": (with_weights(lambda w: {k: v for k, v in w.items() if k != INITIAL}), "main.pt: state_dict has"),
    "not a number": (with_weights(lambda w: {**w, INITIAL: w[INITIAL] * math.nan}), "initial holds NaN or infinite"),
    "no state dict": (with_weights(lambda w: list(w.values())), "main.pt: found a list; expected a state dict"),
    "code": (lambda folder: torch.save(nn.Linear(1, 1), folder / "parameters" / "main.pt"), "could run code; refused"),
}


@pytest.mark.parametrize("name", BAD)
def test_damage_is_one_line_that_names_the_file(name: str, copied: Path) -> None:
    spoil, said = BAD[name]
    spoil(copied)
    with pytest.raises(FileFormatError, match=said) as raised:
        sl.load(copied)
    assert str(raised.value).startswith(str(copied))
    assert str(raised.value).isprintable()


def test_where_every_set_is_empty_the_likeliest_symbol_is_told() -> None:
    with pytest.raises(FileFormatError, match=r"no symbol may begin a word .* above 0\.99: the likeliest has 0\.5"):
        sl.load(LSTM, threshold=0.99)
    with pytest.raises(FileFormatError, match="no language model: only of one a threshold says"):
        sl.load("nnpda-1n0n", threshold=0.5)
    assert sl.load(LSTM, threshold=0.4).first in (("(",), ("[",), ("(", "["))
    assert default_threshold(1) == 1 / 6
