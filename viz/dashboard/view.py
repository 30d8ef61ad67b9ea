"""What is shown, as a value, and as the part of an address after `?`, so that a link shows the same again."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from urllib.parse import parse_qsl, urlencode

__all__ = ["DRAWERS", "FORMER", "View", "address_of", "view_of"]

DRAWERS = (
    "",
    "networks",
    "checks",
    "words",
    "accuracy",
    "automaton",
    "causes",
    "figures",
    "papers",
    "extract",
    "sweep",
)
FORMER = {"trust": "checks", "papers": "papers", "automaton": "", "probe": ""}  # pages of earlier links


@dataclass(frozen=True)
class View:
    """What is shown.

    Attributes:
        network: the name of a network, see `networks`.
        word: the word as it is typed; None for one that suits the network.
        rounded: whether the rounded network is shown.
        figure: which figure, one of `figures.FIGURES`.
        step: the current step, from 1.
        drawer: which drawer is open, one of `DRAWERS`.
    """

    network: str = "marnn-stack-rnn-dyck-2"
    word: str | None = None
    rounded: bool = False
    figure: str = "paper"
    step: int = 1
    drawer: str = ""


def view_of(search: str | None) -> View:
    """Return the view that an address's ``search`` part asks for; what it leaves out or garbles is as by default.

    >>> view_of("?network=nnpda-1n0n&word=10&step=2&rounded=1")
    View(network='nnpda-1n0n', word='10', rounded=True, figure='paper', step=2, drawer='')
    """
    asked = dict(parse_qsl((search or "").removeprefix("?"), keep_blank_values=True))
    drawer, step = asked.get("drawer", FORMER.get(asked.get("page", ""), "")), asked.get("step", "")
    return View(
        network=asked.get("network", View.network),
        word=asked.get("word"),
        rounded=asked.get("rounded") == "1",
        figure=asked.get("figure", View.figure),
        step=int(step) if step.isascii() and step.isdigit() and 0 < len(step) < 7 else 1,
        drawer=drawer if drawer in DRAWERS else View.drawer,
    )


def address_of(view: View) -> str:
    """Return the address's search part for ``view``; what is as by default is left out.

    >>> address_of(View(drawer="checks", word="a b"))
    '?word=a+b&drawer=checks'
    """
    values = {name: value for name, value in asdict(view).items() if value != getattr(View, name)}
    if view.rounded:
        values["rounded"] = "1"
    return f"?{urlencode(values)}" if values else ""
