"""The tables of the public face: the networks that come along, the languages and the tasks."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["languages", "tasks", "zoo"]


@cache
def _table() -> type[pd.DataFrame]:
    """Return the class of tables that are shown whole; it is made late, since pandas is slow to import."""
    import pandas as pd

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
    from stacklens.models.io import load_network, zoo_names

    rows = []
    for name in zoo_names():
        found = load_network(name)
        scores = found.provenance.get("scores", {})
        rows.append(
            {
                "name": name,
                "network": found.model.name,
                "trained_on": found.task["language"],
                "task": found.task["kind"],
                "weights": sum(parameter.numel() for parameter in found.model.parameters()),
                "errors": scores.get("errors"),
                "errors_rounded": scores.get("errors_rounded"),
                "source": found.provenance.get("recipe"),
            }
        )
    return _table()(rows)


def languages() -> pd.DataFrame:
    """Return a row a language: name, what it is, where it is from; grammars and automata in files are languages too.

    >>> languages().name[:3].tolist()
    ['1n0n', 'anb2n', 'anbmcnm']
    """
    from stacklens.languages.catalogue import ABOUT_LANGUAGES, language_names

    return _table()([(name, *ABOUT_LANGUAGES[name]) for name in language_names()], columns=["name", "what", "source"])


def tasks() -> pd.DataFrame:
    """Return a row a task: name, what kind it is, what is to be said, where it is from."""
    from stacklens.languages.catalogue import ABOUT_TASKS, get_task, task_names

    kinds = {name: get_task(name.replace("-N", "-2").replace("-K-M", "-2-3")).kind for name in task_names()}
    rows = [(name, kinds[name], *ABOUT_TASKS[name]) for name in task_names()]
    return _table()(rows, columns=["name", "kind", "what", "source"])
