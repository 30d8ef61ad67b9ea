"""Joulin & Mikolov 2015: tables, figures, language models and n-grams, and settings that were tried."""

from collections import Counter, defaultdict
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.refusals import refused
from tests.shell.commands import papers

from stacklens.core.errors import FileFormatError
from stacklens.papers.grid import GridResults, Network, Outcome, Protocol, RowResult, RunSettings, read_grid
from stacklens.papers.joulin2015 import FEW, PAPER_MODELS, PAPER_PATTERNS, figure2, table2
from stacklens.papers.joulin2015_training import Tried, chosen_outcomes, paper_recipe, searched
from stacklens.papers.joulin2015_words import Cache, NgramModel, best_cache, perplexity
from stacklens.papers.results import declared
from stacklens.papers.tables import TextTable, grid_tables

# ---- The experiments on Joulin & Mikolov 2015, tiny: what is trained and measured, not how well. ----

TINY = RunSettings((3, 4), scale=0.02)
SCORES = {"test", "validation", "n = 2", "n = 3", "n = 4"}
FIGURES = {"symbols", "updates", "seconds", "loss", "test"}
SPENT = {"epochs", "updates", "entropy", "seconds"}


def test_table_2_has_the_shape_and_the_figures_of_the_papers() -> None:
    grid = table2()
    scores, extraction = grid_tables(grid, GridResults(grid.paper, grid.name, grid.title))
    assert scores.columns == ("networks", "of the seeds", *PAPER_PATTERNS.values())
    reported = {
        row[0]: [cell.removeprefix("not run / ") for cell in row[2:]] for row in scores.rows if row[1] == "chosen"
    }
    assert reported == {
        "RNN": ["25", "23.3", "13.3", "23.3", "33.3"],
        "LSTM": ["100", "100", "68.3", "75", "100"],
        "List RNN 40+5": ["100", "33.3", "100", "100", "100"],
        "Stack RNN 40+10": ["100", "100", "100", "100", "43.3"],
        "Stack RNN 40+10 + rounding": ["100"] * 5,
    }
    assert len(extraction.rows) == 5 * len([*PAPER_MODELS, FEW])


@pytest.mark.parametrize("protocol", ["fast", "paper"])
@pytest.mark.parametrize("name", ["RNN, anbn", "LSTM, anb2n", "List RNN 40+5, anbncn", f"{FEW}, anbmcnm"])
def test_a_row_of_table_2_gives_a_network_a_seed_with_the_papers_scores(name: str, protocol: Protocol) -> None:
    (row,) = table2().chosen_rows([name])
    scale = 0.02 if protocol == "fast" else 0.005
    first, second = row.train(RunSettings((3, 4), protocol, scale=scale))
    assert (first.seed, second.seed) == (3, 4)
    assert first.task == second.task == name.split(", ")[-1]
    rounded = {f"{score} rounded" for score in SCORES} if first.model.n_stacks else set()
    spent = SPENT if protocol == "paper" else set()
    several = searched(first.model.name, first.task or "", protocol)
    assert bool(several) == (first.model.name == "lstm" or (first.model.name, protocol) == ("rnn", "paper"))
    if several:
        tried = {f"tried {one}: {figure}" for one in several for figure in FIGURES}
        spent = {*spent, "hidden", "layers", *FIGURES - {"test"}, *tried}
    assert set(first.scores) == SCORES | rounded | spent
    assert all(0 <= score <= 1 for name, score in first.scores.items() if name not in spent)


def test_each_seed_keeps_what_is_best_on_validation_and_tells_what_became_of_the_others() -> None:
    def outcome(seed: int, loss: float, test: float) -> Outcome:
        return Outcome(seed, {"symbols": 5, "updates": 2, "seconds": 1, "loss": loss, "test": test, "n = 2": test})

    shapes = [f"{layers} x {hidden}" for layers in (1, 2) for hidden in (50, 100, 200)]
    assert list(map(str, searched("lstm", "anbn", "paper"))) == shapes
    # by the protocol paper it is the loss that decides
    tried = [(Tried(50), [outcome(0, 0.3, 0.1), outcome(1, 0.1, 0.2)])]
    tried += [(Tried(100, 2), [outcome(0, 0.2, 0.3), outcome(1, 0.4, 0.4)])]
    first, second = chosen_outcomes(tried, "paper")
    assert [first.scores[name] for name in ("test", "n = 2", "loss", "hidden", "layers")] == [0.3, 0.3, 0.2, 100, 2]
    assert [second.scores[name] for name in ("test", "n = 2", "loss", "hidden", "layers")] == [0.2, 0.2, 0.1, 50, 1]
    for one, losses in ((first, (0.3, 0.2)), (second, (0.1, 0.4))):
        assert (one.scores["tried 1 x 50: loss"], one.scores["tried 2 x 100: loss"]) == losses


def test_figure_2_has_a_score_for_every_size() -> None:
    (row,) = figure2().chosen_rows(["Stack RNN, addition"])
    outcome, _ = row.train(TINY)
    sizes = {name for name in outcome.scores if name.startswith("n = ")}
    assert sizes == {f"n = {n}{rounded}" for n in (2, 3, 4) for rounded in ("", " rounded")}
    assert outcome.task == "addition"


@pytest.mark.parametrize(
    ("model", "task", "sizes"),
    [
        ("stack-rnn", "anbn", (40, 10, 15, 2_000, 1_000, (2, 19), False, 0)),
        ("stack-rnn", "anb2n", (40, 10, 20, 2_000, 1_000, (2, 19), False, 0)),
        ("stack-rnn", "anbmcnm", (40, 10, 15, 2_000, 1_000, (2, 19), True, 0)),
        ("list-rnn", "anbmcnm", (40, 5, 15, 2_000, 1_000, (2, 19), False, 0)),
        ("stack-rnn", "memorization", (100, 10, 20, 2_000, 100, (2, 19), False, 0)),
        ("stack-rnn", "addition", (100, 10, 20, 10_000, 10, (20, 20), False, 0.1)),
    ],
)
def test_the_paper_protocol_is_that_of_the_authors_scripts(model: str, task: str, sizes: tuple[object, ...]) -> None:
    slow = paper_recipe(model, task, RunSettings((0,), "paper"))
    own = attrgetter("n_max", "pieces", "emptied", "checked", "rounded", "good")(slow)
    assert sizes == (slow.shape["hidden"], slow.shape["n_stacks"], *own)
    assert (slow.rate, slow.clip, slow.steps, slow.epochs, slow.validation) == (0.1, 15, 50, 100, 1_000)
    assert slow.known_only == (task == "addition")
    assert slow.smallest == (0 if task == "addition" else 2)


def test_addition_by_the_papers_protocol_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    (row,) = figure2().chosen_rows(["Stack RNN, addition"])
    tiny = RunSettings((3, 4), "paper", scale=0.02)
    whole = row.train(tiny)
    row.train(replace(tiny, epochs=1, unfinished=tmp_path))
    (state,) = tmp_path.iterdir()
    assert state.name == "stack-rnn-addition-paper-seeds-3-4.state"
    ended = row.train(replace(tiny, unfinished=tmp_path))
    for one in (*whole, *ended):
        assert one.scores.pop("seconds") > 0
    assert [one.scores for one in ended] == [one.scores for one in whole]
    assert ended[0].scores["epochs"] == 2
    refused("2 epochs were trained already", row.train, replace(tiny, epochs=1, unfinished=tmp_path))


def test_seeds_that_cannot_be_trained_side_by_side_are_refused() -> None:
    refused(r"seeds \(0, 2\): expected consecutive ones", table2().rows[0].train, RunSettings((0, 2), scale=0.02))


# ---- Table 4 of Joulin & Mikolov 2015 on a small text of our own: what the command needs, writes and refuses. ----

TABLE_4 = declared("joulin2015")["joulin2015-table4"]
SMALL = {
    "RNN": {
        "model": "rnn",
        "reported": ["137", "129"],
        "shape": {"hidden": 4, "controller": "rnn", "task_kind": "next symbol"},
    },
    "Stack RNN": {
        "model": "stack-rnn",
        "reported": ["124", "118"],
        "shape": {"hidden": 4, "n_stacks": 2, "recurrent": True},
    },
    "SRCN": {"model": "scrn", "reported": ["120", "115"], "shape": {"hidden": 4, "context": 2}},
    "N-gram": {"model": "ngram", "reported": ["", "141"], "shape": {"order": 3}},
    "N-gram + cache": {"model": "ngram", "reported": ["", "125"], "shape": {"order": 3, "cache": True}},
}


@pytest.fixture
def texts(tmp_path: Path) -> list[str | Path]:
    """Return the options for three files of a text in which every word tells the next."""
    rng, options = np.random.default_rng(0), list[str | Path]()
    for part in ("train", "valid", "test"):
        path = tmp_path / f"{part}.txt"
        lines = [" ".join(("one", "two", "three", "four")[: rng.integers(2, 5)]) for _ in range(60)]
        path.write_text("\n".join(lines), encoding="utf-8")
        options += [f"--{part}", path]
    return options


def test_table_4_is_measured_on_the_users_text(
    tmp_path: Path, texts: list[str | Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TABLE_4, "networks", SMALL)
    there = ("--results", tmp_path)
    shown = papers("run", "joulin2015-table4", *texts, *there)
    assert papers("table", "joulin2015-table4", *there) in shown
    shown = " ".join(shown.split())
    assert "137" in shown
    assert "not run" not in shown
    assert "converged" not in shown  # of what was extracted there is nothing to say
    assert "the paper: SRCN 115.0, Stack RNN 118.0, N-gram + cache 125.0, RNN 129.0, N-gram 141.0; " in shown
    assert "of 10 pairs stand in the same order" in shown
    assert "joulin2015-table4 --train FILE --valid FILE --test FILE" in shown
    results = read_grid("joulin2015-table4", tmp_path) or GridResults("", "", "")
    assert [row.name for row in results.rows] == list(SMALL)
    assert all(1 < row.networks[0].scores["test perplexity"] < 6 for row in results.rows)
    assert all(row.texts.startswith("train.txt ") and row.texts.count(", ") == 2 for row in results.rows)
    kept = (tmp_path / "joulin2015-table4.json").read_bytes()
    papers("run", "joulin2015-table4", *texts, *there)
    assert (tmp_path / "joulin2015-table4.json").read_bytes() == kept
    Path(texts[1]).write_text("one two\n" * 50, encoding="utf-8")
    with pytest.raises(FileFormatError, match="the word 'three' is not in"):
        papers("run", "joulin2015-table4", *texts, *there)  # another text, so it is trained again


def test_one_text_is_split_and_told_from_others(
    tmp_path: Path, texts: list[str | Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TABLE_4, "networks", {name: SMALL[name] for name in ("RNN", "N-gram", "N-gram + cache")})
    shown = " ".join(papers("run", "joulin2015-table4", "--text", texts[1], "--results", tmp_path).split())
    results = read_grid("joulin2015-table4", tmp_path) or GridResults("", "", "")
    scores = {row.name: row.networks[0].scores for row in results.rows}
    assert all(row.texts.startswith("train.txt ") and ", " not in row.texts for row in results.rows)
    assert all(" --text FILE --fresh" in row.command for row in results.rows)
    assert f"text {results.rows[0].texts}" in shown
    assert all(1 < one["test perplexity"] < 8 for one in scores.values())
    plain, cached = scores["N-gram"], scores["N-gram + cache"]
    assert cached["validation perplexity"] <= plain["validation perplexity"]
    assert set(cached) - set(plain) == {"cache words", "cache weight"}


def test_without_a_text_it_says_what_it_needs(tmp_path: Path, texts: list[str | Path]) -> None:
    gone, paper = tmp_path / "missing.txt", ("--protocol", "paper")
    for table, options, says in (
        ("table4", (), "needs a text: --text FILE, a verse or sentence a line, which is split; or --train"),
        ("table4", texts[:4], "joulin2015-table4 needs --text alone, or all of --train, --valid, --test"),
        ("table4", (*texts, "--text", texts[1]), "joulin2015-table4 needs --text alone"),
        ("table4", ("--text", gone), "missing.txt: no such file; expected a text"),
        ("table4", (*texts[:4], "--test", gone), "missing.txt: no such file; expected a text"),
        ("table4", (*texts, *paper), "no paper protocol"),
        ("table2", texts, "joulin2015-table2 needs no text: leave out --train, --valid, --test"),
    ):
        refused(says, papers, "run", f"joulin2015-{table}", *options, "--results", tmp_path)


# ---- N-grams with Kneser-Ney smoothing against a plain one of dictionaries, and the cache against counting. ----

Sequence = tuple[int, ...]
streams = st.integers(2, 5).flatmap(
    lambda n: st.tuples(st.just(n), *[st.lists(st.integers(0, n - 1), min_size=1, max_size=40) for _ in range(2)])
)


class Plain:
    """The same model from dictionaries, recursively, as Chen & Goodman 1999 write it."""

    def __init__(self, stream: list[int], n_words: int, order: int) -> None:
        self.n_words = n_words
        seen = {k: Counter(tuple(stream[i : i + k]) for i in range(len(stream) - k + 1)) for k in range(1, order + 1)}
        self.order = max(k for k in seen if seen[k])
        self.counts: dict[int, dict[Sequence, int]] = {self.order: dict(seen[self.order])}
        for k in range(1, self.order):
            before = defaultdict[Sequence, set[int]](set)
            for longer in seen[k + 1]:
                before[longer[1:]].add(longer[0])
            self.counts[k] = {sequence: len(before[sequence]) for sequence in seen[k]}

    def discount(self, k: int, count: int) -> float:
        if count == 0:
            return 0.0
        of = Counter(self.counts[k].values())
        y = of[1] / (of[1] + 2 * of[2]) if of[1] else 0.0
        n = min(count, 3)
        raw = n - (n + 1) * y * of[n + 1] / of[n] if of[n] else 0.5
        return min(max(raw, 0.05), n - 0.05)

    def chance(self, context: Sequence, word: int) -> float:
        k = len(context) + 1
        lower = self.chance(context[1:], word) if context else 1 / self.n_words
        following = {s[-1]: count for s, count in self.counts[k].items() if s[:-1] == context}
        total = sum(following.values())
        if total == 0:
            return lower
        count = following.get(word, 0)
        left = sum(self.discount(k, each) for each in following.values())
        return (count - self.discount(k, count)) / total + left / total * lower


def contexts(stream: list[int], order: int) -> list[Sequence]:
    return [tuple(stream[max(0, i - order + 1) : i]) for i in range(len(stream))]


@settings(max_examples=60)
@given(streams, st.integers(1, 5))
def test_probabilities_are_those_of_a_plain_model_and_sum_to_one(
    drawn: tuple[int, list[int], list[int]], order: int
) -> None:
    n_words, train, test = drawn
    plain, model = Plain(train, n_words, order), NgramModel(np.array(train), n_words, order)
    found = model.probabilities(np.array(test))
    expected = [plain.chance(c, word) for c, word in zip(contexts(test, plain.order), test, strict=True)]
    assert found == pytest.approx(expected, rel=1e-12)
    assert (found > 0).all()
    total = sum(model.probabilities(np.array([*test, word]))[-1] for word in range(n_words))
    assert total == pytest.approx(1, rel=1e-12)


@settings(max_examples=40)
@given(streams, st.integers(1, 6), st.floats(0, 1))
def test_a_cache_is_what_counting_the_words_before_gives(
    drawn: tuple[int, list[int], list[int]], window: int, weight: float
) -> None:
    n_words, _, test = drawn
    uniform = np.full(len(test), 1 / n_words)
    found = Cache(window, weight).mixed(uniform, np.array(test))
    for i, word in enumerate(test):
        held = test[max(0, i - window) : i]
        expected = (1 - weight) / n_words + weight * held.count(word) / len(held) if held else 1 / n_words
        assert found[i] == pytest.approx(expected, rel=1e-12)


def test_the_cache_that_is_chosen_is_worth_having_on_words_that_come_back() -> None:
    stream = np.repeat(np.random.default_rng(0).integers(0, 50, 30), 20)
    uniform = np.full(len(stream), 1 / 50)
    chosen = best_cache(uniform, stream)
    assert (chosen.window, chosen.weight) == (100, 0.5)
    assert perplexity(chosen.mixed(uniform, stream)) < perplexity(uniform) == pytest.approx(50)
    assert best_cache(np.full(400, 0.9), np.arange(400)).weight == 0


@pytest.mark.parametrize(
    ("stream", "order", "message"),
    [
        ([0, 1], 0, "order is 0; expected 1 or more"),
        ([], 2, "numbers from 0 to 1"),
        ([0, 2], 2, "numbers from 0 to 1"),
        ([-1], 2, "numbers from 0 to 1"),
    ],
)
def test_what_cannot_be_counted_is_refused(stream: list[int], order: int, message: str) -> None:
    refused(message, NgramModel, np.array(stream, np.int64), 2, order)


# ---- The table of the settings that were tried for a row. ----


def network(seed: int, small: tuple[float, float], large: tuple[float, float]) -> Network:
    tried: dict[str, float] = {}
    for shape, (loss, test) in {"1 x 50": small, "2 x 100": large}.items():
        figures = {"symbols": 3e6, "updates": 2000, "seconds": 90, "loss": loss, "test": test}
        tried |= {f"tried {shape}: {name}": float(value) for name, value in figures.items()}
    return Network(seed, {"test": 0.5, "validation": 0.9, **tried}, False)


NETWORKS = (network(0, (0.2, 0.7), (0.001, 1.0)), network(1, (0.1, 0.4), (0.5, 0.25)), network(2, (0.3, 0.1), (1, 0)))


def test_a_line_has_the_best_network_of_some_settings_and_what_the_others_scored() -> None:
    shown = tables(NETWORKS)[-1]
    assert (shown.title, shown.columns[:3]) == ("What was tried", ("network", "pattern", "tried"))
    assert len(shown.columns) == 9
    assert shown.rows == (
        ("LSTM", "a^n b^n", "1 x 50", "3,000,000", "2,000", "1.5", "0.1", "40.0", "40.0 / 70.0"),
        ("LSTM", "a^n b^n", "2 x 100", "3,000,000", "2,000", "1.5", "0.001", "100.0", "25.0 / 100.0"),
    )
    assert shown.caption


def test_where_nothing_was_tried_there_is_no_table() -> None:
    plain = Network(0, {"test": 1.0, "validation": 1.0}, True)
    assert "What was tried" not in [table.title for table in tables((plain,))]


def tables(networks: tuple[Network, ...]) -> list[TextTable]:
    grid = table2()
    seeds = tuple(network.seed for network in networks)
    row = RowResult("LSTM, anbn", "fast", seeds, 1.0, "cpu", networks, {}, {}, "")
    return grid_tables(grid, GridResults(grid.paper, grid.name, grid.title, (row,)))
