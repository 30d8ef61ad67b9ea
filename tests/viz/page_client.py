"""The page's server as a browser asks it, without one."""

from __future__ import annotations

import json
from typing import Any

from flask.testing import FlaskClient

__all__ = ["asked", "sent"]


def asked(client: FlaskClient, route: str, status: int = 200, **given: Any) -> Any:
    """Return what the server answers to a question, and check that it answers so."""
    answer = client.get(f"/api/{route}", query_string=given)
    assert answer.status_code == status, answer.text
    return json.loads(answer.text)


def sent(client: FlaskClient, route: str, body: Any, status: int = 200) -> Any:
    """Return what the server answers to what is sent."""
    answer = client.post(f"/api/{route}", json=body)
    assert answer.status_code == status, answer.text
    return json.loads(answer.text)
