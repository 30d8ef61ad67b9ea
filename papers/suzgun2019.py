"""Suzgun, Gehrmann, Belinkov & Shieber 2019, "Memory-augmented recurrent neural networks can learn generalized Dyck
languages".

Tables 2 to 6: twelve models on five tasks, ten networks each; simple palindromes, which section 6.2 tells of without a
table; and figure 2. Scores are shares of words of which every answer is right, on the words trained on and on as
many longer ones. How networks are trained is in `suzgun2019_training`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from .grid import Grid, GridRow, Outcome, RunSettings
from .results import Experiment, Finding, PaperClaim

if TYPE_CHECKING:
    from ..automata.pda import Word
    from ..languages.task import Examples, Task
    from ..models.training.recipes import FitRecipe
    from ..models.training.supervised import Fitting


# ---- How the networks of a row of Suzgun et al. 2019 are trained and scored: which recipe, which words ----
#
# All networks of a row stand side by side and see the same words, "the same random seed across each run" (table 2);
# their weights are drawn apart.

_TEST_WORDS, _TEST_SEED = 5_000, 52  # section 5.1; their program takes 1,000
_APART = 1_000  # seeds of words, from one data seed to the next


@dataclass(frozen=True)
class TrainedNetwork:
    """What the networks of a row are and learn.

    Attributes:
        model: its name.
        gating: of a Marnn, else "".
        task: the name of the task.
        hidden, cell_size: sizes of the network.
        words: how many to train on.
        changed: settings of the recipe in place of the protocol's, by name; see `FitRecipe`.
    """

    model: str
    gating: str
    task: str
    hidden: int
    cell_size: int
    words: int
    changed: dict[str, Any] = field(default_factory=dict)


def train_network(trial: TrainedNetwork, settings: RunSettings) -> list[Outcome]:
    """Return a network from each seed of ``settings``, with its scores.

    "train", "test" are the paper's, "test rounded" that of the network with discrete actions. By the protocol "paper"
    gates with Gumbel noise draw it in the test too, as in the authors' program.
    """
    from ..languages.catalogue import get_task
    from ..models.training.supervised import Fitting

    outcomes, recipe = {}, recipe_of(trial, settings)
    for first, nets in _consecutive_seeds(settings.seeds):
        fitting = Fitting(trial.model, recipe, get_task(trial.task), seed=first, nets=nets, device=settings.device)
        fitting.run()
        scores = _scores_of_fitting(fitting, settings)
        for number in range(nets):
            own = {name: float(values[number]) for name, values in scores.items()}
            outcomes[first + number] = Outcome(first + number, own, fitting.network(number), trial.task)
    return [outcomes[seed] for seed in settings.seeds]


def _consecutive_seeds(seeds: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return the seeds as runs of consecutive ones: the first of each, and how many there are.

    >>> _consecutive_seeds((0, 1, 2, 7, 5, 6))
    [(0, 3), (5, 3)]
    """
    runs: list[tuple[int, int]] = []
    for seed in sorted(seeds):
        if runs and sum(runs[-1]) == seed:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((seed, 1))
    return runs


def recipe_of(trial: TrainedNetwork, settings: RunSettings) -> FitRecipe:
    """Return how the networks of ``trial`` are trained by ``settings``."""
    from ..languages.catalogue import get_task
    from ..models.training.recipes import suzgun_recipe

    shape: dict[str, Any] = {"hidden": trial.hidden}
    if trial.gating:
        shape |= {"cell_size": trial.cell_size, "gating": trial.gating}
    recipe = suzgun_recipe(trial.model, get_task(trial.task), shape, trial.words, settings.protocol)
    recipe = replace(recipe, **trial.changed)
    words, epochs = settings.scaled(recipe.words, least=20), settings.scaled(recipe.epochs)
    drawn = recipe.words_seed + _APART * settings.data_seed
    return replace(recipe, words=words, epochs=epochs, check_every=epochs, words_seed=drawn)


def words_of_test(task: Task, settings: RunSettings) -> Examples:
    """Return the words that networks are tested on, the same for all of them."""
    return task.sample(settings.scaled(_TEST_WORDS, least=20), split="test", seed=_TEST_SEED)


def _scores_of_fitting(fitting: Fitting, settings: RunSettings) -> dict[str, Any]:
    """Return the scores of all networks by name, (nets,) each."""
    from ..models.rounding import Rounded
    from ..models.training.streams import word_accuracy

    noisy = settings.protocol == "paper"
    longer = words_of_test(fitting.task, settings)
    scores = {
        "train": word_accuracy(fitting.net, fitting.train_words, noisy),
        "test": word_accuracy(fitting.net, longer, noisy),
    }
    if fitting.net.action_kind != "none":
        scores["test rounded"] = word_accuracy(Rounded(fitting.net), longer)
    return scores


# ---- Suzgun, Gehrmann, Belinkov & Shieber 2019, "Memory-augmented recurrent neural networks can learn ----

_WORDS, _SEED = 5_000, 1729

PAPER = "Suzgun et al. 2019"
_STATISTICS = ("min", "max", "median", "mean")
_GATINGS = {
    "Softmax": "softmax",
    "Softmax-Temp": "softmax with temperature",
    "Gumbel-Softmax": "gumbel-softmax",
}
_WITHOUT_MEMORY = ("rnn", "lstm")
# The tables as printed, a line a model in the order above: min, max, median and mean in training, then in the test.
_TABLE_2 = """
     3.32  12.78   6.41   7.11      0      0      0      0
    36.16  62.80  53.24  52.38   0.28   4.10   1.02   1.39
        0    100    100  70.50      0    100    100  70.00
      100    100    100    100  99.96    100    100  99.99
      100    100    100    100  99.92    100    100  99.99
     3.44    100  99.98  90.32      0    100  99.96  89.96
    62.52    100    100  95.69   2.78    100  98.25  87.51
    46.70    100    100  94.67   0.80    100  99.73  89.84
    50.26    100  99.94  94.97   0.70  99.94  99.33  88.68
     2.56    100    100  75.80      0    100  99.91  68.73
     1.16    100  99.88  72.43      0    100  96.97  68.23
     5.66    100  99.88  89.39      0  99.90  99.54  86.85
"""
_TABLE_3 = """
     0.82  14.88  11.19   9.52      0      0      0      0
    24.16  39.76  31.55  32.58      0   0.16   0.02   0.04
     9.02    100  98.17  79.32      0    100  91.29  66.72
     7.80    100    100  81.75      0    100    100  80.00
    37.64  99.98  95.74  81.95   0.06  98.18  67.32  52.49
     1.78    100  44.55  50.71      0  99.98  21.94  43.65
    33.98    100  92.25  77.97   0.04  99.94  61.54  55.49
    37.64  99.98  95.74  81.95   0.06  98.18  67.32  52.49
    25.74  99.98  78.21  72.01      0   99.2  27.08  42.17
     4.60    100  84.29  60.63      0    100  23.44  44.51
     6.40    100  16.44  39.97      0    100   0.51  27.46
     0.76    100  11.70  43.42      0   99.9      0  38.76
"""
_TABLE_4 = """
    21.19  25.71  23.53  23.39      0   0.02      0      0
    32.47  41.62  37.35  37.05      0   0.06      0   0.01
    99.47    100    100  99.94  97.60    100  99.99  99.70
    99.92    100    100  99.99  99.32    100  99.99  99.85
    36.83    100  98.54  80.09      0    100  78.44  60.88
    20.90  99.98  99.93  91.62      0  99.92  99.50  87.69
    98.48    100  99.99  99.79  91.12    100  99.18  98.23
    36.83    100  98.54  80.09      0    100  78.44  60.88
    36.20  99.94  67.50  68.62      0  99.90  24.61  44.47
    99.94    100    100  99.99  99.00    100  99.97  99.87
    86.12    100    100  98.15   8.56    100  99.91  88.40
    22.56  99.98  99.86  75.46      0  99.86  99.23  63.49
"""
_TABLE_5 = """
        0      0      0      0      0      0      0      0
        0   5.22   2.23   2.39      0      0      0      0
        0    100  46.04  49.13      0    100  50.42  50.00
        0    100  99.99  60.00      0    100    100  60.00
        0    100    100  70.00      0    100    100  70.00
        0    100  17.10  43.42      0    100  16.98  43.39
        0    100    100  61.36      0    100    100  60.00
        0    100    100  70.07      0    100    100  70.00
        0    100    100  80.20      0    100  99.98  79.99
        0    100  67.16  53.43      0    100  66.55  53.31
        0    100  99.99  60.00      0    100    100  60.00
        0    100  60.43  52.09      0    100  61.30  52.26
"""
_TABLE_6 = """
     0.06   0.90   0.46   0.46      0      0      0      0
     0.68   5.08   3.62   3.50      0      0      0      0
     0.16    100  50.29  50.19      0    100  50.00  50.00
     0.38    100    100  77.39      0    100    100  76.65
     0.14    100    100  80.05      0    100    100  80.00
     0.18    100  99.98  77.71      0    100  99.98  77.83
     2.02    100    100  80.60      0    100    100  79.99
     0.06    100    100  70.49      0    100    100  70.00
     2.18    100    100  80.48      0    100    100  80.00
     0.08    100    100  86.65      0    100    100  86.67
        0    100    100  70.07      0    100    100  70.00
     0.20    100    100  90.01      0    100  99.97  89.96
"""
_FAST = (
    "By the protocol fast D2 and D3 are learned 16 words at a time in 24 epochs at a rate of 0.03 that falls to 0, "
    "D6 likewise in 10 epochs at 0.01; all else, and D2 and D3 on rings, 4 words at a time in 12 epochs at 0.01; "
    "gates draw noise in the test by the protocol paper only."
)
_JOULIN = "Stack-RNN by J&M is what section 3.1 says; the authors' program has its own Stack-RNN+Softmax by that name."
_TWICE = "The paper prints the same line for Stack-RNN+Softmax-Temp and Stack-LSTM+Softmax-Temp; one is a slip."
_NONEMPTY = (
    "Words have 2 symbols or more, so nobody tells what follows a first #: automata are compared without such words."
)
# number: what is learned, as the paper calls it; the task; hidden units, numbers a cell, words; section; lines; note
_TABLES: dict[int, tuple[str, str, int, int, int, str, str, str]] = {
    2: ("D2", "dyck-2", 8, 1, 5_000, "5.1", _TABLE_2, ""),
    3: ("D3", "dyck-3", 8, 1, 5_000, "5.2", _TABLE_3, _TWICE),
    4: ("D6", "dyck-6", 12, 5, 15_000, "5.2", _TABLE_4, _TWICE),
    5: ("homomorphic palindromes", "homomorphic-palindrome-nonempty", 8, 1, 5_000, "6.1", _TABLE_5, _NONEMPTY),
    6: ("string reversal", "string-reversal", 8, 1, 5_000, "7", _TABLE_6, ""),
}


def lengths_and_depths(words: int = _WORDS) -> Finding:
    """Return how many words of D2 have which length and which greatest depth, of those trained and tested on."""
    from ..languages.catalogue import get_task

    task = get_task("dyck-2")
    drawn = {split: task.sample(words, split=split, seed=_SEED).words for split in ("train", "test")}
    figures = {
        split: {"lengths": _counted_values(map(len, some)), "depths": _counted_values(map(depth, some))}
        for split, some in drawn.items()
    }
    parts = [
        f"{split}: median length {_lower_median(counts['lengths'])}, median depth {_lower_median(counts['depths'])}, "
        f"at most {max(map(int, counts['depths']))}"
        for split, counts in figures.items()
    ]
    return Finding("; ".join(parts), figures)


def depth(word: Word) -> int:
    """Return how many brackets are open at once at most in a word of D2.

    >>> depth("(([]))()")
    3
    """
    deepest = height = 0
    for symbol in word:
        height += 1 if symbol in "([" else -1
        deepest = max(deepest, height)
    return deepest


def _counted_values(values: Iterable[int]) -> dict[str, int]:
    return {str(value): count for value, count in sorted(Counter(values).items())}


def _lower_median(counts: dict[str, Any]) -> int:
    """Return the median, the lower one of two, of counted values."""
    total, seen = sum(counts.values()), 0
    for value, count in counts.items():
        seen += count
        if 2 * seen >= total:
            return int(value)
    return 0


_REPORTED = tuple(f"{score} {statistic}" for score in ("train", "test") for statistic in _STATISTICS)
# as the tables call them: the model, and how its gate makes shares; one for those without a choice
_MODELS: dict[str, tuple[str, str]] = {
    "Vanilla RNN": ("rnn", ""),
    "Vanilla LSTM": ("lstm", ""),
    "Stack-RNN by J&M": ("marnn-joulin", "softmax"),
    **{f"Stack-RNN+{name}": ("marnn-stack-rnn", gating) for name, gating in _GATINGS.items()},
    **{f"Stack-LSTM+{name}": ("marnn-stack-lstm", gating) for name, gating in _GATINGS.items()},
    **{f"Baby-NTM+{name}": ("baby-ntm", gating) for name, gating in _GATINGS.items()},
}


def grids() -> dict[str, Callable[[], Grid | Experiment]]:
    """Return what the paper has, by the names that `stacklens papers` knows them by."""
    tables = {f"suzgun2019-table{number}": partial(table_of_models, number) for number in _TABLES}
    return {
        **tables,
        "suzgun2019-d6-one-number": six_brackets_one_number,
        "suzgun2019-simple-palindrome": simple_palindromes,
        "suzgun2019-figure2": figure2,
    }


def networks_of_table(number: int) -> dict[str, TrainedNetwork]:
    """Return what the networks of table 2, 3, 4, 5 or 6 are, by the names of its rows."""
    _, task, hidden, cell_size, words, *_ = _TABLES[number]
    return {
        name: TrainedNetwork(model, gating, task, hidden, cell_size, words) for name, (model, gating) in _MODELS.items()
    }


def table_of_models(number: int) -> Grid:
    """Return table 2, 3, 4, 5 or 6."""
    shown, _, hidden, cell_size, _, section, lines, note = _TABLES[number]
    figures = (line.split() for line in lines.strip().splitlines())
    rows = tuple(
        GridRow(
            name,
            {"model": name},
            partial(train_network, network),
            dict(zip(_REPORTED, reported, strict=True)),
            f"sections 4 and {section}; the authors' program",
            stacks=network.model not in _WITHOUT_MEMORY,
        )
        for (name, network), reported in zip(networks_of_table(number).items(), figures, strict=True)
    )
    memory = "1 number" if cell_size == 1 else f"{cell_size} numbers"
    title = f"table {number}, {shown}: {hidden} hidden units, {memory} a cell"
    return _grid(f"suzgun2019-table{number}", title, rows, f"{note} {_JOULIN}".strip())


def simple_palindromes() -> Grid:
    """Return section 6.2 as a table: nine models with memories of cells of one number, and of five."""
    rows = tuple(
        GridRow(
            f"{name}, {cell_size} a cell",
            {"model": name, "numbers a cell": str(cell_size)},
            partial(train_network, TrainedNetwork(model, gating, "simple-palindrome-nonempty", 8, cell_size, 5_000)),
            source="section 6.2",
        )
        for cell_size in (1, 5)
        for name, (model, gating) in _MODELS.items()
        if model not in _WITHOUT_MEMORY and model != "marnn-joulin"
    )
    note = (
        "The paper: 3 of 90 trials learned it with one number a cell, others typically got 0 %; "
        "with five all models learned it with almost full accuracy. "
        f"{_NONEMPTY}"
    )
    return _grid("suzgun2019-simple-palindrome", "section 6.2, simple palindromes", rows, note)


def six_brackets_one_number() -> Grid:
    """Return what section 5.2 says of D6 before table 4: the same networks with memories of cells of one number."""
    rows = tuple(
        GridRow(
            name,
            {"model": name},
            partial(train_network, replace(network, cell_size=1)),
            source="section 5.2: 12 hidden units, as in table 4",
        )
        for name, network in networks_of_table(4).items()
        if network.model not in _WITHOUT_MEMORY
    )
    note = "The paper: none had full accuracy in training or test, the maximum score was 60.38 %."
    return _grid("suzgun2019-d6-one-number", "section 5.2, D6: 12 hidden units, 1 number a cell", rows, note)


def _grid(name: str, title: str, rows: tuple[GridRow, ...], note: str) -> Grid:
    scores = ("train", "test", "test rounded")
    return Grid(
        name, PAPER, title, rows, scores, _STATISTICS, digits=2, note=f"{note} {_FAST}".strip(), data_seeds=True
    )


def figure2() -> Experiment:
    """Return figure 2: lengths and greatest depths of the words of D2, trained on and tested on."""
    claims = (
        PaperClaim(
            "5.1",
            "D2, figure 2: lengths and greatest depths of 5,000 words each",
            "the test samples contained longer dependencies than the training samples (figures only drawn)",
            lengths_and_depths,
        ),
    )
    return Experiment("suzgun2019-figure2", PAPER, "figure 2, the words of D2", claims, (1729,))
