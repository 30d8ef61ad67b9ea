"""The page on networks of one's own: its table is of the networks that there are, and its mapping can be read."""

from __future__ import annotations

import json
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch

import stacklens as sl

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "own-networks.md").read_text(encoding="utf-8")


@pytest.fixture
def examples(monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    names = "own_networks", "own_networks_plain"
    adapters, plain = (import_module(name) for name in names)
    for name in names:
        monkeypatch.delitem(sys.modules, name)
    return adapters, plain


def test_the_table_has_a_row_for_every_network_and_each_is_proved() -> None:
    table = PAGE[PAGE.index("<!-- networks:") : PAGE.index("<!-- end of networks")]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[3:] if line.startswith("|")]
    assert len(rows) == 7
    for cells in rows:
        assert len(cells) == 8
        assert int(cells[1]) <= 15
        assert cells[5].startswith("proved, `dyck-")


def test_the_mapping_of_the_page_is_read(examples: tuple[Any, Any], tmp_path: Path) -> None:
    _, plain = examples
    mapping = re.search(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert mapping is not None
    torch.manual_seed(0)
    net = plain.StackRNN(temperature=1.0)
    torch.save({"model_state_dict": net.state_dict()}, tmp_path / "net.pt")
    (tmp_path / "mapping.json").write_text(mapping[1], encoding="utf-8")
    model = sl.load(tmp_path / "mapping.json")
    assert json.loads(mapping[1])["keys"].keys() >= {"input weight", "output bias"}
    word = "([])[("
    with torch.no_grad():
        own = net(plain.encode(word))[0].sigmoid()
    torch.testing.assert_close(torch.from_numpy(sl.trace(model, word).output[0]), own)
