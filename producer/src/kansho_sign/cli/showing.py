"""A signed answer written out and shown."""

import shutil
import sys
import textwrap
from pathlib import Path

import click

from kansho_sign.canonical_json import JsonObject, dumps
from kansho_sign.cli.messages import escape
from kansho_sign.cli.options import OutputFile
from kansho_sign.pipeline.requests import write_bundle
from kansho_sign.workspace import Workspace

__all__ = ["deliver", "output_option"]

SHOWN_CHARACTERS, SHOWN_LINES, SHOWN_COLUMNS = 600, 12, 100

output_option = click.option(
    "-o",
    "--output",
    type=OutputFile(),
    required=True,
    help="Where the bundle goes; '-' is standard output.",
)


def _show(bundle: JsonObject) -> list[str]:
    lines = []
    for number, claim in enumerate(bundle["public"]["payload"]["claims"], 1):
        for citation in claim["citations"]:
            place = f"{citation['document']}:{citation['char_start']}-{citation['char_end']}"
            quoted = _quoted(claim["text"])
            lines += [f"{number:>3}. {quoted[0]}", *(f"     {line}" for line in quoted[1:])]
            lines.append(f"     at {escape(place, 160)}")
    return lines


def _quoted(text: str) -> list[str]:
    """Wording with its line breaks, folded for the terminal."""
    width = min(shutil.get_terminal_size().columns, SHOWN_COLUMNS) - 6
    shown = text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
    lines = []
    for line in f"“{shown}”".split("\n"):
        folded = textwrap.wrap(
            escape(line, 10 * SHOWN_CHARACTERS), max(width, 20), break_long_words=False, break_on_hyphens=False
        )
        lines += folded or [""]
    return lines if len(lines) <= SHOWN_LINES else [*lines[: SHOWN_LINES - 1], "…”"]


def deliver(workspace: Workspace, bundle: JsonObject, output: Path, words: str) -> None:
    """Writes a bundle, audit section first, and shows its claims."""
    to_stdout = str(output) == "-"
    if to_stdout:
        workspace.write_audit(bundle["public"]["payload"]["trace_id"], bundle["audit"])
        sys.stdout.buffer.write(dumps(bundle))
        sys.stdout.buffer.flush()
    else:
        write_bundle(workspace, bundle, output)
    for line in [words, *_show(bundle)]:
        click.echo(line, err=to_stdout)
    if not to_stdout:
        click.echo(f"Wrote {escape(str(output))}")
