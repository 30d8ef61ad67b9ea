"""What tests of the page share: its server, and a store of their own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from tests.face.quick import quick_result

from stacklens.viz.dashboard.app import new_application
from stacklens.viz.dashboard.extractions import ExtractionSettings, keep_extraction


@pytest.fixture(scope="session")
def client() -> FlaskClient:
    """Return a browser without a screen, on a server that keeps nothing between tests but what is in the store."""
    found: FlaskClient = new_application().server.test_client()
    return found


@pytest.fixture
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder, its own, in which a test keeps what it keeps."""
    monkeypatch.setenv("STACKLENS_CACHE", str(tmp_path / "store"))
    return tmp_path / "store"


@pytest.fixture(scope="module")
def visitor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    """Yield a server in whose store networks have been extracted on few words."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STACKLENS_CACHE", str(tmp_path_factory.mktemp("store")))
        for name in ("nnpda-palindrome", "nnpda-1n0n"):
            keep_extraction(name, ExtractionSettings(), quick_result(name))
        yield new_application().server.test_client()
