"""Good files of every format, as bytes or as the plain data in them, and how each is spoiled."""

import io
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
from tests.attack.made_results import made_result, made_trace
from tests.attack.spoiling import spoil_archive, spoil_bytes, spoil_data, spoil_text

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
