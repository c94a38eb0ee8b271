"""A progress bar on a terminal, nothing otherwise."""

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import click
import unicodedata2 as ucd

from kansho_sign.cli.messages import escape

__all__ = ["progress_bar"]

BAR_WIDTH, NAME_WIDTH = 20, 30
BESIDE_NAME = 42
"""Columns of label, bar and percentage, and one to spare: a bar that wraps is printed again and again."""


def _short(name: str) -> str:
    """As much of a name as the terminal has room for. A character may take two columns."""
    columns = min(NAME_WIDTH, shutil.get_terminal_size().columns - BESIDE_NAME)
    shown = escape(name, max(columns, 1))
    while shown and sum(1 + (ucd.east_asian_width(c) in "WF") for c in shown) > columns:
        shown = shown[:-1]
    return shown


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, str], None]]:
    """Gives a function to call with the number of all steps and the name of the next one, on standard error."""
    if not sys.stderr.isatty():
        yield lambda _total, _name: None
        return
    with ExitStack() as stack:
        bars: list[Any] = []  # click does not name the type of its bar

        def step(total: int, name: str) -> None:
            if not bars:
                bar = click.progressbar(
                    length=total, label=label, file=sys.stderr, width=BAR_WIDTH, item_show_func=lambda item: item
                )
                bars.append(stack.enter_context(bar))
            bars[0].update(1, _short(name))
            if bars[0].finished:
                stack.close()  # a passphrase may be asked for next, on a line of its own

        yield step
