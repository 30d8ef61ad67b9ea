"""The notebooks of examples/ run as they stand, and hold no outputs of an earlier run."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
NAMES = [path.stem for path in NOTEBOOKS]


def test_there_is_one_for_each_way_in() -> None:
    assert NAMES == ["first_automaton", "own_network", "probing", "training_dynamics"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_no_notebook_holds_outputs(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning:(zmq|jupyter_client|jupyter_core|ipykernel|traitlets)")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_a_notebook_runs_and_shows_something_in_every_cell(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(EXAMPLES.parent / "src"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not [
        out for cell in code for out in cell.outputs if out.output_type == "error" or out.get("name") == "stderr"
    ]
    assert sum(bool(cell.outputs) for cell in code) >= len(code) - 1
