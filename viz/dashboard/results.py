"""What a browser opens, a network or a saved result, told apart by what is in it; all else is one clear line."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from stacklens.errors import FileFormatError, StacklensError
from stacklens.extract.result import Extraction
from stacklens.extract.result_file import RESULT_FORMAT, load_result
from stacklens.viz.dashboard.extractions import content_of
from stacklens.viz.dashboard.networks import LARGEST_UPLOAD, keep_upload
from stacklens.viz.dashboard.saved import keep_saved, short_title

__all__ = ["LARGEST_RESULT", "keep_file", "keep_result"]

LARGEST_RESULT = 5_000_000  # bytes of a saved result; the largest of the zoo has a fiftieth of it
_KINDS = {  # what else of ours is JSON, by its "format", and what to do with it
    "stacklens sweep": "a sweep; it names networks by their files, so start the page with it: stacklens app {title}",
    "stacklens-automaton": "an automaton; the page opens networks and saved results",
}


def keep_file(data: bytes, title: str) -> str:
    """Return the name under which the network, or the result, in a file is kept; ``title`` is what it is called.

    Nothing in it is ever run, and no file that it names is opened.

    Raises:
        StacklensError: the file is too large.
        FileFormatError: it is neither, or damaged; one line that calls it by its title. Nothing is kept.
    """
    if len(data) > LARGEST_UPLOAD or data.lstrip()[:1] not in (b"{", b"["):
        return keep_upload(data, title).name
    short = short_title(title)
    if len(data) > LARGEST_RESULT:
        raise StacklensError(f"{short}: larger than {LARGEST_RESULT // 1_000_000} MB; expected a saved result")
    _check_kind(data, short)
    with tempfile.TemporaryDirectory(prefix="stacklens-") as folder:
        path = Path(folder) / "result.json"
        path.write_bytes(data)
        try:
            return keep_result(load_result(path), short)
        except StacklensError as error:
            raise FileFormatError(str(error).replace(str(path), short)) from None


def keep_result(result: Extraction, title: str) -> str:
    """Return the name under which ``result`` is kept for a day."""
    content = json.loads(json.dumps(content_of(result)))
    return keep_saved(title, content, f"sl.load({title!r})")


def _check_kind(data: bytes, title: str) -> None:
    """Check that JSON says that it is a saved result; one line says what it is otherwise.

    Raises:
        FileFormatError: it is something else.
    """
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        raise FileFormatError(f"{title}: damaged JSON; expected a network or a saved result") from None
    kind = content.get("format") if isinstance(content, dict) else None
    if kind == RESULT_FORMAT:
        return
    if isinstance(kind, str) and kind in _KINDS:
        raise FileFormatError(f"{title}: {_KINDS[kind].format(title=title)}")
    raise FileFormatError(
        f"{title}: JSON, but neither a network nor a saved result; extract-pda NETWORK --save writes one"
    )
