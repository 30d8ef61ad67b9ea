"""Recipes for networks that say something after every symbol (`supervised`), with the section they are from."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from ...automata.pda import Word
from ...core.errors import StacklensError, UnknownNameError
from ...core.files import from_plain
from ...languages.language import Language, all_words

if TYPE_CHECKING:
    from ...languages.task import Task


_NULL = "#"  # the null symbol of the transductions
_DATA = tomllib.loads(Path(__file__).with_name("recipes.toml").read_text(encoding="utf-8"))
R = TypeVar("R")


def _read(group: str, kind: type[R]) -> dict[str, R]:
    found = dict[str, dict[str, Any]]()
    for name, given in _DATA[group].items():
        found[name] = {**found.get(given.pop("like", ""), {"type": kind.__name__}), **given}
        shape = found[name].get("shape", {})
        found[name]["shape"] = {part: None if value == "none" else value for part, value in shape.items()}
    return {name: from_plain(kind, recipe, name) for name, recipe in found.items()}


@dataclass(frozen=True)
class FitRecipe:
    """How a network is trained."""

    shape: dict[str, Any] = field(default_factory=dict)  # the model's configuration besides the alphabet
    words: int = 5_000  # how many words to train on
    epochs: int = 12  # passes over them, at most
    batch: int = 16  # words a step of the optimiser
    rate: float = 0.01  # of the optimiser
    weight_decay: float = 0.0  # of the optimiser
    falling: float = 0.0  # over which last share of the epochs the rate falls to 0 as a cosine; 0 for never
    optimizer: Literal["adam", "adamw"] = "adam"  # "adam", or "adamw", whose weight decay is apart from the gradient
    lengths: tuple[int, int] | None = None  # the sizes of training words; None for the task's own
    check_words: int = 300  # how many words like these networks are checked on
    long_words: int = 500  # and how many longer ones, and as many drawn uniformly from its language, if it has one
    long_lengths: tuple[int, int] | None = None  # the sizes of these; None for the task's own in the test
    check_every: int = 1  # epochs between two checks
    perfect_checks: int = 5  # so many checks without an error, one after the other, and a network is finished
    patience: int | None = None  # so many checks without fewer errors likewise; None for no limit
    cooling: float = 1e-4  # gates that have a temperature have exp(-cooling) a word
    coolest: float = 0.5  # but at least this
    order: Literal["by length", "as drawn", "short first"] = "by length"  # "by length": drawn anew, of like lengths
    keep: Literal["best", "last"] = "best"  # whether a network is that of its best check, or the last one
    # by how much hidden units are disturbed (`loop.draw_noise`): it rises in the third quarter of the epochs, and
    # only later networks are checked
    noise: float = 0.0
    reading_noise: float = 0.3  # by how much readings are, as a share of that
    sharpness: float = 0.0  # what it costs then that units are not at the ends of their range, or actions not whole
    forgetting: float = 0.0  # what it costs that an LSTM's forget gates are not shut (see `remembering`)
    words_seed: int = 1729  # which words are drawn
    source: str = ""  # where the settings come from


_FITS = _read("fit", FitRecipe)
SETS, SYMBOL_RECIPE, _BUFFERED = _FITS["sets"], _FITS["symbols"], _FITS["buffered"]
SUZGUN, SUZGUN_FAST = _FITS["suzgun"], _FITS["suzgun-fast"]
_MARNN = ("marnn-stack-rnn", "marnn-stack-lstm", "marnn-joulin", "baby-ntm")

_GENTLE = {"dyck-6": 24, "homomorphic-palindrome": 16, "simple-palindrome": 16, "string-reversal": 16}  # epochs

# Shapes and settings by model and task where they differ from the general recipe of the task's kind.
FIT_RECIPES: dict[tuple[str, str], FitRecipe] = {
    **{(model, "dyck-2"): replace(SETS, shape={"hidden": 8, "cell_size": 1}) for model in _MARNN},
    **{(model, "dyck-3"): replace(SETS, shape={"hidden": 8, "cell_size": 1}, epochs=30) for model in _MARNN},
    **{(model, "dyck-6"): replace(SETS, shape={"hidden": 12, "cell_size": 3}, epochs=30) for model in _MARNN},
    ("neural-stack", "xor"): replace(SYMBOL_RECIPE, shape={"cell_size": 6}),
    ("neural-stack", "delayed-xor"): replace(SYMBOL_RECIPE, shape={"cell_size": 6}),
    ("buffered-neural-stack", "xor"): replace(_BUFFERED, shape={"cell_size": 6, "extra_steps": 1}),
}


def fit_recipe(model: str, task: Task) -> FitRecipe:
    """Return the recipe for a model and a task; where there is none of their own, the general one of the task's kind.
    Its shape has all that the task says of the network: which symbols may begin a word, what is written, what is null.
    """
    general = SETS if task.kind == "next set" or model in _MARNN else SYMBOL_RECIPE
    recipe = FIT_RECIPES.get((model, task.name), _BUFFERED if model.startswith("buffered") else general)
    shape: dict[str, Any] = {}
    if model in ("neural-stack", "buffered-neural-stack"):
        shape["output_alphabet"] = task.output_alphabet
        shape["null"] = _NULL if task.kind == "transduction" and _NULL in task.alphabet else None
        if model == "buffered-neural-stack":  # else its last output is never seen in as many steps as symbols
            shape["dequeue_first"] = False
        return replace(recipe, shape={**shape, **recipe.shape})
    language = getattr(task, "language", None)
    if task.kind == "next set" and isinstance(language, Language):
        shape["first"] = tuple(symbol for symbol in task.alphabet if language.first_dead((symbol,)) is None)
    if task.output_alphabet != task.alphabet:
        shape["output_alphabet"] = task.output_alphabet
    if task.kind != "next set":
        shape["task_kind"] = "transduction"
    if model not in _MARNN:  # a network without a stack
        shape |= {"controller": model, "hidden": 8 if task.kind == "next set" else 10}
    return replace(recipe, shape={**shape, **recipe.shape})


def noise_robust(recipe: FitRecipe, task: str) -> FitRecipe:
    """Return the recipe for a task by name with disturbances in the end, which make networks that can be certified.
    Palindromes, reversal and six kinds of brackets are learned at a third of the rate, as in the paper. An LSTM's
    forget gates are kept shut: none of 10 right Stack-LSTMs on dyck-2 was certified without that, one of 4 with it.
    """
    if recipe.rate == SETS.rate and task in _GENTLE:
        recipe = replace(recipe, rate=SUZGUN.rate, epochs=_GENTLE[task])
    source = f"{recipe.source}; disturbed and sharpened in the end"
    return replace(recipe, noise=0.3, sharpness=0.1, forgetting=0.01, source=source)


def suzgun_recipe(
    model: str, task: Task, shape: dict[str, Any], words: int, protocol: Literal["paper", "fast"]
) -> FitRecipe:
    """Return the recipe of Suzgun et al. 2019 for a model and a task of theirs, or the one that takes less time.

    ``task``: what is learned. ``shape``: the model's configuration besides what the task says. ``words``: how many to
    train on. ``protocol``: "paper", or "fast" for "suzgun-fast" (of the Dyck languages of few brackets, but not on a
    ring), "suzgun-wide" (of D6) or "suzgun-gentle", with fewer epochs of more words and temperatures that fall as far.
    """
    recipe = replace(_FITS["suzgun-six"] if task.name == "dyck-6" else SUZGUN, words=words)
    if protocol == "fast":
        quick = task.name in ("dyck-2", "dyck-3") and model != "baby-ntm"
        recipe = SUZGUN_FAST if quick else _FITS["suzgun-wide" if task.name == "dyck-6" else "suzgun-gentle"]
        epochs = max(SUZGUN.epochs, recipe.epochs * SUZGUN.words // words)  # as many words in all
        cooling = SUZGUN.cooling * SUZGUN.epochs * SUZGUN.words / (epochs * words)
        recipe = replace(recipe, words=words, epochs=epochs, cooling=cooling)
    return replace(recipe, check_every=recipe.epochs, shape={**fit_recipe(model, task).shape, **shape})


# ---- Recipes for recognisers (`recognition`), one a language, with the section they are from ----


@dataclass(frozen=True)
class Stage:
    """One step of a curriculum by length: a set of words, and for how many epochs it is shown."""

    epochs: int  # passes over the set
    up_to: int = -1  # all words up to this length, the empty one included; -1 for none
    members_up_to: int = -1  # further all members up to this length
    drawn: tuple[int, int] = (0, 0)  # further so many members and non-members, each once, from all longer words
    drawn_up_to: int = 0  # the length of the longest of these
    words: tuple[str, ...] = ()  # further these words as they are; a repetition gives weight

    def word_list(self, language: Language, seed: int) -> list[Word]:
        """Return the words of this stage; ``seed`` decides which are drawn."""
        words = all_words(language.alphabet, self.up_to) if self.up_to >= 0 else []
        words += [word for word in language.words(self.members_up_to) if len(word) > self.up_to]
        if any(self.drawn):
            longer = [word for word in all_words(language.alphabet, self.drawn_up_to) if len(word) > self.up_to]
            rng = np.random.default_rng(seed)
            for number, member in zip(self.drawn, (True, False), strict=True):
                pool = [word for word in longer if (word in language) == member]
                words += [pool[i] for i in rng.choice(len(pool), min(number, len(pool)), replace=False)]
        return [*words, *self.words]


@dataclass(frozen=True)
class Recipe:
    """How a network is trained."""

    shape: dict[str, Any]  # arguments of `NNPDAConfig` besides the alphabet
    init: float  # weights start uniform in [-init, init]
    objective: str  # a name in `recognition.OBJECTIVES`
    optimizer: Literal["sgd", "adam"]  # whose rate falls to 0 as a cosine over the stages
    rate: float
    stages: tuple[Stage, ...]  # the curriculum
    check_length: int  # networks are checked on all words up to this length
    clip: float | None = None  # the gradient's norm is clipped here, network by network; None for not at all
    # at most so many rounds of counterexamples follow (section 4.2): each adds the words that a network gets wrong, up
    # to ``check_length - rounds + round``, and trains for ``round_epochs`` at ``round_rate``
    rounds: int = 0
    round_epochs: int = 100
    round_rate: float = 0.01
    # the weights move after every word, at a rate that stays; after five words that are no members comes a member,
    # which moves them five times as far (section 4.3 (3))
    each_word: bool = False
    gradient: Literal["exact", "rtrl", "local"] = "exact"  # through the stack, by `RtrlNNPDA`, or by `LocalNNPDA`
    source: str = ""  # where the settings come from

    @property
    def stage_epochs(self) -> int:
        """Return the number of epochs before the rounds of counterexamples."""
        return sum(stage.epochs for stage in self.stages)


RECIPES = _read("recognisers", Recipe)


def recipe_for(language: Language, hints: bool = True) -> Recipe:
    """Return the recipe of a language, or for others that of palindromes, the hardest, which asks for the most. The
    words of the general recipe are short ones, so languages with many symbols get shorter curricula. Raises
    StacklensError: there is none without ``hints``.
    """
    if not hints:
        if (name := f"{language.name} without hints") not in RECIPES:
            raise StacklensError(f"there is no recipe without hints for {language.name}; only for 1n0n")
        return RECIPES[name]
    if language.name in RECIPES:
        return RECIPES[language.name]
    if language.name == "anbn":
        words = tuple(word.translate(str.maketrans("10", "ab")) for word in RECIPES["1n0n"].stages[0].words)
        return replace(RECIPES["1n0n"], stages=(Stage(epochs=300, words=words),))
    shorter = max(0, len(language.alphabet) - 3)
    stages = (
        Stage(epochs=300, up_to=max(2, 3 - shorter), members_up_to=max(4, 5 - shorter)),
        Stage(epochs=300, up_to=max(3, 5 - shorter), members_up_to=max(4, 7 - shorter)),
        Stage(epochs=500, up_to=max(3, 5 - shorter), members_up_to=max(4, 11 - 2 * shorter)),
    )
    return replace(RECIPES["palindrome"], stages=stages, check_length=max(4, 8 - 2 * shorter))


# ---- Recipes for predictors of endless streams (`streams`): one a task, with where the settings come from.


@dataclass(frozen=True)
class StreamRecipe:
    """How a predictor of streams is trained."""

    shape: dict[str, Any]  # arguments of the model's configuration besides the alphabet
    smallest: int = 1  # the smallest size of a piece; the paper begins with 2, the tasks' automata with 1
    n_max: int = 15  # sizes of pieces grow with the epochs up to one below it, see `streams.curriculum`
    epochs: int = 60  # at most so many; fresh streams from empty memories in each
    windows: int = 40  # how many windows of backpropagation an epoch has, each followed by an update
    beginnings: int = 1  # so many times an epoch the streams begin anew, with empty memories
    window: int = 50  # how many steps a window has (section 5: 50)
    streams: int = 8  # how many streams are read side by side
    rate: float = 0.01  # Adam's learning rate
    last_rate: float = 0.1  # what it falls to as a cosine over the epochs after the curriculum, as a share of it
    clip: float = 1.0  # the gradient's norm is clipped here, network by network
    cells: int = 40  # how many cells a memory has in training; sizes are small then, and so are memories
    sharpness: float = 0.0  # what actions between the operations cost once sizes have grown, at most
    # by how much units and readings are disturbed (`loop.draw_noise`) once sizes have grown: it rises over the first
    # half of the epochs from then on, and only later networks are kept
    noise: float = 0.0
    blur_cost: float = 0.0  # what it costs then that units are not at 0 or 1, or actions not whole
    forget_bias: float = 0.0  # what is added at first to the biases of an LSTM's forget gates
    single: bool = False  # whether networks have numbers of 32 bits in training
    counted: Literal["all", "known"] = "all"  # "known": symbols that can be known alone count
    # whether of equal errors the loss on a check's pieces, equally many of each size, decides, not that of training
    by_loss: bool = False
    decay: float = 0.0  # of weights, as a share of them in an update at a rate of 1 (AdamW); 0 for Adam
    check_sizes: tuple[int, int] = (1, 59)  # sizes of the pieces on which networks are checked (section 5.1: up to 60)
    check_pieces: int = 4  # pieces of each size in a check
    check_short: int = 12  # so many further streams of a check have small pieces only, which seldom come together
    check_every: int = 5  # epochs between two checks
    patience: int = 3  # checks without an error of one and the same rounded network that end the training early
    source: str = ""  # where the settings come from


STREAM_RECIPES = _read("streams", StreamRecipe)
MEMORIES = ("stack-rnn", "list-rnn")
_BASELINES = ("rnn", "lstm", "scrn")
_LISTS = 5  # "either 5 lists or 10 stacks", section 5.1


def noise_robust_on_streams(recipe: StreamRecipe) -> StreamRecipe:
    """Return the recipe with disturbances in the end, which make networks that can be certified."""
    return replace(recipe, noise=0.2, blur_cost=0.05, source=f"{recipe.source}; disturbed and sharpened in the end")


def stream_recipe(task: str, model: str = "stack-rnn") -> StreamRecipe:
    """Return the recipe of a task by name, for ``stack-rnn`` or ``list-rnn``, or for ``rnn``, ``lstm`` or ``scrn``.
    Raises UnknownNameError: there is no recipe for such a task, or no such model.
    """
    if task not in STREAM_RECIPES:
        raise UnknownNameError("stream recipe", task, list(STREAM_RECIPES))
    recipe = STREAM_RECIPES[task]
    if model not in (*MEMORIES, *_BASELINES):
        raise UnknownNameError("predictor of streams", model, [*MEMORIES, *_BASELINES])
    if model == "scrn":
        return replace(recipe, shape={}, sharpness=0.0)
    if model in _BASELINES:
        return replace(recipe, shape={"controller": model, "task_kind": "next symbol", "hidden": 100}, sharpness=0.0)
    if model == "stack-rnn":
        return recipe
    lists = 10 if recipe.shape["n_stacks"] == 10 else _LISTS
    return replace(recipe, shape={**recipe.shape, "n_stacks": lists})
