"""What a page shows, as a value, and as the part of an address after `?`, so that a link shows the same again."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from urllib.parse import parse_qsl, urlencode

__all__ = ["PAGE_NAMES", "View", "address_of", "view_of"]

PAGE_NAMES = ("probe", "automaton", "trust", "papers")


@dataclass(frozen=True)
class View:
    """What is shown.

    Attributes:
        page: one of `PAGE_NAMES`.
        network: the name of a network, see `networks`.
        word: the word as it is typed; None for one that suits the network.
        rounded: whether the rounded network is shown.
        figure: which figure of the Probe page, one of `figures.FIGURES`.
        step: the current step, from 1.
    """

    page: str = "probe"
    network: str = "marnn-stack-rnn-dyck-2"
    word: str | None = None
    rounded: bool = False
    figure: str = "paper"
    step: int = 1


def view_of(search: str | None) -> View:
    """Return the view that an address's ``search`` part asks for; what it leaves out or garbles is as by default.

    >>> view_of("?network=nnpda-1n0n&word=10&step=2&rounded=1")
    View(page='probe', network='nnpda-1n0n', word='10', rounded=True, figure='paper', step=2)
    """
    asked = dict(parse_qsl((search or "").removeprefix("?"), keep_blank_values=True))
    page, step = asked.get("page", View.page), asked.get("step", "")
    return View(
        page=page if page in PAGE_NAMES else View.page,
        network=asked.get("network", View.network),
        word=asked.get("word"),
        rounded=asked.get("rounded") == "1",
        figure=asked.get("figure", View.figure),
        step=int(step) if step.isascii() and step.isdigit() and 0 < len(step) < 7 else 1,
    )


def address_of(view: View) -> str:
    """Return the address's search part for ``view``; what is as by default is left out.

    >>> address_of(View(page="trust", word="a b"))
    '?page=trust&word=a+b'
    """
    values = {name: value for name, value in asdict(view).items() if value != getattr(View, name)}
    if view.rounded:
        values["rounded"] = "1"
    return f"?{urlencode(values)}" if values else ""
