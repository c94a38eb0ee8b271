"""Which workspace a command works in, and who opens its keys."""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from kansho_sign.cli.options import passphrase_source
from kansho_sign.workspace import Workspace, find

__all__ = ["open_workspace"]


@contextmanager
def open_workspace(ctx: click.Context) -> Iterator[Workspace]:
    """The workspace of ``--workspace``, else the nearest one upwards. The passphrase is asked for once, when needed."""
    folder, passphrase_file = ctx.obj
    workspace = find(folder or Path.cwd(), functools.cache(lambda: passphrase_source(passphrase_file)))
    try:
        yield workspace
    finally:
        workspace.close()
