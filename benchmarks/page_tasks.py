"""Tasks on the page, in a browser: how many clicks each takes, and how many pixels have to be scrolled; what is seen.

A choice from a list, a file and a word that is typed count as one click each. What has to be waited for is not counted.
`misread` holds what the step table shows against the Python API.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

import torch
from playwright.sync_api import Locator, Page

import stacklens as sl
from stacklens.extract.by_name import specification_of
from stacklens.models.checkpoint import ZOO, load_network

__all__ = ["BEFORE", "NETWORK", "SEEN", "TASKS", "WORK", "Task", "misread", "performed"]

_FIRM = "marnn-stack-rnn-dyck-2-firm"
NETWORK = "marnn-stack-rnn-dyck-2-drifting"


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
        ("choose #compare > network", f"choose #other-network > {_FIRM}", "click #against-says button"),
        "#table-2 .band.different",
    ),
    Task(_OWN, _SHORT, ("file #upload > nnpda-palindrome.pt",), "#table-1 tr.segments"),
)
WORK = (  # what somebody comes for
    Task(
        "a word of one's own as its paper draws it",
        _SHORT,
        ("type #word > ([()])", "click [data-drawer=figures]"),
        ".figure .main-svg",
    ),
    Task("why a network fails at D2", _SHORT, ("click #chips [data-chip*=rounded]",), "#claim-list details[open] pre"),
    Task(
        "the automaton of one's own file as DOT",
        _SHORT,
        (
            *(
                "file #upload > nnpda-1n0n.pt",
                "wait #automaton-says:has-text('Nothing has been read')",
                "click #extract",
            ),
            *("wait #drawing svg", "click [data-drawer=automaton]", "click [data-save=dot]"),
        ),
        "[data-save=dot]",
    ),
    Task(
        "from a paper's table 2 to a network",
        _SHORT,
        ("click [data-drawer=papers]", "choose #paper > suzgun2019-table2", "click #drawer-dash .ag-cell a"),
        "#chips button",
    ),
    Task("two networks on a word", _WRONG, TASKS[3].acts, "#table-2 .band.different"),
    Task("what a changed step changes", _SHORT, ("click #change",), "#against-says button"),
    Task(
        "a heat map for a paper's column",
        _SHORT,
        (
            *("click [data-drawer=figures]", "choose #figure > stack", "wait .figure .main-svg"),
            *("choose [aria-label='how wide'] > 85", "click [data-kind=svg]"),
        ),
        "[data-kind=svg]",
    ),
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
        ("wait #picture .main-svg", f"pick #network > {_FIRM}", f"pick #network > {NETWORK}"),
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


# ---- What is seen, against the Python API ----

SEEN = {  # networks, and a word of each
    _FIRM: "([]())[([])]",
    NETWORK: "()" + "[()]" * 12 + "()",
    "marnn-stack-rnn-dyck-3": "([{}]{})",
    "stack-rnn-anbn": "aaabbbab",
    "nnpda-palindrome": "abcbb",
    "neural-stack-reversal": "0110####",
}
_MARKS = {"push": "▲", "pop": "▼", "none": "·", "no-op": "·", "replace": "◆"}
_ROWS = """() => Object.fromEntries([...document.querySelectorAll("#table-1 tr")].map((row) => [
    row.querySelector("th").title,
    [...row.querySelectorAll("td[data-step]")].map((one) => [one.textContent, one.className])]))"""


def misread(page: Page, address: str, network: str, word: str, rounded: bool = False) -> list[str]:
    """Return what the step table shows otherwise than the Python API says, nothing where all is the same.

    Held against it are the operation of the first stack, probabilities, answers with their ticks, and the stack's top.
    """
    page.goto(f"{address}/?network={network}&word={quote(word)}&rounded={int(rounded)}")
    page.wait_for_selector("#table-1 .band", state="attached")
    for fold in page.locator("#table-1 [data-fold='p of each symbol']").all():
        fold.click()
    rows = page.evaluate(_ROWS)
    checkpoint = load_network(ZOO / f"{network}.pt")
    model, seen = checkpoint.model, sl.trace(network, word, rounded=rounded, stacks=True)
    steps, wrong = len(rows["symbol"]), list[str]()

    def hold(name: str, expected: list[str], shown: list[str]) -> None:
        wrong.extend(
            f"{network}, {name}, step {step}: {one!r} is shown, and it is {other!r}"
            for step, (one, other) in enumerate(zip(shown, expected, strict=True), 1)
            if one != other
        )

    def texts(name: str) -> list[str]:
        return [text for text, _ in rows[name]]

    def short(number: float) -> str:
        return f"{number:.2f}".replace("0.", ".", 1)

    hold("symbol", list(word), texts("symbol"))
    operation = "operation" if model.n_stacks == 1 else "operation 1"
    strengths = seen.actions[0, :steps, 0]
    if model.action_kind == "softmax":
        hold(operation, [_MARKS[model.operations[int(one.argmax())]] for one in strengths], texts(operation))
    if model.action_kind == "signed":
        marks = ["▲" if one > 0.5 else "▼" if one < -0.5 else "·" for one in strengths[:, 0]]
        hold(operation, marks, texts(operation))
    for number, symbol in enumerate(model.output_alphabet if f"p({model.output_alphabet[0]})" in rows else ()):
        hold(f"p({symbol})", [short(one) for one in seen.output[0, :steps, number]], texts(f"p({symbol})"))
    if seen.cells is not None and "stack top" in rows:
        hold("stack top", [short(one) for one in seen.cells[0, :steps, 0, 0, 0]], texts("stack top"))
    name = next(name for name in ("predicted", "says", "accepts so far") if name in rows)
    if model.task_kind == "next set":
        sets = [
            "".join(s for s, p in zip(model.output_alphabet, one, strict=True) if p > 0.5) for one in seen.output[0]
        ]
        alive = [not rejected for rejected in seen.rejected[0]]
        said = [f"{{{one}}}" if there else "rejects" for one, there in zip(sets, alive, strict=True)]
        hold(name, said, texts(name))
    if model.task_kind == "recognition":
        runs = [sl.trace(network, word[: end + 1], rounded=rounded) for end in range(steps)]
        hold(name, ["yes" if one.verdicts[0] else "no" for one in runs], texts(name))
    specification = specification_of(checkpoint)
    if specification is not None and model.task_kind != "recognition":
        right = specification.answers(model, [word])[0]
        counts = specification.scored([word])
        numbers = seen.model.output_numbers(torch.from_numpy(seen.output[0, :steps])).tolist()
        numbers = [-1 if rejected else number for number, rejected in zip(numbers, seen.rejected[0], strict=True)]
        asked = [True] * steps if counts is None else counts[0]
        ticks = [
            "wr"[int(one == other)] if there else "" for one, other, there in zip(numbers, right, asked, strict=True)
        ]
        hold(f"ticks of {name}", ticks, [mark[:1] if mark[:1] in ("w", "r") else "" for _, mark in rows[name]])
    return wrong
