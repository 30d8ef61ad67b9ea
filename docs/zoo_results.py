"""`python docs/zoo_results.py [NAME...]`: extract from the networks of the zoo, and keep what came of it beside them.

Then `python docs/zoo_table.py` writes the words that they part on into docs/zoo.md.

The page shows these results at once. Each is what `extract-pda --causal` finds with its default settings.
"""

from __future__ import annotations

import sys
import time

import stacklens as sl
from stacklens.extract.causality import with_causality
from stacklens.models.checkpoint import ZOO


def main() -> None:
    """Write models/zoo/NAME.json for the networks that are named, by default for all."""
    names = sys.argv[1:] or sorted(path.stem for path in ZOO.glob("*.pt"))
    for name in names:
        begun = time.monotonic()
        result = with_causality(sl.extract(name))
        result.save(ZOO / f"{name}.json")
        print(f"{name}: {time.monotonic() - begun:.0f} s, {(ZOO / f'{name}.json').stat().st_size:,} bytes", flush=True)


if __name__ == "__main__":
    main()
