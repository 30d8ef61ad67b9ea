"""What tests of the page share: its server, and a store of their own."""

from pathlib import Path

import pytest
from flask.testing import FlaskClient

from stacklens.viz.dashboard.app import new_application


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
