"""Training and scoring for the experiments on Joulin & Mikolov 2015: recipes by protocol, and the paper's scores."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..automata.enumeration import BoolArray
from ..core.errors import StacklensError
from ..languages.catalogue import get_task
from ..languages.streams import PATTERNS, StreamAfter, StreamTask
from ..models.base import StackModel, one_thread
from ..models.rounding import Rounded
from ..models.training.recipes import MEMORIES, StreamRecipe, stream_recipe
from ..models.training.streams import PieceTest, StreamTraining, decode_outputs
from .grid import VALIDATION, Outcome, Protocol, RunSettings
from .joulin2015_online import OnlineRecipe, OnlineTraining
from .joulin2015_words import NgramModel, WordRecipe, WordTraining, best_cache, perplexity, read_texts, split_text
from .results import declared
from .tables import TRIED_FIGURES

# ---- The test of binary addition in Joulin & Mikolov 2015: pieces of every size, memories emptied now and then ----


@one_thread()
@torch.no_grad()
def right_from_empty(
    net: StackModel[Any],
    task: StreamTask,
    sizes: tuple[int, int],  # the smallest and the largest
    strings: int = 200,  # how many pieces of each
    emptied: int = 10,  # memories are emptied after so many, which divides ``strings``
    seed: int = 0,  # of the pieces
    device: str = "cpu",
) -> BoolArray:
    """Return which pieces ``net`` predicts, (..., sizes, strings): all in them that can be known. Memories are empty
    before every tenth piece, as in training; the last symbol of the piece before is read again first. So beginnings are
    tested with every size, and streams are short, however many pieces there are.

    >>> from stacklens.languages.catalogue import get_task
    >>> from stacklens.models.networks.joulin import StackRNN, StackRNNConfig
    >>> task = get_task("addition")
    >>> right_from_empty(StackRNN(StackRNNConfig(task.alphabet)), task, (2, 4), strings=6, emptied=3).shape
    (3, 6)
    """
    found = []
    for pieces in task.words_by_n(*sizes, strings, seed).values():
        # all pieces of one size, which end alike, at once, (..., strings)
        parts = [pieces[at : at + emptied] for at in range(0, strings, emptied)]
        after = StreamAfter(task, pieces[-1][-1])
        examples = after.examples([after.before + "".join(part) for part in parts])
        hits = examples.hits(decode_outputs(net, examples.symbols, device))
        ends = [1 + sum(map(len, part)) for part in parts]
        rows = (task.pieces_correct(part, hits[..., row, 1 : ends[row]]) for row, part in enumerate(parts))
        found.append(np.concatenate(list(rows), -1))
    return np.stack(found, -2)


# ---- The settings of RNNs and LSTMs that are tried for tables of Joulin & Mikolov 2015, and which are chosen ----
# The paper tries RNNs of 40, 100 and 500 units and LSTMs of 1 and 2 layers of 50, 100 and 200, chosen on validation
# (section 5). How they were trained it does not say, nor has the authors' program any.


@dataclass(frozen=True)
class Tried:
    """Settings of an RNN or an LSTM.

    >>> str(Tried(50, 2)), str(Tried(40)), str(Tried(50, 1, 0.03, 3.0))
    ('2 x 50', '1 x 40', '1 x 50, rate 0.03, forget bias 3')
    """

    hidden: int  # units a layer
    layers: int = 1  # how many layers
    rate: float | None = None  # of descent at first; None for that of the protocol
    forget_bias: float = 0.0  # of the protocol fast, see `StreamRecipe`
    decay: float = 0.0  # likewise
    epochs: int = 40  # of the protocol fast
    together: int = 10  # the errors of so many symbols are gathered for an update, by the protocol paper

    @property
    def shape(self) -> dict[str, Any]:
        """Return the arguments of the model's configuration."""
        return {"hidden": self.hidden, "layers": self.layers}

    def __str__(self) -> str:
        parts = [f"{self.layers} x {self.hidden}"]
        parts += [] if self.rate is None else [f"rate {self.rate:g}"]
        parts += [f"forget bias {self.forget_bias:g}"] if self.forget_bias else []
        parts += [f"decay {self.decay:g}"] if self.decay else []
        return ", ".join(parts)


SEARCHED: dict[str, tuple[Tried, ...]] = {  # by the protocol paper
    "rnn": tuple(Tried(hidden) for hidden in (40, 100, 500)),
    "lstm": tuple(Tried(hidden, layers) for layers in (1, 2) for hidden in (50, 100, 200)),
}
_QUICK = Tried(50, rate=0.03, forget_bias=3.0, decay=0.01)
_SLOW = Tried(50, rate=0.01, forget_bias=3.0, decay=0.03)
_HARD_TO_SEARCH = ("anbncn", "anbmcnm")  # where the quick settings leave most seeds without the sizes of training


def searched(model: str, task: str, protocol: Protocol) -> tuple[Tried, ...]:
    """Return the settings of which every one is trained from all seeds; none for networks that are not searched."""
    if protocol == "paper":
        return SEARCHED.get(model, ())
    if model != "lstm" or task not in PATTERNS:
        return ()
    return (_SLOW if task in _HARD_TO_SEARCH else _QUICK,)


def chosen_outcomes(tried: Sequence[tuple[Tried, list[Outcome]]], protocol: Protocol) -> list[Outcome]:
    """Return the outcome of each seed, with the settings that are best on validation for it. By the protocol paper that
    is the least "loss", by the protocol fast the score "validation". Its scores have the chosen "hidden" and "layers",
    and the `TRIED_FIGURES` of all settings as "tried SETTINGS: loss".
    """
    chosen = []
    for number in range(len(tried[0][1])):
        own = [(settings, outcomes[number].scores) for settings, outcomes in tried]
        worth = [scores[VALIDATION] if protocol == "fast" else -scores["loss"] for _, scores in own]
        place = worth.index(max(worth))
        settings, scores = own[place]
        scores = {**scores, "hidden": float(settings.hidden), "layers": float(settings.layers)}
        for other, theirs in own:
            scores |= {f"tried {other}: {name}": float(theirs[name]) for name in TRIED_FIGURES}
        chosen.append(replace(tried[place][1][number], scores=scores))
    return chosen


# ---- Training and scoring for the experiments on Joulin & Mikolov 2015 ----

_NEVER = 1_000_000  # checks without an error after which training would end: every seed gets all its epochs
_TRAINED = (2, 19)  # sizes of training and validation, section 5.1; the test goes to 59
_TESTED = (2, 59)
_BEYOND = (20, 30)  # sizes that RNNs and LSTMs are validated on by the protocol fast, beyond those of training
_FIRST = 1_000  # how much more than its likelihood it weighs there that a string is predicted
_VALIDATION_SEED = 1
_SHAPES, _LARGE = (declared("joulin2015")[f"joulin2015-{name}"]["shapes"] for name in ("table2", "fig2"))
_LONG = ("anb2n", "memorization", "addition")  # tasks with n_max 20 in the authors' scripts; the others have 15
_HARD = ("anbmcnm",)  # patterns that the authors check with rounded actions, with a Stack RNN (-hard)
_GOOD = 0.1  # an addition's entropy in decimal digits below which worse epochs are always taken back
_CHECKED = {"addition": (20, 20)}  # sizes of an epoch's check there; 2 to 19 for the others, beyond what is trained
_EPOCHS_OF_WORDS = 3  # about five minutes of processor time a network on 670,000 words
_EMPTIED = {"memorization": 100, "addition": 10}  # pieces between emptied memories there; 1,000 for the patterns


def fast_recipe(model: str, name: str, few: bool, settings: RunSettings, tried: Tried | None = None) -> StreamRecipe:
    """Return how the fast protocol trains ``model`` on a pattern of table 2, or on memorisation or binary addition
    (figure 2); ``few`` for the zoo's number of stacks. ``tried`` are the settings of an RNN or an LSTM for a pattern.
    """
    recipe = stream_recipe(name, model)
    recipe = replace(recipe, windows=settings.scaled(recipe.windows, least=2), patience=_NEVER)
    longest = settings.scaled(_TRAINED[1], least=3)
    if name not in PATTERNS:
        shape, epochs = {**recipe.shape, **_LARGE[model]}, settings.scaled(60)
        return replace(recipe, shape=shape, epochs=epochs, check_sizes=(2, longest))
    recipe = replace(recipe, n_max=settings.scaled(20, least=4))
    if tried is not None:
        return replace(
            recipe,
            shape={**recipe.shape, **tried.shape},
            epochs=settings.scaled(tried.epochs),
            rate=recipe.rate if tried.rate is None else tried.rate,
            last_rate=1.0,
            forget_bias=tried.forget_bias,
            decay=tried.decay,
            single=True,
            by_loss=True,
            check_sizes=_scaled_sizes(_BEYOND, settings),
            check_every=2,
        )
    return replace(
        recipe,
        shape=recipe.shape if few else {**recipe.shape, **_SHAPES[model]},
        epochs=settings.scaled(55),
        beginnings=10 if settings.scale == 1 else 1,
        sharpness=0.3 if model in MEMORIES else 0.0,
        check_sizes=(recipe.smallest, longest),
    )


def paper_recipe(model: str, name: str, settings: RunSettings, tried: Tried | None = None) -> OnlineRecipe:
    """Return how the paper and its program train ``model`` on a task (section 5 and the authors' scripts). ``tried``
    are the settings of an RNN or an LSTM. The program's own check of networks without a memory ends with the sizes of
    training, where LSTMs can hardly be set apart; here it goes as far as that of the others.
    """
    toy, addition = name not in _EMPTIED, name == "addition"
    base = stream_recipe(name, model).shape
    epochs = settings.scaled(100)
    return OnlineRecipe(
        shape={**base, **((_SHAPES if toy else _LARGE)[model] if tried is None else tried.shape)},
        smallest=0 if addition else 2,
        n_max=settings.scaled(20 if name in _LONG else 15, least=4),
        epochs=epochs if settings.epochs is None else min(epochs, settings.epochs),
        pieces=settings.scaled(10_000 if addition else 2_000),
        emptied=_EMPTIED.get(name, 1_000),
        steps=settings.scaled(50, least=4),
        validation=settings.scaled(1_000),
        checked=_scaled_sizes(_CHECKED.get(name, _TRAINED), settings),
        rounded=name in _HARD and model == "stack-rnn",
        known_only=addition,
        good=_GOOD if addition else 0.0,
        together=1 if tried is None else tried.together,
    )


def train_streams(model: str, name: str, few: bool, settings: RunSettings) -> list[Outcome]:
    """Return networks of ``model`` trained on a pattern, with the scores of table 2, or on memorisation or binary
    addition, with what figure 2 shows; ``few`` for the zoo's number of stacks.

    "test" is the share of the sizes 2 to 59 of which every string is predicted, or in figure 2 that of all strings,
    "validation" how likely the network finds what can be known in strings of sizes 2 to 19, as the geometric mean over
    its symbols, "n = 20" the share of the strings of size 20 that are predicted, and so on; all again "rounded". By the
    paper's protocol there are "epochs", "updates" and "seconds" of processor time for all networks together, "entropy"
    in decimal digits a symbol of the best epoch's check. RNNs and LSTMs have "hidden" and "layers", which were best on
    validation among those that are searched, what became of each of these (see `chosen_outcomes`), and by the protocol
    fast another "validation": first the share of the strings of sizes 20 to 30 that are predicted, then how likely they
    are.
    """
    several = searched(model, name, settings.protocol)
    if not several:
        return _train_tried(model, name, few, settings, None)
    trained = [(tried, _train_tried(model, name, few, settings, tried)) for tried in several]
    return chosen_outcomes(trained, settings.protocol)


def _train_tried(model: str, name: str, few: bool, settings: RunSettings, tried: Tried | None) -> list[Outcome]:
    """Return networks trained by the settings' protocol, with their scores and those that say what was spent."""
    task, (first, nets) = get_task(name), settings.consecutive()
    assert isinstance(task, StreamTask)
    trained: StreamTraining | OnlineTraining
    spent: dict[str, Any] = {}
    if settings.protocol == "fast":
        recipe = fast_recipe(model, name, few, settings, tried)
        trained = fast = StreamTraining(recipe, task, seed=first, nets=nets, model=model, device=settings.device)
        begun = time.process_time()
        fast.run()
        if tried is not None:
            spent = {"updates": fast.updates, "symbols": fast.symbols_read, "seconds": time.process_time() - begun}
            spent |= {"loss": np.array([best.loss for best in fast.best])}
    else:
        online = paper_recipe(model, name, settings, tried)
        trained = slow = OnlineTraining(model, online, task, seed=first, nets=nets, device=settings.device)
        if settings.unfinished is not None:  # go on from where an earlier run was stopped
            layers = "" if tried is None else f"-{tried.layers}-layers-{tried.hidden}-units"
            seeds = f"seeds-{settings.seeds[0]}-{settings.seeds[-1]}"
            path = settings.unfinished / f"{model}-{name}{layers}-paper-{seeds}.state"
            if path.is_file():
                slow.load(path)
            if slow.epochs_done > slow.total_epochs:
                raise StacklensError(
                    f"{path}: {slow.epochs_done} epochs were trained already: ask for these, or move it away"
                )
            while not slow.done:
                slow.epoch()
                slow.save(path)
        slow.run()
        spent = {"epochs": slow.epochs_done, "updates": slow.updates, "seconds": slow.seconds}
        spent |= {"entropy": slow.best / math.log(10)}
        spent |= {} if tried is None else {"symbols": slow.symbols, "loss": slow.best}
    # networks of the protocol fast whose settings are tried are validated beyond the sizes of training
    beyond = tried is not None and settings.protocol == "fast"
    net = trained.whole(trained.best_weights)
    scores = _stream_scores(net, task, settings, beyond)
    if net.n_stacks:
        rounded = _stream_scores(Rounded(net), task, settings, beyond)
        scores |= {f"{name} rounded": values for name, values in rounded.items()}
    scores |= {name: np.broadcast_to(figure, nets) for name, figure in spent.items()}
    return [
        Outcome(seed, {name: float(of[number]) for name, of in scores.items()}, trained.network(number), task.name)
        for number, seed in enumerate(settings.seeds)
    ]


def _stream_scores(
    net: StackModel[Any], task: StreamTask, settings: RunSettings, beyond: bool
) -> dict[str, np.ndarray]:
    """Return the scores of all networks, (nets,) each."""
    tested, paper = (_TESTED[0], settings.scaled(_TESTED[1], least=4)), settings.protocol == "paper"
    # strings of each size, and in how many streams: 200 in one, as in the paper, or 40
    strings, streams = (200, 1) if paper else (40, 20)
    if settings.scale < 1:
        strings, streams = 2, 2
    checked = _BEYOND if beyond else _CHECKED.get(task.name, _TRAINED) if paper else _TRAINED
    if paper and task.name == "addition":
        emptied = 10 if settings.scale == 1 else 2
        right = right_from_empty(net, task, tested, strings, emptied, device=settings.device)
    else:
        right = PieceTest(task, tested, strings, streams).right(net, settings.device)  # (nets, sizes, strings)
    validation = PieceTest(task, _scaled_sizes(checked, settings), 20, 20, _VALIDATION_SEED)
    found, entropy = validation.right_and_entropy(net, settings.device)
    likely = np.exp(-entropy)
    if beyond:  # first the strings that are predicted, then how likely they are
        likely = (_FIRST * found.mean((-2, -1)) + likely) / (_FIRST + 1)
    by_size = {f"n = {_TESTED[0] + place}": right[:, place].mean(-1) for place in range(right.shape[1])}
    whole_sizes = right.all(-1).mean(-1) if task.name in PATTERNS else right.mean((-2, -1))
    return {"test": whole_sizes, **by_size, VALIDATION: likely}


def _scaled_sizes(sizes: tuple[int, int], settings: RunSettings) -> tuple[int, int]:
    return settings.scaled(sizes[0], least=2), settings.scaled(sizes[1], least=3)


def train_words(model: str, shape: dict[str, Any], files: tuple[Path, ...], settings: RunSettings) -> list[Outcome]:
    """Return a network from each seed, with its perplexities; nothing is extracted from these. Raises FileFormatError:
    a file is no text; StacklensError: there is none, or the paper's protocol, an update after every word, is asked for.
    """
    if not files:
        raise StacklensError(declared("joulin2015")["joulin2015-table4"]["needed"])
    if settings.protocol == "paper":
        raise StacklensError("joulin2015-table4 has no paper protocol, which would take weeks; choose --protocol fast")
    texts = split_text(files[0]) if len(files) == 1 else read_texts(*files)
    if model == "ngram":
        ngrams = NgramModel(texts.train, len(texts.vocabulary), shape["order"])
        valid, test, chosen = ngrams.probabilities(texts.valid), ngrams.probabilities(texts.test), {}
        if shape.get("cache"):  # the one that is best on the validation part
            cache = best_cache(valid, texts.valid)
            valid, test = cache.mixed(valid, texts.valid), cache.mixed(test, texts.test)
            chosen = {"cache words": float(cache.window), "cache weight": cache.weight}
        scores = {"validation perplexity": perplexity(valid), "test perplexity": perplexity(test), **chosen}
        return [Outcome(seed, scores) for seed in settings.seeds]
    recipe = WordRecipe(shape, epochs=settings.scaled(_EPOCHS_OF_WORDS))
    outcomes = []
    for seed in settings.seeds:
        training = WordTraining(model, recipe, texts, seed=seed, device=settings.device)
        training.run()
        scores = {"validation perplexity": training.best, "test perplexity": training.tested()}
        outcomes.append(Outcome(seed, scores))
    return outcomes
