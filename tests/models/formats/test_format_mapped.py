"""State dicts of others by a mapping: they say what their authors' own steps say, and a bad mapping is one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.attack.made_results import GONE, changed, places
from tests.models.own.networks_of_ones_own import StackRNN
from torch import nn

import stacklens as sl
from stacklens.errors import FileFormatError, StacklensError
from stacklens.models.networks.suzgun import MarnnConfig, MarnnStackRNN
from stacklens.probe.trace import trace

WORDS = ["(())()((", "((((()))", "))((", "("]
KEYS = {
    f"{ours} {part}": f"{theirs}.{part}"
    for ours, theirs in (("actions", "shares"), ("push", "new"), ("output", "next_"))
    for part in ("weight", "bias")
}
KEYS |= {
    f"{ours} {part}": f"rnn.{part}_{theirs}"
    for ours, theirs in (("input", "ih"), ("hidden", "hh"))
    for part in ("weight", "bias")
}
MAPPING: dict[str, Any] = {
    "format": "stacklens mapping",
    "weights": "net.pt",
    "state_dict": "model_state_dict",
    "alphabet": "()",
    "actions": ["pop", "none", "push"],
    "temperature": 0.5,
    "keys": KEYS,
    "ignore": ["after.*"],  # the layer that reads the top after the update, which a step before it does without
}


def written(folder: Path, mapping: dict[str, Any], weights: Any = None) -> Path:
    held = {"model_state_dict": StackRNN().state_dict(), "epoch": 3} if weights is None else weights
    torch.save(held, folder / "net.pt")
    (folder / "map.json").write_text(json.dumps(mapping), encoding="utf-8")
    return folder / "map.json"


def own_outputs(network: nn.Module, word: str, **options: Any) -> np.ndarray:
    with torch.no_grad():
        said: np.ndarray = network(torch.tensor([["()".index(symbol) for symbol in word]]), **options)[0].numpy()
    return said


@pytest.mark.parametrize("reads", ["before", "after"])
def test_a_published_network_says_what_its_own_forward_pass_says(reads: str, tmp_path: Path) -> None:
    keys = KEYS if reads == "before" else {**KEYS, "output weight": "after.weight", "output bias": "after.bias"}
    other = "after.*" if reads == "before" else ["next_.weight", "next_.bias"]
    model = sl.load(written(tmp_path, {**MAPPING, "reads": reads, "keys": keys, "ignore": other}))
    assert (model.name, model.cell_size, model.operations) == ("map", 4, ("push", "pop", "none"))
    for word in WORDS:
        expected = own_outputs(StackRNN(), word, after=reads == "after")
        np.testing.assert_allclose(trace(model, word).output[0], expected, atol=1e-6)


@pytest.mark.parametrize("turned", [False, True])
def test_the_top_may_be_added_to_the_hidden_vector_as_in_the_papers_own_network(turned: bool, tmp_path: Path) -> None:
    net = MarnnStackRNN(MarnnConfig(("(", ")"), hidden=6, cell_size=2, stack_limit=30), seed=3)
    layers = {
        "input": "input",
        "hidden": "hidden",
        "top": "memory",
        "actions": "action",
        "push": "pushed",
        "output": "output",
    }
    keys = {
        f"{ours} {part}": f"{theirs}_{end}"
        for ours, theirs in layers.items()
        for part, end in (("weight", "weights"), ("bias", "bias"))
    }
    held = net.state_dict()
    mapping = {**MAPPING, "keys": keys, "top": "hidden", "actions": ["push", "pop"], "limit": 30, "temperature": 1}
    del mapping["state_dict"], mapping["ignore"]
    if turned:
        held["action_weights"] = held["action_weights"].T.contiguous()
        mapping["transposed"] = ["actions weight"]
    model = sl.load(written(tmp_path, mapping, held))
    for word in WORDS:
        np.testing.assert_allclose(trace(model, word).output, trace(net, word).output, atol=1e-9)


@pytest.mark.parametrize(("kind", "cell"), [("gru", nn.GRUCell), ("lstm", nn.LSTMCell)])
def test_cells_are_torchs_own(kind: str, cell: Any, tmp_path: Path) -> None:
    torch.manual_seed(0)
    net = nn.ModuleDict(
        {"rnn": cell(2 + 3, 5), "shares": nn.Linear(5, 3), "new": nn.Linear(5, 3), "next_": nn.Linear(5, 2)}
    )
    mapping = {name: value for name, value in MAPPING.items() if name not in ("state_dict", "ignore")}
    model = sl.load(written(tmp_path, {**mapping, "cell": kind, "temperature": 1.0}, net.state_dict()))
    seen = trace(model, WORDS[0])
    state: Any = None
    for t, symbol in enumerate(WORDS[0]):
        x = nn.functional.one_hot(torch.tensor(["()".index(symbol)]), 2).float()
        top = torch.from_numpy(seen.reading[:, t, 0]).float()
        with torch.no_grad():
            state = net["rnn"](torch.cat([x, top], 1), state)
            h = state[0] if isinstance(state, tuple) else state
            np.testing.assert_allclose(seen.output[:, t], net["next_"](h).sigmoid(), atol=1e-6)
            np.testing.assert_allclose(seen.pushed[:, t, 0], net["new"](h).sigmoid(), atol=1e-6)


def without(name: str) -> dict[str, Any]:
    return {**MAPPING, "keys": {key: value for key, value in KEYS.items() if key != name}}


def keyed(**changed: Any) -> dict[str, Any]:
    return {**MAPPING, "keys": {**KEYS, **{name.replace("_", " "): value for name, value in changed.items()}}}


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "another entry": ({**MAPPING, "stack": 3}, "has stack; expected some of format, weights"),
    "another key": (keyed(pop_weight="x"), "keys has pop weight; expected some of input weight"),
    "no keys": ({**MAPPING, "keys": []}, "keys is a list of 0; expected the names of weights for input"),
    "no such weight": (keyed(push_weight="new.w"), "push weight is 'new.w', which the weights lack: rnn.weight_ih"),
    "no weight": (without("output weight"), "output weight is missing; expected a matrix"),
    "no actions": (without("actions weight"), r"keys names no actions weight; expected one of shape \(3, 5\)"),
    "wrong shape": (keyed(actions_weight="new.weight"), r"actions weight has shape \(4, 5\); expected \(3, 5\), for 3"),
    "turned": (
        {**MAPPING, "transposed": ["hidden weight", "input weight"]},
        r"input weight has shape \(6, 5\).*transposed\?",
    ),
    "turned bias": ({**MAPPING, "transposed": ["tops"]}, "transposed names tops; expected some of"),
    "another alphabet": ({**MAPPING, "alphabet": "()[]"}, r"expected \(5, 8\), for 4 inputs and a top of 4, 5 hidden"),
    "no alphabet": ({**MAPPING, "alphabet": None}, "names no alphabet"),
    "symbols twice": ({**MAPPING, "alphabet": "(("}, "has a repetition"),
    "numbers for symbols": ({**MAPPING, "alphabet": [1, 2]}, "alphabet"),
    "cell": ({**MAPPING, "cell": "mamba"}, "cell is 'mamba'; expected one of rnn, gru, lstm"),
    "gates": ({**MAPPING, "cell": "lstm"}, r"input weight has shape \(5, 6\); expected \(20, 6\)"),
    "top that is not there": ({**MAPPING, "top": "hidden"}, r"expected \(5, 2\), for 2 inputs"),
    "a layer too many": (
        keyed(top_weight="new.weight"),
        "keys names top weight, which a network of this kind does not",
    ),
    "temperature": ({**MAPPING, "temperature": 0}, "temperature is 0; expected a number above 0"),
    "limit": ({**MAPPING, "limit": "many"}, "limit is 'many'; expected how many cells"),
    "no state dict there": (
        {**MAPPING, "state_dict": "model"},
        "the weights have no 'model': found a dictionary with keys",
    ),
    "not named": ({**MAPPING, "state_dict": None}, "which the weights lack: model_state_dict, epoch"),
    "tensors left over": (
        {**MAPPING, "ignore": []},
        r"no key names 2 tensors of the weights, after\.weight \(2, 9\), after\.bias \(2,\);.*one stack.*ignore",
    ),
    "one of them named": (
        {**MAPPING, "ignore": "*.weight"},
        r"no key names 1 tensor of the weights, after\.bias \(2,\);",
    ),
    "nothing to ignore": (
        {**MAPPING, "ignore": ["before.*"]},
        "no key names 2 tensors",
    ),
    "a list in ignore": ({**MAPPING, "ignore": [["after.*"]]}, "ignore"),
    "a list for a key": (keyed(push_weight=[["new.weight"]]), "push weight is a list of 1; expected the name"),
    "a list in the alphabet": ({**MAPPING, "alphabet": [["("], ")"]}, "alphabet"),
    "no file": ({**MAPPING, "weights": "other.pt"}, "other.pt: no such file"),
    "no name": ({**MAPPING, "weights": 3}, "weights is 3; expected the name of a file"),
    "a list in a list": (
        keyed(input_weight=[["a"]]),
        "keys input weight is a list of 1; expected the name",
    ),
    "actions": ({**MAPPING, "actions": ["push", "pop"]}, r"actions weight has shape \(3, 5\); expected \(2, 5\)"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_mapping_is_one_line(name: str, tmp_path: Path) -> None:
    mapping, said = BAD[name]
    with pytest.raises(FileFormatError, match=said) as raised:
        sl.load(written(tmp_path, mapping))
    assert str(raised.value).isprintable()


def test_whatever_is_deleted_or_retyped_ends_as_a_network_or_as_a_line(tmp_path: Path) -> None:
    odd = [GONE, None, -1, 10**400, 1e308, "", "x\x1b[31m", [], [[1]], [["a"]], {}, True, {"a": [[]]}, 0, "a"]
    path, lines = written(tmp_path, MAPPING), list[str]()
    for at in places(MAPPING)[1:]:
        for new in odd:
            path.write_text(json.dumps(changed(MAPPING, at, new)), encoding="utf-8")
            try:
                sl.load(path, format="mapping")
            except FileFormatError as error:
                lines.append(str(error))
    assert len(lines) > 100
    assert all(line.isprintable() and str(tmp_path) in line for line in lines)


def test_it_is_extracted_kept_and_found_again_and_says_what_can_be_saved(tmp_path: Path) -> None:
    path = written(tmp_path, MAPPING)
    few: dict[str, Any] = {
        "max_length": 4,
        "long_words": 20,
        "cycles": 2,
        "height": 2,
        "walks": 3,
        "climbs": 1,
        "budget": 0.3,
    }
    result = sl.extract(path, quiet=True, method="learn", **few)
    result.save(tmp_path / "r.json")
    loaded = sl.load(tmp_path / "r.json")
    assert loaded == result
    assert loaded.model.name == "map"
    with pytest.raises(StacklensError, match=r"is read by the mapping map\.json; keep that and its weights"):
        loaded.model.save(tmp_path / "x.pt")
    torch.save({"model_state_dict": StackRNN(seed=1).state_dict()}, tmp_path / "net.pt")
    with pytest.raises(FileFormatError, match="it was changed since"):
        sl.load(tmp_path / "r.json").model  # noqa: B018
