"""What the Probe page shows of a view: the figure, the verdicts, and every step in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.errors import StacklensError
from stacklens.languages.words import parse_word
from stacklens.models.base import StackModel
from stacklens.models.machine import one_thread
from stacklens.models.rounding import Rounded
from stacklens.probe.trace import Trace, trace
from stacklens.viz.dashboard.networks import load
from stacklens.viz.dashboard.view import View
from stacklens.viz.figures import draw, paper_figure
from stacklens.viz.style import sentence, themed
from stacklens.viz.tables import step_table
from stacklens.viz.titles import verdict_of
from stacklens.viz.tracks import true_depths
from stacklens.viz.truth import true_automaton

__all__ = ["LONGEST", "Probed", "probed", "python_line", "read_word"]

LONGEST = 10_000  # symbols of a word
_SEGMENTS = 200  # symbols up to which a note lists what a continuous stack holds: there are as many again in each
_NOTES = 12  # columns of a step that are told in words; hidden vectors have more


@dataclass(frozen=True)
class Probed:
    """What there is to see.

    Attributes:
        figure: the figure, with a band over the current step where it runs over steps.
        verdicts: who says what of the word, and whether it is a yes.
        letters: what every step reads.
        notes: what happens at every step, in one line.
        problem: what is wrong with the view, one sentence, or None.
    """

    figure: go.Figure
    verdicts: tuple[tuple[str, str, bool], ...] = ()
    letters: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    problem: str | None = None


def probed(view: View, theme: str = "light") -> Probed:
    """Return what the page shows of ``view``; where something is wrong with it, a figure that says so."""
    try:
        with one_thread():
            return _probed(view, theme)
    except StacklensError as error:
        return Probed(themed(sentence(f"Nothing to draw: {error}."), theme), problem=f"{error}.")


def read_word(text: str, model: StackModel[Any]) -> Word:
    """Return the word that was typed for ``model``.

    Raises:
        StacklensError: it is too long for the page, or has symbols that the network does not read.
    """
    if len(text) > LONGEST:
        raise StacklensError(f"this word has {len(text):,} characters; expected at most {LONGEST:,}")
    return parse_word(text, model.alphabet)


def _probed(view: View, theme: str) -> Probed:
    checkpoint = load(view.network)
    word = read_word(view.word or "", checkpoint.model)
    networks: tuple[StackModel[Any], ...] = (checkpoint.model, Rounded(checkpoint.model))
    keep = len(word) <= _SEGMENTS or not checkpoint.model.pushes_input
    traces = [trace(one, [word], stacks=keep and number == view.rounded) for number, one in enumerate(networks)]
    network, seen = networks[view.rounded], traces[view.rounded]
    truth = true_automaton(checkpoint, word)
    verdicts = [
        (who, verdict_of(network, one), bool(one.verdicts[0]))
        for who, network, one in zip(("network", "rounded network"), networks, traces, strict=True)
    ]
    if truth is not None and checkpoint.model.task_kind in ("recognition", "next set"):
        member = truth.accepts(word)
        verdicts.append(("language", "a member" if member else "not a member", member))
    figure = themed(_figure(view.figure, network, seen, truth, word), theme)
    if view.figure != "map" and figure.data:
        _add_band(figure, min(view.step, int(seen.steps[0])))
    letters = tuple(seen.letters[number] for number in seen.symbols[0, : seen.steps[0]])
    return Probed(figure, tuple(verdicts), letters, _notes(network, seen))


def _figure(name: str, network: StackModel[Any], seen: Trace, truth: PushdownAutomaton | None, word: Word) -> go.Figure:
    if name != "paper":
        return draw(name, network, seen)
    return paper_figure(network, seen, depths=None if truth is None else true_depths(truth, word))


def _add_band(figure: go.Figure, step: int) -> None:
    """Add the band over the current step, which the page's own program moves; it is the figure's first shape."""
    edge = {"color": "#E6007E", "width": 2}
    figure.add_shape(
        type="rect", xref="x", yref="paper", x0=step - 0.5, x1=step + 0.5, y0=0, y1=1, line=edge, layer="above"
    )


def _notes(network: StackModel[Any], seen: Trace) -> tuple[str, ...]:
    """Return what happens at each step, its state left out where that is long."""
    frame = step_table(network, seen)
    if frame.empty:
        return ()
    if seen.hidden.shape[-1] > _NOTES:
        frame = frame.drop(columns="state")
    shown = [name for name in frame.columns if name not in ("step", "symbol", "rejected")]
    return tuple(
        f"step {row['step']} reads {row['symbol']}"
        + "".join(f" · {name} {row[name]}" for name in shown if row[name] != "")
        + (" · rejected" if row["rejected"] else "")
        for row in frame.to_dict("records")
    )


def python_line(view: View) -> str:
    """Return the Python lines that make the figure of ``view``."""
    lines = [
        "from stacklens.languages.words import parse_word",
        "from stacklens.models.checkpoint import load_model",
        *(["from stacklens.models.rounding import Rounded"] if view.rounded else []),
        "from stacklens.probe.trace import trace",
        "from stacklens.viz.figures import draw",
        "",
        f'network = load_model("models/zoo/{view.network}.pt")',
        *(["network = Rounded(network)"] if view.rounded else []),
        f"word = parse_word({view.word or ''!r}, network.alphabet)",
        f"draw({view.figure!r}, network, trace(network, [word], stacks=True)).show()",
    ]
    return "\n".join(lines)
