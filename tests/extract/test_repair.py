"""Hardening makes the network its rounded form, bit for bit; repair never gives back less than came in."""

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.architecture.shown_commands import docs_script
from tests.refusals import refused
from torch import Tensor, nn

import stacklens as sl
import stacklens.extract.repair as repairing
from stacklens.cli.train import harden_command, repair_command
from stacklens.extract.agreement import CERTIFICATE_NOT_TRIED, Certified
from stacklens.extract.certificate.controllers import EXACT_GAPS
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract as extract_from
from stacklens.extract.repair import Hardened, Way, harden, repair, scale_actions, train_further
from stacklens.extract.result import Extraction
from stacklens.languages.catalogue import get_language, get_task
from stacklens.models.checkpoint import load_model, load_network
from stacklens.models.networks.joulin import StackRNN, StackRNNConfig
from stacklens.models.training import supervised
from stacklens.models.word_network import BlackBox

pytestmark = pytest.mark.usefixtures("processor_time")
DYCK = get_task("dyck-2")
FEW = ExtractionConfig(max_length=4, long_words=20, cycles=2, budget=1.0)
SETTINGS: Any = {"max_length": 6, "long_words": 200, "cycles": 20, "quiet": True}


def weights(model: sl.StackModel[Any]) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in model.named_parameters()}


def as_trained(name: str) -> sl.StackModel[Any]:
    """Return a network of the zoo as it was before it was hardened: a power of two rounds nothing either way."""
    found = load_network(name)
    with torch.no_grad():
        for key, rows in found.model.action_layer().items():
            found.model.get_parameter(key)[rows] /= 2.0 ** int(found.provenance["hardened"].rpartition("^")[2])
    return found.model


def certified(result: Extraction) -> Certified:
    found = result.certificate.certificate
    assert isinstance(found, Certified)
    return found


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("size", [2, 3, 5, 16, 31])
def test_actions_are_whole_from_the_gap_on_that_certificates_ask_for(dtype: torch.dtype, size: int) -> None:
    # in the very functions that networks call, in batches that vectorised kernels and their ends see
    name = str(dtype).removeprefix("torch.")
    for gap in (EXACT_GAPS["softmax"][name], 1.5 * EXACT_GAPS["softmax"][name]):
        logits = torch.full((77, size), -gap, dtype=dtype)
        logits[:, size // 2] = 0
        assert sorted(set(torch.softmax(logits, -1).flatten().tolist())) == [0, 1]
        sums = torch.tensor([gap, -gap] * 77, dtype=dtype)
        assert torch.sigmoid(sums).tolist() == [1, 0] * 77
    signed = torch.tensor([EXACT_GAPS["signed"][name] * sign for sign in (1, -1)] * 77, dtype=dtype)
    assert (2 * torch.sigmoid(signed) - 1).tolist() == [1, -1] * 77


@pytest.mark.parametrize(
    "name", ["stack-rnn-anbn", "nnpda-1n0n", "neural-stack-reversal", "marnn-stack-rnn-dyck-2-firm"]
)
def test_a_hardened_network_is_its_rounded_form_and_certified_as_itself(name: str) -> None:
    before = sl.extract(as_trained(name), **SETTINGS)
    assert not certified(before).itself
    assert "rounded network follows it on words of every length" in before.headline
    command = f"stacklens harden {name} --language {before.language_name} --out {name}-hardened.pt"
    assert f"{command}, or sl.harden(result)" in before.why()
    done = harden(before)
    assert done.proved
    assert not done.different
    kept = weights(sl.load(name))
    assert all(kept[key].equal(value) for key, value in weights(done.model).items())  # as its file tells
    changed = {key for key, value in weights(before.model).items() if not value.equal(weights(done.model)[key])}
    assert changed == set(done.parameters)
    after = extract_from(done.model, before.language, before.config)
    assert certified(after).itself
    assert "the network itself follows it" in after.headline
    assert after.horizon["network"].shown_by == "certificate"
    assert after.report()["equals"]["network"]["by"] == "certificate"
    # long words, run as they were not before
    for word in before.language.long_words(20, (100, 180), seed=7):
        soft, rounded = (sl.trace(done.model, [word], rounded=rounded) for rounded in (False, True))
        for one, other in ((soft.hidden, rounded.hidden), (soft.output, rounded.output)):
            np.testing.assert_array_equal(one, other)


def test_the_certificate_of_a_hardened_network_survives_saving(tmp_path: Path) -> None:
    done = sl.harden(as_trained("stack-rnn-anbn"), quiet=True)
    done.model.save(tmp_path / "a.pt")
    result = sl.extract(tmp_path / "a.pt", **SETTINGS)
    result.save(tmp_path / "r.json")
    again = sl.load(tmp_path / "r.json").checked_again()
    assert certified(again).itself
    assert "network itself" in again.headline


def test_half_the_scale_is_not_enough() -> None:
    done = harden(before := sl.extract(as_trained("stack-rnn-anbn"), **SETTINGS))
    with torch.no_grad():
        for name in done.parameters:
            done.model.get_parameter(name).mul_(0.5)
    assert not certified(extract_from(done.model, before.language, before.config)).itself


def test_what_has_no_actions_or_one_that_means_none_cannot_be_hardened_and_no_repair_is_without_end(
    tmp_path: Path,
) -> None:
    with pytest.raises(sl.StacklensError, match="no scale of action_weights makes the action whole on c, step 1"):
        sl.harden(sl.extract("nnpda-palindrome", **SETTINGS))
    lstm = sl.train("lstm", "dyck-2", seeds=1, epochs=1, quiet=True)
    with pytest.raises(sl.StacklensError, match="no layer of its own that decides its actions"):
        scale_actions(lstm, None, sl.extract("stack-rnn-anbn", **SETTINGS).certificate)
    with pytest.raises(sl.StacklensError, match="--seconds is a time such as 60s"):
        repair_command(Path("marnn-stack-rnn-dyck-2-drifting"), out=tmp_path / "r.pt", seconds="none")


def test_numbers_that_are_too_small_for_the_scale_are_refused() -> None:
    result = sl.extract(as_trained("neural-stack-reversal"), **SETTINGS)
    half = scale_actions(result.model.half(), result.language, result.certificate)
    assert isinstance(half, Hardened)  # float16 needs less of a gap, and holds it
    with torch.no_grad():
        half.model.get_parameter("net.bias")[:2] = 3e4
    with pytest.raises(sl.StacklensError, match=r"net.bias leaves the numbers of torch.float16"):
        scale_actions(half.model, result.language, result.certificate)


# ---- Networks of others, as sl.wrap makes them ----


class Joint(nn.Module):
    """A tanh RNN on a stack; the rows of one layer are actions, value and output, unless weights stand elsewhere."""

    def __init__(self, form: str = "rows", hidden: int = 6) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.form, self.rnn, self.heads = form, nn.RNNCell(4, hidden), nn.Linear(hidden, 3 + 2 + 2)
        self.raw, self.bias = nn.Parameter(torch.randn(hidden, 7)), nn.Parameter(torch.randn(7))
        last = nn.Linear(5, 3, bias=form == "deep")
        self.deep = nn.Sequential(nn.Linear(hidden, 5), nn.ReLU(), last)

    def step(self, x: Tensor, h: Tensor, top: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        h = self.rnn(torch.cat([x, top], 1), h)
        made = h @ self.raw + self.bias if self.form == "columns" else self.heads(h)
        actions, pushed, output = made.split([3, 2, 2], 1)
        if self.form in ("deep", "two layers"):
            actions = self.deep(h)
        if self.form == "numpy":
            actions = torch.from_numpy(actions.detach().numpy())
        return torch.cat([h[:, 3:], actions], 1) if self.form == "kept" else h, actions.softmax(1), pushed, output


def wrapped(net: Joint, step: Any = None, **options: Any) -> sl.StackModel[Any]:
    settings = {"stack": "superposition", "outputs": "next set", "activation": "sigmoid", "first": "(", "hidden": 6}
    return sl.wrap(net, "()", step=step or net.step, **{**settings, **options})


@pytest.mark.parametrize(
    ("form", "rows"),
    [
        ("rows", {"heads.weight": [0, 1, 2], "heads.bias": [0, 1, 2]}),
        ("columns", {"raw": (slice(None), [0, 1, 2]), "bias": [0, 1, 2]}),
        ("deep", {"deep.2.weight": slice(None), "deep.2.bias": slice(None)}),
    ],
)
def test_a_trial_finds_what_decides_the_actions_and_scaling_makes_them_whole(form: str, rows: dict[str, Any]) -> None:
    net = Joint(form)
    before = {name: value.clone() for name, value in net.state_dict().items()}
    model = wrapped(net, lambda x, h, top: net.step(x, h, top))  # the module is found by the closure alone
    assert model.action_layer() == {f"module.{name}": part for name, part in rows.items()}
    done = scale_actions(model, None, CERTIFICATE_NOT_TRIED)
    assert (done.different, done.proved) == (0, False)
    assert "seen on" in str(done)
    for word in ("()", "(()())", "((((((", "())("):
        soft, rounded = (sl.trace(done.model, word, rounded=rounded) for rounded in (False, True))
        live = ~rounded.rejected  # nothing is claimed from where a word is rejected
        assert set(np.unique(soft.actions[live])) == {0, 1}
        np.testing.assert_array_equal(soft.output[live], rounded.output[live])
        np.testing.assert_array_equal(soft.hidden[:, 1:][live], rounded.hidden[:, 1:][live])
    # the wrapped module is as it was; its copy differs in these rows, by a power of two
    assert all(value.equal(before[name]) for name, value in net.state_dict().items())
    for name, value in weights(done.model).items():
        expected = before[name.removeprefix("module.")].clone()
        if name in model.action_layer():
            expected[model.action_layer()[name]] *= done.scale
        assert value.equal(expected)


@pytest.mark.parametrize("form", ["two layers", "numpy", "kept"])
def test_layers_that_a_trial_cannot_tell_are_asked_for_by_the_arguments_name(form: str) -> None:
    why = {
        "two layers": "deep.0.weight, deep.0.bias or deep.2.weight would do",
        "numpy": "no gradient",
        "kept": "no rows",
    }
    model = wrapped(Joint(form))
    refused(f"(?s){why[form]}.*action_layer=", scale_actions, model, None, CERTIFICATE_NOT_TRIED)


def test_a_named_layer_is_held_against_the_network() -> None:
    net = Joint("two layers")
    assert wrapped(net, action_layer="deep.2").action_layer() == {"module.deep.2.weight": slice(None)}
    refused("among rnn decides", wrapped(net, action_layer=["rnn"]).action_layer)
    refused(r"action_layer is 'gone', .* expected some of bias, deep.0", wrapped, net, action_layer="gone")


def test_a_wrapped_network_is_repaired_as_far_as_words_show(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"_STEPS": (150,), "_SHORT": 200, "_DRAWN": 20, "_DEEP": 5, "_FAMILIES": 5}.items():
        monkeypatch.setattr(repairing, name, value)
    net = Joint()
    model = wrapped(net)
    given = weights(model)
    done = repair(model, get_language("dyck-1"), FEW, seconds=100)
    assert done.before.language is not None
    trial = repairing.Trial.of(done.before, done.before.language, 0)
    assert len(trial.standing(done.model).broken) < len(trial.standing(model).broken)
    # nothing is certified of somebody else's code
    assert (done.rounds[0].kept, done.status, done.reason is None) == (True, 1, False)
    assert done.distance > 0.01
    assert all(value.equal(given[name]) for name, value in weights(model).items())


def test_what_torch_cannot_follow_is_not_trained() -> None:
    def blind(x: Tensor, h: Tensor, top: Tensor) -> Any:
        return tuple(part.detach() for part in net.step(x, h, top))

    net, counter = Joint(), lambda x, h: (h + 1, torch.cat([x, x], 1)[:, :2])
    none = sl.wrap(None, "()", step=counter, hidden=1, outputs="next set")
    boxed = BlackBox(lambda words: [set("(") for _ in words], ("(", ")"))
    for model, why in ((wrapped(net, blind), "no gradient"), (none, "no weights"), (boxed, "no weights")):
        refused(f"cannot be trained further: .*{why}", repair, model, get_task("dyck-1"), seconds=1)
    refused("no layer of its own", scale_actions, none, None, CERTIFICATE_NOT_TRIED)


def test_a_network_of_whole_words_is_trained_on_the_tasks_words_in_its_own_numbers() -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Embedding(2, 3), nn.Linear(3, 2))
    model = sl.wrap(net, ")(", forward=lambda symbols: net(symbols), outputs="next set", activation="sigmoid")
    one = train_further(model, get_task("dyck-1"), [tuple("(())")], 200, 0)[0]
    # after "(" both may come next
    opened = sl.trace(one, "(").output[0, 0]
    assert opened.min() > sl.trace(model, "(").output[0, 0].min()


def test_a_network_that_is_right_is_only_hardened() -> None:
    given = sl.extract(as_trained("marnn-stack-rnn-dyck-2-firm"), **SETTINGS)
    done = sl.repair(given, seconds=60, quiet=True)
    assert (done.status, done.rounds, done.distance, done.accuracy) == (0, (), 0, (1, 1))
    assert done.hardened is not None
    assert certified(done.after).itself
    assert isinstance(done.same, sl.Equal)
    assert "network itself" in str(done)
    assert "hard words" not in str(done)


def test_without_time_the_same_weights_come_back() -> None:
    given = sl.extract("marnn-stack-rnn-dyck-2-drifting", **SETTINGS)
    done = repair(given, config=given.config, seconds=0.1)
    assert (done.status, done.rounds, done.distance) == (1, (), 0)
    assert "0.1 s were given" in str(done.reason)
    kept, scaled = weights(given.model), weights(done.model)
    assert all(kept[name].equal(scaled[name]) for name in kept if not name.startswith("action"))


def test_what_does_worse_on_the_tasks_own_test_does_not_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    given, ways = sl.extract("marnn-stack-rnn-dyck-2-drifting", **SETTINGS), list[Any]()

    def train(model: Any, *options: Any) -> Any:
        ways.append(options[-1])
        spoilt = copy.deepcopy(model)
        for value in spoilt.parameters():
            value.data.zero_()
        return [spoilt for _ in options[-1]]

    def standing(_: Any, model: Any, *__: Any, **___: Any) -> Any:  # what is spoilt is better on the trial
        spoilt = not next(model.parameters()).any()
        return repairing.Standing(CERTIFICATE_NOT_TRIED, [] if spoilt else [tuple("()")], [tuple("()")])

    monkeypatch.setattr(repairing, "_STEPS", (1, 1, 1))
    monkeypatch.setattr(repairing, "train_further", train)
    monkeypatch.setattr(repairing.Trial, "standing", standing)
    done = repair(given, config=given.config, seconds=60)
    assert ([one.kept for one in done.rounds], done.distance) == ([True] * 3, 0)
    one, many = (repairing._FIRST,), repairing._WAYS
    assert ways == [one, many, many]  # copies in several ways from the second round on
    assert [one.way for one in done.rounds] == [one[-1], many[-1], many[-1]]  # of those that do as well the last
    assert done.accuracy[1] >= done.accuracy[0]


def test_a_trial_asks_the_words_that_reading_finds_and_certifies_a_ring_on_its_view() -> None:
    given = sl.extract("marnn-stack-rnn-dyck-2-drifting", **SETTINGS)
    assert given.language is not None
    trial = repairing.Trial.of(given, given.language, 0)
    trial.words = [word for word in trial.words if len(word) < 6]  # on these it is right
    assert not trial.standing(given.model, read=False).broken
    found = trial.standing(given.model)
    assert found.broken
    assert all(len(word) > 6 and word in trial.words for word in found.broken)
    assert not trial.add([*found.broken, tuple("(" * 200)])  # known; too high for its cells
    ring = sl.extract("baby-ntm-dyck-2", **SETTINGS)
    assert repairing.Trial.of(ring, given.language, 0).standing(ring.model, read=False).certified


def test_training_further_is_seeded_and_leaves_what_came_in_alone() -> None:
    model = sl.load("marnn-stack-rnn-dyck-2-drifting")
    before, hard = weights(model), [tuple("[()]" * 12)]
    one, two, other = (weights(train_further(model, DYCK, hard, 3, seed)[0]) for seed in (1, 1, 2))
    assert all(value.equal(before[name]) for name, value in weights(model).items())
    assert all(one[name].equal(two[name]) for name in one)
    assert any(not one[name].equal(other[name]) for name in one)


def test_of_long_streams_the_beginnings_are_trained_on(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = list[int]()

    def noted(model: Any, examples: Any) -> Any:
        seen.extend(examples.lengths.tolist())
        return supervised.numbered_for(model, examples)

    monkeypatch.setattr(repairing, "numbered_for", noted)
    train_further(sl.load("stack-rnn-anbn"), get_task("anbn"), [tuple("ab" * 60)], 0, 0)
    assert (max(seen[: repairing._WORDS]), set(seen[repairing._WORDS :])) == (repairing._CUT, {120})


@pytest.mark.parametrize(
    "name", [f"{net}-dyck-2-drifting" for net in ("marnn-stack-rnn", "marnn-stack-lstm", "baby-ntm")]
)
def test_copies_side_by_side_are_what_each_is_alone(name: str) -> None:
    model, hard = sl.load(name), [tuple("[()]" * 12)]
    ways = Way(0.01), Way(0.3), Way(0.01, hard=False), Way(0.01, disturbed=0.0)
    copies = train_further(model, DYCK, hard, 40, 0, ways=ways)
    for way, one in zip(ways, copies, strict=True):
        (alone,) = train_further(model, DYCK, hard, 40, 0, ways=(way,))
        for key, value in one.named_parameters():
            np.testing.assert_allclose(value, alone.get_parameter(key), rtol=0, atol=1e-6)
    first = copies[0].get_parameter("hidden_weights")
    assert not any(first.allclose(one.get_parameter("hidden_weights"), atol=1e-4) for one in copies[1:])


def test_stacks_that_are_not_needed_are_popped_and_not_read() -> None:
    model = StackRNN(StackRNNConfig(("a", "b"), 5, n_stacks=3, no_op=True, recurrent=True), seed=1)
    emptied, few = copy.deepcopy(model), model.with_stacks([2, 0])
    with torch.no_grad():  # of all three stacks the second one is popped
        emptied.action_weights[3:6] = torch.tensor([[-1e4], [1e4], [-1e4]])
    trained, _ = train_further(model, get_task("anbn"), [], 2, 0, needed=(2, 0), ways=(Way(0.01), Way(0.1)))
    assert isinstance(trained, StackRNN)
    pairs = (few, emptied), (few, model.idle_but([2, 0], few)), (trained.with_stacks([2, 0]), trained)
    for one, other in (tuple(sl.trace(net, "aabbabab") for net in pair) for pair in pairs):
        np.testing.assert_allclose(one.output, other.output, atol=1e-12)
        np.testing.assert_allclose(one.actions, other.actions[:, :, [2, 0]], atol=1e-12)
        assert (other.actions[:, :, 1].argmax(-1) == 1).all()
    assert not trained.output_weights.equal(model.output_weights)


FOLLOWED = [
    "marnn-stack-rnn-string-reversal",
    "marnn-stack-rnn-homomorphic-palindrome",
    "neural-stack-delayed-xor",
    "buffered-neural-stack-reversal",
]


@pytest.mark.parametrize("name", ["baby-ntm-dyck-2", "baby-ntm-dyck-2-drifting", *FOLLOWED])
def test_plain_numpy_follows_what_is_certified_on_long_words(name: str) -> None:
    model = sl.load(name)
    soft, rounded, words = docs_script("repairs").wrong_in_numpy(model, model.origin.task["language"])
    assert (soft == rounded == 0) if "drifting" not in name else (words / 2 < min(soft, rounded))


def test_a_network_that_drifts_is_certified_as_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, report = tmp_path / "d2.pt", tmp_path / "d2.json"
    status = repair_command(Path("marnn-stack-rnn-dyck-2-drifting"), out=out, seconds="5m", report=report)
    printed, made = capsys.readouterr().out, json.loads(report.read_text())
    assert (status, made["same_automaton"]) == (0, "equal")
    assert "network itself" in made["after"]
    assert "rounded network is first known to differ" in printed
    model = load_model(tmp_path / "d2.pt")
    assert model.origin.provenance["repair_rounds"] == len(made["rounds"])
    assert docs_script("repairs").wrong_in_numpy(model, "dyck-2")[:2] == [0, 0]  # as it is, rounded


def test_harden_writes_a_network_of_its_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    as_trained("stack-rnn-anbn").save(tmp_path / "a.pt")
    assert harden_command(tmp_path / "a.pt", out=tmp_path / "h.pt", report=tmp_path / "h.json") == 0
    assert "actions  action_weights times 2^12" in capsys.readouterr().out
    assert json.loads((tmp_path / "h.json").read_text())["hardened"]["scale"] == 4096
    model = load_model(tmp_path / "h.pt")
    assert (model.name, model.origin.task["language"]) == ("stack-rnn", "anbn")
    known = model.origin.provenance
    assert "2^12" in known["hardened"]
    assert known["scores"]["errors"] == 0
    assert "train stack-rnn" in known["trained_by"]
    refused(r"\.pt", harden_command, Path("stack-rnn-anbn"), out=tmp_path / "h.txt")
    refused("network's own file", harden_command, tmp_path / "h.pt", out=tmp_path / "h.pt")
