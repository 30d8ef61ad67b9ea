"""Good files of every format, as bytes or as the plain data in them, and how each is spoiled."""

import io
import json
import random
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
from tests.attack.made_results import made_result, made_trace
from torch import Tensor

from stacklens.automata.formats.dot import to_dot
from stacklens.automata.formats.json import to_json
from stacklens.automata.formats.textbook import to_jflap
from stacklens.automata.pda import PushdownAutomaton
from stacklens.languages.catalogue import get_language
from stacklens.models.networks import build_model

_MODELS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("nnpda", {"alphabet": ("a", "b"), "order": "second", "n_states": 2, "end": "e"}),
    ("nnpda", {"alphabet": ("a", "b"), "order": "full", "n_states": 3}),
    ("stack-rnn", {"alphabet": ("a", "b"), "hidden": 3, "n_stacks": 2, "no_op": True, "recurrent": True}),
    ("list-rnn", {"alphabet": ("a", "b"), "hidden": 3}),
    ("marnn-stack-rnn", {"alphabet": ("(", ")"), "hidden": 3, "first": ("(",)}),
    ("marnn-stack-lstm", {"alphabet": ("(", ")"), "hidden": 2, "output_alphabet": ("(", ")", "end")}),
    ("marnn-joulin", {"alphabet": ("(", ")"), "hidden": 3}),
    ("baby-ntm", {"alphabet": ("(", ")"), "hidden": 3, "stack_limit": 8}),
    ("neural-stack", {"alphabet": ("0", "1", "#"), "controller": "lstm", "hidden": 3, "null": "#"}),
    ("buffered-neural-stack", {"alphabet": ("0", "1"), "cell_size": 3, "extra_steps": 1}),
    ("scrn", {"alphabet": ("a", "b"), "hidden": 3, "context": 2}),
    ("lstm", {"alphabet": ("(", ")"), "controller": "lstm", "hidden": 3, "layers": 2}),
    ("linear", {"alphabet": ("(", ")"), "controller": "linear"}),
)
_MARNNS = {"input": "ih", "hidden": "hh"}
_LAYERS = {"output": "W_y", "pushed": "W_n", "action": "W_a", "memory": "W_sh"}
_GRAMMARS = (
    "S -> ( S ) S | ε\n",
    "S -> a S a | b S b | '#'  # marked\n",
    'S -> NP VP\nNP -> "the" N\n  | N\nN -> cat | dog\nVP -> sees NP | sleeps\n',
)


@dataclass(frozen=True)
class Kind:
    """What a file is opened as, and how one is made: ``make`` gives plain data for torch or JSON, text or bytes."""

    opened: Literal["network", "automaton", "language", "words", "result", "trace"]
    suffix: str
    make: Callable[[random.Random], Any]


def _checkpoint(rng: random.Random) -> dict[str, Any]:
    name, config = rng.choice(_MODELS)
    net = build_model(name, config, seed=rng.randrange(5))
    content: dict[str, Any] = {
        "format": "stacklens",
        "model": name,
        "config": net.config(),
        "alphabet": net.alphabet,
        "task": {"kind": net.task_kind, "language": rng.choice([None, "anbn", "dyck-1", "reversal"])},
        "state_dict": dict(net.state_dict()),
        "provenance": {"seed": 1, "scores": {"errors": 0, "rates": [0.5, 1.0]}, "command": "none"},
    }
    return content | ({"training": {"epochs": 3, "losses": torch.ones(3)}} if rng.random() < 0.3 else {})


def _marnns(rng: random.Random) -> dict[str, Any]:
    cell = rng.choice(["rnn", "lstm"])
    net = build_model("marnn-stack-lstm" if cell == "lstm" else "marnn-stack-rnn", {"alphabet": tuple("()[]")})
    names = {f"{_MARNNS[layer]}": layer for layer in _MARNNS}
    found: dict[str, Any] = {}
    for end, layer in names.items():
        found |= {f"{cell}.weight_{end}_l0": net.state_dict()[f"{layer}_weights"]}
        found |= {f"{cell}.bias_{end}_l0": net.state_dict()[f"{layer}_bias"]}
    for layer, theirs in _LAYERS.items():
        found |= {f"{theirs}.weight": net.state_dict()[f"{layer}_weights"]}
        found |= {f"{theirs}.bias": net.state_dict()[f"{layer}_bias"]}
    return found


def _stacknn(rng: random.Random) -> dict[str, Any]:
    cell, prefix, symbols = (
        rng.choice(["", "rnn", "lstm"]),
        rng.choice(["_network.", "_controller."]),
        rng.choice([3, 5, 10]),
    )
    hidden, n_in, n_out = 4, symbols + 2, symbols + 4
    rows = {"": 0, "rnn": hidden, "lstm": 4 * hidden}[cell]
    shapes = {"_linear.weight": (n_out, hidden if cell else n_in), "_linear.bias": (n_out,)}
    if cell:
        shapes |= {f"_{cell}.weight_ih_l0": (rows, n_in), f"_{cell}.weight_hh_l0": (rows, hidden)}
        shapes |= {f"_{cell}.bias_ih_l0": (rows,), f"_{cell}.bias_hh_l0": (rows,)}
    return {prefix + name: torch.randn(shape) for name, shape in shapes.items()}


def _cpp(rng: random.Random) -> str:
    letters, actions, hidden, stacks, cells, depth = rng.randint(2, 4), rng.randint(2, 3), 3, rng.randint(1, 2), 5, 2
    count = hidden * (letters + hidden + stacks * (actions + 2 * cells) + letters)
    head = f"{letters} {actions} {hidden} {stacks} {cells} {letters} 50 1 {rng.randrange(3)} {depth}"
    return head + "\n" + "".join(f"{rng.uniform(-2, 2):.5f}," for _ in range(count)) + "\n"


def _automaton(rng: random.Random) -> PushdownAutomaton:
    return get_language(rng.choice(["dyck-2", "1n0n", "palindrome", "anbmcnm", "parentheses"])).automaton


def _word_list(rng: random.Random) -> str:
    return "".join("".join(rng.choice("()[]") for _ in range(rng.randrange(9))) + "\n" for _ in range(20)) + "ε\n"


KINDS: dict[str, Kind] = {
    "stacklens": Kind("network", ".pt", _checkpoint),
    "marnns": Kind("network", ".pth", _marnns),
    "stacknn": Kind("network", ".dat", _stacknn),
    "stack-rnn-cpp": Kind("network", "", _cpp),
    "automaton json": Kind("automaton", ".json", lambda rng: json.loads(to_json(_automaton(rng)))),
    "automaton dot": Kind("automaton", ".dot", lambda rng: to_dot(_automaton(rng))),
    "automaton jff": Kind("automaton", ".jff", lambda rng: to_jflap(_automaton(rng))),
    "language json": Kind("language", ".json", lambda rng: json.loads(to_json(_automaton(rng)))),
    "language jff": Kind("language", ".jff", lambda rng: to_jflap(_automaton(rng))),
    "grammar": Kind("language", ".cfg", lambda rng: rng.choice(_GRAMMARS)),
    "word list": Kind("words", ".txt", _word_list),
    "result": Kind("result", ".json", made_result),
    "trace": Kind("trace", ".npz", made_trace),
}


def spoiled(kind: str, rng: random.Random) -> tuple[bytes, str]:
    """Return a file of that kind that was spoiled, and how."""
    torch.manual_seed(rng.randrange(1 << 30))
    made = KINDS[kind].make(rng)
    ways: list[str] = []
    if isinstance(made, bytes):
        return (spoil_archive if rng.random() < 0.6 else spoil_bytes)(made, rng)
    for_torch = KINDS[kind].opened == "network" and not isinstance(made, str)
    if not isinstance(made, str) and rng.random() < 0.7:
        for _ in range(rng.randint(1, 2)):
            made, how = spoil_data(made, rng, tensors=for_torch)
            ways.append(how)
    if for_torch:
        data = _saved(made, archive=rng.random() < 0.7)
        if not ways or rng.random() < 0.2:
            data, how = (spoil_archive if data[:2] == b"PK" and rng.random() < 0.6 else spoil_bytes)(data, rng)
            ways.append(how)
        return data, "; ".join(ways)
    text = made if isinstance(made, str) else _dumped(made)
    if not ways or rng.random() < 0.2:
        for _ in range(rng.randint(1, 3)):
            text, how = spoil_text(text, rng)
            ways.append(how)
    data = text.encode("utf-8", errors="surrogatepass")
    if rng.random() < 0.1:
        data, how = spoil_bytes(data, rng)
        ways.append(how)
    return data, "; ".join(ways)


def _saved(content: object, *, archive: bool) -> bytes:
    buffer = io.BytesIO()
    try:
        torch.save(content, buffer, _use_new_zipfile_serialization=archive)
    except Exception:  # some of what is put in cannot be saved in the old format, or at all
        buffer = io.BytesIO()
        torch.save({"format": "stacklens"}, buffer)
    return buffer.getvalue()


def _dumped(content: object) -> str:
    try:
        return json.dumps(content, ensure_ascii=False)
    except (ValueError, RecursionError):  # numbers of too many digits, lists too deep
        return "[" * 100_000


# ---- Ways to spoil data, text, bytes and archives; every one says what it did. ----
_NUMBERS = (0, -1, 1, 2, 3, 7, 10**3, 10**6, 10**9, 10**12, 10**30, 2**63, -(2**63), 1 << 200)
_FLOATS = (0.0, 1.5, -1.0, 1e-38, 1e-300, 1e300, float("nan"), float("inf"))
_STRINGS = (
    *("", "a", "\n", "\x00", "\x1b[2J", "a b", "ε", "⊥", "é" * 50, "a" * 100_000, "#", "n\u2028m", "dyck-1", "\ud800"),
)
_TOKENS = (
    *("->", "|", "ε", "'", '"', "#", "S", "a", "0", "-1", "1e400", "nan", "inf", "999999999999", "1" * 5_000, "[", "]"),
    *("{", "}", "<", ">", "</state>", "<!DOCTYPE a [<!ENTITY b 'c'>]>", "&b;", "<initial/>", "λ", "\\", ",", "null"),
    *("true", "[[[[", "n0 -> n0", '"a"', "\x00", "\r", "\u2028", " ", "\t", "// stacklens {}", "start -> n9"),
)


def spoil_data(content: Any, rng: random.Random, *, tensors: bool) -> tuple[Any, str]:
    """Return ``content`` with one place of it changed: a value, a key, an order, a repetition."""
    path: list[Any] = []
    here = content
    while isinstance(here, dict | list | tuple) and here and (not path or rng.random() < 0.8):
        key = rng.choice(list(here)) if isinstance(here, dict) else rng.randrange(len(here))
        path.append(key)
        here = here[key]
    value, how = _wild(here, rng, tensors)
    return _replaced(content, path, value), f"{how} at {'/'.join(repr(key)[:20] for key in path)}"


def _replaced(content: Any, path: list[Any], value: Any) -> Any:
    if not path:
        return value
    if isinstance(content, dict):
        found = {key: _replaced(part, path[1:], value) if key == path[0] else part for key, part in content.items()}
        return {key: part for key, part in found.items() if part is not _GONE}
    parts = [_replaced(part, path[1:], value) if i == path[0] else part for i, part in enumerate(content)]
    return type(content)(part for part in parts if part is not _GONE)


_GONE = object()


def _wild(value: Any, rng: random.Random, tensors: bool) -> tuple[Any, str]:
    """Return something else in the place of ``value``."""
    if tensors and isinstance(value, Tensor) and rng.random() < 0.9:
        return _wild_tensor(value, rng)
    choice = rng.randrange(10)
    if choice == 0:
        return _GONE, "nothing"
    if choice == 1 and isinstance(value, dict):
        items = list(value.items())
        rng.shuffle(items)
        return dict(items), "shuffled keys"
    if choice == 2 and isinstance(value, dict):
        many = {f"key {i}": 0 for i in range(rng.choice([1, 5_000]))}
        return {**value, **many}, "more keys"
    if choice == 3 and isinstance(value, list | tuple):
        return type(value)([*value, *value] * rng.choice([1, 1_000])), "a repetition"
    if choice == 4:
        deep: Any = value
        for _ in range(rng.choice([1, 3, 40, 60, 300])):
            deep = [deep]
        return deep, "lists in lists"
    if choice == 5 and tensors:
        bomb: Any = [value]
        for _ in range(25):
            bomb = [bomb, bomb]
        return bomb, "a list of 2 ** 25 in memory of 25"
    if choice in (6, 7):
        number: Any = rng.choice(_NUMBERS)
        return number, f"{number}"
    if choice == 8:
        text = rng.choice(_STRINGS)
        return text, f"{text[:10]!r}"
    other: Any = rng.choice([None, True, False, [], {}, [[]], {"a": 1}, *_FLOATS, [f"s{i}" for i in range(100_000)]])
    return other, f"{str(other)[:20]}"


def _wild_tensor(value: Tensor, rng: random.Random) -> tuple[Any, str]:
    """Return another tensor in the place of ``value``."""
    if value.numel() > 100_000:  # spoiled before: it claims more than can be copied
        return torch.zeros(1), "one number"
    flat = value.detach().clone()
    ways: dict[str, Any] = {
        "scaled": lambda: flat * rng.choice([1e-300, 1e3, 1e300]),
        "a NaN": lambda: flat.index_fill(0, torch.tensor([0]), float("nan")),
        "other order": lambda: flat.flatten()[torch.randperm(flat.numel())].reshape(flat.shape),
        "transposed": lambda: flat.mT if flat.ndim > 1 else flat,
        "fewer": lambda: flat[:-1],
        "more": lambda: torch.cat([flat, flat]),
        "stretched": lambda: torch.zeros(1, dtype=flat.dtype).expand(flat.shape),
        "huge": lambda: torch.zeros(1).expand(*[10**6] * flat.ndim),
        "wide": lambda: torch.zeros(1, 4_096) if flat.ndim > 1 else torch.zeros(4_096),
        "empty": lambda: flat[:0],
        "no axes": lambda: flat.sum(),
        "more axes": lambda: flat.unsqueeze(0),
        "a dtype": lambda: flat.to(
            rng.choice([torch.float16, torch.bfloat16, torch.int8, torch.bool, torch.complex64])
        ),
        "float8": lambda: flat.to(torch.float8_e4m3fn),
        "sparse": lambda: flat.to_sparse(),
        "rows of a sparse matrix": lambda: flat.reshape(len(flat), -1).to_sparse_csr(),
        "meta": lambda: flat.to("meta"),
        "nested": lambda: torch.nested.nested_tensor([flat, flat]),
        "quantised": lambda: torch.quantize_per_tensor(flat.float(), 0.1, 0, torch.qint8),
    }
    name = rng.choice(list(ways))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch: such tensors are new, or going away
        try:
            return ways[name](), name
        except RuntimeError:  # not with a tensor of this shape, or spoiled before
            return torch.zeros(1), "one number"


def spoil_text(text: str, rng: random.Random) -> tuple[str, str]:
    """Return ``text`` after one change."""
    at = rng.randrange(len(text) + 1)
    to = min(len(text), at + rng.randrange(1, 40))
    token = rng.choice(_TOKENS)
    lines = text.splitlines(keepends=True)
    ways = {
        "a cut": text[:at],
        "a beginning gone": text[at:],
        "a hole": text[:at] + text[to:],
        f"{token[:12]!r} put in": text[:at] + token + text[at:],
        f"{token[:12]!r} for some": text[:at] + token + text[to:],
        "a part 3,000 times": text[:at] + text[at:to] * 3_000 + text[to:],
        "200,000 spaces": text[:at] + rng.choice(" \n\t") * 200_000 + text[at:],
        "lines in another order": "".join(rng.sample(lines, len(lines))),
        "a number": "".join(
            rng.choice(["0", "99999", "-7", "x"]) if c.isdigit() and rng.random() < 0.05 else c for c in text
        ),
        "a token 100,000 times": text[:at] + token * (100_000 // len(token)) + text[at:],
    }
    how = rng.choice(list(ways))
    return ways[how], f"{how} at {at}"


def spoil_bytes(data: bytes, rng: random.Random) -> tuple[bytes, str]:
    """Return ``data`` with bits flipped, cut, or with a piece put in."""
    found = bytearray(data)
    choice = rng.randrange(4)
    at = rng.randrange(len(found) + 1)
    if choice == 0 or not found:
        return data[:at], f"a cut at byte {at}"
    if choice == 1:
        found[at:at] = rng.randbytes(rng.randrange(1, 20))
        return bytes(found), f"bytes put in at {at}"
    places = [rng.randrange(len(found)) for _ in range(rng.choice([1, 1, 3, 30]))]
    for place in places:
        found[place] = found[place] ^ (1 << rng.randrange(8)) if choice == 2 else rng.randrange(256)
    return bytes(found), f"{'bits' if choice == 2 else 'bytes'} changed at {places[:3]}"


def spoil_archive(data: bytes, rng: random.Random) -> tuple[bytes, str]:
    """Return a torch archive with one member spoiled and the check sums right, as somebody who means it would do."""
    buffer, how = io.BytesIO(), ""
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        names = old.namelist()
        target = rng.choice([*names, *[name for name in names if name.endswith("data.pkl")] * 6])
        for name in names:
            content = old.read(name)
            if name == target:
                content, how = spoil_bytes(content, rng)
                how = f"{how} of {name}"
                if rng.random() < 0.1:
                    continue
            new.writestr(name, content)
    return buffer.getvalue(), how
