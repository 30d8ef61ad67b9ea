"""`python docs/zoo_results.py [NAME...]`: extract from the networks of the zoo, and keep what came of it beside them.

The page shows these results at once. Each is what `extract-pda` finds with its default settings.
"""

from __future__ import annotations

import sys
import time

from stacklens.extract.by_name import specification_of
from stacklens.extract.extraction import ExtractionConfig, extract
from stacklens.models.io import ZOO, load_network


def main() -> None:
    """Write models/zoo/NAME.json for the networks that are named, by default for all."""
    names = sys.argv[1:] or sorted(path.stem for path in ZOO.glob("*.pt"))
    for name in names:
        begun = time.monotonic()
        checkpoint = load_network(ZOO / f"{name}.pt")
        result = extract(checkpoint.model, specification_of(checkpoint), ExtractionConfig())
        result.save(ZOO / f"{name}.json")
        print(f"{name}: {time.monotonic() - begun:.0f} s, {(ZOO / f'{name}.json').stat().st_size:,} bytes", flush=True)


if __name__ == "__main__":
    main()
