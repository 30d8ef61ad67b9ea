"""`stacklens app`: the page in the browser, on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from stacklens.errors import StacklensError

__all__ = ["app_command"]


def app_command(
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Where to listen; 0 takes a free one.")] = 8050,
    host: Annotated[str, typer.Option(help="Which address to listen on; others than this one let others in.")] = (
        "127.0.0.1"
    ),
) -> int:
    """Open the page on http://127.0.0.1:8050 until Ctrl-C."""
    import logging
    import socket

    try:
        listening = socket.create_server((host, port))
    except OSError as error:
        reason = error.strerror or error
        raise StacklensError(f"cannot listen on {host}:{port}: {reason}; choose another --port or --host") from None
    from werkzeug.serving import make_server

    from stacklens.viz.dashboard.application import new_application

    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # not a line for every request
    server = new_application().server
    with listening, make_server(host, port, server, threaded=True, fd=listening.fileno()) as serving:
        typer.echo(f"stacklens is at http://{host}:{listening.getsockname()[1]} (Ctrl-C ends it)")
        serving.serve_forever()
    return 0
