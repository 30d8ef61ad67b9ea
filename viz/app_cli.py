"""`stacklens app`: the page in the browser, on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode

import typer

from stacklens.errors import StacklensError

__all__ = ["app_command"]

_THREADS = 8  # a user's browser asks for several things at once


def app_command(
    models: Annotated[
        list[Path] | None, typer.Argument(metavar="[MODEL]...", help="Files with trained networks, to be opened.")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Where to listen; 0 takes a free one.")] = 8050,
    host: Annotated[str, typer.Option(help="Which address to listen on; others than this one let others in.")] = (
        "127.0.0.1"
    ),
) -> int:
    """Open the page on http://127.0.0.1:8050 until Ctrl-C."""
    import socket

    try:
        listening = socket.create_server((host, port))
    except OSError as error:
        reason = error.strerror or error
        raise StacklensError(f"cannot listen on {host}:{port}: {reason}; choose another --port or --host") from None
    with listening:
        names = [_kept(path) for path in models or []]
        from waitress import create_server

        from stacklens.viz.dashboard.application import new_application

        serving = create_server(new_application().server, sockets=[listening], threads=_THREADS, ident=None)
        base = f"http://{host}:{listening.getsockname()[1]}"
        for name in names:
            typer.echo(f"{base}/?{urlencode({'network': name})}")
        typer.echo(f"stacklens is at {base} (Ctrl-C ends it)")
        serving.run()
        serving.close()
    return 0


def _kept(path: Path) -> str:
    """Return the name under which the page knows the network in the file at ``path``."""
    from stacklens.models.loading import load_network
    from stacklens.viz.dashboard.uploads import keep

    load_network(path)  # says what is wrong with a file by its whole path
    return keep(path.read_bytes(), path.name).name
