"""`stacklens app` where others can reach it: a warning, a link with a token, and nothing without it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SOURCE = Path(__file__).parents[2] / "src"


def test_outside_this_machine_the_page_opens_with_the_printed_link_only(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "stacklens", "app", "--host", "0.0.0.0", "--port", "0"]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "STACKLENS_CACHE": str(tmp_path / "store")}
    environment.pop("STACKLENS_TOKEN", None)
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, text=True, stdout=pipe, stderr=pipe) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            assert process.stderr.readline().startswith("warning: others can reach this page: whoever has its link ")
            found = re.search(r"http://[^:]+:(\d+)(/\?token=[\w-]{32})", process.stdout.readline())
            assert found
            base = f"http://127.0.0.1:{found[1]}"
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(base)
            opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
            for path in (found[2], "/", "/api/papers"):
                with opener.open(base + path) as answer:
                    assert answer.status == 200
                    assert "token" not in answer.url
            forged = urllib.request.Request(f"{base}/{found[2]}", headers={"Host": "evil.example"})
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(forged)
        finally:
            process.kill()
