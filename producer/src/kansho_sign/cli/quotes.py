"""``quotes``: quotations with their sources in an ordinary Markdown text, as evidence to attest."""

import json
from pathlib import Path

import click

from kansho_sign.adapters.quotes import find_quotes
from kansho_sign.cli.evidence_input import load_sources_map, read_input
from kansho_sign.cli.messages import counted, escape
from kansho_sign.cli.options import PATH, OutputFile
from kansho_sign.errors import InputError
from kansho_sign.output import write_whole
from kansho_sign.text import decode

__all__ = ["quotes_command"]

SHOWN = 80


@click.command("quotes", short_help="Turn the quotations in a Markdown text into evidence.")
@click.argument("markdown_file", type=PATH, metavar="FILE.md")
@click.option("--sources-map", type=PATH, help="Which source each reference means.  [default: the link is its id]")
@click.option(
    "-o", "--output", type=OutputFile(), default="-", help="Where the evidence goes.  [default: standard output]"
)
def quotes_command(markdown_file: Path, sources_map: Path | None, output: Path) -> int:
    """Find the quotations in FILE.md that name their source, and print them as an answer to attest.

    A quotation names its source by a link, a footnote, or the attribution under a block quote. Those that name none are
    listed on standard error: nothing checks them. Exit code 3: there is no quotation with a source.
    """
    data, place = read_input(markdown_file)
    try:
        found = find_quotes(decode(data), load_sources_map(sources_map) if sources_map else None)
    except InputError as error:
        raise error.at(place) from None
    for one in found.unreferenced:
        click.echo(f"line {one.line}: names no source, not checked: “{escape(one.text, SHOWN)}”", err=True)
    number = len(found.reading.answer["evidence"])
    if not number:
        hint = "“wording” ([title](policies/refund.md)) is one form; docs/spec/adapters/quotes.md has all"
        raise InputError("evidence.none", "holds no quotation that names its source", place, hint)
    without = f", {len(found.unreferenced)} without" if found.unreferenced else ""
    click.echo(f"{counted(number, 'quotation')} with a source{without}", err=True)
    made = json.dumps(found.reading.answer)  # in ASCII: wording of others never steers a terminal
    if str(output) == "-":
        click.echo(made)
    else:
        write_whole(output, made.encode("ascii") + b"\n")
    return 0
