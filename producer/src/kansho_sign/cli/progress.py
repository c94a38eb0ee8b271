"""A progress bar on a terminal, nothing otherwise."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import click

from kansho_sign.cli.messages import escape

__all__ = ["progress_bar"]

NAME_WIDTH = 40


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
                bar = click.progressbar(length=total, label=label, file=sys.stderr, item_show_func=lambda item: item)
                bars.append(stack.enter_context(bar))
            bars[0].update(1, escape(name, NAME_WIDTH))

        yield step
