"""What a notebook shows of values of lower layers, drawn by upper ones; see `stacklens.core.imports`."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from ..automata.pda import PushdownAutomaton
from ..core.errors import StacklensError
from ..core.imports import pd
from ..languages.catalogue import ABOUT_LANGUAGES, ABOUT_TASKS, get_task, language_names, task_names

if TYPE_CHECKING:
    from pathlib import Path

    from plotly.graph_objects import Figure

    from ..extract.evaluation.sweep import Sweep
    from ..probe.trace import Trace


def trace_figure(
    seen: Trace, word: int = 0, figure: str = "paper", automaton: PushdownAutomaton | None = None
) -> Figure:
    """Return the ``figure`` of word number ``word``, with an ``automaton``'s states. Raises StacklensError: there is no
    such figure or word, or the trace does not know its network.
    """
    from ..extract.by_name import true_automaton
    from ..models.base import checkpoint_for
    from ..models.rounding import Rounded
    from ..probe.trace import check_place
    from ..viz.figures import FIGURES, draw, paper_figure

    model = seen.model
    if model is None:
        raise StacklensError("this trace does not know its network: make it with sl.trace")
    if isinstance(word, str):
        raise StacklensError(
            f"word is {word!r:.50}; expected its number in the trace, from 0. A figure is named so: "
            f"plot(figure=…), with one of {', '.join(FIGURES)}"
        )
    check_place("word", word, len(seen.words), "the trace")
    if figure != "paper":
        return draw(figure, model, seen, word, automaton)
    own = model.model if isinstance(model, Rounded) else model
    truth = true_automaton(checkpoint_for(own), seen.words[word])
    return paper_figure(model, seen, word, truth=truth, automaton=automaton)


def trace_html(seen: Trace) -> str:
    """Return the figure of the first word, which asks no other host for anything; a table where there is none."""
    if seen.model is None or not seen.words:
        return str(seen.to_frame().to_html())
    return str(trace_figure(seen).to_html(full_html=False, include_plotlyjs=True, default_height="auto"))


def save_sweep(swept: Sweep, path: Path) -> None:
    """Write the table of a sweep, all of it, or its figure, by the suffix of ``path``. Raises StacklensError: another
    suffix, or the file cannot be written.
    """
    from ..extract.evaluation.sweep import sweep_text
    from ..viz.curves import sweep_figure
    from ..viz.report import check_suffixes, write_by_suffix

    texts = {".csv": lambda: swept.to_frame().to_csv(index=False), ".json": lambda: sweep_text(swept)}
    check_suffixes([path], texts)
    write_by_suffix(path, texts, lambda: sweep_figure(swept))


# ---- The tables of the public face: the networks that come along, the languages and the tasks ----


@cache
def _table_class() -> type[pd.DataFrame]:
    """Return the class of tables that are shown whole; it is made late, since pandas is slow to import."""

    class Table(pd.DataFrame):
        @property
        def _constructor(self) -> Any:
            return Table

        def __repr__(self) -> str:
            return str(self.to_string())

        def _repr_html_(self) -> str:
            with pd.option_context("display.max_colwidth", None):
                return str(self.to_html())

        def __reduce__(self) -> Any:  # a class in a function cannot be pickled: it goes as a plain table
            return pd.DataFrame.copy, (pd.DataFrame(self),)

    return Table


def zoo() -> pd.DataFrame:
    """Return a row a trained network that comes along: name, kind, what it was trained on, sizes, errors, recipe.

    ``errors`` are checking words that the network gets wrong, ``errors_rounded`` those of the rounded network.
    """
    from ..models.checkpoint import load_network, zoo_names

    rows = []
    for name in zoo_names():
        found = load_network(name)
        weights = sum(parameter.numel() for parameter in found.model.parameters())
        scores, recipe = found.provenance.get("scores", {}), found.provenance.get("recipe")
        errors = scores.get("errors"), scores.get("errors_rounded")
        rows.append((name, found.model.name, found.task["language"], found.task["kind"], weights, *errors, recipe))
    columns = ["name", "network", "trained_on", "task", "weights", "errors", "errors_rounded", "source"]
    return _table_class()(rows, columns=columns)


def languages() -> pd.DataFrame:
    """Return a row a language: name, what it is, where it is from; grammars and automata in files are languages too.

    >>> languages().name[:3].tolist()
    ['1n0n', 'anb2n', 'anbmcnm']
    """
    rows = [(name, *ABOUT_LANGUAGES[name]) for name in language_names()]
    return _table_class()(rows, columns=["name", "what", "source"])


def tasks() -> pd.DataFrame:
    """Return a row a task: name, what kind it is, what is to be said, where it is from."""
    kinds = {name: get_task(name.replace("-N", "-2").replace("-K-M", "-2-3")).kind for name in task_names()}
    rows = [(name, kinds[name], *ABOUT_TASKS[name]) for name in task_names()]
    return _table_class()(rows, columns=["name", "kind", "what", "source"])
