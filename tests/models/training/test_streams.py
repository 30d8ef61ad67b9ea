"""Predictors of streams: windows of steps, symbol by symbol, language models, and what they are worth."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.plain import steps_of
from tests.refusals import refused

from stacklens.core.errors import FileFormatError
from stacklens.languages.catalogue import get_task
from stacklens.languages.streams import StreamTask
from stacklens.models.networks import build_model
from stacklens.models.networks.joulin import StackRNN, StackRNNConfig
from stacklens.models.rounding import Rounded
from stacklens.models.training.recipes import StreamRecipe
from stacklens.models.training.streams import PieceTest, StreamTraining, learned_streams
from stacklens.papers import joulin2015_online
from stacklens.papers.joulin2015_online import OnlineRecipe, OnlineTraining, UpdatePiece
from stacklens.papers.joulin2015_training import right_from_empty
from stacklens.papers.joulin2015_words import Texts, WordRecipe, WordTraining, read_texts, split_text

TINY = StreamRecipe(
    shape={"hidden": 6, "n_stacks": 1},
    n_max=5,
    epochs=6,
    windows=3,
    window=20,
    streams=4,
    cells=12,
    check_sizes=(2, 9),
    check_pieces=2,
    check_short=1,
    check_every=2,
    sharpness=0.01,
)


def stream_task(name: str = "anbn") -> StreamTask:
    task = get_task(name)
    assert isinstance(task, StreamTask)
    return task


def tiny(name: str = "anbn", recipe: StreamRecipe = TINY, **options: object) -> StreamTraining:
    return StreamTraining(recipe, stream_task(name), **options)  # type: ignore[arg-type]


def test_a_few_epochs_teach_something() -> None:
    training = tiny(nets=3)
    training.epoch()
    before = training.losses
    training.run()
    assert training.epochs_done == training.total_epochs == 6
    assert (training.losses < before).all()
    assert training.checked_pieces == 24
    assert all(score.rounded_errors <= 24 for score in training.best)


def test_only_what_can_be_known_counts_where_the_recipe_says_so() -> None:
    training = tiny("addition", replace(TINY, counted="known", n_max=4))
    symbols, counts = training._streams()
    words = ["".join(training.task.alphabet[i] for i in row) for row in symbols.tolist()]
    for word, row in zip(words, counts.tolist(), strict=True):
        assert row == [False, *training.task.scored(word)[:-1]]
        assert any(row)


LSTM = replace(TINY, shape={"hidden": 6, "controller": "lstm", "task_kind": "next symbol", "layers": 2}, sharpness=0.0)


def test_among_networks_without_errors_the_one_that_is_surest_is_kept() -> None:
    training = tiny(recipe=replace(LSTM, by_loss=True, check_sizes=(2, 2)), model="lstm", nets=2)
    training.epoch()
    training.epoch()
    assert training.checked_pieces == 20
    assert all(score.rounded_errors == score.analog_errors <= 20 for score in training.best)
    losses = [score.loss for score in training.best]
    training.losses = torch.zeros(2)  # what training loses does not count
    training.best = [replace(score, loss=9.0) for score in training.best]
    training.check()
    assert [score.loss for score in training.best] == pytest.approx(losses)


# The paper's scores of predictors of streams, against a network that is run symbol by symbol on one stream.

MODELS: dict[str, dict[str, Any]] = {
    "stack-rnn": {"hidden": 5, "n_stacks": 2},
    "list-rnn": {"hidden": 5, "n_stacks": 1},
    "scrn": {"hidden": 5, "context": 2},
    "rnn": {"hidden": 5, "controller": "rnn", "task_kind": "next symbol"},
    "lstm": {"hidden": 5, "controller": "lstm", "task_kind": "next symbol"},
}


def outputs(net: object, word: str) -> list[torch.Tensor]:
    with torch.no_grad():
        return [step.output[0] for step in steps_of(net, word)]


@settings(max_examples=15)
@given(
    st.sampled_from(sorted(MODELS)),
    st.sampled_from(["anbn", "anbmcnm", "memorization", "addition"]),
    st.integers(0, 5),
    st.booleans(),
)
def test_scores_are_those_of_a_network_run_symbol_by_symbol(model: str, name: str, seed: int, rounded: bool) -> None:
    task = stream_task(name)
    nets = build_model(model, {"alphabet": task.alphabet, **MODELS[model]}, seed=seed, nets=2)
    alone = build_model(model, {"alphabet": task.alphabet, **MODELS[model]}, seed=seed + 1)
    test = PieceTest(task, (2, 5), strings=4, streams=2, seed=seed)
    right, entropy = test.right_and_entropy(Rounded(nets) if rounded else nets)
    np.testing.assert_array_equal(right, test.right(Rounded(nets) if rounded else nets))
    assert right.shape == (2, 4, 4)
    surprises = []
    for stream, pieces in enumerate(test.pieces()):
        word = "".join(pieces)
        expected, found = task.expected(word), outputs(Rounded(alone) if rounded else alone, word)
        fine = [
            want is None or task.alphabet[int(probabilities.argmax())] == want
            for want, probabilities in zip(expected, found, strict=True)
        ]
        surprises += [
            -math.log(max(1e-12, float(probabilities[task.alphabet.index(str(want))])))
            for want, probabilities in zip(expected, found, strict=True)
            if want is not None
        ]
        at = 0
        for number, piece in enumerate(pieces):
            all_fine = all(fine[at : at + len(piece)])
            at += len(piece)
            if number >= test.ahead:
                size, string = divmod(number - test.ahead, 2)
                assert right[1, size, 2 * stream + string] == all_fine
    assert entropy[1] == pytest.approx(sum(surprises) / len(surprises))


# The test of binary addition: against a network that is run symbol by symbol.

TASK = stream_task("addition")


def networks() -> StackRNN:
    """Three networks that are often right: they are sure of ``.`` or of a digit."""
    net = StackRNN(StackRNNConfig(TASK.alphabet, 6, 2, no_op=True), seed=5, nets=3)
    with torch.no_grad():
        for weights in net.parameters():
            weights.mul_(12)
    return net


def test_pieces_are_right_as_they_are_symbol_by_symbol_from_empty_memories_and_the_symbol_before() -> None:
    net = networks()
    found, state = right_from_empty(net, TASK, (0, 5), 30, 5, seed=4), net.initial_state(1)
    assert found.shape == (3, 6, 30)
    assert 0 < found.mean() < 1
    for place, pieces in enumerate(TASK.words_by_n(0, 5, 30, 4).values()):
        for number, piece in enumerate(pieces):
            if number % 5 == 0:
                state = net.step(torch.tensor([TASK.alphabet.index(".")]), net.initial_state(1)).state
            right = torch.ones(3, dtype=torch.bool)
            for at, symbol in enumerate(piece):
                step = net.step(torch.tensor([TASK.alphabet.index(symbol)]), state)
                state = step.state
                if piece.index("=") <= at < len(piece) - 1:
                    right &= step.output[:, 0].argmax(-1) == TASK.alphabet.index(piece[at + 1])
            assert found[:, place, number].tolist() == right.tolist()


# Training as the authors do: one symbol, one update; rates and best weights network by network.

TINY_ONLINE = OnlineRecipe(
    {"hidden": 5, "n_stacks": 1}, pieces=6, emptied=4, n_max=4, validation=10, checked=(2, 3), steps=3
)


def training(
    recipe: OnlineRecipe = TINY_ONLINE, model: str = "stack-rnn", nets: int = 2, seed: int = 0
) -> OnlineTraining:
    return OnlineTraining(model, recipe, stream_task(), seed=seed, nets=nets)


@pytest.mark.parametrize("model", [model for model in MODELS if model != "scrn"])
def test_a_few_epochs_teach_every_model_something(model: str) -> None:
    made = training(replace(TINY_ONLINE, shape=MODELS[model], epochs=4, pieces=30), model)
    made.epoch()
    first = made.best.copy()
    made.run()
    assert made.epochs_done == 4
    assert (made.best < first).all()


def test_one_update_is_one_step_of_descent_on_the_last_prediction_alone() -> None:
    made = training(nets=1)
    symbols = torch.tensor([0, 0, 1])
    before = {name: value.detach().clone() for name, value in made.net.named_parameters()}
    outputs = made.net.run(symbols.unsqueeze(1), made.net.initial_state(1)).output
    gradients = torch.autograd.grad(-outputs[-1, 0, 0, 1].log(), list(made.net.parameters()))
    costs = made.costs(UpdatePiece(made.net.initial_state(1), symbols, 2, [2], torch.tensor([1])))
    costs.sum().backward()  # type: ignore[no-untyped-call]
    made.update()
    for (name, value), gradient in zip(made.net.named_parameters(), gradients, strict=True):
        torch.testing.assert_close(value.detach(), before[name] - 0.1 * gradient)


def test_who_gets_no_better_goes_back_to_its_best_and_slows_down_the_others_do_not() -> None:
    made = training()
    made.epoch()
    made.epochs_done = 11  # the curriculum is over
    made.best = np.array([-math.inf, math.inf])
    best = {name: value.clone() for name, value in made.best_weights.items()}
    with torch.no_grad():
        for value in made.net.parameters():
            value.add_(1)
    made.check()
    assert made.rates.tolist() == [0.05, 0.1]
    for name, value in made.net.named_parameters():
        torch.testing.assert_close(value[0], best[name][0])
        torch.testing.assert_close(made.best_weights[name][1], value[1])


def test_memories_are_emptied_after_so_many_pieces_and_the_symbol_before_is_read_again() -> None:
    streams = list(
        learned_streams(stream_task("addition"), ["1+1=01.", "0+0=0.", "0+1=1."], emptied=2, known_only=True)
    )
    shown = ["".join("+=.01"[symbol] for symbol in stream.symbols) for stream in streams]
    assert shown == ["1+1=01.0+0=0", ".0+1=1"]
    assert [stream.counts.astype(int).tolist() for stream in streams] == [
        [0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1],
        [0, 0, 0, 0, 1, 1],
    ]
    assert all((stream.symbols[1:] == stream.following[:-1]).all() for stream in streams)


@pytest.mark.parametrize("model", ["stack-rnn", "list-rnn"])
def test_stacks_and_lists_are_trained_by_hand_as_autograd_does_but_for_the_age_of_their_steps(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a small rate that age makes no difference; errors go back as far as symbols were learned."""
    recipe = replace(
        TINY_ONLINE, shape={"hidden": 5, "n_stacks": 2, "no_op": True}, rate=1e-6, least_rate=1e-9, steps=40
    )
    made = [training(recipe, model) for _ in range(2)]
    begun = [value.detach().clone() for value in made[0].net.parameters()]
    made[0].epoch()
    monkeypatch.setattr(joulin2015_online, "_by_hand", lambda *_: False)
    made[1].epoch()
    assert made[0].updates == made[1].updates > 10
    for before, left, right in zip(begun, made[0].net.parameters(), made[1].net.parameters(), strict=True):
        torch.testing.assert_close(left - before, right - before, rtol=1e-3, atol=1e-11)
    np.testing.assert_allclose(made[0].best, made[1].best, rtol=1e-6)


@pytest.mark.parametrize("model", ["rnn", "lstm"])
def test_gathered_errors_move_weights_as_single_ones_do_together(model: str) -> None:
    """At a small rate it makes no difference after how many symbols weights move; an end of a stream is waited for."""
    shape = {**MODELS[model], "layers": 2}
    recipe = replace(TINY_ONLINE, shape=shape, rate=1e-6, least_rate=1e-9, steps=40)
    gathered, single = training(replace(recipe, together=4), model), training(recipe, model)
    begun = [value.detach().clone() for value in single.net.parameters()]
    gathered.epoch()
    single.epoch()
    assert gathered.symbols == single.symbols > 10
    assert single.updates / 4 <= gathered.updates < single.updates / 2
    for before, left, right in zip(begun, gathered.net.parameters(), single.net.parameters(), strict=True):
        moved = (right - before).detach()
        torch.testing.assert_close((left - before).detach(), moved, rtol=1e-3, atol=1e-4 * float(moved.abs().max()))
    np.testing.assert_allclose(gathered.best, single.best, rtol=1e-6)


@pytest.mark.parametrize(("steps", "together"), [(3, 1), (3, 4), (8, 3)])
def test_an_update_goes_back_as_far_as_its_first_symbol_does(steps: int, together: int) -> None:
    """Each piece is read from the state before it, and every symbol that counts is predicted once."""
    made, found = training(replace(TINY_ONLINE, shape=MODELS["rnn"], steps=steps, together=together), "rnn"), []
    streams = list(made._streams())
    with torch.no_grad():
        for piece in made.batches():
            assert len(piece.symbols) - piece.fresh <= together
            assert not piece.places or piece.places[0] < steps
            made.costs(piece)
            found += [
                (int(piece.symbols[place]), int(target))
                for place, target in zip(piece.places, piece.following, strict=True)
            ]
    counted = [(symbol, following) for stream in streams for symbol, following, counts in stream.steps() if counts]
    assert found == counted


def test_training_goes_on_from_a_file_as_if_it_had_not_stopped(tmp_path: Path) -> None:
    whole, first, second = (training(replace(TINY_ONLINE, epochs=3)) for _ in range(3))
    whole.run()
    first.epoch()
    first.save(tmp_path / "state.pt")
    second.load(tmp_path / "state.pt")
    assert second.seconds == first.seconds > 0
    second.run()
    assert (second.epochs_done, second.updates) == (3, whole.updates)
    np.testing.assert_array_equal(second.best, whole.best)
    for name, value in whole.best_weights.items():
        assert torch.equal(value, second.best_weights[name])


# Language models over words: perplexities against plain sums, and the schedule.

LINES = ("the cat sees the dog", "a dog sees the cat", "the dog sleeps", "a cat sleeps")
WORD_MODELS = {model: shape for model, shape in MODELS.items() if model != "list-rnn"}
WORD_MODELS["stack-rnn"] = {"hidden": 6, "n_stacks": 3, "recurrent": True, "stack_limit": 10}


def texts(folder: Path) -> Texts:
    train, valid, test = files(folder)
    valid.write_text("the dog sees a cat", encoding="utf-8")
    return read_texts(train, valid, test)


@pytest.mark.parametrize("model", WORD_MODELS)
def test_perplexity_is_that_of_the_words_one_by_one(tmp_path: Path, model: str) -> None:
    text = texts(tmp_path)
    training = WordTraining(model, WordRecipe(WORD_MODELS[model], streams=4, window=3), text, seed=1)
    state, total = training.net.initial_state(1), 0.0
    with torch.no_grad():
        for now, following in zip(text.test[:-1].tolist(), text.test[1:].tolist(), strict=True):
            step = training.net.step(torch.tensor([now]), state)
            state, total = step.state, total - math.log(float(step.output[0, following]))
    assert training.tested() == pytest.approx(math.exp(total / (len(text.test) - 1)), rel=1e-5)


@pytest.mark.parametrize("model", WORD_MODELS)
def test_a_few_epochs_teach_something_and_the_same_seed_gives_the_same(tmp_path: Path, model: str) -> None:
    text = texts(tmp_path)
    found = []
    for _ in range(2):
        training = WordTraining(model, WordRecipe(WORD_MODELS[model], epochs=4, streams=4, window=10, rate=0.03), text)
        before = training.perplexity(text.valid)
        training.run()
        assert training.epochs_done == 4
        assert training.best < before
        found.append((training.best, training.tested()))
    assert found[0] == found[1]


def test_the_rate_falls_to_nothing_and_what_is_no_better_is_not_kept(tmp_path: Path) -> None:
    training = WordTraining("rnn", WordRecipe(WORD_MODELS["rnn"], epochs=2, streams=4, rate=0.01), texts(tmp_path))
    training.best = 0.0
    before = {name: value.clone() for name, value in training.net.state_dict().items()}
    assert training.learning_rate() == 0.01
    training.epoch()
    assert training.learning_rate() == pytest.approx(0.005)
    training.epoch()
    assert training.done
    assert training.learning_rate() == pytest.approx(0)
    assert any(not torch.equal(before[name], value) for name, value in training.net.state_dict().items())
    training.tested()
    assert all(torch.equal(before[name], value) for name, value in training.net.state_dict().items())
    training.epoch()
    assert training.epochs_done == 2


# Texts for language models: three files as they are, one that is split, and what is no text.


def files(folder: Path, train: str = "\n".join(LINES * 20), rest: str = "the dog sees a cat\n\na dog") -> list[Path]:
    paths = [folder / f"{part}.txt" for part in ("train", "valid", "test")]
    for path, content in zip(paths, (train, rest, rest), strict=True):
        path.write_text(content, encoding="utf-8")
    return paths


def written(folder: Path, content: str) -> Path:
    path = folder / "text.txt"
    path.write_text(content, encoding="utf-8")
    return path


def words(texts: Texts, part: npt.NDArray[np.int64]) -> str:
    return " ".join(texts.vocabulary[number] for number in part)


def test_a_line_ends_with_a_word_of_its_own_and_strange_words_are_unknown(tmp_path: Path) -> None:
    found = read_texts(*files(tmp_path))
    assert found.vocabulary == ("the", "cat", "sees", "dog", "<eos>", "a", "sleeps")
    assert words(found, found.test) == "the dog sees a cat <eos> a dog <eos>"
    found = read_texts(*files(tmp_path, "the <unk> sees", "the cow sees"))
    assert words(found, found.valid) == "the <unk> sees <eos>"
    with pytest.raises(FileFormatError, match=r"valid.txt: the word 'cow' is not in .*train.txt; put <unk> there"):
        read_texts(*files(tmp_path, "the cat sees", "the cow sees"))


def test_verses_are_read_as_the_penn_treebank_is_written(tmp_path: Path) -> None:
    verses = [
        "Ge1:1 In the BEGINNING; God's heaven -- in the beginning (God's heaven).",
        "1Sm17:4 In the beginning God's heaven 1,000 the, 2.5 the 30 beloved-one!",
        "Song of Solomon 1:1 The beginning: in God's heaven, in Café.",
    ]
    texts = split_text(written(tmp_path, "\n\n".join(["1 John 5:7 Rare words"] + verses * 3)))
    begins = (
        "<unk> <unk> <eos> in the beginning god's heaven in the beginning god's heaven <eos> "
        "in the beginning god's heaven N the N the N <unk> <eos> the beginning in god's heaven in <unk> <eos>"
    )
    assert words(texts, texts.train).startswith(begins)  # of eight lines: "beloved-one" and "café" come twice
    assert set(texts.vocabulary) == {"<unk>", "<eos>", "in", "the", "beginning", "god's", "heaven", "N"}


def test_a_text_is_split_in_tenths_by_its_lines_and_what_only_later_parts_have_is_unknown(tmp_path: Path) -> None:
    texts = split_text(written(tmp_path, "\n".join(["x x x", *["y y"] * 15, "x", "z z z", "y", "z y"])))
    assert words(texts, texts.train) == "x x x <eos> " + " ".join(["y y <eos>"] * 15)
    assert words(texts, texts.valid) == "x <eos> <unk> <unk> <unk> <eos>"
    assert words(texts, texts.test) == "y <eos> <unk> y <eos>"
    assert texts.vocabulary == ("x", "<eos>", "y", "<unk>")


@pytest.mark.parametrize(
    ("verses", "content", "message"),
    [
        (False, b"", "no words there"),
        (False, b"\n \n", "no words there"),
        (False, b"\xff\xfe", "not text in UTF-8"),
        (True, b"", "only 0 lines with words, expected 10 or more; it should be a text, a verse or sentence a line"),
        (True, b"one line of many words " * 50, "only 1 lines with words"),
        (True, b"Ge1:1 \n...\n" * 20, "only 0 lines with words"),
        (True, b"\x89PNG\r\n\x1a\n", "not text in UTF-8; expected a text, a verse or sentence a line"),
        (True, b"EC02Compressed Data File\0\0\0", "is compressed; give what `bible -f gen1:1-rev22:21` prints"),
    ],
)
def test_a_file_that_is_no_text_is_named(tmp_path: Path, verses: bool, content: bytes, message: str) -> None:
    train, valid, test = files(tmp_path)
    valid.write_bytes(content)
    given = (split_text, valid) if verses else (read_texts, train, valid, test)
    refused(f"valid.txt: .*{message}", *given, error=FileFormatError)
