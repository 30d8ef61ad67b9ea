"""`stacklens app`: the page in the browser, on this machine."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode

import typer

from ..core.errors import StacklensError, check_extra
from ..core.files import check_ending, check_outputs, write_whole
from .shell import Language, MaxLength, Model, Quiet, Seed

_THREADS = 16  # a user's browser asks for several things at once
_ANYWHERE = ("0.0.0.0", "::")  # no address to go to, but all of the machine's
_OPENED = (
    "What is to be opened: trained networks (files, names of the zoo, module:function), saved results, sweeps or "
    "folders with them."
)
_HOST = "Which address to listen on; others than this one let in whoever has the printed link."
_WORD = "A word to trace; may be repeated (default: some of its language)."


def app_command(
    models: Annotated[list[str] | None, typer.Argument(metavar="[MODEL]...", help=_OPENED)] = None,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Where to listen; 0 takes a free one.")] = 8050,
    host: Annotated[str, typer.Option(help=_HOST)] = "127.0.0.1",
) -> int:
    """Open the page on http://127.0.0.1:8050 until Ctrl-C.

    The link has a token in it where others can reach the page, or where STACKLENS_TOKEN names one. STACKLENS_HOSTS
    names further hosts, with commas between, that the page may be called by: behind a proxy, say.
    """
    check_extra("the page", "page", "dash", "dash_ag_grid", "waitress")
    import socket

    try:
        host.encode("idna")  # bytes that are no text leave a socket open, and raise a TypeError
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise StacklensError(f"cannot listen on {host}:{port}: {reason}; choose another --port or --host") from None
    with listening:
        from ..viz.dashboard.networks import LARGEST_BODY, store
        from ..viz.dashboard.opening import opened_at_start

        store()  # where nothing can be kept this fails first
        views = [view for given in models or [] for view in opened_at_start(given)]
        from secrets import token_urlsafe
        from socket import gethostname

        from waitress import create_server

        from ..viz.dashboard.app import new_application
        from ..viz.dashboard.requests import Access, is_loopback

        logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # that a request waits for a moment is no news
        # where others can reach us those who have the token, which is made if none is named
        access = Access.from_environment()
        if not is_loopback(listening.getsockname()[0]):
            typer.echo(
                "warning: others can reach this page: whoever has its link can open files and use this machine's "
                "processor, and nothing between is encrypted",
                err=True,
            )
            access = Access(access.token or token_urlsafe(24), access.hosts)
        address, bound, *_ = listening.getsockname()
        name = gethostname() if address in _ANYWHERE else address
        base = f"http://{f'[{name}]' if ':' in name else name}:{bound}"  # how the address of the page begins
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


# ---- `stacklens export`: a report on a network as a page in one file, which asks no other host for anything ----


def export_command(
    model: Model,
    html: Annotated[Path, typer.Option(help="The page to write.")],
    word: Annotated[list[str] | None, typer.Option(help=_WORD)] = None,
    language: Language = None,
    max_length: MaxLength = None,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> int:
    """Write a page on a network: its automaton, the transition table, every check and the proof, and some traces.

    Exit status: as of extract-pda; the page is written in any case but 2.
    """
    from ..models.checkpoint import find_network

    model = find_network(model)
    check_ending(html, [".html"])
    check_outputs([html], {"the network's own file": model, "the language's own file": language})
    from ..face.opening import network_of
    from ..face.results import extract
    from ..languages.language import check_length, parse_typed_word
    from ..viz.report import report_page, some_words

    network = network_of(model)
    words = [parse_typed_word(text, network.alphabet) for text in word or []]
    for one in words:
        check_length(one, _LONGEST)
    result = extract(network, language, quiet=quiet, max_length=max_length, seed=seed)
    write_whole(html, report_page(result, words or some_words(result, _WORDS), f"stacklens: {model.name}"))
    if not quiet:
        typer.echo(f"wrote {html}")
    return result.status


_LONGEST = 400  # symbols of a word that is traced: every step is drawn
_WORDS = 3  # traced where none is named
