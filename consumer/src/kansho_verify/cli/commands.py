"""The commands and their options. They hold no logic beyond turning options into arguments of the library."""

from __future__ import annotations

import difflib
import re
import sys
import time
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from kansho_verify import (
    Code,
    Expectations,
    Pins,
    Profile,
    Verdict,
    VerifyError,
    __version__,
    project,
    to_document,
    verify,
)
from kansho_verify.canonical_json import serialise
from kansho_verify.cli.reading import read_optional, read_published, read_sources
from kansho_verify.cli.render import explanation_lines, verdict_lines
from kansho_verify.escape import shown
from kansho_verify.files import FileError, check_regular, read_bounded, write_whole
from kansho_verify.limits import LIMITS
from kansho_verify.verdict import first_exit_code

__all__ = ["group", "main"]

_EXIT_USAGE, _EXIT_REJECTED, _EXIT_FAULT = 2, 3, 70
_STANDARD_INPUT = "-"
_SHA256 = re.compile(r"[0-9a-f]{64}")
_FIRST_SECOND, _LAST_SECOND = 0, 253_402_300_799


@dataclass(slots=True)
class _Settings:
    """What the error handler of :func:`main` needs to know of the options."""

    debug: bool = False


class _TimeType(click.ParamType[Any]):
    """RFC 3339 in UTC (2026-01-02T03:04:05Z), or seconds since 1970."""

    name = "TIME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The time in seconds since 1970."""
        text = str(value)
        seconds = None
        if re.fullmatch(r"[0-9]{1,12}", text):
            seconds = int(text)
        elif re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z", text):
            try:
                seconds = int(datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp())
            except ValueError:
                seconds = None
        if seconds is None or not _FIRST_SECOND <= seconds <= _LAST_SECOND:
            self.fail(f"{text!r} is neither like 2026-01-02T03:04:05Z nor seconds since 1970", param, ctx)
        return seconds


class _HexType(click.ParamType[Any]):
    """64 hexadecimal digits."""

    name = "HEX"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The digits in lower case."""
        text = str(value).lower()
        if _SHA256.fullmatch(text) is None:
            self.fail(f"{str(value)!r} is not 64 hexadecimal digits", param, ctx)
        return text


_FILE = click.Path(path_type=Path)


@click.group(context_settings={"auto_envvar_prefix": "KANSHO_VERIFY", "help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="kansho-verify")
@click.option("--debug", is_flag=True, help="Show a traceback when the program itself fails.")
@click.pass_obj
def group(settings: _Settings, /, debug: bool) -> None:
    """Verify signed citations against your own sources and trust root. Opens no network connection."""
    settings.debug = debug


@group.command()
@click.argument("bundles", metavar="BUNDLE...", nargs=-1, required=True)
@click.option(
    "--profile",
    type=click.Choice([str(p) for p in Profile]),
    default="boundary",
    show_default=True,
    help="Which checks must pass.",
)
@click.option("--trust-root", type=_FILE, metavar="FILE", help="The issuer's trust root.")
@click.option("--published", type=_FILE, metavar="DIR", help="Folder with generation.json and live.json.")
@click.option("--generation", type=_FILE, metavar="FILE", help="The newest generation statement.")
@click.option("--live", type=_FILE, metavar="FILE", help="The live state.")
@click.option("--no-live", is_flag=True, help="Do without the live state.")
@click.option(
    "--sources",
    type=_FILE,
    metavar="DIR|FILE",
    multiple=True,
    help="Your own copies of the sources: a folder, or a kansho.registry.v1 file; may be repeated.",
)
@click.option("--question", metavar="TEXT", help="The question that was asked; '' for none.")
@click.option("--any-question", is_flag=True, help="Accept an answer to whatever question.")
@click.option("--audience", metavar="A", help="The audience that is expected.")
@click.option("--challenge", type=_HexType(), help="The challenge that was sent along.")
@click.option("--tenant", metavar="T", default="default", show_default=True, help="The tenant that is expected.")
@click.option("--subject", metavar="S", help="The subject that is expected.")
@click.option(
    "--group",
    "groups",
    metavar="GROUP",
    multiple=True,
    default=("public",),
    show_default=True,
    help="A group that is expected; may be repeated.",
)
@click.option("--allow-request-registry", is_flag=True, help="Accept sources that were never published.")
@click.option("--max-age", type=click.IntRange(min=0), metavar="SECONDS", help="How old the answer may be.")
@click.option("--trust-claimed-time", is_flag=True, help="Believe the time that a retired key's statement claims.")
@click.option("--pin-bundle", type=_HexType(), help="SHA-256 of the bundle.")
@click.option("--pin-generation", type=_HexType(), help="Hash of the generation statement.")
@click.option("--pin-pipeline", type=_HexType(), help="Fingerprint of the pipeline.")
@click.option("--pin-authorization", metavar="REVISION", help="The authorization revision.")
@click.option("--at", type=_TimeType(), help="Check as of this time instead of the clock's.")
@click.option("--json", "as_json", is_flag=True, help="Print the verdict document, one line for each bundle.")
@click.pass_obj
def check(settings: _Settings, /, bundles: tuple[str, ...], as_json: bool, at: int | None, **options: Any) -> None:
    """Check bundles; '-' is standard input.

    Exit codes: 0 accepted, 2 wrong usage, 3 rejected, 4 undecided, 5 stale, 70 the program itself failed.
    """  # fmt: skip
    _refuse_conflicts(bundles, options)
    for name in bundles:
        if name != _STANDARD_INPUT:
            check_regular(Path(name))  # before anything is printed
    arguments = _arguments(options, at)
    codes: list[int] = []
    for name in bundles:
        data = _read_bundle(name)
        try:
            verdict = verify(data, **arguments)
            _print_verdict(verdict, name, as_json=as_json, separate=bool(codes))
            codes.append(verdict.exit_code)
        except FileError:
            raise
        except Exception as error:  # noqa: BLE001 - the other bundles are still checked
            _report_fault(error, debug=settings.debug)
            codes.append(_EXIT_FAULT)
    raise SystemExit(first_exit_code(codes))


@group.command("project")
@click.argument("bundle", metavar="BUNDLE")
@click.option(
    "-o",
    "--output",
    type=_FILE,
    metavar="FILE",
    required=True,
    help="Where to write the projection; '-' is standard output.",
)
@click.option("--force", is_flag=True, help="Overwrite FILE.")
def project_command(bundle: str, output: Path, force: bool) -> None:
    """Write the public projection of a bundle: the bundle without its audit section. Verifies no signature."""
    try:
        projection = project(_read_bundle(bundle))
    except VerifyError as error:
        reason = error.reason
        click.echo(f"refused: {reason.code}: {reason.detail}{f' at {reason.path}' if reason.path else ''}", err=True)
        raise SystemExit(_EXIT_REJECTED) from error
    if str(output) == _STANDARD_INPUT:
        sys.stdout.buffer.write(projection)
    else:
        write_whole(output, projection, overwrite=force)


@group.command()
@click.argument("code", required=False)
def explain(code: str | None) -> None:
    """Say what a reason code means and what to do; without CODE, of all of them."""
    known = {str(member): member for member in Code}
    if code is None:
        for member in Code:
            _print_lines(explanation_lines(member))
        return
    if code not in known:
        near = difflib.get_close_matches(code[:96], known, n=3, cutoff=0.5)
        suggestion = f"; did you mean {', '.join(near)}?" if near else ""
        suggestion += " (what kansho-sign refuses with is in docs/spec/reasons-producer.md and evidence.md)"
        raise click.UsageError(f"no reason code {shown(code)}{suggestion}")
    _print_lines(explanation_lines(known[code]))


def main() -> None:
    """Run the command; exit codes as in ``docs/spec/verification.md``. Never shows a traceback without --debug."""
    settings = _Settings()
    try:
        group.main(prog_name="kansho-verify", obj=settings)
    except FileError as error:
        click.echo(f"error: {shown(str(error), 400)[1:-1]}", err=True)
        raise SystemExit(_EXIT_USAGE) from error
    except Exception as error:
        _report_fault(error, debug=settings.debug)
        raise SystemExit(_EXIT_FAULT) from error


def _refuse_conflicts(bundles: tuple[str, ...], options: dict[str, Any]) -> None:
    if bundles.count(_STANDARD_INPUT) > 1:
        raise click.UsageError("standard input can be read once")
    if options["published"] is not None and (options["generation"] is not None or options["live"] is not None):
        raise click.UsageError("--published stands for --generation and --live: give one or the other")
    if options["no_live"] and options["live"] is not None:
        raise click.UsageError("--no-live and --live contradict each other")
    if options["any_question"] and options["question"] is not None:
        raise click.UsageError("--any-question and --question contradict each other")


def _arguments(options: dict[str, Any], at: int | None) -> dict[str, Any]:
    names = (
        "question", "any_question", "audience", "challenge", "tenant", "subject", "groups", "allow_request_registry",
        "no_live", "max_age", "trust_claimed_time",
    )  # fmt: skip
    pins = Pins(*(options[f"pin_{name}"] for name in ("bundle", "generation", "pipeline", "authorization")))
    generation, live = _read_statements(options)
    return {
        "trust_root": read_optional(options["trust_root"], LIMITS.trust_root_bytes),
        "expected": Expectations(**{name: options[name] for name in names}, pins=pins),
        "profile": Profile(options["profile"]),
        "generation": generation,
        "live": live,
        "sources": read_sources(options["sources"]),
        "now": int(time.time()) if at is None else at,
        "time_source": "clock" if at is None else "given",
    }


def _read_statements(options: dict[str, Any]) -> tuple[bytes | None, bytes | None]:
    folder: Path | None = options["published"]
    if folder is not None:
        return read_published(folder, with_live=not options["no_live"])
    generation = read_optional(options["generation"], LIMITS.generation_bytes)
    return generation, read_optional(options["live"], LIMITS.live_bytes)


def _read_bundle(name: str) -> bytes:
    if name == _STANDARD_INPUT:
        return sys.stdin.buffer.read(LIMITS.bundle_bytes + 1)
    return read_bounded(Path(name), LIMITS.bundle_bytes)


def _print_verdict(verdict: Verdict, name: str, *, as_json: bool, separate: bool) -> None:
    if as_json:
        click.echo(serialise(to_document(verdict)))
        return
    if separate:
        click.echo()
    _print_lines(verdict_lines(verdict, name))


def _print_lines(lines: Iterable[str]) -> None:
    encoding = sys.stdout.encoding or "utf-8"
    text = "\n".join(lines) + "\n"
    click.echo(text.encode(encoding, "backslashreplace"), nl=False)


def _report_fault(error: Exception, *, debug: bool) -> None:
    click.echo(f"the program itself failed ({type(error).__name__}); this says nothing about the bundle", err=True)
    if debug:
        click.echo("".join(traceback.format_exception(error)), err=True)
    else:
        click.echo("hint: kansho-verify --debug … shows where", err=True)
