"""Training networks that say something after every symbol, sets of symbols or a symbol, in batches of words.

For sets the loss is the mean squared error of all outputs of all steps (Suzgun et al. 2019, section 4); for symbols it
is the cross-entropy at the positions that count (Hao et al. 2018, section 4). Many networks are trained at once on the
leading axis: their losses are summed and Adam works weight by weight, so none of them influences another.
"""

import math
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from ...core.errors import StacklensError, listed
from ...languages.language import Language
from ...languages.task import Examples, Task
from ..base import Run, StackModel
from ..networks import build_model
from ..rounding import Rounded
from .loop import (
    WORST,
    Batch,
    Score,
    Trainer,
    batches_by_length,
    blur,
    by_length,
    cosine,
    draw_noise,
    log_loss,
    remembering,
)
from .recipes import FitRecipe

_TRAIN, _VALIDATION = 0, 1  # added to the recipe's words_seed
_CHECKED_AT_ONCE = 256  # words
_DISTURBED = 1_000_000  # plus the epoch, the seed of disturbances


def numbered_for(model: StackModel[Any], found: Examples) -> Examples:
    """Return examples with the numbers that ``model`` has for symbols and outputs. Raises StacklensError: it has other
    outputs than the examples ask for.
    """
    if found.alphabet == model.letters and found.output_alphabet == model.output_alphabet:
        return found
    symbols = np.array([*map(model.letters.index, found.alphabet), -1])[found.symbols]
    if set(model.output_alphabet) != set(found.output_alphabet):
        raise StacklensError(
            f"no loss can be made of the outputs of {model.name}: they are of {listed(model.output_alphabet)}, and the "
            f"task's of {listed(found.output_alphabet)}"
        )
    targets = found.targets[..., [found.output_alphabet.index(symbol) for symbol in model.output_alphabet]]
    if found.targets.ndim == 2:
        targets = np.array([*map(model.output_alphabet.index, found.output_alphabet), -1])[found.targets]
    return replace(found, symbols=symbols, targets=targets)


def batch_losses(model: StackModel[Any], batch: Batch, made: Run | None = None) -> Tensor:
    """Return the loss of each network on ``batch``, (...), the shape of the leading axes; ``made`` is its run there.
    The batch's weights are those of all networks, (T, B), or each has its own, (T, ..., B).
    """
    if made is None:
        made = model.run(batch.symbols, model.initial_state(batch.symbols.shape[1]))
    outputs = made.output  # (T, ..., B, O)
    leading = (1,) * (outputs.dim() - 3)
    steps, words = batch.symbols.shape
    weights = batch.weights if batch.weights.dim() > 2 else batch.weights.view(steps, *leading, words)
    if model.task_kind == "next set" or model.squared_error:
        targets = batch.targets if batch.targets.dim() == 3 else one_hot(batch.targets, outputs.shape[-1])
        errors = (outputs - targets.view(steps, *leading, words, -1)).square().mean(-1)
    else:
        errors = log_loss(outputs, batch.targets.view(steps, *leading, words), least=None)
    return (errors * weights).sum((0, -1))


class Fitting(Trainer):
    """Networks of one model trained side by side by one recipe for one task (see `Trainer`). A network's best check is
    the one with the fewest checking words wrong when rounded, then without rounding, then with the smallest worst error
    of an output when rounded: what can be read off a network rests on that margin.

    The words depend on the recipe alone, so network n of many is the one that ``seed + n`` gives alone. A network that
    is right on all checking words in ``recipe.perfect_checks`` checks in a row, or no better for ``recipe.patience``
    checks, is finished: it keeps what it has, and training ends with the last one. Raises StacklensError: the model
    says something else than the task asks for.
    """

    PROGRESS = ("noise", "words_seen", "temperature", "best_temperature", "perfect", "stale", "least_loss")
    MEASURE = "largest_output_error_rounded"
    recipe: FitRecipe

    def __init__(
        self, model: str, recipe: FitRecipe, task: Task, *, seed: int = 0, nets: int = 1, device: str = "cpu"
    ) -> None:
        self.model, self.recipe, self.task = model, recipe, task
        self.seed, self.n_nets, self.device, self.check_every = seed, nets, device, recipe.check_every
        self.kind, self.subject, self.source = task.kind, task.name, recipe.source
        self.shape = {"alphabet": task.alphabet, **recipe.shape}
        net = build_model(model, self.shape, seed=seed, nets=nets)
        # sets for sets, symbols for symbols, and all of them
        if net.task_kind != ("next set" if task.kind == "next set" else "transduction"):
            raise StacklensError(
                f"{net.name} learns {net.task_kind} tasks, and {task.name} is a {task.kind} task; choose another"
            )
        if tuple(net.output_alphabet) != tuple(task.output_alphabet):
            says, wants = (" ".join(symbols) for symbols in (net.output_alphabet, task.output_alphabet))
            raise StacklensError(f"{net.name} can say {says}, and {task.name} asks for {wants}")
        self.net = net.to(device).eval()
        make = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[recipe.optimizer]
        fused = torch.device(device).type in ("cpu", "cuda")  # one call for all weights: a tenth of a step saved
        self.optimizer = make(self.net.parameters(), lr=recipe.rate, weight_decay=recipe.weight_decay, fused=fused)
        self.train_words = task.sample(recipe.words, recipe.lengths, seed=recipe.words_seed + _TRAIN)
        # the words that networks are checked on: unseen ones as in training, longer ones, uniform members
        seen, drawn = set(self.train_words.words), recipe.words_seed + _VALIDATION
        words = list(task.sample(recipe.check_words, recipe.lengths, seed=drawn).words)
        if recipe.long_words:
            longer = task.sample(recipe.long_words, recipe.long_lengths, split="test", seed=drawn)
            words += longer.words
            language, low, high = getattr(task, "language", None), longer.lengths.min(), longer.lengths.max()
            if isinstance(language, Language):
                words += language.sample(recipe.long_words, (int(low), int(high)), True, drawn)
        self.check_words = task.examples([word for word in dict.fromkeys(words) if word not in seen] or words)
        self.checked = f"{len(self.check_words)} checking words of up to {self.check_words.symbols.shape[1]} symbols"
        self._like = next(self.net.parameters()).detach()
        self.words_seen, self._share = 0, 0.0  # of all epochs, which is over
        self.best_temperature = [self.temperature] * nets
        self.perfect, self.stale, self.least_loss = [0] * nets, [0] * nets, [math.inf] * nets
        self.begin()

    @property
    def settled(self) -> bool:
        return all(map(self.finished, range(self.n_nets)))

    @property
    def check_due(self) -> bool:
        return super().check_due and (not self.recipe.noise or self._noise_share == 1)

    def finished(self, number: int) -> bool:
        """Return whether network ``number`` is right for good, or has stopped getting better."""
        enough, patience = self.recipe.perfect_checks, self.recipe.patience
        return self.perfect[number] >= enough or (patience is not None and self.stale[number] >= patience)

    def batches(self) -> Iterator[Batch]:
        lengths, size = self.train_words.lengths, self.recipe.batch
        rng = np.random.default_rng([self.recipe.words_seed, self.epochs_done])
        self._disturbances = torch.Generator().manual_seed(_DISTURBED + self.epochs_done)
        if self.recipe.order == "by length":
            batches = batches_by_length(lengths, size, rng)
        elif self.recipe.order == "short first":
            batches = by_length(lengths, size)
        else:
            batches = np.array_split(np.arange(len(lengths)), range(size, len(lengths), size))
        for number, rows in enumerate(batches):
            self._share = (self.epochs_done + number / len(batches)) / self.total_epochs
            # gates that have a temperature cool down with the words seen (Suzgun et al. 2019, section 3.4)
            if self.recipe.cooling and self.net.config().get("gating", "softmax") != "softmax":
                self.temperature = max(self.recipe.coolest, math.exp(-self.recipe.cooling * self.words_seen))
            yield Batch.of(self.train_words, rows, self._like)
            self.words_seen += len(rows)

    def costs(self, batch: Batch) -> Tensor:
        recipe, share = self.recipe, self._noise_share
        kept = recipe.forgetting * remembering(self.net) if recipe.forgetting else 0.0
        amount = share * recipe.noise
        if not amount:
            return batch_losses(self.net, batch) + kept
        many, (steps, words) = 1 + self.net.extra_steps, batch.symbols.shape
        noise = draw_noise(self.net, many * steps, words, amount, recipe.reading_noise, self._disturbances)
        made = self.net.run(batch.symbols, self.net.initial_state(words), noise)
        unsure = (blur(self.net, made) * batch.weights.repeat_interleave(many, 0).unsqueeze(1)).sum((0, -1))
        return batch_losses(self.net, batch, made) + share * recipe.sharpness * unsure + kept

    def learning_rate(self) -> float:
        falling, rest = self.recipe.falling, 1 - self.recipe.falling
        return self.recipe.rate * (1.0 if self._share < rest else cosine(self._share - 1 + falling, falling))

    def check(self) -> None:
        self.net.eval()
        analog, losses, worst = self._answers(self.net)
        rounded = analog
        if self.net.action_kind != "none":
            rounded, _, worst = self._answers(Rounded(self.net))
        for number in range(self.n_nets):
            if self.finished(number):
                continue
            if self.recipe.keep == "last":
                self.best[number] = WORST
            fewest = self.best[number]
            score, loss = Score(int(rounded[number]), int(analog[number]), float(worst[number])), float(losses[number])
            if self.keep_if_better(number, score):
                self.best_temperature[number] = self.temperature
            right = score.rounded_errors == score.analog_errors == 0
            better = score < fewest or loss < self.least_loss[number]
            self.perfect[number] = self.perfect[number] + 1 if right else 0
            self.stale[number] = 0 if better else self.stale[number] + 1
            self.least_loss[number] = min(loss, self.least_loss[number])

    def single(self, number: int) -> StackModel[Any]:
        config = self.net.config()
        if "temperature" in config:
            config["temperature"] = self.best_temperature[number]
        return build_model(self.model, config)

    def settings(self) -> str:
        recipe = {**asdict(self.recipe), "source": ""}
        return " ".join(f"{key}={value}" for key, value in recipe.items() if value not in ("", None))

    @property
    def temperature(self) -> float:
        """The temperature of the networks' gates; 1 where they have none, and setting it does nothing then."""
        return float(getattr(self.net, "temperature", 1.0))

    @temperature.setter
    def temperature(self, value: float) -> None:
        if hasattr(self.net, "temperature"):
            setattr(self.net, "temperature", value)  # noqa: B010 (no tensor, as torch takes it to be)

    @property
    def noise(self) -> list[Tensor]:
        """The states of the generators that noisy gates draw from, one a network; none where no gate is noisy."""
        return [generator.get_state() for generator in getattr(self.net, "_noise", [])]

    @noise.setter
    def noise(self, states: list[Tensor]) -> None:
        for generator, state in zip(getattr(self.net, "_noise", []), states, strict=True):
            generator.set_state(state)

    @property
    def _noise_share(self) -> float:
        return min(1.0, max(0.0, 4 * self.epochs_done / self.total_epochs - 2))

    @torch.no_grad()
    def _answers(self, model: StackModel[Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return how many checking words each network gets wrong, (nets,), its loss, and its largest error. The error
        of an output is how far it is from what it should be, of a symbol what its probability lacks to 1.
        """
        examples, wrong = self.check_words, np.zeros(self.n_nets, int)
        losses, worst = np.zeros(self.n_nets), np.zeros(self.n_nets)
        for rows in by_length(examples.lengths, _CHECKED_AT_ONCE):
            batch = Batch.of(examples, rows, self._like)
            start = model.initial_state(batch.symbols.shape[1])
            outputs = model.run(batch.symbols, start).output.movedim(0, 2)  # (nets, B, T, O)
            targets, counts = batch.targets.movedim(0, 1), batch.weights.T > 0  # (B, T, O) or (B, T), and (B, T)
            if targets.dim() == 3:
                hits = ((outputs > 0.5) == (targets > 0.5)).all(-1)
                errors = (outputs - targets).abs()  # (nets, B, T, O)
            else:
                hits = outputs.argmax(-1) == targets
                errors = 1 - outputs.gather(-1, targets.expand(outputs.shape[:-1]).unsqueeze(-1))  # (nets, B, T, 1)
            wrong += (~(hits | ~counts).all(-1)).sum(-1).cpu().numpy()
            losses += (errors.square().mean(-1) * counts).sum((1, 2)).cpu().numpy()
            largest = errors.amax(-1).masked_fill(~counts, 0).amax((1, 2)).cpu().numpy()
            worst = np.maximum(worst, largest)
        return wrong, losses / max(1, examples.mask.sum()), worst
