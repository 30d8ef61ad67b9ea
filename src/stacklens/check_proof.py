"""A checker of proof files: does the network in NET.pt do what the automaton in PROOF.json does, on all words?

    python -m stacklens.check_proof NET.pt PROOF.json      or, alone:      python check_proof.py NET.pt PROOF.json

Exit status 0: proved; 1: refused, and why; 2: a file cannot be read. Written from the mathematics: it imports numpy and
the standard library only, and believes nothing that the proof file says.

Certificate. Words run through a *rounded* network, which takes its likeliest action wholly. The file names boxes, of
hidden vectors and of values on each stack. By induction over the length of words all runs stay in them:
  O1  the start lies in its box;
  O2  at every head (state, box, cells on top) that runs can show and for every letter, all that the controller may
      compute from these boxes, its sums in any order and with any rounding, decides with the claimed margin what the
      automaton says: operations, output, rejection, verdict;
  O3  what is computed there lies in boxes of the file, by which the next heads are named (see `runs`);
  O4  number format, stack limit and gap are as claimed. With a gap that makes soft actions exactly 0 or 1 the network
      *itself* is the rounded one. Where only some words count, O5 shows that these are all that the task reads.
Equality. The automaton and the language's own read words side by side. The file has the relation of the heads that they
show together: both states, what lies above the common height, whether the last outputs accept, and both tops.
  O5  It holds the start and all that a letter leads to, and nowhere in it do outputs, cuts or verdicts differ.
"""

import hashlib
import json
import pickle
import sys
import zipfile
from collections import OrderedDict, defaultdict
from itertools import compress, product
from types import SimpleNamespace
from typing import Any

import numpy as np

Box = np.ndarray  # (2, n): the least and the most that each of n numbers may be
Layer = np.ndarray  # (2, m, n): weights, the last column biases, and the sizes of all products that sum up to them


class Refused(Exception):  # noqa: N818
    """An obligation is not met."""


def need(met: object, why: str, kind: type[Exception] = Refused) -> None:
    """Refuse unless an obligation is met."""
    if not met:
        raise kind(why)


def frozen(value: Any) -> Any:
    """Return ``value`` with tuples for lists."""
    return tuple(map(frozen, value)) if isinstance(value, list) else value


# ---- NET.pt: a zip of a pickle and of the bytes of tensors. Nothing is called but what is named here.

KINDS = {"Double": "<f8", "Float": "<f4", "Half": "<f2", "BFloat16": "<u2", "Long": "<i8", "Byte": "<u1"}
KNOWN: dict[str, Any] = {f"torch.{kind}Storage": code for kind, code in KINDS.items()}
KNOWN |= {"collections.OrderedDict": OrderedDict, "torch._utils._rebuild_tensor_v2": lambda *parts: parts[:4]}


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        need(f"{module}.{name}" in KNOWN, f"it holds {module}.{name}, which could run code", ValueError)
        return KNOWN[f"{module}.{name}"]


def read_network(path: str) -> tuple[Any, dict[str, np.ndarray], str]:
    """Return what a checkpoint holds, its weights, and their digest."""
    with zipfile.ZipFile(path) as archive:
        packed = any(member.compress_type for member in archive.infolist())
        need(not packed and archive.testzip() is None, "it is packed or damaged", ValueError)
        root = archive.namelist()[0].partition("/")[0]
        reader = _Reader(archive.open(f"{root}/data.pkl"))
        reader.persistent_load = lambda pid: (pid[1], archive.read(f"{root}/data/{pid[2]}"))  # type: ignore[method-assign]
        content = reader.load()
    need(content["format"] == "stacklens", "it is no checkpoint of stacklens; sl.load opens others", ValueError)
    weights, digest = {}, hashlib.sha256()
    for name, ((kind, data), offset, shape, strides) in sorted(content["state_dict"].items()):
        flat = np.frombuffer(data, kind)[offset:]
        stored = min(offset, *shape, *strides) >= 0 and np.dot(np.subtract(shape, 1), strides) < len(flat)
        need(stored, f"{name} is larger than what is stored of it", ValueError)
        weights[name] = np.lib.stride_tricks.as_strided(flat, shape, [s * flat.itemsize for s in strides]).copy()
        digest.update(f"{name} torch.{weights[name].dtype} {tuple(shape)}".encode() + weights[name].tobytes())
    return content, weights, digest.hexdigest()


# ---- Networks: what they may compute from boxes, in boxes that hold its rounding errors and ours.

# half the distance from 1 to the next number, the smallest normal number, up to which all whole numbers are there, from
# which gap on exp(-gap) is 0 and 1 / (1 + exp(-gap)) is 1, with room to spare, and from which on at least the latter
FORMATS = {"float64": (2.0**-53, 2.0**-1022, 2**53, 760.0, 48.0), "float32": (2.0**-24, 2.0**-126, 2**24, 112.0, 24.0)}
LARGEST_WEIGHT, LARGEST_VALUE = 2.0**40, 2.0**20  # no sum of products of these is larger than float32 can hold
NONE, POP, PUSH = (False, False), (True, False), (False, True)  # an operation: whether it pops, whether it pushes then


def layer(*columns: Any, sizes: Any = None, more: int = 0) -> Layer:
    """Return the layer of columns side by side, biases last, which are single products unless ``sizes`` are given.

    ``more`` roundings than columns count as larger sizes: (n + m + 1) u / (1 - n u) is above what n + m ones add up to.
    """
    two = [np.concatenate([x.reshape(len(x), -1) for x in part], 1) for part in (columns, sizes or map(abs, columns))]
    two[1] = two[1] * (1 + bool(more) * (more + 1) / two[1].shape[1])
    return np.stack(two)


def over(box: Box) -> tuple[Any, float]:
    """Return which numbers are above 1/2, and the margin with which that is sure."""
    over, under = box[0] - 0.5, 0.5 - box[1]
    return tuple((over >= under).tolist()), float(np.maximum(over, under).min())


class Net:
    """A network: its configuration c, `start`, what an `empty` cell reads as, the `limit` of cells, and its answers."""

    first: Layer | None = None  # of units that see letter, hidden vector and reading
    heads: Any = ()  # layers of actions, pushed values and outputs, which see the units
    squash, warmth, recurrent = "", 1.0, True

    def __init__(self, content: Any, weights: dict[str, np.ndarray]) -> None:
        self.model, (self.format,) = content["model"], {value.dtype.name for value in weights.values()}
        need(self.model in MADE_BY, f"a {self.model} is not known here; known are {', '.join(MADE_BY)}")
        need(self.format in FORMATS, f"weights in {self.format}; only {' and '.join(FORMATS)} are known here")
        make, task, fields = MADE_BY[self.model]
        strange = set(content["config"]) - {"alphabet", *fields.split()}
        need(not strange, f"what {strange} mean for a network is not known here")
        self.c = c = SimpleNamespace(**{**PLAIN, **content["config"]})
        left = {name: value.astype(np.float64) for name, value in weights.items()}  # exact
        self.unit, self.least, self.whole, self.exact, self.signed = FORMATS[self.format]
        small = [(abs(v) <= LARGEST_WEIGHT).all() and (v[:1].size + 9) ** 2 * self.unit < 1 / 4 for v in left.values()]
        need(all(small), "a weight or a layer is too large")
        self.weight, self.task, self.outputs = left.pop, task or c.task_kind, c.output_alphabet or c.alphabet
        need(task or self.task in ("next set", "transduction"), f"a {self.model} is not for {self.task}")
        self.letters = [*c.alphabet, *([c.end] if c.end else [])]
        self.k = len(self.letters)
        self.start, self.empty, self.limit = make(self)
        rows = [c.n_stacks * (2 + c.no_op), c.n_stacks * len(self.empty), len(self.outputs)]
        need(not self.heads or [head.shape[1] for head in self.heads] == rows, "weights of shapes that do not fit")
        need(not left, f"there are more weights: {', '.join(left)}")

    def around(self, low: Any, high: Any, sizes: Any, terms: int, scale: float = 1.0) -> Box:
        """Return the box, wider by n u / (1 - n u) times the sizes of n terms (Higham 2002, 3.1) and by underflow."""
        net, own = (n * u / (1 - n * u) for n, u in ((terms, self.unit), (2 * terms + 4, 2.0**-53)))
        pad = ((net + own) * sizes + self.least * 2**24 * terms * scale) * (1 + 2.0**-20)
        return np.stack([np.nextafter(low - pad, -np.inf), np.nextafter(high + pad, np.inf)])

    def values(self, layer: Layer, box: Box) -> Box:
        """Return bounds on what the layer gives for any vector of ``box``."""
        box, (weights, sizes) = np.concatenate([box, np.ones((2, 1))], 1), layer
        most, up, down = abs(box).max(0), np.maximum(weights, 0), np.minimum(weights, 0)
        low, high = (up @ box[i] + down @ box[1 - i] for i in (0, 1))
        return self.around(low, high, sizes @ most, layer.shape[2], (1 + sizes.max(initial=0)) * (1 + most.max()))

    def squashed(self, box: Box, kind: str = "sigmoid") -> Any:
        """Return bounds on tanh or the sigmoid, which grow; a library's may be off by 16 u, 8 in the last place."""
        tanh, pad = kind == "tanh", np.array([[-1.0], [1.0]]) * (16 * self.unit + 8 * 2.0**-53)
        return np.clip((np.tanh(box) if tanh else 1 / (1 + np.exp(-np.clip(box, -700, 700)))) + pad, -1.0 * tanh, 1.0)

    def combined(self, what: Any, a: Box, b: Box) -> Box:
        """Return bounds on sums or products, number by number: their extremes are at corners."""
        corners = what(a[:, None], b[None]).reshape(4, -1)
        return self.around(corners.min(0), corners.max(0), abs(corners).max(0), 1)

    def lstm(self, drive: Box, cell: Box) -> Box:
        """Return bounds on h' = o tanh c' and c' = f c + i g, side by side."""
        enter, keep, new, show = np.split(drive, 4, 1)
        kept = self.combined(np.multiply, self.squashed(keep), cell)
        entered = self.combined(np.multiply, self.squashed(enter), self.squashed(new, "tanh"))
        after = self.combined(np.add, kept, entered)
        return np.concatenate([self.combined(np.multiply, self.squashed(show), self.squashed(after, "tanh")), after], 1)

    def largest(self, layer: Layer, box: Box) -> tuple[Any, float, float]:
        """Return which row is the largest, with which margin a softmax shows it, and by how much its sum leads."""
        (w, s), n, leads = layer, layer.shape[1], []
        for i in range(n):
            others = np.stack([w - w[i], s + s[i]])[:, np.arange(n) != i]
            leads.append(-self.values(others, box)[1].max(initial=-np.inf) / self.warmth)
        best, size = int(np.argmax(leads)), abs(self.values(layer, box)).max() / self.warmth
        return best, leads[best] - 32 * self.unit * (1 + size), leads[best] * (1 - 4 * self.unit)

    def answer(self, letter: int, hidden: Box, reading: Box) -> tuple[Any, ...]:
        """Return what the controller answers to a letter's number, from boxes of hidden vector and of all readings.

        That is: the next hidden vector; each stack's operation with its margin; what a push lays on each; the output
        with its margin; and the gap: how far all sums that decide actions are from a tie.
        """
        m, (acts, pushed, output) = self.c.hidden, self.heads
        seen, after = np.concatenate([np.eye(self.k)[[letter, letter]], hidden[:, :m], reading], 1), hidden
        if self.first is not None:
            drive = self.values(self.first, seen)
            after = self.lstm(drive, hidden[:, m:]) if self.squash == "lstm" else self.squashed(drive, self.squash)
            seen = after[:, :m]
        laid, sums = np.split(self.squashed(self.values(pushed, seen)), self.c.n_stacks, 1), self.values(acts, seen)
        found = [self.largest(rows, seen) for rows in np.split(acts, self.c.n_stacks, 1)]
        done, gap = [((PUSH, POP, NONE)[act], margin) for act, margin, _ in found], min(lead for *_, lead in found)
        if self.model == "neural-stack":
            done, gap = [over(self.squashed(sums))], np.maximum(sums[0], -sums[1]).min()
        parts = self.squashed(self.values(output, seen))
        leads = [parts[0, i] - np.delete(parts[1], i).max(initial=-np.inf) for i in range(len(self.outputs))]
        predicted = over(parts) if self.task == "next set" else (int(np.argmax(leads)), max(leads))
        predicted = self.largest(output, seen)[:2] if self.model in ("stack-rnn", "neural-stack") else predicted
        return after, done, laid, predicted, gap

    def marnn(self) -> Any:
        """Suzgun et al. 2019: an RNN or LSTM of x and h~ = h + W_s s + b_s; Joulin & Mikolov 2015: of x, h and s."""
        c, m, plain = self.c, self.c.hidden, self.model == "stack-rnn"
        self.squash = {"marnn-stack-rnn": "tanh", "marnn-stack-lstm": "lstm"}.get(self.model, "sigmoid")
        self.recurrent = not plain or c.recurrent
        letters, memory = (self.weight(f"{name}_weights") for name in ("input", "memory"))
        back = self.weight(f"{'recurrent' if plain else 'hidden'}_weights") if self.recurrent else np.zeros((m, m))
        if self.squash == "sigmoid":
            self.first = layer(letters.T if plain else letters, back, memory, np.zeros(m))
        else:
            one, two, shift = (self.weight(f"{name}_bias") for name in ("hidden", "input", "memory"))
            sizes = abs(letters), abs(back), abs(back) @ abs(memory), abs(one) + abs(two) + abs(back) @ abs(shift)
            self.first = layer(letters, back, back @ memory, one + two + back @ shift, sizes=sizes, more=8)
        for name in ("action", "pushed", "output"):
            rows = self.weight(f"{name}_weights")
            self.heads = *self.heads, layer(rows, np.zeros(len(rows)) if plain else self.weight(f"{name}_bias"))
        self.warmth = 1.0 if c.gating == "softmax" else c.temperature
        need(2.0**-20 <= self.warmth <= 2.0**20, "the temperature is out of range")
        size = m * (1 + (self.squash == "lstm"))
        return np.zeros(size), -np.ones(1) if plain else np.zeros(c.cell_size), c.stack_limit

    def neural_stack(self) -> Any:
        """Hao et al. 2018: a linear layer, tanh RNN or LSTM of letter and top gives [pop, push, value, output]."""
        k, cell, weight = self.k, self.c.cell_size, self.weight
        self.squash, size = {"linear": ("", 0), "rnn": ("tanh", 1), "lstm": ("lstm", 2)}[self.c.controller]
        self.heads = np.split(layer(weight("net.weight"), weight("net.bias"), more=2), [2, 2 + cell], 1)
        self.recurrent = size > 0
        if size:
            seen, back, one, two = (weight(f"net.{name}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
            parts = seen[:, :k], back, seen[:, k:]
            self.first = layer(*parts, one + two, sizes=(*map(abs, parts), abs(one) + abs(two)), more=2)
        return np.zeros(size * self.c.hidden), np.zeros(cell), self.whole  # beyond it strengths do not add up

    def nnpda(self) -> Any:
        """Sun et al. 1993, eqs. 5 to 9, 23, 24: products of states, reading and letter; the letter is pushed."""
        c, n, seen, full = self.c, self.c.n_states, self.k + self.c.empty_reading, self.c.order == "full"
        rest = (seen + self.k,) if c.order == "second" else (seen, self.k)
        states = self.weight("state_weights").reshape(n, n, *rest)
        acts = self.weight("action_weights").reshape(1, 2**n if full else n, *rest)
        biases = self.weight("state_bias"), np.zeros(1) if full else self.weight("action_bias")
        self.exact = self.signed

        def on(weights: np.ndarray, bias: np.ndarray, letter: int, top: np.ndarray) -> Layer:
            second = c.order == "second"
            parts = [weights[..., :seen] @ top, weights[..., seen + letter]] if second else [weights[..., letter] @ top]
            return layer(sum(parts), bias, sizes=(sum(map(abs, parts)), abs(bias)), more=weights[0].size)

        def answer(letter: int, hidden: Box, reading: Box) -> tuple[Any, ...]:
            top = reading[0]
            need((top == reading[1]).all() and set(top) <= {0, 1} and top.sum() <= 1, "a cell holds no letter")
            top = np.append(top, 1 - top.sum())[:seen]
            after = self.squashed(self.values(on(states, biases[0], letter, top), hidden))
            rows, gap = on(acts, biases[1], letter, top), 0.0
            if full:  # a sum of products of S or 1 - S, linear in each S: extreme at corners. The first S counts most.
                corners, total = rows[0, :, :-1], abs(rows[0]).sum()
                for no_yes in hidden.T:
                    no, yes = np.split(corners, 2, 1)
                    corners = np.concatenate([no * (1 - s) + yes * s for s in no_yes])
                low, high = self.around(corners.min(), corners.max(), total, acts[0].size + 1 + 2 * n, 1 + total)
            else:
                drive = self.values(rows, hidden)
                gap = max(drive[0, 0], -drive[1, 0])
                low, high = 2 * self.squashed(drive)[:, 0] - 1 + np.array([-4, 4]) * self.unit
            margin, done = max((min(low + 0.5, 0.5 - high), NONE), (-0.5 - high, POP), (low - 0.5, PUSH))
            return after, [(done, margin)], [np.eye(self.k)[[letter, letter]]], (None, np.inf), gap

        self.answer = answer  # type: ignore[method-assign]
        return np.eye(n)[0], np.zeros(self.k), self.whole  # beyond it lengths do not add up


PLAIN: dict[str, Any] = {"end": None, "first": None, "trap": False, "no_op": False, "n_stacks": 1, "depth": 1}
PLAIN |= {"task_kind": "next set", "output_alphabet": (), "gating": "softmax"}
_MARNN = "hidden cell_size gating temperature stack_limit first output_alphabet task_kind"
MADE_BY: dict[str, tuple[Any, str, str]] = {  # the method, the task, what a configuration says besides the alphabet
    "nnpda": (Net.nnpda, "recognition", "order n_states end trap empty_reading"),
    "stack-rnn": (Net.marnn, "next symbol", "hidden n_stacks depth no_op recurrent stack_limit"),
    **{f"marnn-{name}": (Net.marnn, "", _MARNN) for name in ("stack-rnn", "stack-lstm", "joulin")},
    "neural-stack": (Net.neural_stack, "transduction", "hidden cell_size null controller output_alphabet"),
}


# ---- Automata, and all that runs on stacks can show.


class Automaton:
    """A deterministic automaton; ``rules``: (state, letter, tops) -> (target, (pops, pushed) a stack, output)."""

    def __init__(self, content: Any) -> None:
        self.initial, self.bottom, self.acceptance = content["initial"], content["bottom"], content["acceptance"]
        self.letters, self.stacks, self.final = content["input_alphabet"], content["n_stacks"], content["accepting"]
        self.good, self.rules = frozen(content["accepting_outputs"]) * (self.acceptance == "output"), dict[Any, Any]()
        self.first_good = frozen(content["initial_output"]) in self.good
        need(content["end_marker"] is None, "an automaton with an end marker is not known here")
        for one in content["transitions"]:
            key = one["from"], one["read"], frozen(one["tops"])
            done = [(operation["pop"], operation["push"]) for operation in one["operations"]]
            fits = len(key[2]) == len(done) == self.stacks and key not in self.rules and key[1] in self.letters
            pairs = zip(key[2], done, strict=True)
            legal = not any(push == self.bottom or (pops and top == self.bottom) for top, (pops, push) in pairs)
            need(fits and legal, f"{key} is no transition of an automaton")
            self.rules[key] = one["to"], done, frozen(one.get("output"))

    def accepts(self, state: Any, empty: bool, good: bool = False) -> bool:
        """Return whether a run is accepted that ends so; none that is cut is."""
        final = state in self.final
        kinds = {"final state": final, "empty stack": empty, "both": final and empty, "output": good}
        return state is not None and kinds[self.acceptance]


def runs(start: Any, stacks: int, moves: Any) -> int:
    """Ask every head that runs from ``start`` on empty stacks can show for its moves; return how many there are.

    ``moves(control, names of tops, None where empty)`` yields (control, for each stack whether it pops and the name of
    what it pushes or None). Each cell has a label; what may lie below those of a label only grows: nothing is missed.
    With one stack the label is the control and the name that the cell was pushed with: what is done from there until it
    is popped does not depend on what is below, so nothing is looked at that no run shows.
    """
    below, users, known = defaultdict[Any, dict[Any, None]](dict), defaultdict[Any, set[Any]](set), dict[Any, Any]()
    seen, waiting = {(start, (None,) * stacks)}, [(start, (None,) * stacks)]
    while waiting:
        head = waiting.pop()
        shown = head[0], tuple(top and top[0] for top in head[1])
        known[shown] = known[shown] if shown in known else list(moves(*shown))
        for after, done in known[shown]:
            choices = list[Any]()
            for i, (top, (pops, name)) in enumerate(zip(head[1], done, strict=True)):
                if name is None and pops and top:
                    users[i, top[1]].add(head)  # looked at again when more may lie below
                    choices.append(list(below[i, top[1]]))
                elif name is None or (pops and top):  # nothing, or in the place of the top
                    choices.append([top if name is None else (name, top[1])])
                else:
                    label = (after, name) if stacks == 1 else name
                    waiting += users[i, label] if top not in below[i, label] else ()
                    below[i, label][top] = None
                    choices.append([(name, label)])
            new = {(after, choice) for choice in product(*choices)} - seen
            seen |= new
            waiting += new
    return len(known)


# ---- The certificate: O1 to O4.


def check_certificate(net: Net, pda: Automaton, file: Any, words: Any, first: Any) -> str:
    """Return what the boxes of a file show, which are of hidden vectors where their stack is None."""
    boxes, gaps = dict[Any, Box](), list[float]()
    layout, stacks, claims = (file[name] for name in ("layout", "stacks", "claims"))
    for one in file["boxes"]:
        box = np.array([[float.fromhex(x) for x in one[side]] for side in ("low", "high")])
        name, size = (one["stack"], *frozen(one["tag"])), len(net.start if one["stack"] is None else net.empty)
        right = box.shape == (2, size) and (box[0] <= box[1]).all() and (abs(box) <= LARGEST_VALUE).all()
        need(right and name not in boxes, f"the box {name} is none, or comes twice")
        boxes[name] = box
    may_begin = net.c.alphabet if net.c.first is None else net.c.first
    others, sets, verdicts = {*range(net.c.n_stacks)} - {*stacks}, net.task == "next set", net.task == "recognition"
    fits = sorted([*stacks, *others]) == [*range(net.c.n_stacks)] and pda.stacks == max(1, len(stacks))
    need(fits and set(pda.letters) == set(net.c.alphabet), "network and automaton have other stacks or letters")
    need(not verdicts or (stacks and pda.acceptance != "output"), "the automaton gives no verdicts")
    need(words is None or not (sets or verdicts), "of such a network all words count")
    cells, margin, gap = (np.inf if claims[n] is None else claims[n] for n in ("stack_limit", "margin", "gap"))
    need(claims["number_format"] == net.format, f"the weights are in {net.format}")
    need(net.limit is None or cells <= net.limit, f"{cells} cells are claimed, and {net.limit} hold")
    need(margin > 0, "the margin is not above 0")

    def inside(image: Box, *name: Any) -> Any:  # the name of a box that holds an image
        held = name in boxes and (boxes[name][0] <= image[0]).all() and (image[1] <= boxes[name][1]).all()
        need(held, f"what is computed leaves the box {name}")
        return name

    def sure(decided: tuple[Any, float], *what: Any) -> Any:  # what is decided, with the margin that is claimed
        need(decided[1] >= margin, f"{' '.join(map(str, what))} is not sure by {margin}")
        return decided[0]

    # A control is: the state, None once the run is cut; the box of the hidden vector; the set that was output; where
    # words are in the domain; and after the end symbol the automaton's verdict, None before.
    def moves(control: Any, tops: Any) -> Any:
        (state, place, before, word, ended), empty, depth = control, not any(tops), net.c.depth
        names = tuple(pda.bottom if top is None else top[0] or "?" for top in tops) or (pda.bottom,) * pda.stacks
        if verdicts and (net.c.end is None) == (ended is None):
            accepts = empty and sure(over(boxes[place][:, -1:]), "at", state, "the verdict")[0]
            need(accepts == (pda.accepts(state, empty) if ended is None else ended), f"at {state} another verdict")
        cells = {stack: [(stack, "any")] * depth for stack in others}
        cells |= {stack: top[1] if top else [None] * depth for stack, top in zip(stacks, tops, strict=True)}
        shown = [np.stack([net.empty] * 2) if n is None else boxes[n] for i in sorted(cells) for n in cells[i]]
        for number, letter in enumerate(net.letters if ended is None else ()):
            at, step = f"at ({state}, {letter}, {', '.join(names)})", pda.rules.get((state, letter, names))
            after_word = words and words.get((word, letter))
            # no word that counts goes on so; or nothing is claimed once a run is cut; or the letter was not foreseen
            if (words and after_word is None) or (step is None and not (sets or verdicts)):
                continue
            foreseen = not sets or letter in (may_begin if before is None else before)
            need(not sets or foreseen == (step is not None), f"{at} the network {'goes on' if foreseen else 'rejects'}")
            if not foreseen:
                continue
            after, operations, pushed, output, lead = net.answer(number, boxes[place], np.concatenate(shown, 1))
            verdict = pda.accepts(state, empty) if letter == net.c.end else None
            illegal = verdicts and empty and sure(operations[0], at, "the operation") == POP
            gone = net.c.trap and not illegal and not sure(over(after[:, -1:]), at, "the rejection")[0]
            gaps.append(np.inf if gone else max(0.0, lead))  # what it does in a trap does not matter
            need(not (illegal or gone) or not (verdict or step), f"{at} the network rejects")
            if illegal or gone:
                continue
            # what it does to the stacks (a pop of nothing does nothing), and what it says
            done = [sure(operations[stack], at, "the operation") for stack in stacks]
            done = [(pops and top is not None, pushes) for (pops, pushes), top in zip(done, tops, strict=True)]
            asked = [(pops, push is not None) for pops, push in step[1]] if step else None
            need(not step or (done or [NONE] * pda.stacks) == asked, f"{at} another operation")
            predicted = None
            if step and not verdicts and (sets or step[2] is not None):
                which = sure(output, at, "the output")
                predicted = tuple(compress(net.outputs, which)) if sets else net.outputs[which]
                need(step[2] is None or predicted == step[2], f"{at} another output")
            # where all of it lies
            read = (letter, *names) if layout["tops"] else (letter,)
            tag = (*read, *place[2:])[: layout["steps"] * len(read)]
            there = inside(after, None, step and step[0], *tag) if net.recurrent else place
            for stack in others:
                if operations[stack][0][1] or not operations[stack][1] > 0:
                    inside(pushed[stack], stack, "any")
            laid, read = list[Any](), names if layout["value_tops"] else ()
            for i, (stack, top, (pops, pushes)) in enumerate(zip(stacks, tops, done, strict=True)):
                symbol, under = step and step[1][i][1], top[1] if top else (None,) * depth
                cell = inside(pushed[stack], stack, symbol, letter, *read) if pushes else None
                laid.append((pops, (symbol, (cell, *under[pops:])[:depth]) if pushes else None))
            yield (step and step[0], there, predicted if sets else None, after_word, verdict), tuple(laid)

    place = inside(np.stack([net.start] * 2), None, "start")  # O1; all that others hold is in one box each
    for stack in others:
        inside(np.stack([net.empty] * 2), stack, "any")
    heads = runs((pda.initial, place, None, first, None), len(stacks), moves)
    need(gaps, "it speaks of no word")
    shown = min(gaps)
    need(shown >= gap, f"a gap of {gap} is claimed, and {shown} is shown")  # O4
    need(not claims["itself"] or shown >= net.exact, f"a gap of {shown} leaves actions soft")
    who = "network itself" if claims["itself"] else "rounded network"
    found = f"the {who} follows the automaton on words {'of the task ' if words else ''}of every length"
    found += f" that need at most {cells} cells" if cells < np.inf else ""
    found += "" if sets or verdicts else ", as far as its run is not cut"
    used = f"{len(boxes)} boxes, {heads} heads, {len(gaps)} steps"
    return f"{found} ({net.format}: {used}, margin {margin:g}, gap {shown:g})"


# ---- Equality of automata with one stack: O5.

NOTHING = False, None  # is done to a stack
CUT = None, (NOTHING,), None  # stands for a transition that is missing


def check_relation(a: Automaton, b: Automaton, file: Any, words: Any, first: Any) -> int:
    """Return how many heads the relation shows of ``a`` beside ``b``, the language's automaton.

    Outputs and cuts: all are the same; or on all that b reads, where it has an output; or they do not matter. A run
    that is cut, or has no pushes, has no cells: the other's lie alone. Wherever b goes on, so do the ``words``.
    """
    relation, outputs, pair = set(map(frozen, file["relation"])), file["outputs"], (a, b)
    need(a.stacks == b.stacks == 1 and set(a.letters) == set(b.letters), "these automata cannot be compared")
    need(outputs in ("all", "where the language has one", "none"), "which outputs count is not known here")
    need(file["acceptance"] is True or outputs != "none", "nothing would be compared")
    stacked = [any(push is not None for _, ((_, push),), _ in pda.rules.values()) for pda in pair]

    def moves(control: Any, tops: Any) -> Any:
        (states, higher, good, word), (top,) = control, tops
        need((control, top) in relation, f"the relation lacks {states} with tops {top}")
        live = [state is not None and has for state, has in zip(states, stacked, strict=True)]
        cells = [((top[i],) if top else ()) + higher[i] if live[i] else () for i in (0, 1)]
        verdicts = {pda.accepts(states[i], not cells[i], good[i]) for i, pda in enumerate(pair)}
        need(len(verdicts) == 1 or not file["acceptance"], f"at {states}, {top} only one accepts")
        for letter in a.letters:
            found = list[Any]()  # of each: state, cells, whether the output accepts, output
            for i, pda in enumerate(pair):
                to, ((pops, push),), out = pda.rules.get((states[i], letter, cells[i][-1:] or (pda.bottom,)), CUT)
                left = () if to is None else cells[i][:-1] if pops else cells[i]
                found.append((to, left if push is None else (*left, push), out in pda.good, out))
            cut = [one[0] is None for one in found]
            if cut[1] and (cut[0] or outputs == "where the language has one"):
                continue
            same = cut[0] == cut[1] and (found[0][3] == found[1][3] or (found[1][3] is None and outputs != "all"))
            need(same or outputs == "none", f"at {states}, {top} on {letter} they differ")
            need(not words or cut[1] or (word, letter) in words, f"the domain lacks {letter} at {word}")
            # pairs of cells reach as high as the lower stack, or as before where there is one; the rest is above
            there, level = [i for i in (0, 1) if stacked[i] and not cut[i]], int(top is not None)
            kept = [min(len(found[i][1]), max(level, len(found[i][1]) - len(higher[i]))) for i in there]
            common = min(len(found[0][1]), len(found[1][1])) if len(there) == 2 else kept[0] if there else level
            new = tuple(found[i][1][common - 1] if i in there and common else None for i in (0, 1))
            done = (common <= level, new if common >= max(level, 1) else None) if there and level + common else NOTHING
            rest = tuple(found[i][1][common:] if i in there else () for i in (0, 1))
            after = tuple(f[0] for f in found), rest, tuple(f[2] for f in found), words and words.get((word, letter))
            yield after, (done,)

    return runs(((a.initial, b.initial), ((), ()), (a.first_good, b.first_good), first), 1, moves)


def check(network: str, proof: str) -> str:
    """Return what two files prove."""
    content, weights, digest = read_network(network)
    with open(proof, encoding="utf-8") as text:
        file = json.load(text, parse_constant=lambda name: need(False, f"it holds {name}, which is no number"))
    need(file["format"] == "stacklens proof" and file["version"] == 1, "it is no proof file of version 1")
    need(file["network"]["weights"] == digest, "the proof is of other weights")
    same = hashlib.sha256(json.dumps(file["automaton"], sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    need(file["automaton_sha256"] == same, "the proof is of another automaton")
    pda, certificate, equality, shown = Automaton(file["automaton"]), file["certificate"], file["equality"], []
    domain = (certificate or {}).get("domain")
    words, first = domain and {(one, letter): to for one, letter, to in domain["steps"]}, domain and domain["initial"]
    need((certificate or equality) and (equality or not domain), "it proves nothing, or not which words count")
    if certificate:
        shown.append(check_certificate(Net(content, weights), pda, certificate, words, first))
    if equality:
        heads = check_relation(pda, Automaton(equality["reference"]), equality, words, first)
        shown.append(f"the automaton equals that of {equality['language']} ({heads} heads)")
    return "; ".join(shown)


def verdict(network: str, proof: str) -> tuple[int, str]:
    """Return the exit status, and in one line what two files prove, or why not."""
    try:
        return 0, f"proved: {check(network, proof)}"
    except Exception as error:  # an obligation that is not met, or whatever is wrong with a file
        refused = isinstance(error, Refused)
        why = f"refused: {error}" if refused else f"cannot be read: {type(error).__name__}: {error}"
        return 1 if refused else 2, " ".join(why.split())[:400]


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(print("usage: python -m stacklens.check_proof NET.pt PROOF.json", file=sys.stderr) or 2)
    status, line = verdict(*sys.argv[1:])
    print(line, file=sys.stderr if status else sys.stdout)
    sys.exit(status)
