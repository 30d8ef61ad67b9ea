"""What `stacklens app` is started with: networks, saved results and sweeps, and the address that shows each."""

from __future__ import annotations

import os
from pathlib import Path

from stacklens.errors import StacklensError
from stacklens.extract.evaluation.sweep_file import is_sweep
from stacklens.extract.result_file import is_result, load_result
from stacklens.files import LARGEST_NETWORK, read_whole
from stacklens.models.formats.mapped import looks_like as is_mapping
from stacklens.models.formats.rau import looks_like as is_rau
from stacklens.models.io import ZOO, find_network, load_network
from stacklens.models.own.reference import is_reference
from stacklens.viz.dashboard.extractions import keep_extraction, settings_in
from stacklens.viz.dashboard.networks import OWN, keep_upload, own_names
from stacklens.viz.dashboard.sweeps import keep_sweep

__all__ = ["opened_at_start"]

View = dict[str, str]  # the parts of an address


def opened_at_start(given: str) -> list[View]:
    """Return the views that show what ``given`` names: a network, a saved result, a sweep, or a folder with sweeps.

    Raises:
        StacklensError: there is nothing of that name, or nothing that the page opens; one line.
    """
    if is_reference(given):
        return [{"network": _own(given)}]
    path = Path(given)
    if path.is_dir() and not is_rau(path):
        return [_view_of_sweep(sweep) for sweep in _sweeps_in(path)]
    if path.suffix == ".json" and path.is_file():
        if is_result(path):
            return [{"network": _kept_result(path)}]
        if is_sweep(path):
            return [_view_of_sweep(path)]
    return [{"network": _kept_network(path)}]


def _own(named: str) -> str:
    """Return ``named``, by which the page opens a network that only who starts it can name."""
    load_network(named)  # says what is wrong with it
    os.environ[OWN] = "\n".join(dict.fromkeys((*own_names(), named)))
    return named


def _view_of_sweep(path: Path) -> View:
    return {"drawer": "sweep", "sweep": keep_sweep(path)}


def _sweeps_in(folder: Path) -> list[Path]:
    """Return the sweeps in a folder.

    Raises:
        StacklensError: there is none.
    """
    found = [path for path in sorted(folder.glob("*.json")) if is_sweep(path)]
    if not found:
        raise StacklensError(
            f"{folder}: a folder without a sweep; stacklens sweep {folder} --out {folder / 'sweep.json'} makes one"
        )
    return found


def _kept_network(path: Path) -> str:
    """Return the name under which the page knows the network at ``path``, which may be a name of the zoo."""
    if is_rau(path) or is_mapping(path):
        return _own(os.path.abspath(path))  # several files, which stay where they are
    found = find_network(path)
    if found != path and found.parent == ZOO:
        return found.stem
    load_network(path)  # says what is wrong with a file by its whole path
    return keep_upload(read_whole(path, "a trained network", LARGEST_NETWORK), path.name).name


def _kept_result(path: Path) -> str:
    """Return the name of the network that a saved result was read out of; the page shows this result of it."""
    result = load_result(path)
    origin = result.model.origin  # opens it, or says why it cannot be
    if origin is None or origin.path is None:
        raise StacklensError(f"{path}: the network that this result was read out of was never in a file")
    (view,) = opened_at_start(origin.path)
    keep_extraction(view["network"], settings_in(result), result.checked_again())
    return view["network"]
