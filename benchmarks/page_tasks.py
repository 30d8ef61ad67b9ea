"""Five tasks on the page, in a browser: how many clicks each takes, and how many pixels have to be scrolled.

A choice from a list, a file and a word that is typed count as one click each. What has to be waited for is not counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from playwright.sync_api import Locator, Page

from stacklens.models.checkpoint import ZOO

__all__ = ["BEFORE", "NETWORK", "TASKS", "Task", "performed"]

NETWORK = "marnn-stack-rnn-dyck-2"


@dataclass(frozen=True)
class Task:
    """One task, from an opened page to what it is about.

    Attributes:
        name: what somebody wants.
        word: the word that the page is opened with.
        acts: what is done, each "click PLACE", "choose PLACE > VALUE", "file PLACE > NETWORK of the zoo",
            "type PLACE > WORD", "pick PLACE > TEXT" of a list that opens, "wait PLACE", "scroll PLACE > PIXELS".
        seen: what is in view in the end.
    """

    name: str
    word: str
    acts: tuple[str, ...]
    seen: str

    @property
    def search(self) -> str:
        """Return the part of the address after `/`."""
        return f"?network={NETWORK}&word={quote(self.word)}"


_WRONG, _SHORT, _FIRST_DIFFERENCE = "([])" * 24, "([])", "()" + "[()]" * 11
_WHY, _RUN, _CLAIM, _TWO, _OWN = (
    "see why a network is wrong on a word",
    "see the automaton run",
    "check what is claimed",
    "compare two networks",
    "open a file of one's own",
)
TASKS = (
    Task(_WHY, _WRONG, ("click #next-wrong",), "#table-1 td.w"),
    Task(_RUN, _SHORT, ("click #play",), "#drawing .state.lit"),
    Task(_CLAIM, _SHORT, ("click #claim-list li:has-text('against the rounded') a",), "#sentence button"),
    Task(
        _TWO,
        _WRONG,
        ("choose #compare > network", f"choose #other-network > {NETWORK}-firm", "click #against-says button"),
        "#table-2 .band.different",
    ),
    Task(_OWN, _SHORT, ("file #upload > nnpda-palindrome.pt",), "#table-1 tr.segments"),
)
BEFORE = (  # on the page of commit 394faa2, the last one before the workbench
    Task(_WHY, _WRONG, ("click text=table of predictions", "scroll .ag-body-viewport > 3400"), "[row-index='87']"),
    Task(
        _RUN,
        _SHORT,
        ("click nav >> text=Automaton", "click #automaton-extract", "wait #automaton-drawing svg", "click #play"),
        "#automaton-drawing svg",
    ),
    Task(  # the word stands in a sentence, from which it has to be typed
        _CLAIM,
        _SHORT,
        (
            *("click nav >> text=Automaton", "click #automaton-extract", "wait text=first known to differ"),
            f"type #word > {_FIRST_DIFFERENCE}",
        ),
        "text=rounded network:",
    ),
    Task(  # one after the other: they never stand side by side
        _TWO,
        _WRONG,
        ("wait #picture .main-svg", f"pick #network > {NETWORK}-firm", f"pick #network > {NETWORK}"),
        "#picture .main-svg",
    ),
    Task(
        _OWN,
        _SHORT,
        ("file input[type=file] > nnpda-palindrome.pt", "wait #picture >> text=nnpda on"),
        "#picture .main-svg",
    ),
)

# Brings something into view and says how far everything around it has been scrolled for that.
_REACH = """place => {
  const around = [];
  for (let one = place; one; one = one.parentElement) around.push([one, one.scrollTop]);
  const box = place.getBoundingClientRect(), tall = box.height > 600;
  if (!tall || box.top < 0 || box.top + 200 > innerHeight) place.scrollIntoView({ block: tall ? "start" : "nearest" });
  return around.reduce((sum, [one, before]) => sum + Math.abs(one.scrollTop - before), 0);
}"""


def performed(page: Page, task: Task) -> tuple[int, int]:
    """Return how many clicks ``task`` takes on ``page``, which is open, and how many pixels are scrolled."""
    clicks, scrolled = 0, 0
    for act in task.acts:
        what, _, rest = act.partition(" ")
        where, _, value = rest.partition(" > ")
        place = page.locator(where).first
        if what == "wait":
            place.wait_for(state="visible", timeout=300_000)
            continue
        if what == "scroll":
            place.wait_for(state="visible")
            place.evaluate("(one, pixels) => one.scrollBy(0, pixels)", int(value))
            scrolled += int(value)
            continue
        clicks += 1
        if what == "file":
            place.set_input_files(ZOO / value)
            continue
        scrolled += _reached(place)
        _act(page, what, place, value)
    seen = page.locator(task.seen).first
    return clicks, scrolled + _reached(seen)


def _act(page: Page, what: str, place: Locator, value: str) -> None:
    if what == "click":
        place.click()
    elif what == "choose":
        place.select_option(value)
    elif what == "type":
        place.fill(value)
        place.press("Enter")
    elif what == "pick":
        place.click()
        page.locator(".dash-dropdown-content, [role=listbox]").get_by_text(value, exact=True).first.click()
        page.wait_for_timeout(1_500)


def _reached(place: Locator) -> int:
    place.wait_for(state="visible")
    place.page.wait_for_timeout(500)  # what stands over it settles
    return round(float(place.evaluate(_REACH)))
