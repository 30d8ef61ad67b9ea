"""Proof files and their checker: what is proved is accepted, and what was tampered with is refused in one line."""

import ast
import copy
import hashlib
import json
import pickle
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.attack.drawn_networks import KINDS, Watcher, drawn
from tests.refusals import refused

import stacklens as sl
from stacklens import check_proof
from stacklens.automata.compare import Equal
from stacklens.automata.formats.json import from_json, to_json
from stacklens.automata.pda import NONE, PushdownAutomaton, Transition, push
from stacklens.core.errors import StacklensError
from stacklens.extract.agreement import Certified
from stacklens.extract.certificate.certify import LAYOUTS, Proof, certify, check_invariant, prove, task_domain
from stacklens.extract.certificate.proof_file import proof_content, relation_of, written
from stacklens.extract.certificate.step_check import Unproved
from stacklens.models.base import Checkpoint
from stacklens.models.checkpoint import ZOO, save_model

NETWORKS = (
    *("nnpda-1n0n", "nnpda-palindrome", "nnpda-parentheses", "neural-stack-reversal", "neural-stack-delayed-xor"),
    *("stack-rnn-anbn", "stack-rnn-anb2n", "stack-rnn-anbncn", "stack-rnn-anbncndn"),
    *("marnn-stack-rnn-string-reversal", "marnn-stack-rnn-dyck-2-firm", "marnn-stack-lstm-dyck-2-noise-robust"),
)
QUICK = ("nnpda-1n0n", "nnpda-parentheses", "neural-stack-delayed-xor", "stack-rnn-anbn")
LARGE = NETWORKS[-2:]  # of which one change in twenty is tried
Content = dict[str, Any]


@cache
def result(name: str) -> sl.Extraction:
    return sl.load(ZOO / f"{name}.json", kind="result")


@cache
def content(name: str) -> Content:
    return proof_content(result(name))


def status(network: Path, proof: Path) -> int:
    """Return the exit status; whatever it is, one line says why."""
    found, line = check_proof.verdict(str(network), str(proof))
    assert line.splitlines() == [line]
    assert line.startswith(("proved: ", "refused: ", "cannot be read: ")[found])
    return found


@pytest.mark.parametrize("name", NETWORKS)
def test_proofs_of_the_zoo_are_accepted(name: str, tmp_path: Path) -> None:
    shown = result(name).save_proof(tmp_path / "p.json")
    assert "follows the automaton on words" in shown
    assert ("the automaton equals that of" in shown) == isinstance(result(name).proof, Equal)
    assert status(ZOO / f"{name}.pt", tmp_path / "p.json") == 0
    assert status(ZOO / "nnpda-1n0n.pt", tmp_path / "p.json") == (0 if name == "nnpda-1n0n" else 1)


def test_proofs_of_drawn_networks_of_every_kind_are_accepted(tmp_path: Path) -> None:
    """Where one is certified in the formats that the checker knows, no other code than the checker's says so too."""
    layouts, accepted = [one for one in LAYOUTS if one.hidden is None and not one.others], Counter[str]()
    kinds = [kind for kind in KINDS if kind not in ("baby-ntm", "list-rnn")]  # the checker knows no views
    for seed in range(100):
        rng = np.random.default_rng(seed)
        model = drawn(rng, kinds[rng.integers(len(kinds))]).eval()
        known = model.end is None and getattr(model, "temperature", 1.0) > 1e-6
        if not known or next(model.parameters()).dtype not in (torch.float32, torch.float64):
            continue
        pda = Watcher(model, rng).automaton(words=10, length=16)
        proof = None if pda is None or len(pda.transitions) > 40 else prove(model, pda, layouts=layouts)
        if isinstance(proof, Proof):
            (tmp_path / "p.json").write_text(json.dumps(written(model, proof.system.automaton, proof, None)))
            save_model(tmp_path / "n.pt", Checkpoint(model, {}))
            assert status(tmp_path / "n.pt", tmp_path / "p.json") == 0, seed
            accepted[model.name] += 1
    assert set(accepted) == set(kinds)


@pytest.mark.parametrize("name", ["nnpda-parentheses", "nnpda-palindrome", "nnpda-1n0n"])
@pytest.mark.parametrize("pushes", [False, True])
def test_a_run_that_is_cut_beside_one_that_goes_on_is_shown_too(name: str, pushes: bool) -> None:
    found = result(name)
    pda, reference = found.automaton, found.language.automaton()
    operation = push(pda.stack_alphabet[0]) if pushes else NONE
    heads = product((*pda.states, "sink"), pda.input_alphabet, ((top,) for top in (pda.bottom, *pda.stack_alphabet)))
    rules = {head: Transition("sink", (operation,)) for head in heads} | dict(pda.transitions)
    total = replace(pda, states=(*pda.states, "sink"), transitions=rules)
    pairs: list[tuple[PushdownAutomaton, PushdownAutomaton]] = [(total, reference), (reference, total), (total, total)]
    for pair in pairs:
        a, b = (check_proof.Automaton(json.loads(to_json(one))) for one in pair)
        relation = relation_of(pair, "ignore", None)
        claim = json.loads(json.dumps({"relation": relation, "outputs": "none", "acceptance": True}))
        assert check_proof.check_relation(a, b, claim, None, None) == len(relation)
    other = check_proof.Automaton(json.loads(to_json(replace(total, accepting=frozenset({"sink"})))))
    with pytest.raises(check_proof.Refused):
        check_proof.check_relation(other, b, claim, None, None)


# ---- Tampering


GONE = object()


def put(found: Content, value: Any, *path: Any) -> Content:
    """Return a copy with another value at a place, or with nothing there."""
    place = new = copy.deepcopy(found)
    for name in path[:-1]:
        place = place[name]
    if value is GONE:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return new


def box_changes(found: Content) -> Iterator[tuple[str, Content]]:
    """Yield proofs with a box narrowed, moved, widened or removed."""
    for i, box in enumerate(found["certificate"]["boxes"]):
        low, high = (np.array([float.fromhex(x) for x in box[side]]) for side in ("low", "high"))
        if not len(low):
            continue  # a network without hidden vector
        ways = {
            "narrowed": (low + 0.7 * (high - low) + 1e-9, high + 1e-9),
            "moved": (high + 1e-3, high + 2e-3),
            "widened": (low - 0.5, high + 0.5),
            "upside down": (high + 1e-6, low),
        }
        for way, sides in ways.items():
            texts = {name: [x.hex() for x in side.tolist()] for name, side in zip(("low", "high"), sides, strict=True)}
            yield f"box {i} {way}", put(found, box | texts, "certificate", "boxes", i)
        yield f"box {i} removed", put(found, GONE, "certificate", "boxes", i)


def automaton_changes(found: Content) -> Iterator[tuple[str, Content]]:
    """Yield proofs of other automata, with their digest."""

    def changed(parts: Content) -> Content:
        automaton = {**found["automaton"], **parts}
        text = json.dumps(automaton, sort_keys=True, separators=(",", ":"))
        return {**found, "automaton": automaton, "automaton_sha256": hashlib.sha256(text.encode()).hexdigest()}

    pda = found["automaton"]
    for i, step in enumerate(pda["transitions"]):
        said = {json.dumps(other.get("output")) for other in pda["transitions"]} - {json.dumps(step.get("output"))}
        others = [{"to": state} for state in pda["states"] if state != step["to"]]
        others += [{"output": json.loads(output)} for output in sorted(said)[:1]]
        for symbol in (None, pda["stack_alphabet"][0]):
            done = {"pop": False, "push": symbol}
            others += [{"operations": [done, *step["operations"][1:]]}] if done != step["operations"][0] else []
        for other in others:
            steps = [*pda["transitions"][:i], {**step, **other}, *pda["transitions"][i + 1 :]]
            yield f"transition {i}: {other}", changed({"transitions": steps})
        removed = [*pda["transitions"][:i], *pda["transitions"][i + 1 :]]
        yield f"transition {i} removed", changed({"transitions": removed})
    for state in pda["states"]:
        yield f"{state} accepts or no longer", changed({"accepting": sorted(set(pda["accepting"]) ^ {state})})
    yield "another automaton, the old digest", {**found, "automaton": {**pda, "bottom": "B"}}


def claim_changes(found: Content) -> Iterator[tuple[str, Content]]:
    """Yield proofs that claim more, or show less."""
    claims, domain = found["certificate"]["claims"], found["certificate"]["domain"]
    more: dict[tuple[str, ...], list[Any]] = {
        ("claims", "margin"): [claims["margin"] * 1.01 + 1e-6, 1e300, -1.0, 0.0, None, "much", [1]],
        ("claims", "gap"): [claims["gap"] * 1.01 + 1e-6, 1e300, None, "wide"],
        ("claims", "itself"): [True, 1, "yes"],
        ("claims", "stack_limit"): [claims["stack_limit"] + 1, None, 10**400, "all"],
        ("claims", "number_format"): ["float32", "float16", "real", None, 64],
        ("stacks",): [[], [0, 0], [7], [1, 0, 2]],
        ("layout",): [{}, None],
        ("domain",): [other for other in (None, {"initial": "0", "steps": []}) if other != domain],
    }
    for path, values in more.items():
        for value in values:
            yield f"{path} {str(value)[:20]}", put(found, value, "certificate", *path)
    for i in range(0 if domain is None else len(domain["steps"])):
        yield f"domain without step {i}", put(found, GONE, "certificate", "domain", "steps", i)
    yield "other weights", put(found, "0" * 64, "network", "weights")
    yield "another version", {**found, "version": 2}
    yield "nothing proved", {**found, "certificate": None, "equality": None}


def relation_changes(found: Content) -> Iterator[tuple[str, Content]]:
    """Yield proofs whose relation lacks a pair, or whose language is another."""
    equality = found["equality"] or {"relation": [], "reference": {"transitions": []}}
    for i in range(len(equality["relation"])):
        yield f"relation without pair {i}", put(found, GONE, "equality", "relation", i)
    for i, step in enumerate(equality["reference"]["transitions"]):
        there = ("equality", "reference", "transitions", i)
        yield f"reference {i} says something else", put(found, ["no", "output"], *there, "output")
        done = {"pop": not step["operations"][0]["pop"], "push": "x"}
        yield f"reference {i} does something else", put(found, [done], *there, "operations")


def is_so(name: str, changed: Content) -> bool:
    """Return whether what a changed proof says is so, by what makes proofs: boxes, certificate and equality."""
    found, claims = result(name), changed["certificate"]["claims"]
    pda = from_json(json.dumps(changed["automaton"]))
    domain = None if changed["certificate"]["domain"] is None else task_domain(found.language)
    if changed["equality"] is not None and not isinstance(found.language.compare(pda), Equal):
        return False
    if pda != found.automaton:
        return isinstance(certify(found.model, pda, domain, stacks=found.stacks.stacks), Certified)
    proof: Any = prove(found.model, pda, domain, stacks=found.stacks.stacks)
    for key, box in zip(proof.bounds, changed["certificate"]["boxes"], strict=False):
        proof.bounds[key] = tuple(np.array([float.fromhex(x) for x in box[side]]) for side in ("low", "high"))
    try:
        shown = check_invariant(proof.system, proof.bounds)
    except Unproved:
        return False
    return bool(shown.margin >= claims["margin"] and shown.gap >= claims["gap"])


@pytest.mark.parametrize("name", [x if x in QUICK else pytest.param(x, marks=pytest.mark.slow) for x in NETWORKS])
def test_tampered_proofs_are_refused(name: str, tmp_path: Path) -> None:
    ways = (relation_changes, claim_changes, automaton_changes, box_changes)
    changes = [one for way in ways for one in way(content(name))]
    refused, kept = 0, []
    for what, changed in changes[:: 20 if name in LARGE else 1]:
        (tmp_path / "p.json").write_text(json.dumps(changed))
        if status(ZOO / f"{name}.pt", tmp_path / "p.json"):
            refused += 1
        else:
            kept.append((what, changed))
    # what is still accepted is still so
    for what, changed in kept:
        assert is_so(name, changed), what
    assert refused >= (20 if name in LARGE else 60)
    assert len(kept) <= refused / 4, [what for what, _ in kept]


# ---- Files that are not what they should be


def repacked(source: Path, target: Path, change: Callable[[str, bytes], bytes]) -> Path:
    """Write a checkpoint anew, its checksums right, with some members changed."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for member in old.infolist():
            new.writestr(member.filename, change(member.filename, old.read(member)))
    return target


def test_other_weights_are_refused(tmp_path: Path) -> None:
    name, rng = "stack-rnn-anbn", np.random.default_rng(0)
    source, proof, net = ZOO / f"{name}.pt", tmp_path / "p.json", tmp_path / "n.pt"
    result(name).save_proof(proof)
    whole = source.read_bytes()
    with zipfile.ZipFile(source) as archive:
        stored = [member for member in archive.infolist() if "/data/" in member.filename]
        starts = {member.filename: whole.index(archive.read(member)) for member in stored}
    for member in stored:
        # one bit in place, which the checksum shows, and with the checksum mended, which the digest does
        place = starts[member.filename] + int(rng.integers(member.file_size))
        net.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << int(rng.integers(8))]) + whole[place + 1 :])
        assert status(net, proof) == 2
        at, bit = int(rng.integers(member.file_size)), 1 << int(rng.integers(8))

        def flipped(file: str, data: bytes, name: str = member.filename, at: int = at, bit: int = bit) -> bytes:
            return data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :] if file == name else data

        assert status(repacked(source, net, flipped), proof) == 1
    # a weight turned round, and the digest with it
    for weight in result(name).model.state_dict():
        plain = torch.load(source, weights_only=True)
        plain["state_dict"][weight] *= -1
        torch.save(plain, net)
        digest = check_proof.read_network(str(net))[2]
        proof.write_text(json.dumps(put(content(name), digest, "network", "weights")))
        assert status(net, proof) == 1


def test_checkpoints_that_say_something_else_are_refused(tmp_path: Path) -> None:
    name, net, proof = "stack-rnn-anbn", tmp_path / "n.pt", tmp_path / "p.json"
    result(name).save_proof(proof)
    plain = torch.load(ZOO / f"{name}.pt", weights_only=True)
    configs: list[Content] = [{"stack_limit": 100}, {"no_op": True}, {"depth": 1}, {"hidden": 9}, {"n_stacks": 2}]
    configs += [{"recurrent": True}, {"alphabet": ("b", "a")}, {"alphabet": ("a", "c")}, {"noise": 1.0}]
    for config in configs:
        torch.save({**plain, "config": {**plain["config"], **config}}, net)
        assert status(net, proof)
    weights = plain["state_dict"]
    for other in ({}, {**weights, "more": torch.zeros(1)}, {name: value.float() for name, value in weights.items()}):
        torch.save({**plain, "state_dict": other}, net)
        assert status(net, proof)


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    network, proof, net = ZOO / "stack-rnn-anbn.pt", tmp_path / "p.json", tmp_path / "n.pt"
    result("stack-rnn-anbn").save_proof(proof)
    text = proof.read_text()
    margin = f'"margin": {content("stack-rnn-anbn")["certificate"]["claims"]["margin"]!r}'
    broken = ["", "[]", "null", "7", text[:1000], text[:-3], "[" * 100_000, text.replace('"boxes"', '"bags"'), "\x00"]
    broken += [text.replace(margin, f'"margin": {value}') for value in ("NaN", "Infinity", "-Infinity", "1e999")]
    broken += [text.replace("0x1.", old) for old in ("nan", "inf", "0x1.zz", "1e400", "0xf.")]
    for wrong in broken:
        assert wrong != text
        proof.write_text(wrong)
        assert status(network, proof)
    proof.write_text(text)
    for data in (b"", b"PK", b"no zip", network.read_bytes()[:-100], network.read_bytes()[:3000]):
        net.write_bytes(data)
        assert status(net, proof) == 2
    assert status(tmp_path / "none.pt", proof) == status(network, tmp_path / "none.json") == 2


class _Runs:
    def __reduce__(self) -> Any:
        return exec, ("raise SystemExit('code was run')",)


def test_pickles_with_code_are_refused(tmp_path: Path) -> None:
    source, proof = ZOO / "stack-rnn-anbn.pt", tmp_path / "p.json"
    result("stack-rnn-anbn").save_proof(proof)
    calls = [pickle.dumps(_Runs(), protocol) for protocol in (0, 2, 4)]
    calls += [b"cos\nsystem\n(S'exit'\ntR.", b"cnumpy\nfrombuffer\n.", pickle.dumps({"format": "stacklens"}, 2)]
    for call in calls:

        def put(name: str, data: bytes, call: bytes = call) -> bytes:
            return call if name.endswith("data.pkl") else data

        assert status(repacked(source, tmp_path / "n.pt", put), proof) == 2


# ---- The checker is a program of its own, and where no proof can be written one line says so


def test_the_checker_stands_alone(tmp_path: Path) -> None:
    path = Path(check_proof.__file__)
    tree = ast.parse(path.read_text())
    begun = {node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt | ast.expr)}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
    assert len(begun) - len(texts) < 400  # lines of code, as docs/certificates.md says
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert all(isinstance(node, ast.Import) or not node.level for node in imports)
    names = {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in imports if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} - sys.stdlib_module_names == {"numpy"}
    result("nnpda-1n0n").save_proof(tmp_path / "p.json")
    for program in ([str(path)], ["-m", "stacklens.check_proof"]):
        command = [sys.executable, *program, str(ZOO / "nnpda-1n0n.pt"), str(tmp_path / "p.json")]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        assert run.stdout.startswith("proved: the network itself follows the automaton")


def test_where_nothing_is_proved_no_proof_is_written(tmp_path: Path) -> None:
    with pytest.raises(StacklensError, match=r"no certificate for every length, and .* not proved either"):
        result("stack-rnn-memorization").save_proof(tmp_path / "p.json")
    refused(r"ends in \.json", result("nnpda-1n0n").save_proof, tmp_path / "p.txt")
    assert not list(tmp_path.iterdir())
    shown = result("marnn-stack-rnn-dyck-3-drifting").save_proof(tmp_path / "p.json")
    assert shown.startswith("the automaton equals that of dyck-3")
