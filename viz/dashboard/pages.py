"""The four pages by name: what each is called, what it looks like and how it is brought to life."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dash import Dash, html

from stacklens.viz.dashboard import automaton_page, papers_page, probe_page, trust_page

__all__ = ["PAGES", "Page"]


@dataclass(frozen=True)
class Page:
    """One page.

    Attributes:
        title: what the button to it says.
        layout: makes its section, when it is visited for the first time.
        register: gives the application its callbacks; they answer nothing while another page is shown.
    """

    title: str
    layout: Callable[[], html.Section]
    register: Callable[[Dash], None]


PAGES = {
    "probe": Page("Probe", probe_page.layout, probe_page.register),
    "automaton": Page("Automaton", automaton_page.layout, automaton_page.register),
    "trust": Page("Trust", trust_page.layout, trust_page.register),
    "papers": Page("Papers", papers_page.layout, papers_page.register),
}
