"""Results in files: what is read back is what was saved, networks are opened when touched, damage is refused."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.face.quick import IN_VAIN, QUICK, quick_failure, quick_result

import stacklens as sl
from stacklens.errors import FileFormatError
from stacklens.models.io import ZOO, digest_of

NAMES = ["marnn-stack-rnn-dyck-2", "baby-ntm-dyck-2", "buffered-neural-stack-reversal", "stack-rnn-anb2n"]
ODD: list[Any] = [None, -1, 10**400, 1e308, "", "x\x1b[31m", [], {}, True, "nan", [None], {"type": "Machine"}]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "result.json"
    quick_failure().save(path)
    return path


def complaint(path: Path) -> str:
    """Return the line that loading the file at ``path`` ends with, without its name."""
    with pytest.raises(FileFormatError) as error:
        sl.load(path)
    line = str(error.value)
    assert line.startswith(f"{path}: ")
    assert line.isprintable()
    assert len(line) <= 2_010
    return line.removeprefix(f"{path}: ")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_what_was_saved_is_loaded(name: str, tmp_path: Path) -> None:
    result = quick_result(name)
    result.save(tmp_path / "result.json")
    loaded = sl.load(tmp_path / "result.json")
    assert loaded == result
    assert str(loaded) == str(result)
    assert repr(loaded) == repr(result)
    assert json.dumps(loaded.report()) == json.dumps(result.report())
    assert (loaded.minimised, loaded.raw, loaded.status) == (result.minimised, result.raw, result.status)
    assert loaded._repr_html_() == result._repr_html_()
    assert loaded.why() == result.why()
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
    (tmp_path / "old.json").write_text(json.dumps(content), encoding="utf-8")
    old = sl.load(tmp_path / "old.json")
    assert old.horizon["rounded network"] == result.horizon["rounded network"]
    assert old.horizon["network"].length == result.horizon["network"].length
    known = min(len(c.counterexample) for c in result.checks if c.other == "network" and c.counterexample is not None)
    assert len(old.horizon["network"].difference.word) == known
    assert str(old).startswith(
        "Proved equal to palindrome; the rounded network follows it on all words (certificate); "
    )


def test_times_do_not_count_and_what_came_out_does() -> None:
    result = quick_failure()
    assert replace(result, seconds={}, config=None) == result
    assert replace(result, reason="something else") != result
    assert replace(result, model=sl.load("marnn-stack-rnn-dyck-2")) != result
    assert result != "a result"


def test_the_network_is_opened_when_it_is_touched(tmp_path: Path) -> None:
    file = tmp_path / "net.pt"
    shutil.copy(ZOO / "buffered-neural-stack-reversal.pt", file)
    result = sl.extract(file, **IN_VAIN)
    (tmp_path / "kept").mkdir()
    result.save(tmp_path / "kept" / "result.json")
    shutil.move(file, tmp_path / "kept" / "net.pt")  # beside the result it is found
    loaded = sl.load(tmp_path / "kept" / "result.json")
    assert loaded.model.name == "buffered-neural-stack"
    assert loaded.language is not None
    assert loaded.language.name == "reversal"
    (tmp_path / "kept" / "net.pt").unlink()
    loaded = sl.load(tmp_path / "kept" / "result.json")
    assert str(loaded) == str(result)
    with pytest.raises(FileFormatError, match=r"net\.pt: no such file; expected a network"):
        loaded.model  # noqa: B018
    shutil.copy(ZOO / "neural-stack-reversal.pt", file)
    with pytest.raises(FileFormatError, match="not the network of this file: it was changed since"):
        loaded.model  # noqa: B018


def test_a_network_that_was_in_no_file_cannot_be_opened(tmp_path: Path) -> None:
    model = sl.load("buffered-neural-stack-reversal")
    model.origin = None
    sl.extract(model, "reversal", **IN_VAIN).save(tmp_path / "result.json")
    with pytest.raises(FileFormatError, match="was in no file; save it, and extract again"):
        sl.load(tmp_path / "result.json").model  # noqa: B018


def test_a_result_is_written_to_json_only(tmp_path: Path) -> None:
    with pytest.raises(sl.StacklensError, match=r"expected a name that ends in \.json"):
        quick_failure().save(tmp_path / "result.pickle")
    assert not list(tmp_path.iterdir())


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


def test_what_no_type_says_is_looked_at_too(saved: Path, tmp_path: Path) -> None:
    content = json.loads(saved.read_text(encoding="utf-8"))
    content["fields"]["counts"] = {"type": "AcceptedCounts", "exhaustive": [1], "counted": []}
    (tmp_path / "bad.json").write_text(json.dumps(content), encoding="utf-8")
    assert complaint(tmp_path / "bad.json").startswith("counts are of different lengths")


@pytest.mark.parametrize("end", [0, 1, 100, -3])
def test_a_result_that_was_cut_off_is_refused(end: int, saved: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text(saved.read_text(encoding="utf-8")[:end], encoding="utf-8")
    assert "JSON" in complaint(tmp_path / "bad.json")


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to every part of ``value``, of lists to the first."""
    parts = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    return [at, *(place for key, part in parts for place in places(part, (*at, key)))]


def changed(value: Any, at: tuple[Any, ...], new: Any) -> Any:
    if not at:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[at[0]] = changed(value[at[0]], at[1:], new)
    return copy


def test_whatever_stands_in_a_file_it_is_refused_in_one_line_or_can_be_shown(saved: Path, tmp_path: Path) -> None:
    content = json.loads(saved.read_text(encoding="utf-8"))
    path, lines = tmp_path / "odd.json", []
    for part in ("fields", "network", "automata"):
        for at in places(content[part]):
            for odd in ODD:
                path.write_text(json.dumps({**content, part: changed(content[part], at, odd)}), encoding="utf-8")
                try:
                    loaded = sl.load(path)
                except FileFormatError as error:
                    lines.append(str(error))
                    continue
                assert "\x1b" not in f"{loaded}{loaded!r}{loaded.why()}"
                assert loaded == loaded
    assert len(lines) > 500
    assert all(line.startswith(f"{path}: ") and line.isprintable() for line in lines)
