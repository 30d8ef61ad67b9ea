"""`stacklens app`: the page in the browser, on this machine."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

import typer

from stacklens.errors import StacklensError
from stacklens.extras import check_extra

if TYPE_CHECKING:
    import socket

    from stacklens.viz.dashboard.access import Access

__all__ = ["app_command"]

_THREADS = 16  # a user's browser asks for several things at once
_ANYWHERE = ("0.0.0.0", "::")  # no address to go to, but all of the machine's


def app_command(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL]...",
            help="What is to be opened: trained networks (files, names of the zoo, module:function), saved results, "
            "sweeps or folders with them.",
        ),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Where to listen; 0 takes a free one.")] = 8050,
    host: Annotated[
        str, typer.Option(help="Which address to listen on; others than this one let in whoever has the printed link.")
    ] = "127.0.0.1",
) -> int:
    """Open the page on http://127.0.0.1:8050 until Ctrl-C.

    The link has a token in it where others can reach the page, or where STACKLENS_TOKEN names one. STACKLENS_HOSTS
    names further hosts, with commas between, that the page may be called by: behind a proxy, say.
    """
    check_extra("the page", "page", "dash", "dash_ag_grid", "waitress")
    with _listening(host, port) as listening:
        from stacklens.viz.dashboard.opening import opened_at_start
        from stacklens.viz.dashboard.store import store

        store()  # where nothing can be kept nothing is said before that
        views = [view for given in models or [] for view in opened_at_start(given)]
        from waitress import create_server

        from stacklens.viz.dashboard.app import new_application
        from stacklens.viz.dashboard.networks import LARGEST_BODY

        logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # that a request waits for a moment is no news
        access, base = _access(listening), _base(listening)
        serving = create_server(
            new_application(access).server,
            sockets=[listening],
            threads=_THREADS,
            ident=None,
            clear_untrusted_proxy_headers=False,  # else nobody sees that a proxy has sent a request
            max_request_body_size=LARGEST_BODY,
        )
        token = {} if access.token is None else {"token": access.token}
        for view in views:
            typer.echo(f"{base}/?{urlencode({**token, **view})}")
        typer.echo(f"stacklens is at {base}{f'/?{urlencode(token)}' if token else ''} (Ctrl-C ends it)")
        serving.run()
        serving.close()
    return 0


def _listening(host: str, port: int) -> socket.socket:
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        host.encode("idna")  # bytes that are no text leave a socket open, and raise a TypeError
        return socket.create_server((host, port), family=family)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise StacklensError(f"cannot listen on {host}:{port}: {reason}; choose another --port or --host") from None


def _access(listening: socket.socket) -> Access:
    """Return who may come in: where others can reach us whoever has the token, which is made if none is named."""
    from secrets import token_urlsafe

    from stacklens.viz.dashboard.access import Access, is_loopback

    named = Access.from_environment()
    if is_loopback(listening.getsockname()[0]):
        return named
    typer.echo(
        "warning: others can reach this page: whoever has its link can open files and use this machine's processor, "
        "and nothing between is encrypted",
        err=True,
    )
    return Access(named.token or token_urlsafe(24), named.hosts)


def _base(listening: socket.socket) -> str:
    """Return how the address of the page begins."""
    from socket import gethostname

    address, port, *_ = listening.getsockname()
    name = gethostname() if address in _ANYWHERE else address
    return f"http://{f'[{name}]' if ':' in name else name}:{port}"
