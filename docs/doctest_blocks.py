"""Show on the site the examples of docstrings as examples, and the comments beside fields as what these are."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^( *)>>> .*(?:\n *\S.*)*", re.MULTILINE)


class DoctestBlocks(griffe.Extension):
    """Puts fences around the examples, which Markdown would take for quotations."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of anything that was read: ``>>>`` and what follows it, up to an empty line."""
        if obj.docstring is None and obj.is_attribute and obj.lineno and (says := _comment_of(obj)):
            obj.docstring = griffe.Docstring(says, parent=obj, parser=griffe.Parser.google)
        if obj.docstring is not None:
            obj.docstring.value = _EXAMPLE.sub(_fenced, obj.docstring.value)


def _fenced(found: re.Match[str]) -> str:
    indent = found[1]
    return f"{indent}```pycon\n{found[0]}\n{indent}```"


def _comment_of(field: griffe.Object) -> str:
    """Return the comment behind a field, or else the one above it."""
    lines, at = field.lines_collection[field.filepath], field.lineno - 1
    if "  # " in lines[at]:
        return str(lines[at].partition("  # ")[2])
    above = at
    while lines[above - 1].lstrip().startswith("# "):
        above -= 1
    return " ".join(line.lstrip().removeprefix("# ") for line in lines[above:at])
