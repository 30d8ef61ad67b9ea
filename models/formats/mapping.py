"""State dicts of stack RNNs as others publish them, by a mapping file that says which weight is what.

A mapping is a JSON file with ``"format": "stacklens mapping"``; docs/own-networks.md has one with every entry. The
hidden vector after a symbol x is that of an RNN, GRU or LSTM cell in torch's order of gates. It sees the top of the
stack beside x ("input"), added to the hidden vector before that is multiplied ("hidden"; Suzgun et al. 2019), or added
behind it ("added"; Joulin & Mikolov 2015). Shares of actions, the value to push and the output come from linear layers.
"""

import fnmatch
import hashlib
import io
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from ...core.errors import FileFormatError, StacklensError, in_file, in_short, names_in_short
from ...core.files import LARGEST_NETWORK, check_outputs, from_plain, parse_json, read_whole, write_whole
from ...core.progress import count
from ..base import StackModel
from ..networks.layers import lstm_cell
from ..plain_data import check_tensor, describe, read_plain
from ..step_network import StepNetwork
from ..wrap import wrap

# ---- The step of a stack RNN whose weights a mapping names, with all shapes checked against each other.

GATES = {"rnn": 1, "gru": 3, "lstm": 4}
_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    "none": lambda values: values,
}
_SQUASHED: dict[str, Callable[[Tensor], Tensor]] = {  # actions, by the stack that they are of
    "superposition": lambda sums: torch.softmax(sums, -1),
    "strength": torch.sigmoid,
    "continuous": torch.tanh,
}
_ACTIONS = {"superposition": ("push", "pop", "none"), "strength": ("pop", "push"), "continuous": ("push",)}


class MappedCell(nn.Module):
    """A controller on stacks of one kind. ``hidden``, ``cell_size``, ``depth``: the sizes of a hidden vector and of a
    cell, and how many layers there are. Its state is a tuple of layers, each (h,), or (h, c) of an LSTM.
    """

    def __init__(
        self,
        weights: Mapping[str, Tensor],  # by entry, such as "input weight"
        symbols: int,  # how many symbols it reads
        entries: Mapping[str, Any],  # those of the mapping, with "cell", "top", "nonlinearity", "stack", …
        actions: Sequence[str],  # what the actions of a stack are of
        source: Path | None = None,
    ) -> None:
        super().__init__()
        self.entries, self.n_stacks, self.source = entries, entries["n_stacks"], source
        pushed, self.hidden = _rows(weights, "push weight")
        self.cell_size = pushed // self.n_stacks
        shares = self.n_stacks * len(actions)
        rows = _rows(weights, "actions weight")[0] if "actions weight" in weights else shares
        if pushed % self.n_stacks or (rows % len(actions) == 0 and rows != shares):
            raise StacklensError(
                f"n_stacks is {self.n_stacks}, with {rows} actions ({len(actions)} a stack) and {pushed} numbers to "
                f'push; are there {rows // len(actions)} stacks? then "n_stacks": {rows // len(actions)}'
            )
        # the shapes of all layers, (outputs, inputs), and what they follow from
        gates, size = GATES[entries["cell"]] * self.hidden, symbols
        layers: dict[str, tuple[tuple[int, int], str]] = {}
        if "embedding weight" in weights:
            size = _rows(weights, "embedding weight")[1]
            layers["embedding"] = (symbols, size), f"for {symbols} symbols"
        beside = pushed if entries["top"] == "input" else 0
        why = f"for {size} inputs{f' and a top of {beside}' if beside else ''}, {self.hidden} hidden units"
        layers["input"] = (gates, size + beside), f"{why}, cell {entries['cell']}"
        self.depth = 1
        while f"input {self.depth + 1} weight" in weights:
            self.depth += 1
            layers[f"input {self.depth}"] = (gates, self.hidden), f"for {self.hidden} hidden units below it"
        for name in ("hidden", *(f"hidden {number}" for number in range(2, self.depth + 1))):
            if f"{name} weight" in weights:
                layers[name] = (gates, self.hidden), f"for {self.hidden} hidden units"
        if entries["top"] != "input":
            rows = self.hidden if entries["top"] == "hidden" else gates
            layers["top"] = (rows, pushed), f"for cells of {self.cell_size}"
        layers["actions"] = (shares, self.hidden), f"for {shares} actions"
        layers["push"] = (pushed, self.hidden), f"for cells of {self.cell_size}"
        seen = self.hidden + (pushed if entries["reads"] == "after" else 0)
        layers["output"] = (_rows(weights, "output weight")[0], seen), f"for {seen} numbers that it sees"
        self.layers = nn.ParameterDict()
        for name, (shape, why) in layers.items():
            weight = _of_shape(weights, f"{name} weight", shape, why)
            bias = weight.new_zeros(shape[0])
            if f"{name} bias" in weights and name != "embedding":
                bias = _of_shape(weights, f"{name} bias", shape[:1], why)
            called = name.replace(" ", "_")
            self.layers[f"{called}_weight"], self.layers[f"{called}_bias"] = nn.Parameter(weight), nn.Parameter(bias)
        known = {f"{name} {part}" for name in layers for part in ("weight", "bias")} - {"embedding bias"}
        if left := sorted(set(weights) - known):
            raise StacklensError(f"keys names {', '.join(left)}, which a network of this kind does not have")

    def step(self, x: Tensor, state: Any, top: Tensor) -> tuple[Any, ...]:
        """Return the state after symbols ``x`` (B, n), the actions, and the values to push, a row a stack; and, where
        that sees the tops before the update, the output, unread.
        """
        seen, below, after = x.to(top), top.flatten(1), list[tuple[Tensor, ...]]()
        if "embedding_weight" in self.layers:
            seen = seen @ self.layers["embedding_weight"]
        for number, (h, *c) in enumerate(state):
            place, before = f"_{number + 1}" if number else "", h
            if number == 0 and self.entries["top"] == "input":
                seen = torch.cat([seen, below], -1)
            elif number == 0 and self.entries["top"] == "hidden":
                before = h + self._linear("top", below)
            drive = self._linear(f"input{place}", seen)
            if number == 0 and self.entries["top"] == "added":
                drive = drive + self._linear("top", below)
            kept = torch.zeros_like(drive)
            if f"hidden{place}_weight" in self.layers:
                kept = self._linear(f"hidden{place}", before)
            # what inputs and hidden vector give each gate, in torch's order
            if self.entries["cell"] == "rnn":
                after.append((_ACTIVATIONS[self.entries["nonlinearity"]](drive + kept),))
            elif self.entries["cell"] == "gru":
                (r, z, n), (hr, hz, hn) = drive.chunk(3, -1), kept.chunk(3, -1)
                update = torch.sigmoid(z + hz)
                after.append(((1 - update) * torch.tanh(n + torch.sigmoid(r + hr) * hn) + update * before,))
            else:
                after.append(lstm_cell(drive + kept, *c))
            seen = after[-1][0]
        raw = self._linear("actions", seen).unflatten(-1, (self.n_stacks, -1))  # type: ignore[no-untyped-call]
        actions = _SQUASHED[self.entries["stack"]](raw / self.entries["temperature"])
        pushed = _ACTIVATIONS[self.entries["push_activation"]](self._linear("push", seen))
        answer = tuple(after), actions, pushed.view(*actions.shape[:2], -1)
        return answer if self.entries["reads"] == "after" else (*answer, self._linear("output", seen))

    def output(self, state: Any, top: Tensor) -> Tensor:
        """Return the output that sees the tops after the update, unread."""
        return self._linear("output", torch.cat([state[-1][0], top.flatten(1)], -1))

    def _linear(self, name: str, values: Tensor) -> Tensor:
        return nn.functional.linear(values, self.layers[f"{name}_weight"], self.layers[f"{name}_bias"])


def _rows(weights: Mapping[str, Tensor], entry: str) -> tuple[int, int]:
    value = weights.get(entry)
    if value is None or value.dim() != 2 or 0 in value.shape:
        shown = "is missing" if value is None else f"has shape {tuple(value.shape)}"
        raise StacklensError(f"{entry} {shown}; expected a matrix (outputs, inputs)")
    return value.shape[0], value.shape[1]


def _of_shape(weights: Mapping[str, Tensor], entry: str, shape: tuple[int, ...], why: str) -> Tensor:
    value = weights.get(entry)
    if value is None:
        raise StacklensError(f"keys names no {entry}; expected one of shape {shape}, {why}")
    if tuple(value.shape) != shape:
        hint = "; is it transposed?" if tuple(value.shape) == shape[::-1] and len(shape) == 2 else ""
        raise StacklensError(f"{entry} has shape {tuple(value.shape)}; expected {shape}, {why}{hint}")
    return value


# ---- State dicts of stack RNNs as others publish them, by a mapping file that says which ----

MAPPING_FORMAT = "stacklens mapping"
_EXPECTED = f'a mapping file: JSON with "format": "{MAPPING_FORMAT}"'
_KEYS = ("input", "hidden", "top", "embedding", "actions", "push", "output")  # each a layer: weight and bias
_CHOICES: dict[str, tuple[str, ...]] = {  # the default first
    "cell": tuple(GATES),
    "top": ("input", "hidden", "added"),
    "nonlinearity": ("tanh", "sigmoid", "relu"),
    "push_activation": ("sigmoid", "tanh", "none"),
    "output_activation": ("sigmoid", "softmax", "none"),
    "outputs": ("next set", "next symbol", "recognition", "transduction"),
    "reads": ("before", "after"),
    "stack": tuple(_SQUASHED),
}
_MOST_STACKS = 64


def _number_fits(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e6


# of every entry that is one value: its default, whether a value fits, and what is expected
_VALUES: dict[str, tuple[Any, Callable[[Any], bool], str]] = {
    **{name: (known[0], known.__contains__, f"one of {', '.join(known)}") for name, known in _CHOICES.items()},
    "temperature": (1.0, lambda value: _number_fits(value) and value > 0, "a number above 0"),
    "empty_value": (0.0, _number_fits, "a number"),
    "empty_word": (None, lambda value: isinstance(value, bool | None), "true or false"),
    "limit": (
        None,
        lambda value: value is None or (type(value) is int and value >= 1),
        "how many cells the stack has, or null for no limit",
    ),
    "n_stacks": (
        1,
        lambda value: type(value) is int and 1 <= value <= _MOST_STACKS,
        f"how many stacks, 1 to {_MOST_STACKS}",
    ),
}
_TOKENS = ("bos", "eos", "pad")  # of a language model, whose alphabet has all its tokens
_NAMES = ("format", "weights", "state_dict", "alphabet", "keys", "initial", "threshold", "ignore")
_LISTS = ("transposed", "actions", "first")
_FURTHER = re.compile(r"^(input|hidden) [2-9] ")  # entries of further layers


def is_mapping(path: str | Path) -> bool:
    """Return whether the file at ``path`` ends in .json and says that it is a mapping."""
    with suppress(StacklensError):
        there = Path(path).suffix == ".json" and os.path.isfile(path)
        return there and _mapping_content(Path(path)).get("format") == MAPPING_FORMAT
    return False


def mapping_digest(path: str | Path) -> str:
    """Return the hash of the mapping at ``path`` and of the weights that it names."""
    content = _mapping_content(Path(path))
    digest = hashlib.sha256(read_whole(path, _EXPECTED))
    digest.update(read_whole(_weights_file(Path(path), content), "a state dict", LARGEST_NETWORK))
    return digest.hexdigest()


def read_mapped(path: str | Path, alphabet: Sequence[str] | None = None) -> StepNetwork:
    """Return the network whose weights the mapping file at ``path`` names. ``alphabet``: the symbols in the network's
    order, where the mapping has none, else the same.
    """
    path = Path(path)
    content = _mapping_content(path)
    entries = _checked_entries(content)
    own = _symbols_of(content, "alphabet")
    if own is None and alphabet is None:
        raise StacklensError(
            "names no alphabet; expected its symbols in the network's order, or --alphabet (alphabet=…)"
        )
    letters = own or tuple(alphabet or ())
    if alphabet is not None and tuple(alphabet) != letters:
        raise StacklensError(f"has the alphabet {' '.join(letters)}, not {' '.join(alphabet)}")
    # the state dict, under the name that the mapping gives, if any
    held = read_plain(_weights_file(path, content), "a state dict")
    if (under := content.get("state_dict")) is not None:
        if not isinstance(held, Mapping) or not isinstance(under, str) or under not in held:
            raise StacklensError(f"the weights have no {in_short(under)}: {describe(held)}")
        held = held[under]
    if not isinstance(held, Mapping):
        raise StacklensError(f"the weights are no state dict: {describe(held)}; name where it is with state_dict")
    actions, weights = entries["actions"] or _ACTIONS[entries["stack"]], _named_weights(entries, held)
    _pad_unread(weights, letters, entries)
    cell = MappedCell(weights, len(letters), entries, actions, path)
    _check_used(content, held)
    # the wrapped cell: everything is known, so the trial of `wrap` has one form and one size to try
    tokens: dict[str, Any] = {name: content.get(name) for name in _TOKENS}
    of_tokens = any(token is not None for token in tokens.values())
    kept = ("stack", "n_stacks", "outputs", "reads", "first", "empty_word", "limit", "empty_value")
    network = wrap(
        cell,
        letters,
        step=cell.step,
        output=cell.output if entries["reads"] == "after" else None,
        actions=actions,
        initial=content.get("initial"),
        hidden=((cell.hidden,) * (1 + (entries["cell"] == "lstm")),) * cell.depth,
        cell=cell.cell_size,
        symbols="one-hot",
        # of a language model a trial finds it
        activation=None if of_tokens and "output_activation" not in content else entries["output_activation"],
        threshold=content.get("threshold"),
        name=path.stem,
        **tokens,
        **{name: entries[name] for name in kept},
    )
    assert isinstance(network, StepNetwork)
    return network


def save_module(network: StackModel[Any], path: str | Path) -> list[Path]:
    """Write the weights of somebody else's network to ``path`` and return the files that were written.

    Those of a mapped network have the names and the form of the file that they came from, for the program that wrote
    it, and there is a mapping of them beside it. Of a wrapped network it is the state dict of its module. Raises
    StacklensError: a file cannot be written, or is one that it came from.
    """
    path, cell = Path(path), cast(nn.Module, network.module)
    inside: dict[Any, Any] = {name: value.detach().cpu() for name, value in cell.state_dict().items()}
    whole, beside = inside, None
    if isinstance(cell, MappedCell) and cell.source is not None:
        content = _mapping_content(cell.source)
        own = _weights_file(cell.source, content)
        check_outputs([path, path.with_suffix(".json")], {"what it came from": own, "its mapping": cell.source})
        held: Any = read_plain(own, "a state dict")
        under, turned = content.get("state_dict"), _symbols_of(content, "transposed") or ()
        keys, inside = dict(content["keys"]), dict(held if under is None else held[under])
        for name, value in cell.layers.items():
            entry = name.replace("_", " ")
            if keys.get(entry) is None:  # a bias that the file does without
                if not value.any():
                    continue
                keys[entry] = f"stacklens.{name}"
            names = [keys[entry]] if isinstance(keys[entry], str) else keys[entry]
            turn = entry in turned and value.dim() == 2
            sizes = [inside[one].shape[-1 if turn else 0] for one in names] if len(names) > 1 else [len(value)]
            for one, part in zip(names, value.detach().cpu().split(sizes), strict=True):
                inside[one] = (part.T if turn else part).clone()
        whole = inside if under is None else {**held, under: inside}
        beside = json.dumps({**content, "weights": path.name, "keys": keys}, indent=1, ensure_ascii=False) + "\n"
    buffer = io.BytesIO()
    torch.save(whole, buffer)
    write_whole(path, buffer.getvalue())
    if beside is None:
        return [path]
    write_whole(path.with_suffix(".json"), beside)
    return [path, path.with_suffix(".json")]


def _mapping_content(path: Path) -> dict[str, Any]:
    with in_file(path):
        return parse_json(read_whole(path, _EXPECTED).decode("utf-8", "replace"), _EXPECTED)


def _checked_entries(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries of a mapping, each checked by itself, with defaults for those that it lacks."""
    known = (*_NAMES, *_LISTS, *_VALUES, *_TOKENS)
    if content.get("format") != MAPPING_FORMAT:
        raise StacklensError(f"format is {in_short(content.get('format'))}; expected {_EXPECTED}")
    if strange := [name for name in content if name not in known]:
        raise StacklensError(f"has {names_in_short(strange)}; expected some of {', '.join(known)}")
    keys = content.get("keys")
    if not isinstance(keys, dict) or not keys:
        raise StacklensError(f"keys is {in_short(keys)}; expected the names of weights for {', '.join(_KEYS)}")
    known = tuple(f"{layer} {part}" for layer in _KEYS for part in ("weight", "bias"))
    if strange := [name for name in keys if _FURTHER.sub(r"\1 ", name) not in known]:
        raise StacklensError(f"keys has {names_in_short(strange)}; expected some of {', '.join(known)}")
    if strange := [name for name, key in keys.items() if key is not None and not _names_in(key)]:
        raise StacklensError(
            f"keys {strange[0]} is {in_short(keys[strange[0]])}; expected the name of a weight, a list of names whose "
            "rows stand one below the other, or null"
        )
    entries = {**content, **{name: _symbols_of(content, name) for name in _LISTS}}
    for name, (default, fits, expected) in _VALUES.items():
        entries[name] = content.get(name, default)
        if not fits(entries[name]):
            raise StacklensError(f"{name} is {in_short(entries[name])}; expected {expected}")
    return entries


def _names_in(key: object) -> list[str]:
    names: list[Any] = key if isinstance(key, list) else [key]
    return names if all(isinstance(one, str) for one in names) else []


def _symbols_of(content: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
    value = content.get(name)
    if value is None:
        return None
    if isinstance(value, str):
        return tuple(value)
    return from_plain(tuple[str, ...], value, name)


def _weights_file(path: Path, content: Mapping[str, Any]) -> Path:
    name = content.get("weights")
    if not isinstance(name, str) or not name:
        raise FileFormatError(f"{path}: weights is {in_short(name)}; expected the name of a file with a state dict")
    return path.parent / name


def _named_weights(entries: Mapping[str, Any], held: Mapping[Any, Any]) -> dict[str, Tensor]:
    """Return the weights by their entry in "keys", turned where the mapping says that they stand (inputs, outputs)."""
    turned = entries["transposed"] or ()
    found = {}
    for entry, key in entries["keys"].items():
        if key is None:
            continue
        parts = []
        for name in _names_in(key):
            if name not in held:
                missing = f"{entry} is {in_short(name)}, which the weights lack: {names_in_short(list(held))}"
                raise StacklensError(missing)
            value = check_tensor(f"{entry} ({name})", held[name])
            if not torch.isfinite(value).all():
                raise StacklensError(f"{entry} ({name}) holds NaN or infinite weights")
            parts.append(value.T if entry in turned and value.dim() == 2 else value)
        if len({(value.dim(), value.shape[1:]) for value in parts}) > 1 or (len(parts) > 1 and not parts[0].dim()):
            shapes = ", ".join(str(tuple(value.shape)) for value in parts)
            raise StacklensError(f"{entry} is of parts of shapes {shapes}; expected rows of one length")
        found[entry] = torch.cat(parts) if len(parts) > 1 else parts[0]
    if strange := set(turned) - set(found):
        raise StacklensError(f"transposed names {names_in_short(sorted(strange))}; expected some of {', '.join(found)}")
    return found


def _pad_unread(found: dict[str, Tensor], tokens: Sequence[str], entries: Mapping[str, Any]) -> None:
    """Give "input" zeros for eos and pad where it has no columns for them: no word has these tokens."""
    never = {entries.get("eos"), entries.get("pad")} - {entries.get("bos")}
    read, weight = [n for n, token in enumerate(tokens) if token not in never], found.get("input weight")
    if len(read) == len(tokens) or weight is None or weight.dim() != 2 or "embedding weight" in found:
        return
    beside = weight.shape[1] - len(read) if entries["top"] == "input" else 0
    if beside in (0, *found["push weight"].shape[:1]) and weight.shape[1] == len(read) + beside:
        wide = weight.new_zeros(len(weight), len(tokens) + beside)
        wide[:, [*read, *range(len(tokens), len(tokens) + beside)]] = weight
        found["input weight"] = wide


def _check_used(content: Mapping[str, Any], held: Mapping[Any, Any]) -> None:
    """Check that "keys" or "ignore" names every tensor of a state dict: one stack of ten would be another network."""
    given = content.get("ignore", [])
    used = {name for key in content["keys"].values() for name in _names_in(key)}
    patterns: tuple[str, ...] = from_plain(tuple[str, ...], [given] if isinstance(given, str) else given, "ignore")
    left = {str(name): value for name, value in held.items() if name not in used and _has_tensors(value)}
    unused = [name for name in left if not any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)]
    if not unused:
        return
    shown = [f"{name} {tuple(value.shape)}" if isinstance(value := left[name], Tensor) else name for name in unused]
    raise StacklensError(
        f"no key names {count(len(unused), 'tensor')} of the weights, {names_in_short(shown)}; a mapping is of "
        "layers on one kind of stack, and sl.wrap takes others: name them in keys or, if a step does without them, "
        f'leave them out as "ignore": {json.dumps(unused[:1])}, where * stands for anything'
    )


def _has_tensors(value: object) -> bool:
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return isinstance(value, Tensor) or any(map(_has_tensors, parts))
