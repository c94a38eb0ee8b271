"""Options that several commands share, and how their values are read."""

import datetime as dt
import functools
import os
import re
import secrets
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from kansho_sign.errors import UsageError
from kansho_sign.limits import LIMITS
from kansho_sign.output import read_bounded
from kansho_sign.pipeline.requests import Asker
from kansho_sign.sources.names import check_label

__all__ = [
    "PATH",
    "HexBytes",
    "Moment",
    "OutputFile",
    "asker_options",
    "now_option",
    "passphrase_source",
    "read_passphrase_file",
    "stack",
]

F = TypeVar("F", bound=Callable[..., Any])
PATH = click.Path(path_type=Path)
PASSPHRASE_BYTES = 4_096


class HexBytes(click.ParamType[str]):
    """``size`` bytes as lower-case hexadecimal digits."""

    name = "hex"

    def __init__(self, size: int) -> None:
        self.size = size

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The digits, or a usage error."""
        if not re.fullmatch(r"[0-9a-f]+", str(value)) or len(value) != 2 * self.size:
            self.fail(f"give {self.size} bytes as {2 * self.size} lower-case hexadecimal digits", param, ctx)
        return str(value)


class OutputFile(click.ParamType[Path]):
    """A file to be written, in a folder that is there; ``-`` is standard output."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path. What is wrong with it is said before anything is signed."""
        path = Path(value)
        try:
            is_folder, has_folder = path.is_dir(), path.parent.is_dir()
        except OSError as error:  # a name that is too long, a folder that may not be searched
            self.fail(f"{value!r} cannot be written ({error.strerror})", param, ctx)
        if str(path) != "-" and is_folder:
            self.fail(f"{value!r} is a folder; name a file", param, ctx)
        if not has_folder:
            self.fail(f"{value!r}: its folder is not there; make it first", param, ctx)
        return path


class Moment(click.ParamType[int]):
    """A time: RFC 3339 in UTC (2026-01-31T12:00:00Z), or seconds since 1970."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Seconds since 1970-01-01T00:00:00Z."""
        if re.fullmatch(r"[0-9]{1,12}", str(value)):
            seconds = int(value)
        else:
            try:
                moment = dt.datetime.strptime(f"{value}+0000", "%Y-%m-%dT%H:%M:%SZ%z")
            except ValueError:
                self.fail("give a time as 2026-01-31T12:00:00Z or as seconds since 1970", param, ctx)
            seconds = int(moment.timestamp())
        if not 0 <= seconds <= LIMITS.latest_time_seconds:
            self.fail("give a time of the years 1970 to 9999", param, ctx)
        return seconds


def stack(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """Several options as one decorator, in this order."""

    def apply(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return apply


def _now() -> int:
    return int(time.time())


now_option = click.option("--now", type=Moment(), default=_now, show_default="the clock", help="Time of issue.")


def asker_options(function: Callable[..., int]) -> Callable[..., int]:
    """Who asks, for whom, and what a caller may fix so that a run can be repeated to the byte.

    The function gets them as one ``asker``.
    """

    @functools.wraps(function)
    def with_asker(
        *arguments: Any,
        tenant: str,
        groups: tuple[str, ...],
        subject: str | None,
        audience: str | None,
        challenge: str,
        nonce: str,
        now: int,
        **others: Any,
    ) -> int:
        named = ((tenant, "tenant"), (subject, "subject"), (audience, "audience"), *((one, "group") for one in groups))
        for label, what in named:
            if label is not None:
                check_label(label, what)
        asker = Asker(tenant, tuple(sorted(set(groups))), subject, audience, now, nonce, challenge)
        return function(*arguments, asker=asker, **others)

    return stack(
        click.option("--tenant", default="default", show_default=True, help="Tenant whose documents are searched."),
        click.option(
            "--group",
            "groups",
            multiple=True,
            default=("public",),
            show_default=True,
            help="A group of the reader; may be repeated, and replaces the default.",
        ),
        click.option("--subject", help="Who asks, as the host names them; only the audit section holds it."),
        click.option("--audience", help="The service that the bundle is for, as check --audience expects it."),
        click.option(
            "--challenge",
            type=HexBytes(32),
            default=lambda: secrets.token_hex(32),
            show_default="random",
            help="32 bytes that whoever asks has sent along.",
        ),
        click.option(
            "--nonce",
            type=HexBytes(16),
            default=lambda: secrets.token_hex(16),
            show_default="random",
            help="16 bytes, for repeating a run to the byte.",
        ),
        now_option,
    )(with_asker)


def read_passphrase_file(path: Path) -> bytes:
    """The one line of a file, without its line end."""
    data = read_bounded(path, PASSPHRASE_BYTES)
    passphrase = data.removesuffix(b"\n").removesuffix(b"\r")
    if not passphrase or b"\n" in passphrase:
        hint = "write the passphrase into it, on one line"
        raise UsageError("keys.passphrase_file", "must hold one line that is not empty", str(path), hint)
    return passphrase


def passphrase_source(file: Path | None, *, confirm: bool = False) -> bytes | None:
    """From ``--passphrase-file``, KANSHO_PASSPHRASE, or a prompt on a terminal, in this order; else None."""
    if file is not None:
        return read_passphrase_file(file)
    variable = os.environ.get("KANSHO_PASSPHRASE")
    if variable:
        return os.fsencode(variable)
    if sys.stdin.isatty():
        text = "New passphrase for the private keys" if confirm else "Passphrase of the private keys"
        given: str = click.prompt(text, hide_input=True, confirmation_prompt=confirm, err=True)
        return given.encode("utf-8")
    return None
