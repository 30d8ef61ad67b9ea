"""What long regular words show of the networks that come with stacklens, and what training takes away of it.

Point by point the same: a network as the papers train it, and one trained with noise (`--noise-robust`), on words that
repeat a block and on random words of the same length and depth (`long_words`).
"""

from __future__ import annotations

from functools import partial
from typing import Any

from stacklens.papers.claims import Experiment, Finding, PaperClaim

__all__ = ["BLOCKS", "repeated_blocks"]

_PAPER = "Suzgun et al. 2019"
_REPORTED = "not reported: the test is on random words of up to 100 symbols"

# file of the zoo: what it is
BLOCKS = {
    "marnn-stack-rnn-dyck-2": "Stack-RNN, D2",
    "marnn-stack-rnn-dyck-2-firm": "Stack-RNN, D2, trained with noise",
    "marnn-stack-lstm-dyck-2": "Stack-LSTM, D2",
    "marnn-stack-lstm-dyck-2-noise-robust": "Stack-LSTM, D2, trained with noise",
    "baby-ntm-dyck-2": "Baby-NTM, D2",
    "marnn-stack-rnn-dyck-3": "Stack-RNN, D3",
    "marnn-stack-rnn-dyck-3-noise-robust": "Stack-RNN, D3, trained with noise",
}


def repeated_blocks() -> Experiment:
    """Return the experiment: a claim for each network of `BLOCKS`."""
    claims = tuple(PaperClaim("5", what, _REPORTED, partial(_measure, name)) for name, what in BLOCKS.items())
    title = "words that repeat a block, beside random words of the same length and depth, on networks of the zoo"
    return Experiment("suzgun2019-repeated-blocks", _PAPER, title, claims, (1_993,))


def _measure(name: str) -> Finding:
    from stacklens.models.io import ZOO, load_checkpoint
    from stacklens.papers.network_measures import measures_of

    checkpoint = load_checkpoint(ZOO / f"{name}.pt")
    measures = measures_of(checkpoint.model, checkpoint.task["language"])
    assert measures is not None, "these are networks with a memory, and their tasks have such words"
    long = measures["long words"]
    told = [f"{net}: {_told(long, net, 'pumped')}; {_told(long, net, 'control')}" for net in _NETWORKS]
    return Finding(" – ".join(told), {"network": name, **measures})


_NETWORKS = ("network", "rounded network")
_KINDS = {"pumped": "repeated", "control": "random"}


def _told(long: dict[str, Any], net: str, kind: str) -> str:
    own = long[net][kind]
    shares = " / ".join(f"{100 * share:.0f}" for share in own["accuracy"])
    first = "none wrong" if own["horizon"] is None else f"first wrong after {own['horizon']}"
    lengths = " / ".join(map(str, long["lengths"]))
    return (
        f"{_KINDS[kind]} {shares} % at {lengths} symbols, {first}"
        if kind == "pumped"
        else f"{_KINDS[kind]} {shares} %, {first}"
    )
