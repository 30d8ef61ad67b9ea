"""Networks from files and to files: our checkpoints, the zoo, and the papers' authors' files.

A checkpoint is `torch.save` of plain data, read with `weights_only=True` only: no code in a file is ever run. Files of
others are recognised by what is in them.
"""

from __future__ import annotations

import difflib
import hashlib
import html
import io
import os
import platform
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Literal, TypeGuard, get_args

import torch
from torch import Tensor

from .. import __version__
from ..core.errors import FileFormatError, StacklensError, UnknownNameError, in_file, in_short
from ..core.files import LARGEST_NETWORK, read_whole, write_whole
from ..core.progress import count
from ..languages.catalogue import get_task
from .base import Checkpoint, NetworkCard, Origin, StackModel, checkpoint_for
from .formats.mapping import MappedCell, is_mapping, mapping_digest, read_mapped, save_module
from .formats.published import is_marnns, is_stack_rnn_cpp, is_stacknn, read_marnns, read_stack_rnn_cpp, read_stacknn
from .formats.rau import is_rau_folder, rau_digest, read_rau
from .networks import MODELS, class_and_shape
from .plain_data import check_weights, describe, is_state_dict, read_plain

# ---- What there is to say of a network, in lines ----

_LISTED = 12  # symbols of an alphabet that one line shows


def network_line(model: StackModel[Any]) -> str:
    """Return a network in one line: its kind, what it reads, and what it was trained on."""
    symbols = " ".join(model.alphabet[:_LISTED]) + (" …" if len(model.alphabet) > _LISTED else "")
    trained = None if model.origin is None else model.origin.task.get("language")
    return f"<{model.name} over {symbols}{'' if trained is None else f', trained on {trained}'}>"


def lines_of(model: StackModel[Any]) -> dict[str, str]:
    """Return what a network is, by what each line is about; what a file says is made fit for a terminal."""
    weights = sum(parameter.numel() for parameter in model.parameters())
    sizes = ", ".join(f"{name} {in_short(value)}" for name, value in model.config().items() if name != "alphabet")
    lines = {
        "network": model.name,
        "task": model.task_kind,
        "alphabet": " ".join(model.alphabet[:_LISTED]) + (" …" if len(model.alphabet) > _LISTED else ""),
        "sizes": f"{sizes}; {count(weights, 'weight')}",
        "stacks": "none" if model.n_stacks == 0 else f"{count(model.n_stacks, 'stack')}, actions {model.action_kind}",
    }
    if (origin := model.origin) is None:
        return lines
    known = origin.provenance
    entries = {"trained on": origin.task.get("language"), "file": origin.path, "recipe": known.get("recipe")}
    entries |= {name: known.get(name.replace(" ", "_")) for name in ("seed", "trained by", "command", "hardened")}
    lines |= {name: _printable(value) for name, value in entries.items() if value is not None}
    scores = known.get("scores")
    if scores and isinstance(scores, Mapping):
        shown = {name: f"{value:.4g}" if isinstance(value, float) else value for name, value in scores.items()}
        lines["scores"] = ", ".join(f"{_printable(name)} {_printable(value)}" for name, value in shown.items())
    return lines


def _printable(value: object) -> str:
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(value))


def html_card(model: StackModel[Any]) -> str:
    """Return the lines of a network as a table in HTML."""
    rows = (
        f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
        f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
        for name, value in lines_of(model).items()
    )
    return f"<table>{''.join(rows)}</table>"


# ---- Networks from files and to files: our checkpoints, the zoo, and the papers' authors' files ----

_FORMAT = "stacklens"
_LONGEST_NAME = 500  # of a language, which may be a path
_KEYS = ("format", "model", "config", "alphabet", "task", "state_dict", "provenance")

FileFormat = Literal["auto", "stacklens", "marnns", "stacknn", "stack-rnn-cpp", "rau", "mapping"]
FORMATS: tuple[FileFormat, ...] = get_args(FileFormat)
_EXPECTED = (
    "a network: a stacklens checkpoint, a file of marnns, StackNN or the C++ Stack RNN program, a mapping, "
    "or a rau folder"
)
_STATE_DICT = (
    "weights alone do not say what network they are of: say it in a mapping file (JSON), or build the network in "
    "Python and give it to sl.wrap; see docs/own-networks.md"
)
# The C++ program's file names say what it was trained on (task.h): of its task 1 the letters alone, of task 2 with two
# letters how many b an a has, and of the tasks that have three letters, that they have them. Tasks 5 and 6, n m times
# and crossed pairs, no stack can do.
_CPP_NAME = re.compile(r"ntask(\d+)_nchar(\d+)_(?:.*_)?nrep(\d+)(?!\d)")
_MEMORIZED = "=", "1", "2"  # the letters of memorization: the separator is the letter 0


def save_model(path: str | Path, checkpoint: Checkpoint) -> None:
    """Write ``checkpoint`` to ``path``, whole or not at all. The versions of Python, torch and stacklens are added to
    the provenance. Raises StacklensError: the file cannot be written.
    """
    versions = {"python": platform.python_version(), "torch": str(torch.__version__), "stacklens": __version__}
    model = checkpoint.model
    content: dict[str, Any] = {
        "format": _FORMAT,
        "model": model.name,
        "config": model.config(),
        "alphabet": tuple(model.alphabet),
        "task": checkpoint.task,
        "state_dict": {name: value.detach().cpu().clone() for name, value in model.state_dict().items()},
        "provenance": {**checkpoint.provenance, "versions": versions},
    }
    if checkpoint.training is not None:
        content["training"] = checkpoint.training
    buffer = io.BytesIO()
    torch.save(content, buffer)
    write_whole(path, buffer.getvalue())


def load_model(path: str | Path) -> StackModel[Any]:
    """Return the network in the checkpoint at ``path``; see `load_checkpoint` for what may be wrong with a file."""
    return load_checkpoint(path).model


def load_checkpoint(path: str | Path) -> Checkpoint:
    """Return the checkpoint at ``path``. Raises FileFormatError: the file is missing, damaged, no checkpoint of ours,
    holds objects that would run code, or weights of a wrong shape or with NaN.
    """
    return mark(checkpoint_of(path, read_plain(Path(path))), path)


def made_by(network: StackModel[Any], command: str, proved: bool = False) -> Checkpoint:
    """Return `checkpoint_for` a network that was repaired or hardened by ``command``, which it names then. Scores of
    training are another network's; those of one that is ``proved`` right, as itself, need no words.
    """
    found = checkpoint_for(network)
    if (known := found.provenance).get("repair_rounds") or known.get("hardened"):
        known |= {"trained_by": known.get("trained_by", known.get("command")), "command": command, "scores": {}}
        if proved:
            known["scores"] = {"checked_words": "every length (certificate)", "errors": 0, "errors_rounded": 0}
    return found


def is_checkpoint(content: object) -> TypeGuard[dict[str, Any]]:
    """Return whether ``content``, what a file holds, says that it is a stacklens checkpoint."""
    return isinstance(content, dict) and content.get("format") == _FORMAT


def checkpoint_of(path: str | Path, content: object) -> Checkpoint:
    """Return the checkpoint in ``content``, what the file at ``path`` holds; errors as in `load_checkpoint`."""
    if not is_checkpoint(content):
        raise FileFormatError(
            f"{path}: not a stacklens checkpoint: {describe(content)}; expected keys {', '.join(_KEYS)}"
        )
    missing = [key for key in _KEYS if key not in content]
    if missing:
        raise FileFormatError(f"{path}: the checkpoint lacks {', '.join(missing)}; it may be from another version")
    with in_file(path):
        _check_fields(content)
        # shapes first: no file makes us allocate more than it holds
        model_class, shape = class_and_shape(content["model"], content["config"])
        weights = content["state_dict"]
        if not isinstance(weights, dict) or not all(isinstance(value, Tensor) for value in weights.values()):
            raise StacklensError(f"state_dict should map names to tensors, {describe(weights)}")
        check_weights(model_class.parameter_shapes(shape), weights)
        model: StackModel[Any] = model_class(shape)
        found = content["alphabet"]
        known = isinstance(found, tuple | list) and all(type(symbol) is str for symbol in found)
        if not known or tuple(found) != model.alphabet:
            given = repr(found) if isinstance(found, tuple) and len(repr(found)) < 200 else in_short(found)
            raise StacklensError(f"alphabet is {given}; the configuration has {model.alphabet}")
        model.load_state_dict(weights)
    return Checkpoint(model.eval(), content["task"], content["provenance"], content.get("training"))


def _check_fields(content: dict[str, Any]) -> None:
    kinds: dict[str, type] = {"model": str, "config": dict, "task": dict, "provenance": dict}
    for name, kind in kinds.items():
        if not isinstance(content[name], kind):
            raise StacklensError(f"{name} is of type {type(content[name]).__name__}; expected {kind.__name__}")
    for name in ("config", "task", "provenance"):
        _check_keys(name, content[name])
    for name in ("kind", "language", "after"):
        if type(found := content["task"].get(name)) is not str and found is not None:
            raise StacklensError(f"task names the {name} {in_short(found)}; expected a string")
        if found is not None and (len(found) > _LONGEST_NAME or not found.isprintable()):
            raise StacklensError(
                f"task names the {name} {in_short(found)}; expected at most {_LONGEST_NAME} printable characters"
            )
    if type(text := content["task"].get("text")) is not str and text is not None:
        raise StacklensError(f"task has the text {in_short(text)}; expected that of a grammar or an automaton")
    if not isinstance(content.get("training"), dict | None):
        raise StacklensError(f"training is of type {type(content['training']).__name__}; expected dict")


def _check_keys(name: str, content: dict[Any, Any]) -> None:
    """Raise StacklensError where a dictionary that is shown, sorted and hashed holds more than plain data by name."""
    for key, value in content.items():
        if type(key) is not str:
            raise StacklensError(f"{name} has the key {in_short(key)}; expected names")
        if isinstance(value, dict):
            _check_keys(f"{name} {in_short(key)}", value)
        elif isinstance(value, list | tuple):
            _check_keys(f"{name} {in_short(key)}", dict(zip(map(str, range(len(value))), value, strict=True)))
        elif value is not None and type(value) not in (str, int, float, bool):
            raise StacklensError(f"{name} {in_short(key)} is {in_short(value)}; expected plain data")


ZOO = Path(__file__).parent / "zoo"  # the networks that come with stacklens


def zoo_names() -> tuple[str, ...]:
    """Return the names of the networks of the zoo, sorted."""
    return tuple(sorted(path.stem for path in ZOO.glob("*.pt")))


def find_network(name: str | Path) -> Path:
    """Return the file of the network called ``name``: a file of that name here, else the network of the zoo. Where
    there is neither, it is ``name`` itself, and reading it raises the error.

    >>> find_network("nnpda-palindrome").name
    'nnpda-palindrome.pt'
    """
    path = Path(name)
    if is_reference(name):
        return path
    own = ZOO / f"{str(path).removesuffix('.pt')}.pt"
    return own if len(path.parts) == 1 and not os.path.isfile(path) and os.path.isfile(own) else path


def _check_there(path: Path) -> None:
    """Check that there is something called ``path``, where that may be meant for a name of the zoo."""
    try:
        os.stat(path)
    except FileNotFoundError:
        if len(path.parts) == 1:
            near = difflib.get_close_matches(path.name.removesuffix(".pt"), zoo_names(), 3, 0.4)
            meant = f"did you mean {', '.join(near)}?" if near else f"such as {zoo_names()[0]}"
            expected = f"expected {_EXPECTED}, or the name of one in the zoo"
            raise FileFormatError(f"{path}: no such file; {expected}; {meant}") from None
    except (OSError, ValueError):  # no file can be called so, which the reader says
        return


def open_card(card: NetworkCard, folder: Path | None = None) -> StackModel[Any]:
    """Return the network that ``card`` is of: where it says, or in ``folder``."""
    if card.path is not None and is_reference(card.path):
        raise FileFormatError(
            f"the network {card.name} is code: no file of ours runs any; make it with sl.load({card.path!r})"
        )
    if card.path is None and card.kind not in MODELS:
        raise FileFormatError(
            f"the network {card.name} is code of your own, which no file of ours holds: build and wrap it again, in a "
            "function that extract-pda and sl.load take as package.module:function"
        )
    if card.path is None:
        raise FileFormatError(f"the network {card.name} was in no file; save it, and extract again")
    places = [Path(card.path), *([] if folder is None else [folder / Path(card.path).name])]
    there = next((place for place in places if os.path.isfile(place) or is_rau_folder(place)), None)
    path = find_network(card.path) if there is None else there
    _check_there(path)
    if digest_of(path) != card.sha256:  # before anything in it is looked at: a card may name any file
        raise FileFormatError(f"{path}: not the network of this file: it was changed since; extract again")
    threshold = card.config.get("threshold") if is_rau_folder(path) else None
    return load_network(path, alphabet=card.alphabet, threshold=threshold).model


def digest_of(path: str | Path) -> str:
    """Return the hash of the file or model folder at ``path``; errors as of `read_whole`."""
    if is_rau_folder(path):
        return rau_digest(path)
    if is_mapping(path):
        return mapping_digest(path)
    return hashlib.sha256(read_whole(path, _EXPECTED, LARGEST_NETWORK)).hexdigest()


def save_and_mark(model: StackModel[Any], path: str | Path) -> None:
    """Write ``model`` to a checkpoint, which it remembers as its origin; a mapped one as a mapping of its weights."""
    checkpoint = checkpoint_for(model)
    if isinstance(getattr(model, "module", None), MappedCell):
        path = save_module(model, path)[-1]
    elif model.unsaved is not None:
        raise StacklensError(f"cannot write {path}: {model.unsaved}")
    else:
        save_model(path, checkpoint)
    mark(checkpoint, path)


def mark(checkpoint: Checkpoint, path: str | Path, title: str | None = None) -> Checkpoint:
    """Return ``checkpoint``, whose network knows now that its file is ``path``, or ``title`` somewhere else."""
    path = Path(path)
    title, task = title or path.name, checkpoint.task
    place = title if title != path.name else path.stem if path.parent == ZOO else os.path.abspath(path)
    checkpoint.model.origin = Origin(Path(title).stem, title, place, digest_of(path), task, checkpoint.provenance)
    return checkpoint


# by the number of the task and of letters, and that of repetitions where these count
_CPP_TASKS: dict[tuple[str, ...], str] = {
    ("1", "2"): "anbn",
    ("1", "3"): "anbncn",
    ("1", "4"): "anbncndn",
    ("3", "3"): "anbmcnm",
    ("4", "3"): "memorization",
    ("2", "2", "1"): "anbn",
    ("2", "2", "2"): "anb2n",
}

# which format a file is in: of a folder, a mapping and a text their place or first line says it, else what is in it
_BY_PATH: dict[str, Callable[[Path], bool]] = {
    "rau": is_rau_folder,
    "mapping": is_mapping,
    "stack-rnn-cpp": is_stack_rnn_cpp,
}
_BY_CONTENT: dict[str, Callable[[object], bool]] = {
    "stacklens": is_checkpoint,
    "marnns": is_marnns,
    "stacknn": is_stacknn,
}


def load_network(
    path: str | Path,
    format: str = "auto",  # noqa: A002
    alphabet: Sequence[str] | None = None,  # the symbols of a file that does not name them; a checkpoint has its own
    title: str | None = None,  # what the file was called before it came to lie at ``path``, if that was something else
    threshold: float | str | None = None,
) -> Checkpoint:
    """Return the network in the file at ``path``, with the task that it was trained for as far as that is known.

    ``path``: a stacklens checkpoint, a file of one of the authors' programs, or the name of a network of the zoo.
    ``format``: one of `FORMATS`; "auto" looks into the file. ``threshold``: for a language model: what a probability
    has to exceed, as for `wrap`; None for its own.
    """
    if format not in FORMATS:
        raise UnknownNameError("format", format, list(FORMATS))
    if is_reference(path):
        return Checkpoint(network_from_code(str(path)), {})
    path = find_network(path)
    _check_there(path)
    title = title or path.name
    if format == "auto":
        format = next((name for name, fits in _BY_PATH.items() if fits(path)), "auto")  # noqa: A001
    if threshold is not None and format not in ("rau", "mapping"):
        raise FileFormatError(f"{path}: no language model: only of one a threshold says what may come next")
    content = None if format in _BY_PATH else read_plain(path, _EXPECTED)
    if format == "auto":
        format = next((name for name, fits in _BY_CONTENT.items() if fits(content)), "auto")  # noqa: A001
    with in_file(path):
        if format == "rau":
            found = Checkpoint(read_rau(path, alphabet, threshold), {}, {"file": title})
        elif format == "mapping":
            found = Checkpoint(read_mapped(path, alphabet), {}, {"file": title})
        elif format == "stack-rnn-cpp":
            named = _CPP_NAME.search(title)
            task = None if named is None else _CPP_TASKS.get(named.groups()[:2]) or _CPP_TASKS.get(named.groups())
            network: StackModel[Any] = read_stack_rnn_cpp(path, alphabet)
            if alphabet is None and task == "memorization" and len(network.alphabet) == len(_MEMORIZED):
                network = read_stack_rnn_cpp(path, _MEMORIZED)
            found = _published(network, task, title)
            found.task["after"] = network.alphabet[-1]  # its streams begin after the last letter
        elif format == "marnns":
            network = read_marnns(content, alphabet)
            found = _published(network, f"dyck-{len(network.alphabet) // 2}" if network.first else None, title)
        elif format == "stacknn":
            found = _published(*read_stacknn(content, alphabet), title)
        elif format == "stacklens":
            found = checkpoint_of(path, content)
        elif is_state_dict(content):
            raise StacklensError(f"a state dict without a stacklens header, {describe(content)}; {_STATE_DICT}")
        else:
            raise StacklensError(f"{describe(content)}; expected {_EXPECTED}")
        own = found.model.alphabet
        if format == "stacklens" and alphabet is not None and tuple(alphabet) != own:
            raise StacklensError(f"has the alphabet {' '.join(own)}, not {' '.join(alphabet)}")
    return mark(found, path, title)


def _published(network: StackModel[Any], task: str | None, title: str) -> Checkpoint:
    fits = task is not None and set(get_task(task).alphabet) == set(network.alphabet)
    return Checkpoint(network, {"kind": network.task_kind, "language": task if fits else None}, {"file": title})


# ---- Networks that code makes: `package.module:function`, or an entry point of the group `stacklens.models` ----
# Only what a user types is ever imported. No file of ours does it, and nothing that is uploaded.

GROUP = "stacklens.models"
_REFERENCE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)


def is_reference(name: str | Path) -> bool:
    """Return whether ``name`` is that of code that makes a network, and no file here has it.

    >>> is_reference("mypackage.mymodule:load"), is_reference("nnpda-palindrome"), is_reference("C:/net.pt")
    (True, False, False)
    """
    text = str(name)
    return (_REFERENCE.fullmatch(text) is not None or text in _entry_points()) and not os.path.exists(text)


def network_from_code(name: str) -> StackModel[Any]:
    """Return the network that the function, or the network, called ``name`` gives; the folder here is looked in, too.
    Raises StacklensError: there is no such module or name, it fails, or it gives no network.
    """
    target = _entry_points().get(name, name)
    module, _, attribute = target.partition(":")
    if (here := os.getcwd()) not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
        made = found if isinstance(found, StackModel) else found()
    except StacklensError:
        raise
    except Exception as error:
        why = " ".join(str(error).split()) or type(error).__name__
        raise StacklensError(f"{name}: {type(error).__name__}: {why}; expected package.module:function") from error
    if not isinstance(made, StackModel):
        raise StacklensError(f"{name} gives a {type(made).__name__}; expected a network, as sl.wrap makes one")
    if made.origin is None:
        made.origin = Origin(made.name, path=name)
    return made


def _entry_points() -> dict[str, str]:
    return {point.name: point.value for point in entry_points(group=GROUP)}
