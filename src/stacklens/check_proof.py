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
  O3  what is computed there lies in boxes of the file, by which the next heads are named; `runs` keeps account of what
      a pop may uncover, so that no list of heads has to be believed;
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
from collections.abc import Iterator
from itertools import compress, product
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

Row = np.ndarray
Box = np.ndarray  # (2, n): the least and the most that each of n numbers may be


class Refused(Exception):  # noqa: N818
    """An obligation is not met."""


def need(met: object, why: str) -> None:
    """Refuse unless an obligation is met."""
    if not met:
        raise Refused(why)


# ---- NET.pt: a zip of a pickle and of the bytes of tensors. Nothing is called but what is named here.

_SIZES = {"Double": "<f8", "Float": "<f4", "Half": "<f2", "BFloat16": "<u2", "Long": "<i8", "Byte": "<u1"}
_KNOWN: dict[str, Any] = {f"torch.{name}Storage": kind for name, kind in _SIZES.items()} | {
    "collections.OrderedDict": OrderedDict,
    "torch._utils._rebuild_tensor_v2": lambda *parts: parts[:4],  # storage, offset, shape, strides
}


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if f"{module}.{name}" not in _KNOWN:
            raise ValueError(f"it holds {module}.{name}, which could run code")
        return _KNOWN[f"{module}.{name}"]


def read_network(path: str) -> tuple[Any, dict[str, Row], str]:
    """Return what a checkpoint holds, its weights, and their digest."""
    with zipfile.ZipFile(path) as archive:
        if any(member.compress_type for member in archive.infolist()) or archive.testzip() is not None:
            raise ValueError("it is packed or damaged")
        root = archive.namelist()[0].partition("/")[0]
        reader = _Reader(archive.open(f"{root}/data.pkl"))
        reader.persistent_load = lambda pid: (pid[1], archive.read(f"{root}/data/{pid[2]}"))  # type: ignore[method-assign]
        content = reader.load()
    if content["format"] != "stacklens":
        raise ValueError("it is no stacklens checkpoint; open it with sl.load, and save that")
    weights, digest = {}, hashlib.sha256()
    for name, ((kind, data), offset, shape, strides) in sorted(content["state_dict"].items()):
        flat = np.frombuffer(data, kind)[offset:]
        if min(offset, *shape, *strides) < 0 or np.dot(np.subtract(shape, 1), strides) >= len(flat):
            raise ValueError(f"{name} is larger than what is stored of it")
        weights[name] = np.lib.stride_tricks.as_strided(flat, shape, [s * flat.itemsize for s in strides]).copy()
        digest.update(f"{name} torch.{weights[name].dtype} {tuple(shape)}".encode() + weights[name].tobytes())
    return content, weights, digest.hexdigest()


# ---- What a network may compute: boxes that hold its rounding errors, and ours.

OURS = 2.0**-53  # half the distance from 1 to the next number, in our float64
LARGEST_WEIGHT, LARGEST_VALUE = 2.0**40, 2.0**20  # no sum of products of these is larger than float32 can hold


class Layer(NamedTuple):
    """W x + b, with at most ``terms`` roundings on the way of any product, and the sizes of these products."""

    weights: Row
    bias: Row
    sizes: Row
    bias_sizes: Row
    terms: int

    def _rows(self, which: Any) -> "Layer":
        return Layer(self[0][which], self[1][which], self[2][which], self[3][which], self.terms)


def layer(parts: list[Row], bias: Any = None, sizes: Any = None, bias_sizes: Any = None, more: int = 0) -> Layer:
    """Return the layer of weights side by side, which with the bias are single products unless ``sizes`` are given."""
    weights = np.concatenate(parts, 1)
    there = np.zeros(len(weights)) if bias is None else bias
    need(there.shape == weights.shape[:1], "weights of shapes that do not fit")
    sizes, bias_sizes = abs(weights) if sizes is None else sizes, abs(there) if bias_sizes is None else bias_sizes
    return Layer(weights, there, sizes, bias_sizes, weights.shape[1] + 1 + more)


class Digits(NamedTuple):
    """A floating-point format, and bounds on what is computed in it."""

    unit: float  # half the distance from 1 to the next number
    least: float  # the smallest normal number
    whole: int  # up to which all whole numbers are there
    shares: float  # from this gap on exp(-gap) is 0 and 1 / (1 + exp(-gap)) is 1, with room to spare
    signed: float  # from this one on at least the latter

    def around(self, low: Row, high: Row, sizes: Row, terms: int, scale: float = 1.0) -> Box:
        """Return the box, wider by n u / (1 - n u) times the sizes of n terms (Higham 2002, 3.1) and by underflow."""
        net, own = (n * u / (1 - n * u) for n, u in ((terms, self.unit), (2 * terms + 4, OURS)))
        pad = ((net + own) * sizes + self.least * terms * scale) * (1 + 2.0**-20)
        return np.stack([np.nextafter(low - pad, -np.inf), np.nextafter(high + pad, np.inf)])

    def values(self, layer: Layer, box: Box) -> Box:
        """Return bounds on what the layer gives for any vector of ``box``."""
        most, up, down = abs(box).max(0), np.maximum(layer.weights, 0), np.minimum(layer.weights, 0)
        low, high = (up @ box[i] + down @ box[1 - i] + layer.bias for i in (0, 1))
        scale = (1 + layer.sizes.max(initial=0)) * (1 + most.max(initial=0))
        return self.around(low, high, layer.sizes @ most + layer.bias_sizes, layer.terms, scale)

    def squashed(self, box: Box, kind: str) -> Any:
        """Return bounds on tanh or the sigmoid, which grow; a library's may be off by 16 u, 8 in the last place."""
        pad = np.array([[-1.0], [1.0]]) * (16 * self.unit + 8 * OURS)
        if kind == "tanh":
            return np.clip(np.tanh(box) + pad, -1.0, 1.0)
        return np.clip(1 / (1 + np.exp(-np.clip(box, -700, 700))) + pad, 0.0, 1.0)

    def combined(self, what: Any, a: Box, b: Box) -> Box:
        """Return bounds on sums or products, number by number: their extremes are at corners."""
        corners = what(a[:, None], b[None]).reshape(4, -1)
        return self.around(corners.min(0), corners.max(0), abs(corners).max(0), 1)

    def lstm(self, drive: Box, cell: Box) -> Box:
        """Return bounds on h' = o tanh c' and c' = f c + i g, side by side."""
        enter, keep, new, show = np.split(drive, 4, 1)
        enter, keep, show = (self.squashed(gate, "sigmoid") for gate in (enter, keep, show))
        entered = self.combined(np.multiply, enter, self.squashed(new, "tanh"))
        after = self.combined(np.add, self.combined(np.multiply, keep, cell), entered)
        return np.concatenate([self.combined(np.multiply, show, self.squashed(after, "tanh")), after], 1)

    def largest(self, layer: Layer, box: Box, warmth: float = 1.0) -> tuple[int, float, float]:
        """Return which row is the largest, with which margin a softmax shows it, and by how much its sum leads."""
        (w, b, s, t, terms), leads = layer, []
        for i in range(len(b)):
            rest = np.arange(len(b)) != i
            others_less = Layer(w[rest] - w[i], b[rest] - b[i], s[rest] + s[i], t[rest] + t[i], terms + 1)
            leads.append(-self.values(others_less, box)[1].max(initial=-np.inf) / warmth)
        best, size = int(np.argmax(leads)), abs(self.values(layer, box)).max() / warmth
        return best, leads[best] - 32 * self.unit * (1 + size), leads[best] * (1 - 4 * self.unit)


FORMATS = {
    "float64": Digits(2.0**-53, 2.0**-1022, 2**53, 760.0, 48.0),
    "float32": Digits(2.0**-24, 2.0**-126, 2**24, 112.0, 24.0),
}


def over(box: Box) -> tuple[tuple[bool, ...], float]:
    """Return which numbers are above 1/2, and the margin with which that is sure."""
    over, under = box[0] - 0.5, 0.5 - box[1]
    return tuple((over >= under).tolist()), float(np.maximum(over, under).min())


# ---- Networks: what controllers answer from boxes. A further kind is one more method, and its line in `MADE_BY`.

NONE, POP, PUSH = (False, False), (True, False), (False, True)  # an operation: whether it pops, whether it pushes then


class Net:
    """A network: its configuration c, `start`, what an `empty` cell reads as, the `limit` of cells, and its answers."""

    first: Layer | None = None  # of units that see letter, hidden vector and reading
    heads: tuple[Layer, ...] = ()  # of actions, pushed values and outputs, which see the units
    squash, warmth, recurrent = "", 1.0, True

    def __init__(self, content: Any, weights: dict[str, Row]) -> None:
        self.model = content["model"]
        make, task, fields = MADE_BY[self.model]
        strange = set(content["config"]) - set(fields.split()) - {"alphabet"}
        need(not strange, f"what {strange} mean for a network is not known here")
        self.c = c = SimpleNamespace(**{**_PLAIN, **content["config"]})
        (self.format,) = {value.dtype.name for value in weights.values()}
        need(self.format in FORMATS, f"weights in {self.format}; only {' and '.join(FORMATS)} are known here")
        left = {name: value.astype(np.float64) for name, value in weights.items()}  # exact
        need(all((abs(value) <= LARGEST_WEIGHT).all() for value in left.values()), "a weight is too large")
        self.num, self.weight, self.task = FORMATS[self.format], left.pop, task or c.task_kind
        self.letters, self.outputs = [*c.alphabet, *([c.end] if c.end else [])], c.output_alphabet or c.alphabet
        self.k, self.exact, self.may_begin = (
            len(self.letters),
            self.num.shares,
            c.alphabet if c.first is None else c.first,
        )
        self.start, self.empty, self.limit = make(self)
        rows = [c.n_stacks * (2 + c.no_op), c.n_stacks * len(self.empty), len(self.outputs)]
        need(not self.heads or [len(head.bias) for head in self.heads] == rows, "weights of shapes that do not fit")
        need(not left, f"there are more weights: {', '.join(left)}")

    def answer(self, letter: int, hidden: Box, reading: Box) -> tuple[Any, ...]:
        """Return what the controller answers to a letter's number, from boxes of hidden vector and of all readings.

        That is: the next hidden vector; each stack's operation with its margin; what a push lays on each; the output
        with its margin; and the gap: how far all sums that decide actions are from a tie.
        """
        num, m, (acts, pushed, output) = self.num, self.c.hidden, self.heads
        seen, after = np.concatenate([np.eye(self.k)[[letter, letter]], hidden[:, :m], reading], 1), hidden
        if self.first is not None:
            drive = num.values(self.first, seen)
            after = num.lstm(drive, hidden[:, m:]) if self.squash == "lstm" else num.squashed(drive, self.squash)
            seen = after[:, :m]
        laid = np.split(num.squashed(num.values(pushed, seen), "sigmoid"), self.c.n_stacks, 1)
        if self.model == "neural-stack":
            drive = num.values(acts, seen)
            done, gap = [over(num.squashed(drive, "sigmoid"))], np.maximum(drive[0], -drive[1]).min()
        else:
            each = np.split(np.arange(len(acts.bias)), self.c.n_stacks)
            found = [num.largest(acts._rows(rows), seen, self.warmth) for rows in each]
            done, gap = [((PUSH, POP, NONE)[act], margin) for act, margin, _ in found], min(lead for *_, lead in found)
        if self.model in ("neural-stack", "stack-rnn"):
            return after, done, laid, num.largest(output, seen)[:2], gap
        parts = num.squashed(num.values(output, seen), "sigmoid")
        leads = [parts[0, i] - np.delete(parts[1], i).max(initial=-np.inf) for i in range(len(self.outputs))]
        return after, done, laid, over(parts) if self.task == "next set" else (int(np.argmax(leads)), max(leads)), gap

    def stack_rnn(self) -> Any:
        """Joulin & Mikolov 2015: h' = sigmoid(U x + R h + P s); actions, pushed values and the next symbol of h'."""
        c, weight, m = self.c, self.weight, self.c.hidden
        back = weight("recurrent_weights") if c.recurrent else np.zeros((m, m))
        self.first = layer([weight("input_weights").T, back, weight("memory_weights")])
        self.heads = tuple(layer([weight(f"{name}_weights")]) for name in ("action", "pushed", "output"))
        self.squash, self.recurrent = "sigmoid", c.recurrent
        return np.zeros(m), -np.ones(1), c.stack_limit

    def marnn(self) -> Any:
        """Suzgun et al. 2019: an RNN or LSTM of x and h~ = h + W_s s + b_s, or Joulin's; then as there, with biases."""
        c, weight, names = self.c, self.weight, ("action", "pushed", "output")
        self.squash = {"marnn-stack-rnn": "tanh", "marnn-stack-lstm": "lstm", "marnn-joulin": "sigmoid"}[self.model]
        letters, back, memory = (weight(f"{name}_weights") for name in ("input", "hidden", "memory"))
        if self.squash == "sigmoid":
            self.first = layer([letters, back, memory])
        else:
            one, two, shift = (weight(f"{name}_bias") for name in ("hidden", "input", "memory"))
            sizes = np.concatenate([abs(letters), abs(back), abs(back) @ abs(memory)], 1)
            bias_sizes = abs(one) + abs(two) + abs(back) @ abs(shift)
            self.first = layer([letters, back, back @ memory], one + two + back @ shift, sizes, bias_sizes, 8)
        self.heads = tuple(layer([weight(f"{name}_weights")], weight(f"{name}_bias")) for name in names)
        self.warmth = 1.0 if c.gating == "softmax" else c.temperature
        need(2.0**-20 <= self.warmth <= 2.0**20, "the temperature is out of range")
        return np.zeros(c.hidden * (1 + (self.squash == "lstm"))), np.zeros(c.cell_size), c.stack_limit

    def neural_stack(self) -> Any:
        """Hao et al. 2018: a linear layer, tanh RNN or LSTM of letter and top gives [pop, push, value, output]."""
        k, cell, weight = self.k, self.c.cell_size, self.weight
        self.squash, size = {"linear": ("", 0), "rnn": ("tanh", 1), "lstm": ("lstm", 2)}[self.c.controller]
        last = layer([weight("net.weight")], weight("net.bias"), more=2)
        self.heads = tuple(last._rows(slice(*ends)) for ends in ((0, 2), (2, 2 + cell), (2 + cell, None)))
        if size:
            seen, back, one, two = (weight(f"net.{name}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
            self.first = layer([seen[:, :k], back, seen[:, k:]], one + two, None, abs(one) + abs(two), 2)
        self.recurrent = size > 0
        return np.zeros(size * self.c.hidden), np.zeros(cell), self.num.whole  # beyond it strengths do not add up

    def nnpda(self) -> Any:
        """Sun et al. 1993, eqs. 5 to 9, 23, 24: products of states, reading and letter; the letter is pushed."""
        num, k, full, second = self.num, self.k, self.c.order == "full", self.c.order == "second"
        n, seen = self.c.n_states, k + self.c.empty_reading
        biases = self.weight("state_bias"), np.zeros(1) if full else self.weight("action_bias")
        last = (seen + k,) if second else (seen, k)
        shapes = {"state_weights": (n, n), "action_weights": (1, 2**n if full else n)}
        tables = [self.weight(name).reshape(*shape, *last) for name, shape in shapes.items()]

        def on(which: int, letter: int, reading: Row) -> Layer:
            t, bias = tables[which], biases[which]
            parts = [t[..., :seen] @ reading, t[..., seen + letter]] if second else [t[..., letter] @ reading]
            return layer([sum(parts)], bias, sum(map(abs, parts)), more=t[0].size + 1)

        def answer(letter: int, hidden: Box, reading: Box) -> tuple[Any, ...]:
            top = reading[0]
            need((top == reading[1]).all() and set(top) <= {0, 1} and top.sum() <= 1, "a cell holds no letter")
            top = np.append(top, 1 - top.sum())[:seen]
            acts, gap = on(1, letter, top), 0.0
            if full:  # a sum of products of S or 1 - S, linear in each S: extreme at corners. The first S counts most.
                corners = acts.weights
                for no_yes in hidden.T:
                    no, yes = np.split(corners, 2, 1)
                    corners = np.concatenate([no * (1 - s) + yes * s for s in no_yes])
                total = acts.sizes.sum()
                low, high = num.around(corners.min(), corners.max(), total, acts.terms + 2 * n, 1 + total)
            else:
                drive = num.values(acts, hidden)
                gap = max(drive[0, 0], -drive[1, 0])
                low, high = 2 * num.squashed(drive, "sigmoid")[:, 0] - 1 + np.array([-4, 4]) * num.unit
            margin, done = max((min(low + 0.5, 0.5 - high), NONE), (-0.5 - high, POP), (low - 0.5, PUSH))
            after = num.squashed(num.values(on(0, letter, top), hidden), "sigmoid")
            return after, [(done, margin)], [np.eye(k)[[letter, letter]]], (None, np.inf), gap

        self.exact, self.answer = num.signed, answer  # type: ignore[method-assign]
        return np.eye(n)[0], np.zeros(k), num.whole  # beyond it lengths do not add up


_PLAIN: dict[str, Any] = {"end": None, "first": None, "trap": False, "no_op": False, "n_stacks": 1, "depth": 1}
_PLAIN |= {"task_kind": "next set", "output_alphabet": ()}
_MARNN = "hidden cell_size gating temperature stack_limit first output_alphabet task_kind"
MADE_BY: dict[str, tuple[Any, str, str]] = {  # the method, the task, what a configuration says besides the alphabet
    "nnpda": (Net.nnpda, "recognition", "order n_states end trap empty_reading"),
    "stack-rnn": (Net.stack_rnn, "next symbol", "hidden n_stacks depth no_op recurrent stack_limit"),
    **{f"marnn-{name}": (Net.marnn, "", _MARNN) for name in ("stack-rnn", "stack-lstm", "joulin")},
    "neural-stack": (Net.neural_stack, "transduction", "hidden cell_size null controller output_alphabet"),
}


# ---- Automata, and all that runs on stacks can show.


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


class Automaton:
    """A deterministic automaton; ``rules``: (state, letter, tops) -> (target, (pops, pushed) a stack, output)."""

    def __init__(self, content: Any) -> None:
        self.initial, self.bottom, self.acceptance = content["initial"], content["bottom"], content["acceptance"]
        self.letters, self.stacks, self.final = content["input_alphabet"], content["n_stacks"], content["accepting"]
        self.good, self.rules = _frozen(content["accepting_outputs"]) * (self.acceptance == "output"), dict[Any, Any]()
        self.first_good = _frozen(content["initial_output"]) in self.good
        need(content["end_marker"] is None, "an automaton with an end marker is not known here")
        for one in content["transitions"]:
            key = one["from"], one["read"], _frozen(one["tops"])
            done = tuple((op["pop"], op["push"]) for op in one["operations"])
            fits = len(key[2]) == len(done) == self.stacks and key not in self.rules and key[1] in self.letters
            pairs = zip(key[2], done, strict=True)
            legal = not any(push == self.bottom or (pops and top == self.bottom) for top, (pops, push) in pairs)
            need(fits and legal, f"{key} is no transition of an automaton")
            self.rules[key] = one["to"], done, _frozen(one.get("output"))

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
    below, users = defaultdict[Any, dict[Any, None]](dict), defaultdict[Any, set[Any]](set)
    seen, waiting, known = {(start, (None,) * stacks)}, [(start, (None,) * stacks)], dict[Any, Any]()
    while waiting:
        head = control, tops = waiting.pop()
        names = tuple(top and top[0] for top in tops)
        if (control, names) not in known:
            known[control, names] = list(moves(control, names))
        for after, done in known[control, names]:
            choices = list[Any]()
            for i, (top, (pops, name)) in enumerate(zip(tops, done, strict=True)):
                if pops and name is None and top is not None:
                    users[i, top[1]].add(head)  # looked at again when more may lie below
                    choices.append(list(below[i, top[1]]))
                elif name is None or (pops and top is not None):  # nothing, or in the place of the top
                    choices.append([top if name is None else (name, top[1])])
                else:
                    label = (after, name) if stacks == 1 else name
                    if top not in below[i, label]:
                        below[i, label][top] = None
                        waiting += users[i, label]
                    choices.append([(name, label)])
            new = {(after, choice) for choice in product(*choices)} - seen
            seen |= new
            waiting += new
    return len(known)


# ---- The certificate: O1 to O4.


class Boxes:
    """What the boxes of a file prove: how many were ``used``, in how many steps, at how many heads, with which gap."""

    def __init__(self, net: Net, pda: Automaton, file: Any, words: Any, first: Any) -> None:
        self.net, self.pda, self.words, self.layout, self.stacks = net, pda, words, file["layout"], file["stacks"]
        self.boxes, self.used, self.steps, self.gap = dict[Any, Box](), set[Any](), 0, np.inf
        for one in file["boxes"]:  # of hidden vectors where the stack is None
            box = np.array([[float.fromhex(x) for x in one[side]] for side in ("low", "high")])
            name, size = (one["stack"], *_frozen(one["tag"])), len(net.start if one["stack"] is None else net.empty)
            right = box.shape == (2, size) and (box[0] <= box[1]).all() and (abs(box) <= LARGEST_VALUE).all()
            need(right and name not in self.boxes, f"the box {name} is none, or comes twice")
            self.boxes[name] = box
        self.others = [stack for stack in range(net.c.n_stacks) if stack not in self.stacks]
        fits = sorted(self.stacks + self.others) == [*range(net.c.n_stacks)] and pda.stacks == max(1, len(self.stacks))
        need(fits and set(pda.letters) == set(net.c.alphabet), "network and automaton have other stacks or letters")
        sets, verdicts = net.task == "next set", net.task == "recognition"
        need(not verdicts or (self.stacks and pda.acceptance != "output"), "the automaton gives no verdicts")
        need(self.words is None or not (sets or verdicts), "of such a network all words count")
        claims = file["claims"]  # O4, and O1; all that lies on a stack that the automaton has not is in one box
        need(claims["number_format"] == net.format, f"the weights are in {net.format}")
        cells, self.margin, gap = (np.inf if claims[n] is None else claims[n] for n in ("stack_limit", "margin", "gap"))
        need(net.limit is None or cells <= net.limit, f"{cells} cells are claimed, and {net.limit} hold")
        need(self.margin > 0, "the margin is not above 0")
        place = self.inside(np.stack([net.start, net.start]), None, "start")
        for stack in self.others:
            self.inside(np.stack([net.empty, net.empty]), stack, "any")
        self.heads = runs((pda.initial, place, None, first, None), len(self.stacks), self.moves)
        need(self.steps, "it speaks of no word")
        need(self.gap >= gap, f"a gap of {gap} is claimed, and {self.gap} is shown")
        need(not claims["itself"] or self.gap >= net.exact, f"a gap of {self.gap} leaves actions soft")

    def inside(self, image: Box, *name: Any) -> Any:
        """Return the name of a box, which has to hold ``image``."""
        box = self.boxes.get(name)
        held = box is not None and (box[0] <= image[0]).all() and (image[1] <= box[1]).all()
        need(held, f"what is computed leaves the box {name}")
        self.used.add(name)
        return name

    def sure(self, decided: tuple[Any, float], what: str) -> Any:
        """Return what is decided, which has to be with the margin that is claimed (O2)."""
        need(decided[1] >= self.margin, f"{what} is not sure by {self.margin}")
        return decided[0]

    def moves(self, control: Any, tops: Any) -> Iterator[Any]:
        """Yield what each letter does at a head, all of it checked (O2, O3).

        A control is: the state, None once the run is cut; the box of the hidden vector; the set that was output; where
        words are in the domain; and after the end symbol the automaton's verdict, None before.
        """
        net, pda, (state, place, before, word, ended) = self.net, self.pda, control
        names = tuple(pda.bottom if top is None else top[0] or "?" for top in tops) or (pda.bottom,) * pda.stacks
        hidden, empty, blank = self.boxes[place], not any(tops), np.stack([net.empty, net.empty])
        if net.task == "recognition" and (net.c.end is None) == (ended is None):
            accepts = empty and self.sure(over(hidden[:, -1:]), f"at {state} the verdict")[0]
            need(accepts == (pda.accepts(state, empty) if ended is None else ended), f"at {state} another verdict")
        cells = {stack: [(stack, "any")] * net.c.depth for stack in self.others}
        cells |= {stack: top[1] if top else [None] * net.c.depth for stack, top in zip(self.stacks, tops, strict=True)}
        reading = np.concatenate([blank if n is None else self.boxes[n] for i in sorted(cells) for n in cells[i]], 1)
        for number, letter in enumerate(net.letters if ended is None else ()):
            at, step = f"at ({state}, {letter}, {', '.join(names)})", pda.rules.get((state, letter, names))
            after_word = self.words and self.words.get((word, letter))
            # no word that counts goes on so; or nothing is claimed once a run is cut
            if (self.words and after_word is None) or (step is None and net.task in ("next symbol", "transduction")):
                continue
            if net.task == "next set":  # a letter that is not in the set before it rejects
                foreseen = letter in (net.may_begin if before is None else before)
                need(foreseen == (step is not None), f"{at} the network {'goes on' if foreseen else 'rejects'}")
                if not foreseen:
                    continue
            self.steps += 1
            after, operations, pushed, output, gap = net.answer(number, hidden, reading)
            verdict, gone = pda.accepts(state, empty) if letter == net.c.end else None, False
            illegal = net.task == "recognition" and empty and self.sure(operations[0], f"{at} the operation") == POP
            if net.c.trap and not illegal:
                gone = not self.sure(over(after[:, -1:]), f"{at} the rejection")[0]
            self.gap = self.gap if gone else min(self.gap, max(0.0, gap))  # what it does in a trap does not matter
            need(not (illegal or gone) or not (verdict or step), f"{at} the network rejects")
            if illegal or gone:
                continue
            # what it does to the stacks (a pop of nothing does nothing), and what it says
            done = [self.sure(operations[stack], f"{at} the operation") for stack in self.stacks]
            done = [(pops and top is not None, pushes) for (pops, pushes), top in zip(done, tops, strict=True)]
            asked = [(pops, push is not None) for pops, push in step[1]] if step else None
            need(not step or (done or [NONE] * pda.stacks) == asked, f"{at} another operation")
            shown = None
            if step and net.task != "recognition" and (step[2] is not None or net.task == "next set"):
                which = self.sure(output, f"{at} the output")
                shown = tuple(compress(net.outputs, which)) if net.task == "next set" else net.outputs[which]
                need(step[2] is None or shown == step[2], f"{at} another output")
            # where all of it lies
            read = (letter, *names) if self.layout["tops"] else (letter,)
            tag = (*read, *place[2:])[: self.layout["steps"] * len(read)]
            there = self.inside(after, None, step and step[0], *tag) if net.recurrent else place
            for stack in self.others:
                if operations[stack][0][1] or not operations[stack][1] > 0:
                    self.inside(pushed[stack], stack, "any")
            laid = list[Any]()
            for i, (stack, top, (pops, pushes)) in enumerate(zip(self.stacks, tops, done, strict=True)):
                symbol, under = step and step[1][i][1], top[1] if top else (None,) * net.c.depth
                tag = (symbol, letter, *(names if self.layout["value_tops"] else ()))
                cell = self.inside(pushed[stack], stack, *tag) if pushes else None
                laid.append((pops, (symbol, (cell, *under[pops:])[: net.c.depth]) if pushes else None))
            shown = shown if net.task == "next set" else None
            yield (step and step[0], there, shown, after_word, verdict), tuple(laid)


# ---- Equality of automata with one stack: O5.

NOTHING = False, None  # is done to a stack
_CUT = None, (NOTHING,), None  # stands for a transition that is missing


def check_relation(a: Automaton, b: Automaton, file: Any, words: Any, first: Any) -> int:
    """Return how many heads the relation shows of ``a`` beside ``b``, the language's automaton.

    Outputs and cuts: all are the same; or on all that b reads, where it has an output; or they do not matter. A run
    that is cut, or has no pushes, has no cells: the other's lie alone. Wherever b goes on, so do the ``words``.
    """
    relation, outputs, pair = set(map(_frozen, file["relation"])), file["outputs"], (a, b)
    need(a.stacks == b.stacks == 1 and set(a.letters) == set(b.letters), "these automata cannot be compared")
    need(outputs in ("all", "where the language has one", "none"), "which outputs count is not known here")
    need(file["acceptance"] is True or outputs != "none", "nothing would be compared")
    stacked = [any(push is not None for _, ((_, push),), _ in pda.rules.values()) for pda in pair]

    def moves(control: Any, tops: Any) -> Iterator[Any]:
        (states, higher, good, word), (top,) = control, tops
        need((control, top) in relation, f"the relation lacks {states} with tops {top}")
        live = [state is not None and has for state, has in zip(states, stacked, strict=True)]
        cells = [((top[i],) if top else ()) + higher[i] if live[i] else () for i in (0, 1)]
        verdicts = {pda.accepts(states[i], not cells[i], good[i]) for i, pda in enumerate(pair)}
        need(len(verdicts) == 1 or not file["acceptance"], f"at {states}, {top} only one accepts")
        for letter in a.letters:
            found = list[Any]()  # of each: state, cells, whether the output accepts, output
            for i, pda in enumerate(pair):
                to, ((pops, push),), out = pda.rules.get((states[i], letter, cells[i][-1:] or (pda.bottom,)), _CUT)
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

    good = a.first_good, b.first_good
    return runs(((a.initial, b.initial), ((), ()), good, first), 1, moves)


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
        made = Boxes(Net(content, weights), pda, certificate, words, first)
        itself, limit = (certificate["claims"][name] for name in ("itself", "stack_limit"))
        cells = "" if limit is None else f" that need at most {limit} cells"
        uncut = "" if made.net.task in ("recognition", "next set") else ", as far as its run is not cut"
        shown += [f"the {'network itself' if itself else 'rounded network'} follows the automaton on words "]
        shown[0] += f"{'of the task ' if domain else ''}of every length{cells}"
        shown[0] += f"{uncut} ({made.net.format}: {len(made.used)} boxes, {made.heads} heads, {made.steps} steps, "
        shown[0] += f"margin {made.margin:g}, gap {made.gap:g})"
    if equality:
        heads = check_relation(pda, Automaton(equality["reference"]), equality, words, first)
        shown.append(f"the automaton equals that of {equality['language']} ({heads} heads)")
    return "; ".join(shown)


def verdict(network: str, proof: str) -> tuple[int, str]:
    """Return the exit status, and in one line what two files prove, or why not."""
    try:
        return 0, f"proved: {check(network, proof)}"
    except Refused as refused:
        status, why = 1, f"refused: {refused}"
    except Exception as error:  # whatever is wrong with a file
        status, why = 2, f"cannot be read: {type(error).__name__}: {error}"
    return status, " ".join(why.split())[:400]


if __name__ == "__main__":
    if len(sys.argv) != 3:
        print("usage: python -m stacklens.check_proof NET.pt PROOF.json", file=sys.stderr)
        sys.exit(2)
    found = verdict(*sys.argv[1:])
    print(found[1], file=sys.stderr if found[0] else sys.stdout)
    sys.exit(found[0])
