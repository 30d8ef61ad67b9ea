"""Draw binary addition as Joulin & Mikolov 2015 do: figure 2, right, and figure 3: docs/joulin2015-*.svg.

    python docs/addition.py [--results FOLDER] [NETWORK [WORD]]

Figure 2 is of what `stacklens papers run joulin2015-fig2 --rows "Stack RNN, addition" --protocol paper` measured, every
network apart. Figure 3 shows what each stack of NETWORK, rounded, does on additions, and what its top then holds; how
many additions the network gets right by their place in a stream is printed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import plotly.graph_objects as go

import stacklens as sl
from stacklens.core.errors import StacklensError
from stacklens.languages.streams import Addition
from stacklens.models.checkpoint import load_checkpoint
from stacklens.models.rounding import Rounded
from stacklens.papers.grid import RowResult, read_grid
from stacklens.papers.joulin2015 import figure2
from stacklens.viz.figures import draw
from stacklens.viz.report import picture
from stacklens.viz.style import CATEGORIES, themed

HERE = Path(__file__).parent
RESULTS = HERE.parent / "papers" / "results"
ROW = "Stack RNN, addition"
WORD = "1+1=01.1101+11=00001.1"  # the second of a stream: the first is read with empty stacks
_STREAMS, _PIECES = 60, 10  # stacks are emptied after so many pieces, in training and in the test
_SIZES = (4, 10, 20, 30, 59)
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star", "cross")


def draw_curves(folder: Path) -> None:
    """Write the accuracy of every network over n."""
    grid = figure2()
    results = read_grid(grid.name, folder)
    runs = () if results is None else results.runs(ROW)
    done = next((run for run in runs if run.protocol == "paper"), None)
    if done is None:
        raise StacklensError(f"{folder}: no results of {ROW!r} by the protocol paper")
    write("fig2-addition", restarts_figure(done))


def restarts_figure(done: RowResult) -> go.Figure:
    """Return the accuracy of every network of one row over n, and the mean of those that would not be restarted.

    Joulin & Mikolov 2015 restart the seeds whose entropy on validation is above the average (figure 2 and the authors'
    scripts). Networks without an entropy are taken by their score "validation".
    """
    networks = [network.scores for network in done.networks]
    surprises = np.array([scores.get("entropy", -scores.get("validation", 0.0)) for scores in networks])
    stays = surprises <= surprises.mean()
    sizes = sorted(int(name[4:]) for name in networks[0] if name.startswith("n = ") and name[4:].isdigit())
    curves = np.array([[scores[f"n = {size}"] for size in sizes] for scores in networks])  # (networks, sizes)
    lines = []
    for number, (network, curve) in enumerate(zip(done.networks, curves, strict=True)):
        name = f"seed {network.seed}" + ("" if stays[number] else ", would be restarted")
        line = {"color": CATEGORIES[number], "dash": "solid" if stays[number] else "dot", "width": 2}
        lines.append(_line(name, sizes, curve, line, {"symbol": _SYMBOLS[number], "size": 6}))
    thick = {"color": "#1B1F24", "dash": "solid", "width": 5}
    lines.append(_line("mean of those that stay", sizes, curves[stays].mean(0), thick, {"symbol": "circle", "size": 1}))
    figure = go.Figure(lines)
    figure.update_xaxes(title={"text": "n"}, rangemode="tozero")
    figure.update_yaxes(range=[-0.05, 1.08], tickformat=".0%")
    title = f"Joulin & Mikolov 2015: {done.name}, strings of size n that are predicted"
    figure.update_layout(
        title={"text": title, "x": 0, "xref": "paper", "font": {"size": 15}},
        height=420,
        margin={"l": 60, "r": 20, "t": 60, "b": 120},
        legend={"orientation": "h", "x": 0, "y": -0.22, "yanchor": "top"},
    )
    return themed(figure)


def _line(name: str, sizes: list[int], curve: np.ndarray, line: object, marker: object) -> go.Scatter:
    hover = "n = %{x}<br>%{y:.1%}<extra>" + name + "</extra>"
    y = curve.tolist()
    return go.Scatter(x=sizes, y=y, mode="lines+markers", name=name, line=line, marker=marker, hovertemplate=hover)


def draw_trace(network: Path, word: str) -> None:
    """Write what the stacks of a network do on ``word``."""
    rounded = Rounded(load_checkpoint(network).model)
    write("fig3", draw("operations", rounded, sl.trace(rounded, [word], stacks=True)))


def tell_places(network: Path) -> None:
    """Print which share of additions a network gets right: of the first of a stream, and of the later ones."""
    model, task, rng = load_checkpoint(network).model, Addition(), np.random.default_rng(0)
    for size in _SIZES:
        streams = [[task.piece(size, rng) for _ in range(_PIECES)] for _ in range(_STREAMS)]
        for name, net in (("soft", model), ("rounded", Rounded(model))):
            said = sl.trace(net, ["".join(stream) for stream in streams]).output.argmax(-1)
            right = np.array(
                [_right(stream, row, model.output_alphabet) for stream, row in zip(streams, said, strict=True)]
            )
            print(f"n = {size}, {name}: first {right[:, 0].mean():.2f}, later {right[:, 1:].mean():.2f}")


def _right(pieces: list[str], said: np.ndarray, letters: tuple[str, ...]) -> list[bool]:
    """Return of each piece whether every symbol of the result was predicted."""
    text, end, found = "".join(pieces), 0, []
    for piece in pieces:
        begin, end = end + piece.index("="), end + len(piece)
        found.append(all(letters[said[place]] == text[place + 1] for place in range(begin, end - 1)))
    return found


def write(name: str, figure: object) -> None:
    """Write a figure beside this file."""
    path = HERE / f"joulin2015-{name}.svg"
    path.write_bytes(picture(figure, "svg", f"Joulin & Mikolov 2015: {name}"))  # type: ignore[arg-type]
    print(f"wrote docs/{path.name}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("network", type=Path, nargs="?")
    parser.add_argument("word", nargs="?", default=WORD)
    asked = parser.parse_args()
    draw_curves(asked.results)
    if asked.network is not None:
        draw_trace(asked.network, asked.word)
        tell_places(asked.network)
