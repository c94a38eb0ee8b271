"""``ingest`` and ``publish``."""

import secrets
from collections import Counter
from pathlib import Path

import click

from kansho_sign.cli.messages import counted, escape
from kansho_sign.cli.options import PATH, now_option
from kansho_sign.cli.progress import progress_bar
from kansho_sign.cli.workspaces import open_workspace
from kansho_sign.pipeline.ingest import Summary, Wanted, ingest
from kansho_sign.pipeline.publish import publish
from kansho_sign.sources.events import Effect
from kansho_sign.sources.names import check_label

__all__ = ["ingest_command", "publish_command"]

SHOWN_FILES = 5
SHOWN_NAMES = 20


def _report(summary: Summary) -> None:
    counts = Counter(one.effect for one in summary.accepted)
    words = ", ".join(f"{number} {effect.replace('_', ' ')}" for effect, number in sorted(counts.items())) or "nothing"
    click.echo(f"Accepted: {words}.")
    if number := counts[Effect.ACCESS_CHANGED]:
        click.echo(f"note: {counted(number, 'document')} with other groups: nobody sees them until published", err=True)
    for error in summary.refused:
        place = f"{escape(error.where, 300)}: " if error.where else ""
        click.echo(f"refused: {place}{escape(error.why, 300)} [{error.code}]", err=True)
        if error.hint:
            click.echo(f"  hint: {escape(error.hint)}", err=True)
    if summary.refused:
        click.echo("note: of what is refused nothing was taken in; what was known of it before stays", err=True)
    if summary.passed_over:
        shown = ", ".join(escape(str(path), 80) for path in summary.passed_over[:SHOWN_FILES])
        rest = len(summary.passed_over) - SHOWN_FILES
        more = f" and {rest} more" if rest > 0 else ""
        click.echo(f"note: no parser for {len(summary.passed_over)} files: {shown}{more}", err=True)
    if summary.moved:
        names = ", ".join(escape(name, 80) for name in summary.moved[:SHOWN_FILES])
        more = f" and {len(summary.moved) - SHOWN_FILES} more" if len(summary.moved) > SHOWN_FILES else ""
        click.echo(f"note: these came from another folder before, and are now replaced: {names}{more}", err=True)
        click.echo("  --prefix keeps the documents of two folders apart", err=True)
    if summary.gone:
        click.echo(f"note: gone from the folder: {counted(len(summary.gone), 'known document')}", err=True)
        for name in summary.gone[:SHOWN_NAMES]:
            click.echo(f"  {escape(name)}", err=True)
        if len(summary.gone) > SHOWN_NAMES:
            click.echo(f"  … and {len(summary.gone) - SHOWN_NAMES} more", err=True)
        click.echo("  they stay published; --remove-missing deletes them", err=True)


@click.command("ingest", short_help="Take in Markdown and text files, or source events.")
@click.argument("paths", type=PATH, nargs=-1, required=True, metavar="PATH…")
@click.option("--tenant", default="default", show_default=True, help="Tenant that the documents belong to.")
@click.option(
    "--allow",
    "groups",
    multiple=True,
    default=("public",),
    show_default=True,
    metavar="GROUP",
    help="A group that may see them; may be repeated, and replaces the default.",
)
@click.option("--role", default="document", show_default=True, help="Role of the sources, for policies.")
@click.option("--prefix", default="", help="Put before every document id, as 'team-a/'.")
@click.option("--base-uri", default="", help="Put before the path in every source uri.")
@click.option("--remove-missing", is_flag=True, help="Delete known documents that are gone from the folder.")
@now_option
@click.pass_context
def ingest_command(
    ctx: click.Context,
    paths: tuple[Path, ...],
    tenant: str,
    groups: tuple[str, ...],
    role: str,
    prefix: str,
    base_uri: str,
    remove_missing: bool,
    now: int,
) -> int:
    """Take in files and folders (Markdown, plain text) and .jsonl files of source events.

    A document's id is its path inside the folder that is named. Files end in .md, .markdown, .txt or .text and are in
    UTF-8; others in a folder are passed over, and so are hidden ones. A .jsonl file is named itself.

    Nothing is published by this. A file that is refused is named with its reason, the others are taken in, and the
    exit code is 3.
    """
    for label, what in ((tenant, "tenant"), (role, "role"), *((group, "group") for group in groups)):
        check_label(label, what)
    with open_workspace(ctx) as workspace, progress_bar("Reading") as step:
        wanted = Wanted(tenant, tuple(sorted(set(groups))), role, prefix, base_uri, remove_missing)
        summary = ingest(workspace, paths, wanted, now=now, random=secrets.token_hex, progress=step)
    _report(summary)
    changed = any(one.effect not in (Effect.UNCHANGED, Effect.REPEATED, Effect.STALE) for one in summary.accepted)
    if changed:
        click.echo("Next: kansho-sign publish")
    return 3 if summary.refused else 0


@click.command("publish", short_help="Sign what was taken in, for others to verify.")
@now_option
@click.pass_context
def publish_command(ctx: click.Context, now: int) -> None:
    """Build, validate and publish a generation; write published/generation.json and live.json.

    Where nothing has changed, the generation stays and the live state, which soon expires (live_days in kansho.toml),
    is made anew.
    """
    with open_workspace(ctx) as workspace:
        workspace.key("live")  # asks for the passphrase now, and not after the work
        with progress_bar("Deriving") as step:
            made = publish(workspace, now, step)
        what = "Nothing changed: kept" if made.renewed else "Published"
        size = f"{counted(made.documents, 'document')}, {made.entries} index entries"
        click.echo(f"{what} generation {made.sequence}, {size}.")
        click.echo(f"  {made.generation}")
        days = counted(workspace.configuration.live_days, "day")
        click.echo(f"For whoever verifies: {escape(str(workspace.published))}")
        click.echo(f"  its live state is good for {days}: publish again before, also when nothing has changed")
