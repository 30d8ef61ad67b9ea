"""Networks that code makes: `package.module:function`, or an entry point of the group `stacklens.models`.

Only what a user types is ever imported. No file of ours does it, and nothing that is uploaded.
"""

from __future__ import annotations

import os
import re
import sys
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from stacklens.errors import StacklensError
from stacklens.models.base import Origin, StackModel

__all__ = ["GROUP", "is_reference", "network_of"]

GROUP = "stacklens.models"
_REFERENCE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)


def is_reference(name: str | Path) -> bool:
    """Return whether ``name`` is that of code that makes a network, and no file here has it.

    >>> is_reference("mypackage.mymodule:load"), is_reference("nnpda-palindrome"), is_reference("C:/net.pt")
    (True, False, False)
    """
    text = str(name)
    return (_REFERENCE.fullmatch(text) is not None or text in _entries()) and not os.path.exists(text)


def network_of(name: str) -> StackModel[Any]:
    """Return the network that the function, or the network, called ``name`` gives; the folder here is looked in, too.

    Raises:
        StacklensError: there is no such module or name, it fails, or it gives no network.
    """
    target = _entries().get(name, name)
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
        said = " ".join(str(error).split()) or type(error).__name__
        raise StacklensError(f"{name}: {type(error).__name__}: {said}; expected package.module:function") from error
    if not isinstance(made, StackModel):
        raise StacklensError(f"{name} gives a {type(made).__name__}; expected a network, as sl.wrap makes one")
    if made.origin is None:
        made.origin = Origin(made.name, path=name)
    return made


def _entries() -> dict[str, str]:
    """Return what is installed under the group of entry points, by name."""
    return {point.name: point.value for point in entry_points(group=GROUP)}
