"""`python -m benchmarks [name …] [--write]`: run the comparisons; --write puts the output into benchmarks/README.md."""

from __future__ import annotations

import sys
from pathlib import Path

# As in tests/conftest.py: a bare `automata` is automata-lib, not our folder of that name.
ROOT = Path(__file__).parents[1]
sys.path[:] = [*(path for path in sys.path if path not in ("", str(ROOT))), str(ROOT)]

from importlib import import_module  # noqa: E402

from benchmarks.measure import machine  # noqa: E402
from rich.console import Console  # noqa: E402

NAMES = (
    "words",
    "c_loop",
    "startup",
    "network",
    "tracing",
    "interchanges",
    "training",
    "symbols",
    "extraction",
    "growth",
    "breaking",
    "scale",
    "page",
    "hops",
    "house",
)
_README = """# Benchmarks

Each comparison runs ours and the others side by side in one process or in processes of the same kind, turn by turn,
several times; the tables show medians and ratios. Numbers of a shared machine are noisy: read the ratios.

    make bench

prints the tables below; `.venv/bin/python -m benchmarks --write` also puts them here, as it did last:

```
{output}```

`.venv/bin/python -m benchmarks words` runs one of {names}. What is compared with what stands at the top of each file.
"""


def main(arguments: list[str]) -> None:
    write = "--write" in arguments
    names = [argument for argument in arguments if argument != "--write"] or list(NAMES)
    if unknown := set(names) - set(NAMES):
        sys.exit(f"error: unknown benchmark {', '.join(sorted(unknown))}: expected some of {', '.join(NAMES)}")
    if write and set(names) != set(NAMES):
        sys.exit("error: --write needs all benchmarks: name none")
    console = Console(record=True, width=110, highlight=False)
    console.print(machine())
    for name in names:
        for report in import_module(f"benchmarks.{name}").reports():
            report.show(console)
    if write:
        output = "\n".join(line.rstrip() for line in console.export_text().splitlines()) + "\n"
        text = _README.format(names=", ".join(NAMES), output=output)
        (ROOT / "benchmarks" / "README.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
