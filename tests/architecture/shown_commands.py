"""What tests of the docs share: the scripts that write pages, and the commands that pages show."""

import importlib.util
import re
import shlex
from pathlib import Path
from types import ModuleType
from typing import Any

from typer.main import get_command

from stacklens.__main__ import app
from stacklens.cli.extract import app as extract_app

# ---- The commands that README and docs show, held against the real commands, without running any. ----
_BLOCK = re.compile(r"^```(?:sh|console|bash)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"`((?:stacklens|extract-pda) [^`]+)`")
_OPTION = re.compile(r"-{1,2}[a-z][a-z-]*")


def commands_in(page: str) -> list[str]:
    """Return the commands in a page's shell blocks, those with a prompt alone where a block has one; no comments."""
    found = list[str]()
    for block in _BLOCK.findall(page):
        lines = block.splitlines()
        prompted = [line[2:] for line in lines if line.startswith("$ ")]
        found += prompted or [line for line in lines if line and not line.startswith("#")]
    return found


def inline_commands(page: str) -> list[str]:
    """Return what a page's prose shows of our commands, which may have gaps and places to fill in."""
    return _INLINE.findall(re.sub(r"^```.*?^```$", "", page, flags=re.DOTALL | re.MULTILINE))


def is_ours(command: str) -> bool:
    """Return whether a command line is one of our programs'."""
    return _words(command)[:1] in (["stacklens"], ["extract-pda"])


def refusal(command: str) -> str | None:
    """Return why one of our programs would refuse a whole command line before it began any work, None if it would not.

    >>> refusal("stacklens trace nnpda-palindrome abcba --rounded  # step by step")
    >>> refusal("stacklens trce nnpda-palindrome --nope")
    "no command 'trce'"
    >>> refusal("stacklens trace nnpda-palindrome abcba --nope")
    'No such option: --nope'
    """
    found, rest = _resolved(_words(command))
    if isinstance(found, str):
        return found
    try:
        found.make_context(found.name, rest)
    except Exception as error:
        if not hasattr(error, "format_message"):  # typer has its own class for these, or click's
            raise
        message: str = error.format_message()
        return message
    return None


def unknown_names(command: str) -> list[str]:
    """Return of a command line with gaps which names of commands and options in it there are not.

    >>> unknown_names("stacklens train … --snapshots 50 --nope"), unknown_names("stacklens trce FILE")
    (['--nope'], ["no command 'trce'"])
    """
    found, rest = _resolved(_words(command))
    if isinstance(found, str):
        return [found]
    known = {"-h", "--help", *_options(found)}
    return [word for word in rest if _OPTION.fullmatch(word.split("=")[0]) and word.split("=")[0] not in known]


def _words(command: str) -> list[str]:
    words = shlex.split(command, comments=True)
    return [words[0].removeprefix(".venv/bin/"), *words[1:]] if words else []


def _resolved(words: list[str]) -> tuple[Any, list[str]]:
    """Return the command that ``words`` call, or what is wrong with its name, and the words behind that."""
    found: Any = get_command(extract_app if words[0] == "extract-pda" else app)
    rest = words[1:]
    while hasattr(found, "commands") and rest and not rest[0].startswith("-") and rest[0] != "…":
        name, *rest = rest
        if name not in found.commands and name.islower():
            return f"no command {name!r}", rest
        if name not in found.commands:  # MODEL, to be filled in
            break
        found = found.commands[name]
    return found, rest


def _options(command: Any) -> set[str]:
    own = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
    return own.union(*(_options(below) for below in getattr(command, "commands", {}).values()))


# ---- Scripts in docs/, opened as modules: they are no package. ----
ROOT = Path(__file__).parents[2]


def docs_script(name: str) -> ModuleType:
    """Return docs/NAME.py as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
