"""The map in CONTRIBUTING is the one that `make map` draws of the code as it is."""

import re
from functools import cache
from types import ModuleType

import pytest
from tests.architecture.shown_commands import ROOT, docs_script


@pytest.fixture(scope="module")
def architecture() -> ModuleType:
    script = docs_script("architecture")
    script.rooms = cache(script.rooms)  # type: ignore[attr-defined]  # every file is parsed once
    return script


def texts(svg: str) -> list[str]:
    """Return what an SVG says, and between what its arrows lead; where things lie depends on Graphviz's version."""
    return sorted(re.findall(r"<(?:title|text)[^>]*>([^<]+)<", svg))


def test_the_picture_shows_the_packages_as_they_are(architecture: ModuleType) -> None:
    kept = (ROOT / "docs" / "architecture.svg").read_text(encoding="utf-8")
    assert texts(kept) == texts(architecture.render(architecture.dot(), "svg").decode()), "run make map"


def test_every_package_is_on_it_and_arrows_lead_down(architecture: ModuleType) -> None:
    found = architecture.rooms()
    assert {room.split(".")[0] for room in found} == set(architecture.LAYERS)
    assert {"models.networks", "extract.search", "viz.dashboard"} <= set(found)
    for above, below in architecture._between(found):
        assert architecture.LAYERS.index(above) > architecture.LAYERS.index(below)
