"""Supervised training, and the recipes of it."""

import io
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from tests.models.training.test_recognisers import trained as recognised
from tests.models.training.test_recognisers import weights
from tests.models.training.test_streams import tiny
from tests.refusals import refused

from stacklens.core.errors import StacklensError
from stacklens.languages.catalogue import get_language, get_task
from stacklens.languages.language import all_words
from stacklens.languages.task import Examples, Task
from stacklens.models.base import StackModel
from stacklens.models.networks import build_model
from stacklens.models.rounding import Rounded
from stacklens.models.training import make_trainer
from stacklens.models.training import recipes as fit_recipes
from stacklens.models.training.loop import Batch, Trainer
from stacklens.models.training.recipes import RECIPES, SETS, SYMBOL_RECIPE, FitRecipe
from stacklens.models.training.recognition import Training, cut_at_dead
from stacklens.models.training.streams import StreamTraining
from stacklens.models.training.supervised import Fitting, batch_losses

# ---- Supervised training: what the loss counts, that networks keep out of each other's way, stopping and resuming.
DYCK, REVERSAL = get_task("dyck-1"), get_task("reversal")
SMALL = FitRecipe(
    shape={"hidden": 4, "first": ("(",)},
    words=30,
    lengths=(2, 12),
    epochs=4,
    batch=8,
    check_words=20,
    long_words=5,
    long_lengths=(14, 16),
)
TALK = replace(SYMBOL_RECIPE, shape={"null": "#"}, words=30, lengths=(1, 4), epochs=4, check_words=20)


def said_by(net: StackModel[Any], symbols: torch.Tensor) -> torch.Tensor:
    return net.run(symbols, net.initial_state(symbols.shape[1])).output


def fitting(model: str = "marnn-stack-rnn", recipe: FitRecipe = SMALL, task: Task = DYCK, **options: Any) -> Fitting:
    return Fitting(model, recipe, task, **{"nets": 2, **options})


def equal(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(value, other[name]) for name, value in one.items())


def batch_of(examples: Examples) -> Batch:
    return Batch.of(examples, np.arange(len(examples)), torch.zeros((), dtype=torch.float64))


def test_a_linear_neural_stack_learns_to_reverse_and_stops_early() -> None:
    recipe = replace(TALK, words=100, lengths=(1, 6), batch=5, rate=0.03, weight_decay=0.0, perfect_checks=2)
    trained = fitting("neural-stack", replace(recipe, epochs=60, patience=None), REVERSAL, nets=1, seed=2)
    trained.run()
    assert trained.epochs_done < 20
    assert trained.best[0].rounded_errors == trained.best[0].analog_errors == 0
    assert trained.progress() == "1 of 1 networks exact when rounded"
    examples, network = trained.check_words, trained.network()
    symbols = torch.from_numpy(np.maximum(examples.symbols, 0).T.astype(np.int64))
    for one in (network, Rounded(network)):
        assert examples.correct(said_by(one, symbols).argmax(-1).T.numpy()).all()


def test_a_stack_rnn_gets_better_at_dyck_1() -> None:
    trained = fitting()
    batch = Batch.of(trained.train_words, np.arange(30), torch.zeros((), dtype=torch.float64))
    before = batch_losses(trained.net, batch)
    trained.run()
    assert (batch_losses(trained.net, batch) < 0.9 * before).all()
    assert trained.epochs_done == trained.total_epochs == 4


def test_the_loss_of_sets_is_the_mean_squared_error_of_all_outputs() -> None:
    examples = DYCK.examples(["()", "(())"])
    net = build_model("marnn-stack-rnn", {"alphabet": DYCK.alphabet, "hidden": 3}, seed=1)
    outputs = [
        said_by(net, torch.tensor([[DYCK.alphabet.index(symbol)] for symbol in word]))[:, 0] for word in examples.words
    ]
    targets = [torch.tensor(examples.targets[row, : len(word)]) for row, word in enumerate(examples.words)]
    errors = torch.cat([(said - asked.double()).square() for said, asked in zip(outputs, targets, strict=True)])
    assert batch_losses(net, batch_of(examples)).item() == pytest.approx(errors.mean().item(), rel=1e-12)


def test_the_loss_of_symbols_is_the_cross_entropy_where_it_counts() -> None:
    examples = REVERSAL.examples(["01##", "1#"])
    net = build_model("neural-stack", {"alphabet": REVERSAL.alphabet}, seed=1)
    said = said_by(net, torch.tensor([[0, 1], [1, 2], [2, 0], [2, 0]]))
    expected = -torch.stack([said[2, 0, 1], said[3, 0, 0], said[1, 1, 1]]).log().mean()
    assert batch_losses(net, batch_of(examples)).item() == pytest.approx(expected.item(), rel=1e-12)


@pytest.mark.parametrize(
    ("model", "task", "words"), [("baby-ntm", DYCK, ["()", "(())()"]), ("neural-stack", REVERSAL, ["1#", "001###"])]
)
def test_padding_never_influences_the_loss(model: str, task: Task, words: list[str]) -> None:
    net = build_model(model, {"alphabet": task.alphabet}, seed=1, nets=2)
    batch = batch_of(task.examples(words))
    padding = batch.symbols.clone()
    padding[2:, 0] = (padding[2:, 0] + 1) % len(task.alphabet)  # after the end of the first word
    targets = batch.targets.clone()
    targets[2:, 0] = 1 - targets[2:, 0]
    weights = torch.nn.functional.pad(batch.weights, (0, 0, 0, 1))
    longer = Batch(torch.cat([padding, padding[:1]]), torch.cat([targets, targets[:1]]), weights)
    gradients = []
    for one in (batch, Batch(padding, targets, batch.weights), longer):
        net.zero_grad()
        loss = batch_losses(net, one)
        assert torch.allclose(loss, batch_losses(net, batch), rtol=1e-14, atol=0)
        loss.sum().backward()  # type: ignore[no-untyped-call]
        gradients.append(torch.cat([value.grad.flatten() for value in net.parameters() if value.grad is not None]))
    assert torch.allclose(gradients[0], gradients[1], rtol=1e-10, atol=1e-16)
    assert torch.allclose(gradients[0], gradients[2], rtol=1e-10, atol=1e-16)


@pytest.mark.parametrize(
    ("make", "epochs"),
    [(fitting, 2), (partial(fitting, "neural-stack", TALK, REVERSAL), 2), (tiny, 2), (partial(recognised, 0), 25)],
    ids=("sets", "symbols", "streams", "recognition"),
)
def test_a_network_among_many_becomes_what_it_becomes_alone(make: Callable[..., Trainer], epochs: int) -> None:
    many, alone = make(seed=4, nets=3), make(seed=6, nets=1)
    for _ in range(epochs):
        many.epoch()
        alone.epoch()
    for name, value in many.net.named_parameters():
        assert torch.allclose(value[2], alone.net.get_parameter(name)[0], rtol=1e-6, atol=1e-9), name
    assert many.best[2].loss == pytest.approx(alone.best[0].loss, rel=1e-6)


def test_the_same_seed_gives_the_same_result_and_another_one_does_not() -> None:
    one, same, other = fitting(seed=1), fitting(seed=1), fitting(seed=3)
    before = torch.random.get_rng_state()
    for trained in (one, same, other):
        trained.epoch()
    assert torch.equal(torch.random.get_rng_state(), before)
    assert one.best == same.best
    assert equal(weights(one), weights(same))
    assert not equal(weights(one), weights(other))


RESUMED: dict[str, Callable[[], Trainer]] = {
    "softmax": partial(fitting, recipe=replace(SMALL, shape={**SMALL.shape, "gating": "softmax"})),
    "gumbel": partial(fitting, recipe=replace(SMALL, shape={**SMALL.shape, "gating": "gumbel-softmax"})),
    "disturbed": partial(fitting, recipe=replace(SMALL, epochs=8, noise=0.2, sharpness=0.1)),
    "streams": partial(tiny, nets=2, seed=3),
}


@pytest.mark.parametrize("kind", RESUMED)
def test_a_resumed_training_goes_on_bit_for_bit(kind: str) -> None:
    whole, first, second = (RESUMED[kind]() for _ in range(3))
    for _ in range(5 if kind == "disturbed" else 3 if kind == "streams" else 1):
        whole.epoch()
        first.epoch()
    buffer = io.BytesIO()
    torch.save(first.state(), buffer)
    buffer.seek(0)
    first.check()  # as the command line does when it is stopped; it changes no state that was taken
    second.restore(torch.load(buffer, weights_only=True))
    whole.run()
    second.run()
    assert second.done
    assert equal(weights(whole), weights(second))
    assert equal(whole.best_weights, second.best_weights)
    assert whole.best == second.best
    assert whole.state()["optimizer"]["state"][0]["step"] == second.state()["optimizer"]["state"][0]["step"]


def test_a_state_of_another_training_is_refused() -> None:
    state = fitting().state()
    others: list[Trainer] = [fitting(seed=1), fitting(nets=1), fitting("baby-ntm")]
    others += [fitting(recipe=replace(SMALL, epochs=5)), tiny("anb2n")]
    for other in others:
        with pytest.raises(StacklensError, match="cannot be resumed: it was begun with"):
            other.restore(tiny().state() if isinstance(other, StreamTraining) else state)
    for damage in ("net", "noise", "optimizer", "perfect"):
        with pytest.raises(StacklensError, match="its state is damaged"):
            fitting(recipe=replace(SMALL)).restore({key: value for key, value in state.items() if key != damage})


def test_temperatures_fall_with_every_word_and_are_kept_with_the_best() -> None:
    shape = {**SMALL.shape, "gating": "softmax with temperature"}
    trained = fitting(recipe=replace(SMALL, shape=shape, cooling=0.01, epochs=3, check_every=3))
    trained.epoch()
    before_last = [30 - size for size in (6, 8)]
    assert any(trained.net.config()["temperature"] == pytest.approx(np.exp(-0.01 * seen)) for seen in before_last)
    trained.run()
    assert trained.network(0).config()["temperature"] == trained.net.config()["temperature"] == 0.5
    plain = fitting(recipe=replace(SMALL, cooling=0.01, epochs=1))
    plain.epoch()
    assert plain.net.config()["temperature"] == 1.0


@pytest.mark.parametrize(
    ("model", "task", "message"),
    [
        ("neural-stack", "dyck-1", "neural-stack learns transduction tasks, and dyck-1 is a next set task"),
        ("baby-ntm", "reversal", "baby-ntm learns next set tasks, and reversal is a transduction task"),
        ("marnn-stack-rnn", "simple-palindrome", "can say a b c #, and simple-palindrome asks for a b c # ⊣"),
    ],
)
def test_a_model_that_cannot_say_what_is_asked_is_refused(model: str, task: str, message: str) -> None:
    refused(message, fitting, model, FitRecipe(), get_task(task))


# ---- Recipes, and trainers by name. ----


# "n" and "y" as they are printed in section 4.2
SECTION_4_2 = """
n1 n11 n1000 y1100 n1011
y10 y10 y1100 n110010 y10
n0 n100 n1111 y11110000 n1101
y10 y10 y1100 n110100
n00 n1001 n1110 y1111100000
y10 y1100 n101100 n1010
""".split()  # noqa: SIM905


def test_the_27_strings_of_section_4_2_are_the_printed_ones() -> None:
    for recipe in ("1n0n", "1n0n without hints"):
        (stage,) = RECIPES[recipe].stages
        words = stage.word_list(get_language("1n0n"), seed=0)
        assert Counter(words) == Counter(word[1:] for word in SECTION_4_2)
        legal = [word in get_language("1n0n") for word in words]
        assert (len(words), sum(legal), len(legal) - sum(legal)) == (27, 12, 15)
    assert all((word[0] == "y") == (word[1:] in get_language("1n0n")) for word in SECTION_4_2)


@pytest.mark.parametrize("seed", [0, 1, 17])
def test_the_50_strings_of_section_4_1_are_30_short_and_20_drawn_ones(seed: int) -> None:
    (stage,) = RECIPES["parentheses"].stages
    words = stage.word_list(get_language("parentheses"), seed)
    assert words[0] == ""  # one more than in the paper
    assert len(words) == len(set(words)) == 51
    assert set(words[1:31]) == {word for word in all_words(("(", ")"), 4) if word}
    assert all(5 <= len(word) <= 8 for word in words[31:])
    assert stage.word_list(get_language("parentheses"), seed) == words


def test_the_training_sets_of_section_4_3_have_all_short_words_and_the_longer_legal_ones() -> None:
    language = get_language("palindrome")
    first, second, *_ = (stage.word_list(language, 0) for stage in RECIPES["palindrome"].stages)
    assert len([word for word in first if 0 < len(word) <= 3]) == 39
    assert {word for word in first if len(word) > 3} == {"aacaa", "abcba", "bacab", "bbcbb"}
    assert len([word for word in second if 0 < len(word) <= 5]) == 363
    assert len([word for word in second if len(word) > 5]) == 8
    assert all(word in language for word in second if len(word) > 5)
    printed = RECIPES["palindrome as printed"].stages
    assert [stage.word_list(language, 0) for stage in printed] == [first, second]
    assert [stage.epochs for stage in printed] == [200, 200]


def test_cutting_at_the_first_dead_symbol_keeps_every_prefix_that_counts() -> None:
    language = get_language("palindrome")
    words = [*all_words(language.alphabet, 5), *language.words(7)]
    cut = cut_at_dead(language, words)
    assert len(cut) < len(words) / 3
    for word in words:
        dead = language.first_dead(word)
        kept = word if dead is None else word[:dead]
        assert any(other[: len(kept)] == kept for other in cut)
    for word in cut:
        assert language.first_dead(word) in (None, len(word))
        assert not any(other != word and other[: len(word)] == word for other in cut)


# Trainers by name: which kind a model gets, what may be chosen, what is refused.


@pytest.fixture(autouse=True)
def few_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit_recipes, "FIT_RECIPES", {})
    monkeypatch.setattr(fit_recipes, "SETS", replace(SETS, words=20, check_words=5, long_words=0))


@pytest.mark.parametrize(
    ("model", "language", "kind"),
    [
        ("nnpda", "parentheses", Training),
        ("stack-rnn", "anbn", StreamTraining),
        ("list-rnn", "anbn", StreamTraining),
        ("marnn-stack-lstm", "dyck-2", Fitting),
        ("neural-stack", "xor", Fitting),
        ("lstm", "dyck-2", Fitting),
        ("linear", "xor", Fitting),
    ],
)
def test_a_model_gets_its_trainer(model: str, language: str, kind: type[Trainer]) -> None:
    trainer = make_trainer(model, language, seed=3, nets=2)
    assert type(trainer) is kind
    assert (trainer.seed, trainer.n_nets, trainer.subject, trainer.epochs_done) == (3, 2, language, 0)
    assert trainer.source
    assert trainer.checked
    assert not trainer.done
    assert trainer.network(1).name == model
    assert trainer.network(1).alphabet == trainer.net.alphabet


@pytest.mark.parametrize(
    ("model", "language", "options", "config"),
    [
        ("nnpda", "anbn", {"order": "third", "neurons": 4}, {"order": "third", "n_states": 4}),
        ("stack-rnn", "anbn", {"stacks": 3, "depth": 1, "no_op": True}, {"n_stacks": 3, "depth": 1, "no_op": True}),
        ("list-rnn", "anbn", {"recurrent": True, "hidden": 7}, {"recurrent": True, "hidden": 7}),
        ("baby-ntm", "dyck-2", {"gating": "gumbel-softmax", "cell_size": 2}, {"gating": "gumbel-softmax"}),
        ("baby-ntm", "dyck-2", {"gating": "softmax-temperature"}, {"gating": "softmax with temperature"}),
        ("neural-stack", "reversal", {"controller": "lstm", "hidden": None}, {"controller": "lstm", "null": "#"}),
        ("rnn", "dyck-2", {"layers": 2}, {"layers": 2, "controller": "rnn", "first": ("(", "[")}),
    ],
)
def test_what_is_chosen_takes_the_place_of_the_recipes(
    model: str, language: str, options: dict[str, Any], config: dict[str, Any]
) -> None:
    found = make_trainer(model, language, options=options).network().config()
    assert {name: found[name] for name in config} == config


@pytest.mark.parametrize(
    ("model", "language", "options", "message"),
    [
        ("rnn", "dyck-2", {"stacks": 2}, "rnn has no option stacks; it has hidden, layers, epochs, device"),
        ("baby-ntm", "dyck-2", {"gating": "hard"}, "gating is 'hard'; expected one of softmax"),
        ("nnpda", "palindrome", {"device": "abacus"}, "device 'abacus' cannot be used here"),
    ],
)
def test_what_cannot_be_is_refused(model: str, language: str, options: dict[str, Any], message: str) -> None:
    refused(message, make_trainer, model, language, options=options)
