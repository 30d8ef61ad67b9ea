"""Draw what two papers show of single words, from networks of ours: figures 5 and 6 of Hao et al. 2018, 3 and 4 of
Suzgun et al. 2019; and, from papers/results, how accuracy goes along the training on D6.

    python docs/paper_pictures.py [NAME ...]

With names (hao2018-fig5-linear, …) only these are drawn. Where the zoo has no such network, the network of the paper's
table is trained anew, from the seed that is given here; all of it takes about two minutes of processor time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from stacklens.core.errors import UnknownNameError
from stacklens.models.base import StackModel
from stacklens.models.checkpoint import ZOO, load_checkpoint
from stacklens.papers.grid import RunSettings
from stacklens.papers.hao2018 import trained_networks
from stacklens.papers.results import read_results
from stacklens.papers.suzgun2019 import TRACES_NAME, table_of_models
from stacklens.probe.trace import trace
from stacklens.viz.figures import paper_figure
from stacklens.viz.papers import traces_figure
from stacklens.viz.report import picture

FOLDER = Path(__file__).parent


def _zoo(name: str) -> StackModel[Any]:
    return load_checkpoint(ZOO / f"{name}.pt").model


def _of_hao(row: str, seed: int) -> StackModel[Any]:
    """Return the network of a row of table 1, or of reversal with excluded symbols, that was drawn from ``seed``."""
    model = trained_networks(row)[seed].model  # the ten are trained side by side, as for the table
    assert model is not None
    return model


def _of_suzgun(table: int, row: str, seed: int) -> StackModel[Any]:
    (found,) = table_of_models(table).chosen_rows([row])
    model = found.train(RunSettings((seed,)))[0].model
    assert model is not None
    return model


# picture: the network, the word, and what the title says of the network
PICTURES: dict[str, tuple[Callable[[], StackModel[Any]], str, str]] = {
    "hao2018-fig5-linear": (partial(_of_hao, "Reversal, linear", 0), "11010001########", "linear controller, seed 0"),
    "hao2018-fig5-excluded": (
        partial(_of_hao, "Reversal with excluded, linear", 1),
        "1203310201######",
        "linear controller, 2 and 3 are excluded, seed 1",
    ),
    "hao2018-fig5-lstm": (partial(_of_hao, "Reversal, LSTM", 2), "11010001########", "LSTM controller, seed 2"),
    "hao2018-fig6-delayed-xor": (partial(_of_hao, "Delayed XOR, linear", 0), "110100111001", "delayed XOR, seed 0"),
    "hao2018-fig6-parentheses": (
        partial(_of_hao, "Parenthesis, linear", 1),
        "([()[[]]])(())",
        "parenthesis prediction, linear controller, seed 1, which never pops",
    ),
    "hao2018-fig6-parentheses-popped": (
        partial(_of_hao, "Parenthesis, linear", 0),
        "([()[[]]])(())",
        "parenthesis prediction, linear controller, seed 0, which pops",
    ),
    "suzgun2019-fig3": (partial(_zoo, "baby-ntm-dyck-2-drifting"), "([([])])[()]([])", "Baby-NTM on D2, of the zoo"),
    "suzgun2019-fig4": (
        partial(_of_suzgun, 3, "Baby-NTM+Softmax", 1),
        "([{}([])]{[()]})[{}(){[]}]({[]})",
        "Baby-NTM+Softmax on D3, seed 1",
    ),
}

CURVES = (TRACES_NAME,)  # experiments whose results are drawn


def draw(name: str) -> bytes:
    """Return the picture called ``name`` as SVG.

    Raises:
        UnknownNameError: there is no such picture.
        StacklensError: there are no results to draw, or no Chrome or Chromium to draw it.
    """
    if name in CURVES:
        return picture(traces_figure(read_results(name)), "svg", name)
    if name not in PICTURES:
        raise UnknownNameError("picture", name, [*PICTURES, *CURVES])
    make, word, told = PICTURES[name]
    model = make()
    figure = paper_figure(model, trace(model, [word], stacks=True))
    paper, number = name.split("-")[:2]
    figure.update_layout(title={"text": f"After {paper}, figure {number.removeprefix('fig')}: {told}"})
    return picture(figure, "svg", name)


if __name__ == "__main__":
    for one in sys.argv[1:] or (*PICTURES, *CURVES):
        content = draw(one)
        (FOLDER / f"{one}.svg").write_bytes(content)
        print(f"wrote docs/{one}.svg")
