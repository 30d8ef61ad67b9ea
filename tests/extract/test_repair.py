"""Hardening makes the network its rounded form, bit for bit; repair never gives back less than came in."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.architecture.shown_commands import docs_script
from torch import Tensor

import stacklens as sl
from stacklens.cli.repair import harden_command, repair_command
from stacklens.extract.certificate.claim import Certified
from stacklens.extract.certificate.controllers import EXACT_GAPS
from stacklens.extract.extraction import extract as extract_from
from stacklens.extract.repair import Hardened, harden, repair, scale_actions, train_further
from stacklens.extract.result import Extraction
from stacklens.languages.catalogue import get_task
from stacklens.models.checkpoint import load_model, load_network

DYCK = get_task("dyck-2")
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


# ---- Harden ----


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
    assert before.language is not None
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


def test_an_action_that_means_none_cannot_be_made_whole() -> None:
    with pytest.raises(sl.StacklensError, match="no scale of action_weights makes the action whole on c, step 1"):
        sl.harden(sl.extract("nnpda-palindrome", **SETTINGS))


def test_a_network_without_actions_cannot_be_hardened() -> None:
    lstm = sl.train("lstm", "dyck-2", seeds=1, epochs=1, quiet=True)
    with pytest.raises(sl.StacklensError, match="no layer of its own that decides its actions"):
        scale_actions(lstm, None, sl.extract("stack-rnn-anbn", **SETTINGS).certificate)


def test_numbers_that_are_too_small_for_the_scale_are_refused() -> None:
    result = sl.extract(as_trained("neural-stack-reversal"), **SETTINGS)
    half = scale_actions(result.model.half(), result.language, result.certificate)
    assert isinstance(half, Hardened)  # float16 needs less of a gap, and holds it
    with torch.no_grad():
        half.model.get_parameter("net.bias")[:2] = 3e4
    with pytest.raises(sl.StacklensError, match=r"net.bias leaves the numbers of torch.float16"):
        scale_actions(half.model, result.language, result.certificate)


# ---- Repair ----


def test_a_network_that_is_right_is_only_hardened() -> None:
    given = sl.extract(as_trained("marnn-stack-rnn-dyck-2-firm"), **SETTINGS)
    done = sl.repair(given, seconds=60, quiet=True)
    assert done.status == 0
    assert not done.rounds
    assert done.distance == 0
    assert done.hardened is not None
    assert certified(done.after).itself
    assert isinstance(done.same, sl.Equal)
    assert done.accuracy == (1, 1)
    assert "network itself" in str(done)
    assert "hard words" not in str(done)


def test_without_time_the_same_weights_come_back() -> None:
    given = sl.extract("marnn-stack-rnn-dyck-2-drifting", **SETTINGS)
    done = repair(given, config=given.config, seconds=0.1)
    assert done.status == 1
    assert not done.rounds
    assert done.distance == 0
    assert done.reason is not None
    assert "0.1 s were given" in done.reason
    kept, scaled = weights(given.model), weights(done.model)
    assert all(kept[name].equal(scaled[name]) for name in kept if not name.startswith("action"))


def test_training_further_is_seeded_and_leaves_what_came_in_alone() -> None:
    model = sl.load("marnn-stack-rnn-dyck-2-drifting")
    before, hard = weights(model), [tuple("[()]" * 12)]
    one, two, other = (weights(train_further(model, DYCK, hard, 3, seed)) for seed in (1, 1, 2))
    assert all(value.equal(before[name]) for name, value in weights(model).items())
    assert all(one[name].equal(two[name]) for name in one)
    assert any(not one[name].equal(other[name]) for name in one)


def test_a_recogniser_has_no_task_to_be_trained_on() -> None:
    with pytest.raises(
        sl.StacklensError, match="predictor's or transducer's task, and the language palindrome was given"
    ):
        sl.repair("nnpda-palindrome", seconds=1, quiet=True)


@pytest.mark.slow
def test_a_network_that_drifts_is_certified_as_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, report = tmp_path / "d2.pt", tmp_path / "d2.json"
    status = repair_command(Path("marnn-stack-rnn-dyck-2-drifting"), out=out, seconds="5m", report=report)
    printed, made = capsys.readouterr().out, json.loads(report.read_text())
    assert (status, made["same_automaton"]) == (0, "equal")
    assert "network itself" in made["after"]
    assert "rounded network is first known to differ" in printed
    model = load_model(tmp_path / "d2.pt")
    assert model.origin is not None
    assert model.origin.provenance["repair_rounds"] == len(made["rounds"])
    assert docs_script("repairs").wrong_in_numpy(model, "dyck-2")[:2] == [0, 0]  # as it is, rounded


# ---- The commands ----


def test_harden_writes_a_network_of_its_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    as_trained("stack-rnn-anbn").save(tmp_path / "a.pt")
    assert harden_command(tmp_path / "a.pt", out=tmp_path / "h.pt", report=tmp_path / "h.json") == 0
    assert "actions  action_weights times 2^12" in capsys.readouterr().out
    assert json.loads((tmp_path / "h.json").read_text())["hardened"]["scale"] == 4096
    model = load_model(tmp_path / "h.pt")
    assert model.name == "stack-rnn"
    assert model.origin is not None
    assert model.origin.task["language"] == "anbn"
    known = model.origin.provenance
    assert "2^12" in known["hardened"]
    assert known["scores"]["errors"] == 0
    assert "train stack-rnn" in known["trained_by"]
    with pytest.raises(sl.StacklensError, match=r"\.pt"):
        harden_command(Path("stack-rnn-anbn"), out=tmp_path / "h.txt")
    with pytest.raises(sl.StacklensError, match="network's own file"):
        harden_command(tmp_path / "h.pt", out=tmp_path / "h.pt")


def test_a_repair_without_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(sl.StacklensError, match="--seconds is a time such as 60s"):
        repair_command(Path("marnn-stack-rnn-dyck-2-drifting"), out=tmp_path / "r.pt", seconds="none")
