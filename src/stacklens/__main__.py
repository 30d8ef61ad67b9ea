"""The `stacklens` command: the rooms' commands under one name."""

from __future__ import annotations

from typing import Annotated

import typer

from . import __version__
from .cli.extract import extract_command, show_command
from .cli.papers import papers_app
from .cli.serve import app_command, export_command
from .cli.shell import new_app, run_app, show_completion, zoo_command
from .cli.sweep import judge_command, sweep_command
from .cli.trace import probe_app, trace_command
from .cli.train import harden_command, repair_command, train_app
from .cli.verify import verify_command

app = new_app("A lens into stack-augmented neural networks.")
for _name, _group in (("train", train_app), ("papers", papers_app), ("probe", probe_app)):
    app.add_typer(_group, name=_name)
for _command in (
    *(trace_command, extract_command, repair_command, harden_command, show_command, verify_command),
    *(sweep_command, judge_command, export_command, app_command, zoo_command),
):
    app.command(_command.__name__.removesuffix("_command"))(_command)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"stacklens {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Version.")] = False,
    completion: Annotated[
        str | None,
        typer.Option(
            callback=show_completion,
            is_eager=True,
            metavar="SHELL",
            help='What bash, zsh or fish reads to complete commands: eval "$(stacklens --completion bash)".',
        ),
    ] = None,
) -> None:
    """A lens into stack-augmented neural networks."""


def main() -> None:
    """Run the `stacklens` command."""
    run_app(app)


if __name__ == "__main__":
    main()
