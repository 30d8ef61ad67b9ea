"""A checker of proof files: does the network in NET.pt do what the automaton in PROOF.json does, on words of any length?

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
from collections.abc import Callable, Iterator
from itertools import product
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

_KINDS = {"Double": "<f8", "Float": "<f4", "Half": "<f2", "BFloat16": "<u2", "Long": "<i8", "Byte": "<u1"}
_KNOWN: dict[str, Any] = {
    "collections.OrderedDict": OrderedDict,
    "torch._utils._rebuild_tensor_v2": lambda *parts: parts[:4],  # storage, offset, shape, strides
    **{f"torch.{name}Storage": kind for name, kind in _KINDS.items()},
}


class _Reader(pickle.Unpickler):
    stored: Callable[[str], bytes]

    def find_class(self, module: str, name: str) -> Any:
        if f"{module}.{name}" not in _KNOWN:
            raise ValueError(f"it holds {module}.{name}, which could run code")
        return _KNOWN[f"{module}.{name}"]

    def persistent_load(self, pid: Any) -> tuple[str, bytes]:
        return str(pid[1]), self.stored(pid[2])


def read_network(path: str) -> tuple[Any, dict[str, Row], str]:
    """Return what a checkpoint holds, its weights, and their digest."""
    with zipfile.ZipFile(path) as archive:
        files = {name.partition("/")[2]: name for name in archive.namelist()}
        if any(member.compress_type for member in archive.infolist()) or archive.testzip() is not None:
            raise ValueError("it is packed or damaged")
        reader = _Reader(archive.open(files["data.pkl"]))
        reader.stored = lambda key: archive.read(files[f"data/{key}"])
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

OWN = 2.0**-53  # half the distance from 1 to the next number, in our float64
LARGEST_WEIGHT, LARGEST_VALUE = 2.0**40, 2.0**20  # no sum of products of these is larger than float32 can hold


class Layer(NamedTuple):
    """W x + b, with at most ``terms`` roundings on the way of any product."""

    weights: Row
    bias: Row
    sizes: Row  # of each weight: the sum of the sizes of the products that it is made of
    bias_sizes: Row
    terms: int

    def rows(self, which: Any) -> "Layer":
        """Return the layer of some rows."""
        return Layer(*(part[which] for part in self[:4]), self.terms)


def plain(weights: Row, bias: Any = 0.0, more: int = 0) -> Layer:
    """Return a layer of weights and biases that stand for themselves; there are so many ``more`` roundings."""
    there = np.zeros(len(weights)) + bias
    return Layer(weights, there, abs(weights), abs(there), weights.shape[1] + 1 + more)


class Numbers(NamedTuple):
    """A floating-point format, and bounds on what is computed in it."""

    unit: float  # half the distance from 1 to the next number
    least: float  # the smallest normal number
    whole: int  # up to which all whole numbers are there
    shares: float  # from this gap on exp(-gap) is 0 and 1 / (1 + exp(-gap)) is 1, with room to spare
    signed: float  # from this one on at least the latter

    def around(self, low: Row, high: Row, sizes: Row, terms: int, scale: float = 1.0) -> Box:
        """Return the box, wider by what sums of products of ``sizes`` may be off after so many roundings, and ours.

        That is terms u / (1 - terms u) times the sizes (Higham 2002, lemma 3.1), and what is lost by underflow.
        """
        net, own = (n * u / (1 - n * u) for n, u in ((terms, self.unit), (2 * terms + 4, OWN)))
        pad = ((net + own) * sizes + self.least * terms * scale) * (1 + 2.0**-20)
        return np.stack([np.nextafter(low - pad, -np.inf), np.nextafter(high + pad, np.inf)])

    def values(self, layer: Layer, box: Box) -> Box:
        """Return bounds on what the layer gives for any vector of ``box``."""
        most, up, down = abs(box).max(0), np.maximum(layer.weights, 0), np.minimum(layer.weights, 0)
        low, high = (up @ box[i] + down @ box[1 - i] + layer.bias for i in (0, 1))
        scale = (1 + layer.sizes.max(initial=0)) * (1 + most.max(initial=0))
        return self.around(low, high, layer.sizes @ most + layer.bias_sizes, layer.terms, scale)

    def squashed(self, box: Box, kind: str) -> Box:
        """Return bounds on tanh or the sigmoid, which grow; a library's may be off by 16 units (8 in the last place)."""
        pad = np.array([[-1.0], [1.0]]) * (16 * self.unit + 8 * OWN)
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
    "float64": Numbers(2.0**-53, 2.0**-1022, 2**53, 760.0, 48.0),
    "float32": Numbers(2.0**-24, 2.0**-126, 2**24, 112.0, 24.0),
}


def above(box: Box) -> tuple[tuple[bool, ...], float]:
    """Return which numbers are above 1/2, and the margin with which that is sure."""
    over, under = box[0] - 0.5, 0.5 - box[1]
    return tuple((over >= under).tolist()), float(np.maximum(over, under).min())


# ---- Networks: what controllers answer from boxes. A further kind is one more method, and its line in `KINDS`.

NONE, POP, PUSH = (False, False), (True, False), (False, True)  # an operation: whether it pops, whether it pushes then
# Bounds on the next hidden vector; each stack's operation with its margin; bounds on what a push lays on each; the output
# with its margin; and the gap: how far all sums that decide actions are from a tie.
Answer = tuple[Box, list[tuple[tuple[bool, ...], float]], list[Box], tuple[Any, float], float]


class Network:
    """A network: its configuration c, first hidden vector, what an empty cell reads as, how many cells, its answers."""

    start: Row
    empty: Row
    limit: int | None
    first: Layer | None = None  # of units that see letter, hidden vector and reading; what follows sees the units
    acts: Layer
    pushed: Layer
    output: Layer
    squash, warmth, strengths, recurrent = "", 1.0, False, True

    def __init__(self, content: Any, weights: dict[str, Row]) -> None:
        make, self.task, fields = KINDS[content["model"]]
        strange = sorted(set(content["config"]) - set(fields.split()) - {"alphabet"})
        need(not strange, f"what {', '.join(strange)} means for a network is not known here")
        self.c = c = SimpleNamespace(end=None, first=None, trap=False, n_stacks=1, depth=1, task_kind="next set", output_alphabet=())
        vars(c).update(content["config"])
        (self.format,) = {value.dtype.name for value in weights.values()}
        need(self.format in FORMATS, f"weights in {self.format}; only {' and '.join(FORMATS)} are known here")
        self.num, self.left, self.model = FORMATS[self.format], dict(weights), content["model"]
        self.task = self.task or c.task_kind
        self.letters, self.outputs = [*c.alphabet, *([c.end] if c.end else [])], c.output_alphabet or c.alphabet
        self.k, self.exact = len(self.letters), self.num.shares
        make(self)
        need(not self.left, f"there are more weights: {', '.join(self.left)}")

    def weight(self, name: str, *shape: int) -> Row:
        """Return a weight, which has to have this shape."""
        value = self.left.pop(name).astype(np.float64)  # exact
        need(value.shape == shape and (abs(value) <= LARGEST_WEIGHT).all(), f"{name} has another shape, or is too large")
        return value

    def answer(self, letter: int, hidden: Box, reading: Box) -> Answer:
        """Return the answer to a letter's number, from boxes of hidden vectors and of the readings of all stacks."""
        num, m, after = self.num, self.c.hidden, hidden
        seen = np.concatenate([np.eye(self.k)[[letter, letter]], hidden[:, :m], reading], 1)
        if self.first is not None:
            drive = num.values(self.first, seen)
            after = num.lstm(drive, hidden[:, m:]) if self.squash == "lstm" else num.squashed(drive, self.squash)
            seen = after[:, :m]
        laid = np.split(num.squashed(num.values(self.pushed, seen), "sigmoid"), self.c.n_stacks, 1)
        if self.strengths:
            drive = num.values(self.acts, seen)
            done, gap = [above(num.squashed(drive, "sigmoid"))], np.maximum(drive[0], -drive[1]).min()
        else:
            rows = np.split(np.arange(len(self.acts.bias)), self.c.n_stacks)
            found = [num.largest(self.acts.rows(one), seen, self.warmth) for one in rows]
            done, gap = [((PUSH, POP, NONE)[act], margin) for act, margin, _ in found], min(lead for *_, lead in found)
        if not self.model.startswith("marnn"):
            return after, done, laid, num.largest(self.output, seen)[:2], gap
        told = num.squashed(num.values(self.output, seen), "sigmoid")
        if self.task == "next set":
            return after, done, laid, above(told), gap
        leads = [told[0, i] - np.delete(told[1], i).max(initial=-np.inf) for i in range(len(self.outputs))]
        return after, done, laid, (int(np.argmax(leads)), max(leads)), gap

    def stack_rnn(self) -> None:
        """Joulin & Mikolov 2015: h' = sigmoid(U x + R h + P s); actions, pushed values and the next symbol of h'."""
        c, m, weight = self.c, self.c.hidden, self.weight
        back = weight("recurrent_weights", m, m) if c.recurrent else np.zeros((m, m))
        first = [weight("input_weights", self.k, m).T, back, weight("memory_weights", m, c.n_stacks * c.depth)]
        self.first, self.squash, self.recurrent = plain(np.concatenate(first, 1)), "sigmoid", c.recurrent
        self.acts = plain(weight("action_weights", c.n_stacks * (2 + c.no_op), m))
        self.pushed, self.output = plain(weight("pushed_weights", c.n_stacks, m)), plain(weight("output_weights", self.k, m))
        self.start, self.empty, self.limit = np.zeros(m), -np.ones(1), c.stack_limit

    def marnn(self) -> None:
        """Suzgun et al. 2019: an RNN or LSTM of x and h~ = h + W_s s + b_s, or Joulin's; then as there, with biases."""
        c, m, d, weight = self.c, self.c.hidden, self.c.cell_size, self.weight
        self.squash = {"marnn-stack-rnn": "tanh", "marnn-stack-lstm": "lstm", "marnn-joulin": "sigmoid"}[self.model]
        rows = 4 * m if self.squash == "lstm" else m
        letters, back, memory = (
            weight(f"{name}_weights", *size) for name, *size in (("input", rows, self.k), ("hidden", rows, m), ("memory", m, d))
        )
        if self.squash == "sigmoid":
            self.first = plain(np.concatenate([letters, back, memory], 1))
        else:
            biases = weight("hidden_bias", rows), weight("input_bias", rows), weight("memory_bias", m)
            self.first = Layer(
                np.concatenate([letters, back, back @ memory], 1),
                biases[0] + biases[1] + back @ biases[2],
                np.concatenate([abs(letters), abs(back), abs(back) @ abs(memory)], 1),
                abs(biases[0]) + abs(biases[1]) + abs(back) @ abs(biases[2]),
                self.k + m + d + 8,
            )
        sizes = (("action", 2), ("pushed", d), ("output", len(self.outputs)))
        self.acts, self.pushed, self.output = (plain(weight(f"{one}_weights", n, m), weight(f"{one}_bias", n)) for one, n in sizes)
        self.warmth = 1.0 if c.gating == "softmax" else c.temperature
        need(2.0**-20 <= self.warmth <= 2.0**20, "the temperature is out of range")
        self.start, self.empty, self.limit = np.zeros(2 * m if self.squash == "lstm" else m), np.zeros(d), c.stack_limit

    def neural_stack(self) -> None:
        """Hao et al. 2018: a linear layer, tanh RNN or LSTM of letter and top gives [pop, push, value, output]."""
        c, k, d, n = self.c, self.k, self.c.cell_size, 2 + self.c.cell_size + len(self.outputs)
        self.squash = {"linear": "", "rnn": "tanh", "lstm": "lstm"}[c.controller]
        self.recurrent, self.strengths, m = bool(self.squash), True, c.hidden
        last = plain(self.weight("net.weight", n, m if self.squash else k + d), self.weight("net.bias", n), 2)
        self.acts, self.pushed, self.output = (last.rows(slice(*ends)) for ends in ((0, 2), (2, 2 + d), (2 + d, None)))
        if self.squash:
            rows = 4 * m if self.squash == "lstm" else m
            seen, back = self.weight("net.weight_ih", rows, k + d), self.weight("net.weight_hh", rows, m)
            one, two = self.weight("net.bias_ih", rows), self.weight("net.bias_hh", rows)
            first = plain(np.concatenate([seen[:, :k], back, seen[:, k:]], 1), one + two, 4)
            self.first = first._replace(bias_sizes=abs(one) + abs(two))
        size = {"": 0, "tanh": m, "lstm": 2 * m}[self.squash]
        self.start, self.empty, self.limit = np.zeros(size), np.zeros(d), self.num.whole

    def nnpda(self) -> None:
        """Sun et al. 1993, eqs. 5 to 9, 23, 24: products of states, reading and letter; the letter is what is pushed."""
        c, num, k, full, second = self.c, self.num, self.k, self.c.order == "full", self.c.order == "second"
        n, seen = c.n_states, k + c.empty_reading
        size, end = n * (seen + k) if second else n * seen * k, (seen + k,) if second else (seen, k)
        need(c.order in ("second", "third", "full"), "an order that is not known here")
        tables = self.weight("state_weights", n, size), self.weight("action_weights", 1, 2**n * seen * k if full else size)
        biases = self.weight("state_bias", n), np.zeros(1) if full else self.weight("action_bias", 1)

        def on(which: int, letter: int, reading: Row) -> Layer:
            table, bias = tables[which].reshape(len(tables[which]), -1, *end), biases[which]
            parts = [table[..., :seen] @ reading, table[..., seen + letter]] if second else [table[..., letter] @ reading]
            return Layer(sum(parts), bias, sum(map(abs, parts)), abs(bias), tables[which].shape[1] + 2)

        def answer(letter: int, hidden: Box, reading: Box) -> Answer:
            top = reading[0]
            need((top == reading[1]).all() and set(top) <= {0, 1} and top.sum() <= 1, "a value on the stack is no letter")
            top = np.append(top, 1 - top.sum())[:seen]
            acts, gap = on(1, letter, top), 0.0
            if full:  # a sum of products of S or 1 - S, linear in each S: extreme at corners. The first S counts most.
                corners = acts.weights
                for low, high in hidden.T:
                    no, yes = np.split(corners, 2, 1)
                    corners = np.concatenate([no * (1 - s) + yes * s for s in (low, high)])
                total = acts.sizes.sum()
                low, high = num.around(corners.min(), corners.max(), total, acts.terms + 2 * n, 1 + total)
            else:
                drive = num.values(acts, hidden)
                gap = max(drive[0, 0], -drive[1, 0])
                low, high = 2 * num.squashed(drive, "sigmoid")[:, 0] - 1 + np.array([-4, 4]) * num.unit
            margin, done = max((min(low + 0.5, 0.5 - high), NONE), (-0.5 - high, POP), (low - 0.5, PUSH))
            after = num.squashed(num.values(on(0, letter, top), hidden), "sigmoid")
            return after, [(done, margin)], [np.eye(k)[[letter, letter]]], (None, np.inf), gap

        self.start, self.empty, self.limit, self.exact = np.eye(n)[0], np.zeros(k), num.whole, num.signed
        self.answer = answer  # type: ignore[method-assign]


_MARNN = "hidden cell_size gating temperature stack_limit first output_alphabet task_kind"
KINDS: dict[str, tuple[Any, str, str]] = {  # the method, the task, what a configuration says besides the alphabet
    "nnpda": (Network.nnpda, "recognition", "order n_states end trap empty_reading"),
    "stack-rnn": (Network.stack_rnn, "next symbol", "hidden n_stacks depth no_op recurrent stack_limit"),
    **{f"marnn-{name}": (Network.marnn, "", _MARNN) for name in ("stack-rnn", "stack-lstm", "joulin")},
    "neural-stack": (Network.neural_stack, "transduction", "hidden cell_size null controller output_alphabet"),
}


# ---- Automata, and all that runs on stacks can show.


def frozen(value: Any) -> Any:
    """Return JSON's lists as tuples."""
    return tuple(map(frozen, value)) if isinstance(value, list) else value


class Automaton:
    """A deterministic real-time automaton; ``rules``: (state, letter, tops) -> (target, (pops, pushed) a stack, output)."""

    def __init__(self, content: Any) -> None:
        self.initial, self.bottom, self.acceptance = content["initial"], content["bottom"], content["acceptance"]
        self.letters, self.stacks, self.final = content["input_alphabet"], content["n_stacks"], set(content["accepting"])
        self.good, self.first = frozen(content["accepting_outputs"]), frozen(content["initial_output"])
        self.rules: dict[Any, Any] = {}
        for one in content["transitions"]:
            key, done = (one["from"], one["read"], frozen(one["tops"])), [(op["pop"], op["push"]) for op in one["operations"]]
            fits = len(key[2]) == len(done) == self.stacks and key not in self.rules and one["read"] in self.letters
            names = [pops if top == self.bottom else push for top, (pops, push) in zip(key[2], done, strict=True)]
            need(fits and not {True, self.bottom} & set(names), f"{key} is no transition of an automaton")
            self.rules[key] = one["to"], tuple(done), frozen(one.get("output"))
        need(content["end_marker"] is None, "an automaton with an end marker is not known here")

    def is_good(self, output: Any) -> bool:
        """Return whether acceptance is by output, and this one accepts."""
        return self.acceptance == "output" and output in self.good

    def accepts(self, state: Any, empty: bool, good: bool = False) -> bool:
        """Return whether a run is accepted that ends so; none that is cut is."""
        final = state in self.final
        found = {"final state": final, "empty stack": empty, "both": final and empty, "output": good}[self.acceptance]
        return state is not None and found


def runs(start: Any, stacks: int, moves: Callable[[Any, Any], Iterator[Any]]) -> int:
    """Ask every head that runs from ``start`` on empty stacks can show for its moves; return how many there are.

    ``moves(control, names of tops, None where empty)`` yields (control, for each stack whether it pops and the name of
    what it pushes or None). Each cell has a label; what may lie below cells of a label only grows, so nothing is missed.
    With one stack the label is the control and the name that the cell was pushed with: what is done from there until it
    is popped does not depend on what is below, so nothing is looked at that no run shows.
    """
    below, users = defaultdict[Any, dict[Any, None]](dict), defaultdict[Any, set[Any]](set)
    seen, known = {(start, (None,) * stacks)}, dict[Any, Any]()
    waiting = list(seen)
    while waiting:
        head = control, tops = waiting.pop()
        names = tuple(top and top[0] for top in tops)
        if (control, names) not in known:
            known[control, names] = list(moves(control, names))
        for after, done in known[control, names]:
            choices = list[Any]()
            for i, (top, (pops, name)) in enumerate(zip(tops, done, strict=True)):
                if name is None and pops and top is not None:
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


class Certificate:
    """What the boxes of a file prove: how many were used, in how many steps, with which margin and gap."""

    def __init__(self, net: Network, pda: Automaton, file: Any) -> None:
        self.net, self.pda, self.claims, self.layout, self.stacks = net, pda, file["claims"], file["layout"], file["stacks"]
        self.boxes, self.names, self.used, self.steps, self.gap = list[Box](), list[Any](), set[int](), 0, np.inf
        self.named = defaultdict[Any, list[int]](list)
        for one in file["boxes"]:  # of hidden vectors where the stack is None
            box = np.array([[float.fromhex(x) for x in one[side]] for side in ("low", "high")])
            size = len(net.start if one["stack"] is None else net.empty)
            whole = box.shape == (2, size) and (abs(box) <= LARGEST_VALUE).all() and (box[0] <= box[1]).all()
            need(whole, f"box {len(self.boxes) + 1} is none")
            self.names.append((one["stack"], *frozen(one["tag"])))
            self.named[self.names[-1]].append(len(self.boxes))
            self.boxes.append(box)
        self.words = None if file["domain"] is None else {(one, letter): to for one, letter, to in file["domain"]["steps"]}
        claims, self.others = self.claims, [stack for stack in range(net.c.n_stacks) if stack not in self.stacks]
        self.margin = np.inf if claims["margin"] is None else claims["margin"]
        need(self.words is None or net.task in ("next symbol", "transduction"), "there is a domain, and all words count")
        need(claims["number_format"] == net.format, f"the weights are in {net.format}, not {claims['number_format']}")
        cells = np.inf if claims["stack_limit"] is None else claims["stack_limit"]
        need(net.limit is None or cells <= net.limit, f"a stack of {cells} cells is claimed, and has {net.limit}")
        fits = sorted([*self.stacks, *self.others]) == list(range(net.c.n_stacks)) and max(1, len(self.stacks)) == pda.stacks
        need(fits and set(pda.letters) == set(net.c.alphabet), "network and automaton have other stacks or letters")
        need(net.task != "recognition" or (self.stacks and pda.acceptance != "output"), "the automaton gives no verdicts")
        need(self.margin > 0, "the margin is not above 0")
        place = self.inside(np.stack([net.start, net.start]), None, "start")[0]
        for stack in self.others:  # all that lies on stacks that the automaton has not is in one box
            self.inside(np.stack([net.empty, net.empty]), stack, "any")
        start = pda.initial, place, None, file["domain"] and file["domain"]["initial"], None
        self.heads = runs(start, len(self.stacks), self.moves)
        need(self.steps, "nothing would be said of any word")
        gap = np.inf if claims["gap"] is None else claims["gap"]
        need(self.gap >= gap, f"a gap of {gap} is claimed, and {self.gap} shown")
        need(not claims["itself"] or self.gap >= net.exact, f"a gap of {self.gap} leaves actions soft")

    def inside(self, image: Box, *name: Any) -> list[int]:
        """Return the boxes of this name that hold ``image``, together; where one ends another has to go on."""
        left, used = [image.copy()], list[int]()
        for number in self.named[name]:
            box, pieces, left = self.boxes[number], left, []
            for piece in pieces:
                if (piece[0] > box[1]).any() or (piece[1] < box[0]).any():
                    left.append(piece)
                    continue
                used.append(number)
                for side, i in product((0, 1), range(box.shape[1])):  # cut off what is out of the box, side by side
                    if (piece - box)[side, i] * (1 - 2 * side) < 0:
                        left.append(piece.copy())
                        left[-1][1 - side, i] = box[side, i]
                        piece[side, i] = box[side, i]
        need(used and not left and np.isfinite(image).all(), f"what is computed leaves the boxes {name}")
        self.used.update(used)
        return list(dict.fromkeys(used))

    def sure(self, decided: tuple[Any, float], at: str, what: str) -> Any:
        """Return what is decided, which has to be with the margin that is claimed."""
        need(decided[1] >= self.margin, f"{at}: the {what} is not sure by {self.margin}")
        return decided[0]

    def moves(self, control: Any, tops: Any) -> Iterator[Any]:
        """Yield what each letter does at a head, all of it checked.

        A control is: the state, None once the run is cut; the box of the hidden vector; the set that was output; where
        words are in the domain; and after the end symbol the automaton's verdict, None before.
        """
        net, pda, (state, place, said, word, ended) = self.net, self.pda, control
        names = tuple(pda.bottom if top is None else top[0] or "?" for top in tops) or (pda.bottom,) * pda.stacks
        at, hidden, empty = f"at ({state}, {', '.join(names)})", self.boxes[place], not any(tops)
        if net.task == "recognition" and (net.c.end is None) == (ended is None):
            accepts = empty and self.sure(above(hidden[:, -1:]), at, "verdict")[0]
            need(accepts == (pda.accepts(state, empty) if ended is None else ended), f"{at}: another verdict")
        blank = np.stack([net.empty, net.empty])
        seen = [[self.boxes[self.named[stack, "any"][0]]] * net.c.depth if stack in self.others else [] for stack in range(net.c.n_stacks)]
        for stack, top in zip(self.stacks, tops, strict=True):
            seen[stack] = [blank if n is None else self.boxes[n] for n in (top[1] if top else (None,) * net.c.depth)]
        reading = np.concatenate([box for boxes in seen for box in boxes], 1)
        for number, letter in enumerate(net.letters if ended is None else ()):
            at, step = f"at ({state}, {letter}, {', '.join(names)})", pda.rules.get((state, letter, names))
            after_word = word if self.words is None else self.words.get((word, letter))
            if self.words is not None and after_word is None:  # no word that counts goes on so
                continue
            if step is None and net.task in ("next symbol", "transduction"):  # nothing is claimed once a run is cut
                continue
            if net.task == "next set":  # a letter that is not in the set before it rejects
                foreseen = letter in ((net.c.first or net.letters) if said is None else said)
                need(foreseen == (step is not None), f"{at}: the network {'goes on' if foreseen else 'rejects'}")
                if not foreseen:
                    continue
            self.steps += 1
            after, operations, pushed, output, gap = net.answer(number, hidden, reading)
            verdict = pda.accepts(state, empty) if letter == net.c.end else None
            rejects = net.task == "recognition" and empty and self.sure(operations[0], at, "operation") == POP
            gone = False
            if net.c.trap and not rejects:
                rejects = gone = not self.sure(above(after[:, -1:]), at, "rejection")[0]
            self.gap = self.gap if gone else min(self.gap, max(0.0, gap))  # what it does in a trap does not matter
            need(not rejects or not (verdict or step), f"{at}: the network rejects")
            if rejects:
                continue
            # what it does to the stacks; a pop of nothing does nothing
            done = [self.sure(operations[stack], at, "operation") for stack in self.stacks]
            done = [(pops and top is not None, pushes) for (pops, pushes), top in zip(done, tops, strict=True)]
            asked = step and [(pops, push is not None) for pops, push in step[1]]
            need(step is None or (done or [NONE] * pda.stacks) == asked, f"{at}: the network does something else")
            told = None
            if net.task != "recognition" and (step[2] is not None or net.task == "next set"):
                told = self.sure(output, at, "output")
                if net.task == "next set":
                    told = tuple(out for out, there in zip(net.outputs, told, strict=True) if there)
                same = told == step[2] if net.task == "next set" else net.outputs[told] == step[2]
                need(same or step[2] is None, f"{at}: another output")
            # where all of it lies
            read = (letter, *names) if self.layout["tops"] else (letter,)
            target = step and step[0]
            tag = (*read, *self.names[place][2:])[: self.layout["steps"] * len(read)]
            there = self.inside(after, None, target, *tag) if net.recurrent else [place]
            for stack in self.others:
                if operations[stack][0][1] or not operations[stack][1] > 0:
                    self.inside(pushed[stack], stack, "any")
            laid = list[Any]()  # for each stack what may be done
            for i, (top, (pops, pushes)) in enumerate(zip(tops, done, strict=True)):
                symbol, below = step and step[1][i][1], top[1] if top else (None,) * net.c.depth
                name = (self.stacks[i], symbol, letter, *(names if self.layout["value_tops"] else ()))
                cells = self.inside(pushed[self.stacks[i]], *name) if pushes else [None]
                laid.append([(pops, (symbol, (n, *below[pops:])[: net.c.depth]) if pushes else None) for n in cells])
            told = told if net.task == "next set" else None
            yield from (((target, box, told, after_word, verdict), choice) for box in there for choice in product(*laid))


# ---- Equality of one-stack automata: O5.


def check_relation(a: Automaton, b: Automaton, file: Any, domain: Any) -> int:
    """Return how many heads the relation shows of ``a`` beside ``b``, the language's automaton.

    Outputs and cuts: all are the same; or on all that b reads, where it has an output; or they do not matter. A run that
    is cut, or that has no pushes, has no cells: the other's lie alone.
    """
    relation, outputs, pair = set(map(frozen, file["relation"])), file["outputs"], (a, b)
    words = domain and {(one, letter): to for one, letter, to in domain["steps"]}
    need(a.stacks == b.stacks == 1 and set(a.letters) == set(b.letters), "these automata cannot be compared")
    need(outputs in ("all", "where the language has one", "none"), "which outputs count is not known here")
    need(file["acceptance"] is True or (file["acceptance"] is False and outputs != "none"), "nothing would be compared")
    stacked = [any(push is not None for _, ((_, push),), _ in pda.rules.values()) for pda in pair]

    def moves(control: Any, tops: Any) -> Iterator[Any]:
        (states, higher, good, word), (top,) = control, tops
        need((control, top) in relation, f"the relation lacks {states} with tops {top}")
        live = [state is not None and has for state, has in zip(states, stacked, strict=True)]
        cells = [((top[i],) if top else ()) + higher[i] if live[i] else () for i in (0, 1)]
        verdicts = [pda.accepts(states[i], not cells[i], good[i]) for i, pda in enumerate(pair)]
        need(verdicts[0] == verdicts[1] or not file["acceptance"], f"at {states}, {top} only one accepts")
        for letter in a.letters:
            found = list[Any]()  # of each: state, cells, whether the output accepts, output
            for i, pda in enumerate(pair):
                step = pda.rules.get((states[i], letter, cells[i][-1:] or (pda.bottom,)))
                pops, push = step[1][0] if step else (False, None)
                left = (*(cells[i][:-1] if pops else cells[i]), *([] if push is None else [push]))
                found.append((step[0], left, pda.is_good(step[2]), step[2]) if step else (None, (), False, None))
            cut = [one[0] is None for one in found]
            if cut[1] and (cut[0] or outputs == "where the language has one"):
                continue
            same = cut[0] == cut[1] and (found[0][3] == found[1][3] or (found[1][3] is None and outputs != "all"))
            need(same or outputs == "none", f"at {states}, {top} on {letter} they differ")
            need(words is None or cut[1] or (word, letter) in words, f"the domain lacks {letter} at {word}")
            there = [i for i in (0, 1) if stacked[i] and not cut[i]]
            level = int(top is not None)
            common = min([level + 1, *(len(found[i][1]) for i in there)]) if there else level
            new = tuple(found[i][1][common - 1] if i in there and common else None for i in (0, 1))
            rest = tuple(found[i][1][common:] if i in there else () for i in (0, 1))
            done = (True, None) if common < level else (common == level, new if there and common else None)
            after = (found[0][0], found[1][0]), rest, (found[0][2], found[1][2]), words and words.get((word, letter))
            yield after, ((done if there and (level or common) else (False, None)),)

    good = a.is_good(a.first), b.is_good(b.first)
    return runs(((a.initial, b.initial), ((), ()), good, domain and domain["initial"]), 1, moves)


def check(network: str, proof: str) -> str:
    """Return what the files prove."""
    content, weights, digest = read_network(network)
    with open(proof, encoding="utf-8") as text:
        file = json.load(text, parse_constant=lambda name: need(False, f"it holds {name}, which is no number"))
    known = file["format"] == "stacklens proof" and file["version"] == 1
    need(known and file["network"]["weights"] == digest, "the proof is of other weights, or no proof of version 1")
    plain_text = json.dumps(file["automaton"], sort_keys=True, separators=(",", ":"))
    need(hashlib.sha256(plain_text.encode()).hexdigest() == file["automaton_sha256"], "the proof is of another automaton")
    pda, certificate, equality, shown = Automaton(file["automaton"]), file["certificate"], file["equality"], []
    need(certificate or equality, "it proves nothing")
    need(not certificate or certificate["domain"] is None or equality, "which words count is not shown")
    if certificate:
        made = Certificate(Network(content, weights), pda, certificate)
        claims = certificate["claims"]
        cells = "" if claims["stack_limit"] is None else f" that need at most {claims['stack_limit']} cells"
        who, of = ("the network itself" if claims["itself"] else "the rounded network"), certificate["domain"] and " of the task"
        shown.append(
            f"{who} follows the automaton on words{of or ''} of every length{cells} ({claims['number_format']}: {len(made.used)} boxes, "
            f"{made.steps} steps at {made.heads} heads, margin {made.margin:.6g}, gap {made.gap:.6g})"
        )
    if equality:
        heads = check_relation(pda, Automaton(equality["reference"]), equality, certificate and certificate["domain"])
        shown.append(f"the automaton equals that of {equality['language']} ({heads} heads)")
    return "; ".join(shown)


def main(arguments: list[str]) -> int:
    """Check two files, say what they prove in one line, and return the exit status."""
    if len(arguments) != 2:
        print("usage: python -m stacklens.check_proof NET.pt PROOF.json", file=sys.stderr)
        return 2
    try:
        print(f"proved: {check(*arguments)}")
        return 0
    except Refused as refused:
        status, why = 1, f"refused: {refused}"
    except Exception as error:  # whatever is wrong with a file
        status, why = 2, f"cannot be read: {type(error).__name__}: {error}"
    print(" ".join(why.split())[:400], file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
