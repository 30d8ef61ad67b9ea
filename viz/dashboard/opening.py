"""What `stacklens app` is started with: networks, saved results and sweeps, and the address that shows each."""

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from ...core.errors import FileFormatError, StacklensError
from ...core.files import LARGEST_NETWORK, read_whole
from ...extract.evaluation.sweep import is_sweep, load_sweep
from ...extract.saved import RESULT_FORMAT, is_result, load_result
from ...models.checkpoint import ZOO, digest_of, find_network, is_reference, load_network
from ...models.formats.mapping import is_mapping
from ...models.formats.rau import is_rau_folder
from ..curves import sweep_table
from .extractions import content_of, keep_extraction, settings_in
from .networks import DAY, LARGEST_UPLOAD, OWN, keep_saved, keep_upload, own_names, short_title, store

# ---- What a browser opens, a network or a saved result, seen from its content; all else is one clear line.

LARGEST_RESULT = 5_000_000  # bytes of a saved result; the largest of the zoo has a fiftieth of it
_KINDS = {  # what else of ours is JSON, by its "format", and what to do with it
    "stacklens sweep": "a sweep; it names networks by their files, so start the page with it: stacklens app {title}",
    "stacklens-automaton": "an automaton; the page opens networks and saved results",
}
_NEITHER = "JSON, but neither a network nor a saved result; extract-pda NETWORK --save writes one"


def keep_file(data: bytes, title: str) -> str:
    """Return the name under which the network, or the result, in a file is kept; ``title`` is what it is called.

    Nothing in it is ever run, and no file that it names is opened.
    """
    if len(data) > LARGEST_UPLOAD or data.lstrip()[:1] not in (b"{", b"["):
        return keep_upload(data, title).name
    short = short_title(title)
    if len(data) > LARGEST_RESULT:
        raise StacklensError(f"{short}: larger than {LARGEST_RESULT // 1_000_000} MB; expected a saved result")
    # JSON that does not say that it is a result is called what it is
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        raise FileFormatError(f"{short}: damaged JSON; expected a network or a saved result") from None
    kind = content.get("format") if isinstance(content, dict) else None
    if kind != RESULT_FORMAT:
        other = _KINDS.get(kind, _NEITHER) if isinstance(kind, str) else _NEITHER
        raise FileFormatError(f"{short}: {other.format(title=short)}")
    with tempfile.TemporaryDirectory(prefix="stacklens-") as folder:
        path = Path(folder) / "result.json"
        path.write_bytes(data)
        try:
            content = json.loads(json.dumps(content_of(load_result(path))))
        except StacklensError as error:
            raise FileFormatError(str(error).replace(str(path), short)) from None
    return keep_saved(short, content, f"sl.load({short!r})")


# ---- Sweeps that the app was started with: a table whose rows open their networks, each with its own result ----

_PREFIX = "sweep-"
_WHAT_IT_SAYS = (
    "Status 0: nothing contradicts the automaton; 1: something does; 2: bad input; 3: no automaton. Automata of one "
    "number are proved to do the same. An automaton follows a network on all words up to the length that is named."
)


def keep_sweep(path: Path) -> str:
    """Return the name under which the sweep in the file at ``path`` is kept for a day, with its networks and results.

    Only who starts the app names files: those in the sweep are looked for as it names them, and beside it.
    """
    sweep = load_sweep(path)
    if not sweep.rows:
        raise StacklensError(f"{path}: a sweep over no networks")
    opens = list[str | None]()  # under which name the page opens each row's result, or its network; None if neither
    reasons = list[str | None]()  # why nothing opens the network, if nothing does
    for row in sweep.rows:
        expected = None if row.report is None else row.report["network"]["sha256"]
        opened, reason = _network_named(row.network, path, expected)
        if row.report is not None:
            title = f"{Path(row.network).name} of {path.name}"
            kept = {"automaton": row.automaton, "raw": None, "report": row.report, "summary": row.headline or ""}
            call = f"sl.extract({row.network!r}{'' if row.language is None else f', {row.language!r}'})"
            opened = keep_saved(title, kept, call)
        opens.append(opened)
        reasons.append(reason)
    frame = sweep_table(sweep)
    if any(reasons):
        frame.insert(1, "not opened", reasons)
    settling = [] if sweep.settling is None else [f"Settled: {sweep.settling}."]
    content = {
        "title": path.stem,
        "frame": json.loads(frame.to_json(orient="records", double_precision=15)),
        "opens": opens,
        "remarks": [*settling, _WHAT_IT_SAYS],  # sentences over the table
        "python": f"import stacklens as sl\nfrom stacklens.viz.curves import sweep_table\n\n"
        f"sweep_table(sl.load({path.name!r}))",
    }
    name = _PREFIX + hashlib.sha256(json.dumps(content).encode()).hexdigest()[:24]
    store().set(name, content, expire=DAY)
    return name


def kept_sweep(name: str) -> dict[str, Any]:
    """Return the sweep that is kept as ``name``: title, rows of its table, opens, remarks, and python's lines."""
    kept: dict[str, Any] | None = store().get(name) if name.startswith(_PREFIX) else None
    if kept is None:
        raise StacklensError("this sweep is not here; sweeps are kept for a day: start the page with it again")
    return kept


def _network_named(named: str, sweep: Path, expected: str | None) -> tuple[str | None, str | None]:
    """Return the page's name of the network that a row names, or what is wrong with it."""
    here = find_network(named)
    places = [here, sweep.parent / named, sweep.parent / Path(named).name]
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        return None, "its file is not here"
    try:
        if expected is not None and digest_of(path) != expected:
            return None, "its file has been changed since"
        if path.parent == ZOO:
            return path.stem, None
        return keep_upload(read_whole(path, "a trained network", LARGEST_NETWORK), path.name).name, None
    except StacklensError as error:
        return None, str(error)


# ---- What `stacklens app` is started with ----

View = dict[str, str]  # the parts of an address


def opened_at_start(given: str) -> list[View]:
    """Return the views that show what ``given`` names: a network, a saved result, a sweep, or a folder with sweeps."""
    path = Path(given)
    if is_reference(given):
        return [{"network": _own_named(given)}]
    if path.is_dir() and not is_rau_folder(path):
        found = [sweep for sweep in sorted(path.glob("*.json")) if is_sweep(sweep)]
        if not found:
            make = f"stacklens sweep {path} --out {path / 'sweep.json'}"
            raise StacklensError(f"{path}: a folder without a sweep; {make} makes one")
        return [{"drawer": "sweep", "sweep": keep_sweep(sweep)} for sweep in found]
    if path.suffix == ".json" and path.is_file():
        if is_result(path):
            # the network that the result was read out of; the page shows this result of it
            result = load_result(path)
            origin = result.model.origin  # opens it, or says why it cannot be
            if origin is None or origin.path is None:
                raise StacklensError(f"{path}: the network that this result was read out of was never in a file")
            (view,) = opened_at_start(origin.path)
            keep_extraction(view["network"], settings_in(result), result.checked_again())
            return [view]
        if is_sweep(path):
            return [{"drawer": "sweep", "sweep": keep_sweep(path)}]
    if is_rau_folder(path) or is_mapping(path):
        return [{"network": _own_named(os.path.abspath(path))}]  # several files, which stay where they are
    here = find_network(path)
    if here != path and here.parent == ZOO:
        return [{"network": here.stem}]
    load_network(path)  # says what is wrong with a file by its whole path
    return [{"network": keep_upload(read_whole(path, "a trained network", LARGEST_NETWORK), path.name).name}]


def _own_named(named: str) -> str:
    load_network(named)  # says what is wrong with it
    os.environ[OWN] = "\n".join(dict.fromkeys((*own_names(), named)))
    return named
