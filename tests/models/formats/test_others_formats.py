"""Others' weights by a mapping, and model folders of rau."""

import json
import math
import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.attack.made_results import GONE, changed, places
from tests.models.own.networks_of_ones_own import KEYS, WORDS, StackRNN, own_outputs
from tests.models.plain import OnStacks
from tests.refusals import refused
from torch import nn

import stacklens as sl
from stacklens.core.errors import FileFormatError
from stacklens.extract.agreement import CERTIFICATE_NOT_TRIED
from stacklens.extract.repair import scale_actions
from stacklens.models.formats.rau import RauRecurrent, RauSizes, read_rau
from stacklens.models.networks.suzgun import MarnnConfig, MarnnStackRNN
from stacklens.models.rounding import default_threshold
from stacklens.models.word_network import ForwardNetwork
from stacklens.probe.trace import trace

# State dicts of others by a mapping: they say what their authors' own steps say, and a bad mapping is one line.

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
    theirs = {"top": "memory", "actions": "action", "push": "pushed"}  # whose other layers have the same names
    keys = {
        f"{ours} {part}": f"{theirs.get(ours, ours)}_{end}"
        for ours in ("input", "hidden", "top", "actions", "push", "output")
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


def test_a_mapped_network_is_hardened_and_goes_back_to_files_of_its_own_form(tmp_path: Path) -> None:
    held = {name: value for name, value in StackRNN().state_dict().items() if name != "new.bias"}
    held["shares.weight"] = held["shares.weight"].T.contiguous()
    keys = {name: value for name, value in KEYS.items() if name != "push bias"}
    own = written(
        tmp_path, {**MAPPING, "keys": keys, "transposed": "actions weight"}, {"model_state_dict": held, "epoch": 3}
    )
    own.write_text(own.read_text().replace('"transposed": "actions weight"', '"transposed": ["actions weight"]'))
    model = sl.load(own)
    assert set(model.action_layer()) == {"module.layers.actions_weight", "module.layers.actions_bias"}
    done = scale_actions(model, None, CERTIFICATE_NOT_TRIED)
    assert (done.different, done.proved) == (0, False)
    with torch.no_grad():
        done.model.get_parameter("module.layers.push_bias")[0] = 0.5  # as training further would
    done.model.save(tmp_path / "hard.pt")
    refused("it is what it came from", done.model.save, tmp_path / "net.pt")
    again, plain = sl.load(tmp_path / "hard.json"), torch.load(tmp_path / "hard.pt", weights_only=True)
    assert plain["epoch"] == 3
    kept = plain["model_state_dict"]
    assert kept["shares.weight"].equal(held["shares.weight"] * done.scale)
    assert all(kept[name].equal(held[name]) for name in held if not name.startswith("shares"))
    for word in WORDS:
        np.testing.assert_array_equal(trace(again, word).output, trace(done.model, word).output)


@pytest.mark.parametrize("kind", ["superposition", "strength", "continuous"])
@pytest.mark.parametrize(
    ("cell", "layers", "n_stacks", "after"),
    [("lstm", 2, 10, True), ("gru", 1, 10, False), ("lstm", 1, 1, True), ("rnn", 3, 2, False)],
)
def test_ten_stacks_of_any_kind_and_several_layers_are_read_by_a_mapping(
    kind: str, cell: str, layers: int, n_stacks: int, after: bool, tmp_path: Path
) -> None:
    made: Any = {"lstm": nn.LSTMCell, "gru": nn.GRUCell, "rnn": nn.RNNCell}[cell]
    net, initial = OnStacks(kind, made, layers, n_stacks, after), [[0.5, -0.25]] * (n_stacks > 1)
    keys: dict[str, Any] = {f"push {part}": f"new.{part}" for part in ("weight", "bias")}
    keys |= {f"output {part}": f"head.{part}" for part in ("weight", "bias")}
    keys |= {f"actions {part}": [f"acts.{n}.{part}" for n in range(n_stacks)] for part in ("weight", "bias")}
    for number, (name, theirs) in product(range(layers), (("input", "ih"), ("hidden", "hh"))):
        ours = name if number == 0 else f"{name} {number + 1}"
        keys |= {f"{ours} {part}": f"cells.{number}.{part}_{theirs}" for part in ("weight", "bias")}
    mapping: dict[str, Any] = {
        "format": "stacklens mapping",
        "weights": "net.pt",
        "alphabet": "()",
        "cell": cell,
        "keys": keys,
    }
    mapping |= {"stack": kind, "n_stacks": n_stacks, "reads": "after" if after else "before"}
    mapping |= {"push_activation": "tanh", "initial": initial or None}
    path = written(tmp_path, mapping, net.state_dict())
    model: Any = sl.load(path)
    assert (model.n_stacks, model.cell_size, model.reads_after) == (n_stacks, 2, after)
    for word in WORDS:
        np.testing.assert_allclose(trace(model, word).output[0], net.says(word, initial), atol=1e-5)
    # what is saved has the names that it came from
    model.save(tmp_path / "again.pt")
    held, again = net.state_dict(), torch.load(tmp_path / "again.pt", weights_only=True)
    assert all(torch.equal(held[name], again[name]) for name in held)


def without(name: str) -> dict[str, Any]:
    return {**MAPPING, "keys": {key: value for key, value in KEYS.items() if key != name}}


def keyed(**changed: Any) -> dict[str, Any]:
    return {**MAPPING, "keys": {**KEYS, **{name.replace("_", " "): value for name, value in changed.items()}}}


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "another entry": ({**MAPPING, "stacks": 3}, "has stacks; expected some of format, weights"),
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
        r"no key names 2 tensors of the weights, after\.weight \(2, 9\), after\.bias \(2,\);.*kind of stack.*ignore",
    ),
    "one of them named": (
        {**MAPPING, "ignore": "*.weight"},
        r"no key names 1 tensor of the weights, after\.bias \(2,\);",
    ),
    "nothing to ignore": ({**MAPPING, "ignore": ["before.*"]}, "no key names 2 tensors"),
    "a list in ignore": ({**MAPPING, "ignore": [["after.*"]]}, "ignore"),
    "a list for a key": (keyed(push_weight=[["new.weight"]]), "push weight is a list of 1; expected the name"),
    "a list in the alphabet": ({**MAPPING, "alphabet": [["("], ")"]}, "alphabet"),
    "no file": ({**MAPPING, "weights": "other.pt"}, "other.pt: no such file"),
    "no name": ({**MAPPING, "weights": 3}, "weights is 3; expected the name of a file"),
    "a list in a list": (keyed(input_weight=[["a"]]), "keys input weight is a list of 1; expected the name"),
    "another stack": ({**MAPPING, "stack": "heap"}, "stack is 'heap'; expected one of superposition, strength"),
    "stacks that are not named": (
        {**MAPPING, "keys": {**KEYS, "actions weight": ["shares.weight"] * 10, "actions bias": ["shares.bias"] * 10}},
        r'n_stacks is 1, with 30 actions \(3 a stack\) and 4 numbers to push; .*then "n_stacks": 10',
    ),
    "rows of two lengths": (keyed(push_weight=["new.weight", "after.weight"]), r"shapes \(4, 5\), \(2, 9\); expected"),
    "no number of stacks": ({**MAPPING, "n_stacks": 0}, "n_stacks is 0; expected how many stacks, 1 to 64"),
    "no cells at the start": ({**MAPPING, "initial": [1, 2]}, r"initial is of shape \(2,\); expected cells of finite"),
    "wide cells at the start": ({**MAPPING, "initial": [[1]]}, "initial has cells of 1 number.*, and cell is 4"),
    "actions": ({**MAPPING, "actions": ["push", "pop"]}, r"actions weight has shape \(3, 5\); expected \(2, 5\)"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_mapping_is_one_line(name: str, tmp_path: Path) -> None:
    mapping, said = BAD[name]
    refused(said, sl.load, written(tmp_path, mapping), error=FileFormatError)


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
    result = sl.extract(
        path, quiet=True, method="learn", max_length=4, long_words=20, cycles=2, height=2, walks=3, climbs=1, budget=0.3
    )
    result.save(tmp_path / "r.json")
    loaded = sl.load(tmp_path / "r.json")
    assert loaded == result
    assert loaded.model.name == "map"
    assert loaded.model.unsaved is not None
    torch.save({"model_state_dict": StackRNN(seed=1).state_dict()}, tmp_path / "net.pt")
    refused("it was changed since", lambda: sl.load(tmp_path / "r.json").model, error=FileFormatError)


# Model folders of rau: read without it, they say of its test words what it measured, and of damage one line.

FOLDER = Path(__file__).parents[2] / "data" / "rau"
LSTM, TRANSFORMER = FOLDER / "dyck2-depth3-lstm", FOLDER / "dyck2-depth3-transformer"
MEASURED = {LSTM: 0.885, TRANSFORMER: 0.889}  # cross entropy a token on test.tok, by rau itself


@pytest.mark.parametrize("folder", MEASURED, ids=lambda path: path.name)
def test_the_cross_entropy_is_the_one_that_rau_measured(folder: Path) -> None:
    model = read_rau(folder)
    lost, symbols = 0.0, 0
    for line in (FOLDER / "test.tok").read_text(encoding="utf-8").splitlines():
        word = line.split()
        said = model.probabilities(word)
        wanted = [*(model.alphabet.index(symbol) for symbol in word), len(model.alphabet)]
        lost -= float(np.log(said[np.arange(len(wanted)), wanted]).sum())
        symbols += len(wanted)
    assert round(lost / symbols, 3) == MEASURED[folder]


@pytest.mark.parametrize("folder", MEASURED, ids=lambda path: path.name)
def test_sets_are_the_probabilities_above_the_threshold(folder: Path) -> None:
    model = sl.load(folder)
    assert isinstance(model, ForwardNetwork)
    assert (model.outputs.threshold, model.first, model.output_alphabet) == (1 / 25, ("(", "["), (*"()[]", "⊣"))
    for word in ("([])", "(([", "()[][]"):
        likely = model.probabilities(word)[1:] > model.outputs.threshold
        seen = sl.trace(model, word)
        assert (seen.output[0] > 0.5).tolist() == likely.tolist()
        assert not seen.rejected.any()
    assert sl.trace(model, ["(]", ")"]).verdicts.tolist() == [False, False]


def test_a_recurrent_network_is_torchs_own_with_one_bias() -> None:
    """No RNN of rau is at hand: its steps are held by plain tanh steps."""
    sizes = RauSizes("rnn", 3, 3, 2, 5, 0, 0, None, 2)
    net, generator = RauRecurrent(sizes), torch.Generator().manual_seed(0)
    weights = {name.removeprefix("rnn."): one for name, one in net.state_dict().items()}
    for name, one in weights.items():
        one.copy_(torch.randn(one.shape, generator=generator) * ("bias_hh" not in name))
    said = net(torch.tensor([[0, 1, 1]]))[0]
    state = [torch.tanh(weights["initial"][n]) for n in range(2)]
    rows = [state[1] @ weights["output"].T]
    for symbol in (0, 1, 1):
        x = weights["embeddings"][symbol]
        for n in range(2):
            x = torch.tanh(
                weights[f"weight_ih_l{n}"] @ x + weights[f"bias_ih_l{n}"] + weights[f"weight_hh_l{n}"] @ state[n]
            )
            state[n] = x
        rows.append(x @ weights["output"].T)
    torch.testing.assert_close(said, torch.stack(rows))


def test_the_lstm_gives_an_automaton_proved_equal_and_a_word_that_its_probabilities_confirm() -> None:
    few: dict[str, Any] = {"max_length": 6, "long_words": 200, "deep_words": 2, "height": 8, "walks": 10, "quiet": True}
    model = sl.load(LSTM)
    result = sl.extract(model, "dyck-2-3", **few)
    assert result.status == 1
    assert result.headline.startswith("proved equal to dyck-2-3; the black box ")
    assert len(result.automaton.states) == 15
    first = result.horizon["network"].difference
    word = first.word
    said = model.probabilities(word)[1:] > model.outputs.threshold
    meant = [set(result.automaton.transitions[key].output or ()) for key in result.automaton.taken(word)]
    sets = [{symbol for symbol, likely in zip(model.output_alphabet, row, strict=True) if likely} for row in said]
    assert sets[: len(meant)] != meant
    margin = result.threshold
    cut = model.outputs.cut
    assert margin.below <= cut < margin.above
    row = model.probabilities(margin.word_above)[-1]
    assert math.isclose(row[row > cut].min(), margin.above, rel_tol=1e-4)
    assert "\nthreshold  a symbol may come next where its probability is above 0.04; in " in str(result)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    shutil.copytree(LSTM, tmp_path / "net")
    shutil.copy(FOLDER / "main.vocab", tmp_path / "net" / "main.vocab")
    return tmp_path / "net"


def with_json(**changed: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / "kwargs.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))

    return change


def with_vocabulary(content: Any) -> Callable[[Path], None]:
    return lambda folder: torch.save(content, folder / "main.vocab")


def with_weights(change: Callable[[dict[str, Any]], Any]) -> Callable[[Path], None]:
    def changed(folder: Path) -> None:
        path = folder / "parameters" / "main.pt"
        torch.save(change(torch.load(path, weights_only=True)), path)

    return changed


def cut(name: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).write_bytes((folder / name).read_bytes()[:40])

    return change


INITIAL = "first.first.second.initial_hidden_state_inputs"
RAU_BAD: dict[str, tuple[Callable[[Path], Any], str]] = {
    "architecture": (
        with_json(architecture="mamba"),
        "architecture is 'mamba'; expected one of rnn, lstm, transformer",
    ),
    "size": (with_json(hidden_units=-3), "hidden_units is -3; expected a whole number from 1"),
    "size that is text": (with_json(num_layers="1"), "num_layers is '1'; expected a whole number"),
    "eos": (with_json(eos_index=None), "eos_index is None; expected one of 5 outputs"),
    "other size": (with_json(hidden_units=16), "expected .* from kwargs.json"),
    "json": (cut("kwargs.json"), "kwargs.json: not JSON"),
    "weights cut": (cut("parameters/main.pt"), "main.pt: damaged or truncated"),
    "vocabulary cut": (cut("main.vocab"), "main.vocab: damaged or truncated"),
    "vocabulary of something else": (with_vocabulary([1, 2]), "main.vocab: found a list; expected a vocabulary of rau"),
    "numbers for tokens": (
        with_vocabulary({"tokens": [1, 2, 3, 4]}),
        "expected a vocabulary of rau, with a list of tokens",
    ),
    "tokens with spaces": (
        with_vocabulary({"tokens": ["(", ")", "[ [", "]"]}),
        "main.vocab: the alphabet .* must hold non-empty strings without whitespace",
    ),
    "tokens twice": (with_vocabulary({"tokens": ["(", ")", "(", "]"]}), "main.vocab: the alphabet .* has a repetition"),
    "too few tokens": (with_vocabulary({"tokens": ["(", ")"]}), "2 symbols .*, and eos is number 4; expected as many"),
    "an unknown token": (
        with_vocabulary({"tokens": ["(", ")", "[", "]"], "allow_unk": True}),
        "5 symbols .*, and eos is number 4; expected as many",
    ),
    "no vocabulary": (lambda folder: (folder / "main.vocab").unlink(), "no main.vocab in it or beside it"),
    "no weights": (
        lambda folder: (folder / "parameters" / "main.pt").unlink(),
        "main.pt: no such file; expected a model",
    ),
    "a weight less": (with_weights(lambda w: {k: v for k, v in w.items() if k != INITIAL}), "main.pt: state_dict has"),
    "not a number": (with_weights(lambda w: {**w, INITIAL: w[INITIAL] * math.nan}), "initial holds NaN or infinite"),
    "no state dict": (with_weights(lambda w: list(w.values())), "main.pt: found a list; expected a state dict"),
    "code": (lambda folder: torch.save(nn.Linear(1, 1), folder / "parameters" / "main.pt"), "could run code; refused"),
}


@pytest.mark.parametrize("name", RAU_BAD)
def test_damage_is_one_line_that_names_the_file(name: str, copied: Path) -> None:
    spoil, said = RAU_BAD[name]
    spoil(copied)
    assert refused(said, sl.load, copied, error=FileFormatError).startswith(str(copied))


def test_where_every_set_is_empty_the_likeliest_symbol_is_told() -> None:
    with pytest.raises(FileFormatError, match=r"no symbol may begin a word .* above 0\.99: the likeliest has 0\.5"):
        sl.load(LSTM, threshold=0.99)
    with pytest.raises(FileFormatError, match="no language model: only of one a threshold says"):
        sl.load("nnpda-1n0n", threshold=0.5)
    assert sl.load(LSTM, threshold=0.4).first in (("(",), ("[",), ("(", "["))
    assert default_threshold(1) == 1 / 10
