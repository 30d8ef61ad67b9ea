"""Results in files: what is read back is what was saved, networks are opened when touched, damage is refused."""

import json
import math
import random
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.attack.made_results import DIGESTS, FORGERIES, GONE, changed, forged, places
from tests.face.quick import BUFFERED, IN_VAIN, QUICK, quick_failure, quick_result
from tests.refusals import complaint_of, refused

import stacklens as sl
from stacklens.core.errors import FileFormatError
from stacklens.core.files import from_plain, late, parse_json, put_off, to_plain
from stacklens.extract.claims import check_table, claim_table, claims_of
from stacklens.extract.saved import load_result
from stacklens.models.checkpoint import ZOO, digest_of

NAMES = ["marnn-stack-rnn-dyck-2", "baby-ntm-dyck-2", "buffered-neural-stack-reversal", "stack-rnn-anb2n"]
ODD: list[Any] = [None, -1, 10**400, 1e308, "", "x\x1b[31m", [], {}, True, "nan", [None], {"type": "Machine"}]
complaint = partial(complaint_of, sl.load)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "result.json"
    quick_failure().save(path)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_what_was_saved_is_loaded(name: str, tmp_path: Path) -> None:
    result = quick_result(name)
    result.save(tmp_path / "result.json")
    loaded = sl.load(tmp_path / "result.json")
    assert loaded == result
    assert (loaded.minimised, loaded.raw, loaded.status) == (result.minimised, result.raw, result.status)
    assert "as stored, not checked" in f"{loaded!r}"
    assert all("as stored, not checked" in text for text in (str(loaded), loaded.why(), loaded._repr_html_()))
    trusted = load_result(tmp_path / "result.json", trusted=True)
    assert json.dumps(trusted.report()) == json.dumps(result.report())
    for shown in (str, repr, sl.Extraction._repr_html_, sl.Extraction.why):
        assert shown(trusted) == shown(result)
    loaded.save(tmp_path / "again.json")
    assert sl.load(tmp_path / "again.json") == result


def test_a_file_says_what_it_rests_on(saved: Path) -> None:
    content = json.loads(saved.read_text(encoding="utf-8"))
    assert (content["format"], content["schema"], content["seed"]) == ("stacklens result", 2, 0)
    assert content["config"]["max_length"] == QUICK["max_length"]
    assert set(content["versions"]) == {"stacklens", "python", "torch", "numpy"}
    assert content["network"]["name"] == content["network"]["path"] == "buffered-neural-stack-reversal"
    assert content["network"]["sha256"] == digest_of(ZOO / "buffered-neural-stack-reversal.pt")
    assert content["automata"]["minimised"] is None
    assert content["fidelity"]["rounding"]["words"] == content["fields"]["fidelity"]["rounding"]["words"]


def test_a_result_saved_before_there_were_horizons_gets_what_its_checks_know(tmp_path: Path) -> None:
    result = quick_result("nnpda-palindrome")
    result.save(tmp_path / "result.json")
    content = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert content["horizon"] == result.report()["horizon"]
    assert content["equals"]["language"]["verdict"] == "equal"
    for part in (content, content["fields"]):
        del part["horizon"]
    del content["digests"]
    (tmp_path / "old.json").write_text(json.dumps(content), encoding="utf-8")
    old = sl.load(tmp_path / "old.json")
    assert old.horizon["rounded network"] == result.horizon["rounded network"]
    assert old.horizon["network"].length == result.horizon["network"].length
    known = min(len(c.counterexample) for c in result.checks if c.other == "network" and c.counterexample is not None)
    assert len(old.horizon["network"].difference.word) == known
    assert str(old).startswith("As stored, not checked: proved equal to palindrome; the rounded network follows it on ")


def test_the_network_is_opened_when_it_is_touched(tmp_path: Path) -> None:
    file = tmp_path / "net.pt"
    shutil.copy(ZOO / "buffered-neural-stack-reversal.pt", file)
    result = sl.extract(file, **IN_VAIN)
    (tmp_path / "kept").mkdir()
    result.save(tmp_path / "kept" / "result.json")
    shutil.move(file, tmp_path / "kept" / "net.pt")  # beside the result it is found
    loaded = sl.load(tmp_path / "kept" / "result.json")
    assert loaded.model.name == "buffered-neural-stack"
    assert loaded.language.name == "reversal"
    (tmp_path / "kept" / "net.pt").unlink()
    loaded = sl.load(tmp_path / "kept" / "result.json")
    assert loaded == result
    again = loaded.checked_again()
    assert (again.as_stored, again.loaded.shown) == (loaded.as_stored, ())
    refused(r"net\.pt: no such file; expected a network", lambda: loaded.model, error=FileFormatError)
    shutil.copy(ZOO / "neural-stack-reversal.pt", file)
    refused("not the network of this file: it was changed since", lambda: loaded.model, error=FileFormatError)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"schema": 3}, "a result of another schema than 2"),
        ({"schema": True}, "a result of another schema than 2"),
        ({"fields": []}, "lacks fields"),
        ({"network": None}, "network is None; expected a NetworkCard"),
        ({"language": 3}, "language name is 3; expected a text"),
        ({"automata": {"minimised": {"format": "x"}}}, "the minimised automaton: not an automaton file"),
    ],
)
def test_a_damaged_result_is_refused(change: dict[str, Any], says: str, saved: Path, tmp_path: Path) -> None:
    content = {**json.loads(saved.read_text(encoding="utf-8")), **change}
    (tmp_path / "bad.json").write_text(json.dumps(content), encoding="utf-8")
    assert says in complaint(tmp_path / "bad.json")


@pytest.mark.parametrize("end", [0, 1, 100, -3])
def test_a_result_that_was_cut_off_is_refused(end: int, saved: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text(saved.read_text(encoding="utf-8")[:end], encoding="utf-8")
    assert "JSON" in complaint(tmp_path / "bad.json")


# a recogniser, a predictor, several stacks, buffered, learned from answers alone
KINDS = ("nnpda-palindrome", "marnn-stack-rnn-dyck-2-firm", "stack-rnn-anbncn", BUFFERED, "a black box")


@cache
def content_of(name: str) -> dict[str, Any]:
    """Return the file of a result without its digests, which a file of an earlier version has not."""
    with TemporaryDirectory() as folder:
        path = ZOO / f"{name}.json"
        if name == "a black box":
            path = Path(folder) / "box.json"
            sl.learn(lambda words: [len(word) % 2 == 0 for word in words], "ab", long_words=50).save(path)
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    del content["digests"]
    return content


def shown_in_full(path: Path) -> None:
    """Show all that a loaded result says."""
    loaded = sl.load(path)
    report = loaded.report()
    text = f"{loaded}{loaded!r}{loaded.why()}{claim_table(report)}{check_table(report)}{json.dumps(report)}"
    assert "\x1b" not in text
    assert "as stored, not checked" in text
    assert loaded == loaded


@pytest.mark.parametrize("name", KINDS)
def test_whatever_is_deleted_or_retyped_ends_as_a_result_or_as_a_line_that_names_it(name: str, tmp_path: Path) -> None:
    content, rng = content_of(name), random.Random(name)
    ways = [
        (at, new)
        for part in ("fields", "network", "automata", "language", "schema", "format")
        for at in places(content[part], (part,))
        for new in (GONE, *ODD)
    ]
    path, until, lines = tmp_path / "odd.json", time.process_time() + 2, 0
    for at, new in rng.sample(ways, len(ways)):
        path.write_text(json.dumps(changed(content, at, new)), encoding="utf-8")
        try:
            shown_in_full(path)
        except FileFormatError as error:
            lines += 1
            line = str(error)
            assert line.startswith(f"{path}: "), (at, line)
            assert line.isprintable(), (at, line)
            keys = [key.lstrip("_") for key in at if isinstance(key, str)]
            assert any(key in line for key in keys), (at, line)
        if time.process_time() > until:
            break
    assert lines > 10


@pytest.mark.parametrize("digests", DIGESTS)
@pytest.mark.parametrize("what", FORGERIES)
def test_what_a_file_claims_falsely_is_refused_or_said_to_be_as_stored(what: str, digests: str, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps(forged(what, digests)), encoding="utf-8")
    if digests == "stale":
        assert complaint(path).startswith("was changed since it was saved: digests ")
        return
    loaded = sl.load(path)
    assert set(loaded.as_stored) >= {"proof", "certificate", "checks", "counts", "horizon.network"}
    assert repr(loaded).count("as stored, not checked: ") == str(loaded).count("As stored, not checked: ") == 1
    claims = ("horizon ", "checked ", "counted ", "proof ", "certified ", "rounding ")
    lines = [line for line in str(loaded).splitlines() if line.startswith(claims)]
    assert len(lines) >= 5
    assert all(line.endswith("(as stored, not checked)") for line in lines)
    assert not any(claim.verdict in ("yes", "no") for claim in claims_of(loaded.report()) if claim.what != "automaton")
    again = loaded.checked_again()
    assert "counts" in again.as_stored
    if what == "an automaton that is cut":
        assert isinstance(again.proof, sl.Different)
        assert again.status == 1
        assert again.headline.startswith("different from dyck-2, first on ((((((((")
        assert sl.verify(loaded, max_length=8, quiet=True).first is not None
    if what == "the certificate of another network":
        assert isinstance(again.certificate.certificate, sl.NotCertified)
        assert again.status == 1
        assert "could not be shown" in str(again)
    if what in ("words of length 10^18", "other counts"):
        assert again.proof == sl.Equal()
        assert again.headline.startswith("proved equal to ")
        assert not sl.verify(loaded, max_length=3, quiet=True).status
        assert not any("1,000,000,000,000,000,000" in line for line in str(again).splitlines() if "stored" not in line)


def test_a_result_of_a_network_that_is_gone_is_as_stored(tmp_path: Path) -> None:
    content = content_of("nnpda-1n0n")
    content = {**content, "network": {**content["network"], "path": str(tmp_path / "gone.pt")}}
    (tmp_path / "r.json").write_text(json.dumps(content), encoding="utf-8")
    again = sl.load(tmp_path / "r.json").checked_again()
    assert "proof" in again.as_stored
    assert "gone.pt: no such file" in str(again)


@pytest.mark.parametrize("entry", ["path", "language"])
def test_of_a_file_that_a_result_names_nothing_is_told(entry: str, tmp_path: Path) -> None:
    """A result may name any file as its network or its language."""
    for secret in ("net.pt", "secret.cfg", "secret"):
        (tmp_path / secret).write_text("root:x:0:0:root:/root:/bin/bash\n" * 3, encoding="utf-8")
        content = content_of("nnpda-1n0n")
        named = str(tmp_path / secret)
        content = {**content, **({"language": named} if entry == "language" else {})}
        if entry == "path":
            content["network"] = {**content["network"], "path": named}
        (tmp_path / "r.json").write_text(json.dumps(content), encoding="utf-8")
        loaded = sl.load(tmp_path / "r.json")
        assert "root" not in f"{loaded.checked_again()}".replace(str(tmp_path), "")
        assert "root" not in refused("", sl.verify, loaded, error=FileFormatError).replace(str(tmp_path), "")


def test_every_change_of_a_file_with_digests_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    quick_failure().save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    moved = {**content, "network": {**content["network"], "path": "elsewhere.pt", "file": "elsewhere.pt"}}
    path.write_text(json.dumps(moved, indent=3), encoding="utf-8")
    assert sl.load(path) == quick_failure()
    for at in places({key: content[key] for key in ("fields", "automata", "proof", "fidelity", "config", "seed")}):
        if at:
            path.write_text(json.dumps(changed(content, at, "something else")), encoding="utf-8")
            complaint(path)


WORDS = {
    "nnpda-palindrome": ["abcba", "", "abcab"],
    "marnn-stack-rnn-dyck-2-drifting": ["([])", "(", ""],
    "stack-rnn-anbn": ["aabb"],
    "buffered-neural-stack-reversal": ["01#"],
    "baby-ntm-dyck-2-drifting": [""],
}


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("name", WORDS)
def test_a_trace_that_was_saved_is_loaded(name: str, rounded: bool, tmp_path: Path) -> None:
    words = [word for word in WORDS[name] if set(word) <= set(sl.load(name).alphabet)]
    seen = sl.trace(name, words, rounded=rounded)
    seen.save(tmp_path / "t.npz")
    loaded = sl.load(tmp_path / "t.npz")
    assert loaded == seen
    assert repr(loaded) == repr(seen)
    assert loaded.to_frame().equals(seen.to_frame())
    assert loaded.network == seen.network
    assert loaded.model.name == seen.model.name
    assert loaded.rounded is rounded


def arrays_of(path: Path) -> dict[str, Any]:
    sl.trace("nnpda-palindrome", ["abcba", "c"]).save(path)
    with np.load(path) as found:
        return {name: found[name] for name in found.files}


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("hidden", np.zeros((2, 5, 3)), "hidden is float64 of shape (2, 5, 3)"),
        ("hidden", np.zeros((2, 6, 3), int), "hidden is int64"),
        ("steps", np.array([9, 1]), "letters that it does not have"),
        ("symbols", np.full((2, 5), 7), "letters that it does not have"),
        ("symbols", np.zeros(3, int), "symbols is int64 of shape (3,)"),
        ("verdicts", np.array([{}, {}], dtype=object), "no array of numbers"),
        ("other", np.zeros(2), "lacks or should not have the array 'other'"),
        ("head", np.zeros(2), "no array called head"),
        ("head", np.frombuffer(b"\xff\xff", np.uint8), "its head is no text"),
        ("head", np.frombuffer(b"{}", np.uint8), "expected _Head"),
    ],
)
def test_arrays_of_another_trace_are_refused(name: str, value: Any, says: str, tmp_path: Path) -> None:
    arrays = {**arrays_of(tmp_path / "t.npz"), name: value}
    np.savez(tmp_path / "t.npz", **arrays)
    assert says in complaint(tmp_path / "t.npz")


@pytest.mark.parametrize("end", [0, 10, -10])
def test_a_file_that_was_cut_off_is_refused(end: int, tmp_path: Path) -> None:
    arrays_of(tmp_path / "t.npz")
    (tmp_path / "t.npz").write_bytes((tmp_path / "t.npz").read_bytes()[:end])
    refused(r"t\.npz: damaged, truncated or no \.npz file", sl.load, tmp_path / "t.npz", error=FileFormatError)


def test_a_packed_file_is_refused(tmp_path: Path) -> None:
    """It could unpack to more than memory holds; ours are never packed."""
    np.savez_compressed(tmp_path / "t.npz", head=np.zeros(1_000_000, np.uint8))
    refused("damaged", sl.load, tmp_path / "t.npz", error=FileFormatError)


@dataclass(frozen=True)
class Leaf:
    kind: Literal["one", "two"]
    size: float


@dataclass(frozen=True)
class Twig:
    length: int


@dataclass(frozen=True)
class Branch:
    word: Sequence[str]
    pair: tuple[int, float]
    parts: tuple[Leaf | Twig, ...]
    named: Mapping[str, int | None]
    output: str | tuple[str, ...] | None = None
    flag: bool = False


TEXT = st.text(st.characters(categories=["L", "N", "P"]), max_size=5)
LEAVES = st.builds(Leaf, st.sampled_from(["one", "two"]), st.floats())
TWIGS = st.builds(Twig, st.integers(-(10**12), 10**12))
BRANCHES = st.builds(
    Branch,
    word=TEXT | st.lists(TEXT).map(tuple),
    pair=st.tuples(st.integers(-9, 9), st.floats()),
    parts=st.lists(LEAVES | TWIGS, max_size=3).map(tuple),
    named=st.dictionaries(TEXT, st.none() | st.integers(-9, 9), max_size=3),
    output=st.none() | TEXT | st.lists(TEXT, max_size=3).map(tuple),
    flag=st.booleans(),
)


@given(BRANCHES)
def test_what_is_written_is_read_back(branch: Branch) -> None:
    read = from_plain(Branch, json.loads(json.dumps(to_plain(branch), allow_nan=False)), "branch")
    assert to_plain(read) == to_plain(branch)  # NaN is not equal to itself, "nan" is
    if not any(isinstance(one, Leaf) and math.isnan(one.size) for one in branch.parts) and not math.isnan(
        branch.pair[1]
    ):
        assert read == branch


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"pair": [1]}, "branch pair is a list of 1; expected a list of 2"),
        ({"pair": [1.5, 1]}, "branch pair 1 is 1.5; expected a whole number"),
        ({"pair": [True, 1]}, "branch pair 1 is True; expected a whole number"),
        ({"pair": [10**400, 1]}, "branch pair 1 is a whole number of 1329 bits"),
        ({"word": 3}, "branch word is 3; expected a list"),
        ({"word": "\x1b"}, r"branch word is '\x1b'; expected printable characters"),
        ({"parts": [{"type": "Leaf", "kind": "three", "size": 1}]}, "kind is 'three'; expected one of one, two"),
        ({"parts": [{"type": "Leaf", "kind": "one"}]}, "branch parts 1 lacks size"),
        ({"parts": [{"type": "Leaf", "kind": "one", "size": 1, "more": 1}]}, "has 'more', which a Leaf has not"),
        ({"parts": [{"type": "Machine"}]}, "expected Twig"),
        ({"named": {"a": "b"}}, "branch named a is 'b'"),
        ({"flag": 1}, "branch flag is 1; expected true or false"),
        ({"type": "Leaf"}, "expected Branch"),
    ],
)
def test_what_does_not_fit_is_named(change: dict[str, Any], says: str) -> None:
    plain = {**to_plain(Branch("ab", (1, 2.0), (), {})), **change}
    assert says in refused("", from_plain, Branch, plain, "branch")


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, '{"a":' * 200 + "1" + "}" * 200, "9" * 5_000])
def test_what_is_no_object_of_ours_is_refused(text: str) -> None:
    refused("expected a thing", parse_json, text, "a thing")


@late("number")
@dataclass(frozen=True)
class Holder:
    name: str
    number: int | None = None


def test_a_late_field_is_made_once_when_it_is_read() -> None:
    made: list[int] = []

    def make() -> int:
        made.append(1)
        return 7

    one = put_off(Holder("a", 3), number=make)
    assert made == []
    assert (one.number, one.number, made) == (7, 7, [1])
    assert replace(one, name="b") == Holder("b", 7)
    assert Holder("a").number is None
