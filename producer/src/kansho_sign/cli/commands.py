"""The commands of ``kansho-sign``."""

import json
import secrets
import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from kansho_sign import __version__
from kansho_sign.canonical_json import JsonObject, dumps, loads
from kansho_sign.cli.messages import counted, escape
from kansho_sign.cli.options import OutputFile, asker_options, now_option, passphrase_source, subject_options
from kansho_sign.cli.progress import progress_bar
from kansho_sign.demo import run_demo
from kansho_sign.errors import InputError, UsageError
from kansho_sign.evidence import Decision, Finding
from kansho_sign.limits import LIMITS
from kansho_sign.output import read_bounded
from kansho_sign.pipeline.answer import Answer, Asker, View, ask, attest, open_view, write_bundle
from kansho_sign.pipeline.ingest import Summary, Wanted, ingest
from kansho_sign.pipeline.publish import publish
from kansho_sign.schema import validate
from kansho_sign.sources.events import Effect
from kansho_sign.sources.names import check_label
from kansho_sign.workspace import Workspace, create, find, load_policy

__all__ = ["cli"]

PATH = click.Path(path_type=Path)
SHOWN_FILES = 5
SHOWN_NAMES = 20
SHOWN_CHARACTERS, SHOWN_LINES, SHOWN_COLUMNS = 600, 12, 100
SHOWN_EXCERPT = 60
ANSWER_HINT = 'one JSON object: {"schema": "kansho.answer.v1", "evidence": [{"source_id": "…", "excerpt": "…"}]}'
FINDINGS = {
    Finding.UNKNOWN_SOURCE: "the reader sees no document of this id, which is its path inside the ingested folder",
    Finding.ROLE_NOT_ALLOWED: "it stands in a source whose role the policy does not allow",
    Finding.EMPTY_EXCERPT: "there is nothing visible in it",
    Finding.WRONG_SOURCE: "it does not stand in the document that it names, but in another one",
    Finding.UNVERIFIED_EXCERPT: "it stands nowhere; every quotation mark, dash, Markdown sign and line break counts",
    Finding.EXCERPT_CUTS_NUMBER: "it would cut a number: quote the whole number, with its sign",
    Finding.EXCERPT_CUTS_CHARACTER: "it would cut a character that is made of several: quote all of it",
    Finding.CANONICAL_OVERWRITE: "the proposed text is not that of the document",
}
output_option = click.option(
    "-o",
    "--output",
    type=OutputFile(),
    required=True,
    help="Where the bundle goes; '-' is standard output.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "KANSHO"})
@click.option(
    "--workspace",
    "folder",
    type=PATH,
    envvar="KANSHO_WORKSPACE",
    help="Workspace folder.  [default: the nearest one upwards]",
)
@click.option("--passphrase-file", type=PATH, help="File whose one line is the passphrase of the keys.")
@click.option("--debug", is_flag=True, expose_value=False, help="Show a traceback when the program fails.")
@click.version_option(__version__, prog_name="kansho-sign")
@click.pass_context
def cli(ctx: click.Context, folder: Path | None, passphrase_file: Path | None) -> None:
    """Sign citations that a stranger can check offline.

    A workspace holds sources, keys and what is published. The usual way: init, ingest, publish, then ask or attest.
    What comes out is checked with the separate command kansho-verify.

    Exit codes: 0 done, 2 wrong usage, 3 something was refused, 4 no answer or nothing published, 70 the program, its
    store or the disk failed.
    """
    ctx.obj = (folder, passphrase_file)


@contextmanager
def _workspace(ctx: click.Context) -> Iterator[Workspace]:
    folder, passphrase_file = ctx.obj
    workspace = find(folder or Path.cwd(), lambda: passphrase_source(passphrase_file))
    try:
        yield workspace
    finally:
        workspace.close()


@cli.command("init", short_help="Make a workspace: keys, policy, store, trust root.")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=Path(), metavar="[DIR]")
@click.option("--unencrypted-keys", is_flag=True, help="Leave the private keys without a passphrase.")
@click.option("--passphrase-file", type=PATH, help="File whose one line becomes the passphrase of the keys.")
@click.option("--issuer", help="Name that stands in everything signed.  [default: kansho- and part of the corpus id]")
@now_option
@click.pass_context
def init_command(
    ctx: click.Context,
    folder: Path,
    unencrypted_keys: bool,
    passphrase_file: Path | None,
    issuer: str | None,
    now: int,
) -> None:
    """Make a workspace in DIR: configuration, policy, keys, store, trust root.

    The passphrase comes from --passphrase-file, the variable KANSHO_PASSPHRASE, or a prompt; the other commands take
    it from the same three. DIR is the current folder unless given.
    """
    if unencrypted_keys and passphrase_file:
        raise click.UsageError("--unencrypted-keys and --passphrase-file exclude each other.")
    passphrase = None if unencrypted_keys else passphrase_source(passphrase_file or ctx.obj[1], confirm=True)
    if not unencrypted_keys and not passphrase:
        hint = "give --passphrase-file FILE, set KANSHO_PASSPHRASE, or say --unencrypted-keys"
        raise UsageError("keys.passphrase_missing", "the private keys need a passphrase", hint=hint)
    workspace = create(folder, issuer=issuer, passphrase=passphrase, now=now)
    workspace.close()
    place = escape(str(folder))
    click.echo(f"Made a workspace in {place}, issuer {escape(workspace.configuration.issuer)}.")
    click.echo("  trust-root.json  whoever verifies gets it from you, once")
    click.echo("  published/       and this after every publish")
    click.echo("  keys/            stays here" + ("; the keys are NOT encrypted" if unencrypted_keys else ""))
    enter = "" if folder.resolve() == Path.cwd() else f"cd {place}, "
    click.echo(f"Next: {enter}kansho-sign ingest PATH…, kansho-sign publish")


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
    if summary.gone:
        click.echo(f"note: gone from the folder: {counted(len(summary.gone), 'known document')}", err=True)
        for name in summary.gone[:SHOWN_NAMES]:
            click.echo(f"  {escape(name)}", err=True)
        if len(summary.gone) > SHOWN_NAMES:
            click.echo(f"  … and {len(summary.gone) - SHOWN_NAMES} more", err=True)
        click.echo("  they stay published; --remove-missing deletes them", err=True)


@cli.command("ingest", short_help="Take in Markdown and text files, or source events.")
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
    with _workspace(ctx) as workspace, progress_bar("Reading") as step:
        wanted = Wanted(tenant, tuple(sorted(set(groups))), role, prefix, base_uri, remove_missing)
        summary = ingest(workspace, paths, wanted, now=now, random=secrets.token_hex, progress=step)
    _report(summary)
    changed = any(one.effect not in (Effect.UNCHANGED, Effect.REPEATED, Effect.STALE) for one in summary.accepted)
    if changed:
        click.echo("Next: kansho-sign publish")
    return 3 if summary.refused else 0


@cli.command("publish", short_help="Sign what was taken in, for others to verify.")
@now_option
@click.pass_context
def publish_command(ctx: click.Context, now: int) -> None:
    """Build, validate and publish a generation; write published/generation.json and live.json.

    Where nothing has changed, the generation stays and the live state, which soon expires (live_days in kansho.toml),
    is made anew.
    """
    with _workspace(ctx) as workspace:
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


def _asker(
    tenant: str,
    groups: tuple[str, ...],
    subject: str | None,
    audience: str | None,
    challenge: str,
    nonce: str,
    now: int,
) -> Asker:
    named = (
        (tenant, "tenant"),
        (subject, "subject"),
        (audience, "audience"),
        *((group, "group") for group in groups),
    )
    for label, what in named:
        if label is not None:
            check_label(label, what)
    return Asker(tenant, tuple(sorted(set(groups))), subject, audience, now, nonce, challenge)


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


def _no_answer(view: View) -> str:
    """What a person can do about it. Only standard error says it: the bundle tells nothing of what is visible."""
    if not view.documents:
        groups = ", ".join(escape(group, 80) for group in view.groups)
        return f"nothing published is visible to the groups {groups} of the tenant {escape(view.tenant, 80)}"
    return "words are compared, not meanings: ask in the words of the documents, and leave out the others"


def _deliver(workspace: Workspace, answer: Answer, output: Path, words: str) -> None:
    bundle = answer.bundle or {}
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


@cli.command("ask", short_help="Answer a question in the documents' own words.")
@click.argument("question")
@click.option(
    "--top-k",
    type=click.IntRange(1, LIMITS.top_k),
    default=5,
    show_default=True,
    help="At most so many claims.",
)
@output_option
@subject_options
@asker_options
@click.pass_context
def ask_command(
    ctx: click.Context,
    question: str,
    top_k: int,
    output: Path,
    tenant: str,
    groups: tuple[str, ...],
    subject: str | None,
    audience: str | None,
    challenge: str,
    nonce: str,
    now: int,
) -> int:
    """Answer QUESTION with claims from the published documents, in a signed bundle.

    Exit code 4: nothing that the reader may see answers it; the bundle says so. Words are compared, not meanings.
    """
    asker = _asker(tenant, groups, subject, audience, challenge, nonce, now)
    with _workspace(ctx) as workspace, open_view(workspace, asker.tenant, asker.groups) as view:
        answer = ask(workspace, view, question, asker, top_k=top_k)
        words = "Answered:" if answer.status == "answered" else "No answer: insufficient evidence."
        _deliver(workspace, answer, output, words)
        if answer.status != "answered":
            click.echo(f"hint: {_no_answer(view)}", err=True)
    return 0 if answer.status == "answered" else 4


@cli.command("attest", short_help="Check what a model quotes, and sign what stands.")
@click.argument("answer_file", type=PATH, metavar="ANSWER")
@click.option("--policy", "policy_file", type=PATH, help="Policy.  [default: the workspace's policy.json]")
@click.option("--question", help="The question that was answered.  [default: none]")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@output_option
@subject_options
@asker_options
@click.pass_context
def attest_command(
    ctx: click.Context,
    answer_file: Path,
    policy_file: Path | None,
    question: str | None,
    as_json: bool,
    output: Path,
    tenant: str,
    groups: tuple[str, ...],
    subject: str | None,
    audience: str | None,
    challenge: str,
    nonce: str,
    now: int,
) -> int:
    """Check a model's evidence in ANSWER against the published documents and sign what stands.

    ANSWER is a JSON file, {"schema": "kansho.answer.v1", "evidence": [{"source_id": …, "excerpt": …}]}, or '-'. One bad
    piece of evidence, and nothing is written: exit code 3.
    """
    if as_json and str(output) == "-":
        raise UsageError("attest.output", "findings and bundle cannot both go to standard output", hint="give -o FILE")
    asker = _asker(tenant, groups, subject, audience, challenge, nonce, now)
    untrusted = _read_answer(answer_file)
    with _workspace(ctx) as workspace:
        policy = load_policy(policy_file) if policy_file else workspace.policy()
        with open_view(workspace, asker.tenant, asker.groups) as view:
            answer = attest(workspace, view, untrusted, policy, asker, question=question or None)
        if answer.bundle is not None:
            if as_json:
                write_bundle(workspace, answer.bundle, output)
            else:
                number = len(answer.bundle["public"]["payload"]["claims"])
                _deliver(workspace, answer, output, f"All evidence stands: {counted(number, 'claim')}.")
    if as_json:
        findings = [
            {"path": d.path, "code": d.finding, "source_id": d.source_id, "diagnosis": None} for d in answer.findings
        ]
        click.echo(json.dumps({"status": answer.status, "findings": findings}))
    elif answer.findings:
        _refuse(answer, untrusted)
    return 0 if answer.bundle is not None else 3


def _refuse(answer: Answer, untrusted: JsonObject) -> None:
    number = len(answer.decisions)
    click.echo(f"Refused: {len(answer.findings)} of {number} items do not stand; nothing was written.", err=True)
    received = [
        *(item["excerpt"] for item in untrusted["evidence"]),
        *(item["text"] for item in untrusted.get("proposed_texts", [])),
    ]

    def line(decision: Decision, text: str) -> str:
        where = f"{decision.path} ({escape(decision.source_id, 80)})"
        return f"  {where}: {decision.finding}\n    “{escape(text, SHOWN_EXCERPT)}”"

    for decision, text in zip(answer.decisions, received, strict=True):
        if decision.finding is not None:
            click.echo(line(decision, text), err=True)
    for finding in dict.fromkeys(decision.finding for decision in answer.findings):
        if finding is not None:
            click.echo(f"{finding}: {FINDINGS[finding]}", err=True)
    click.echo("hint: give the model these findings and the documents' text, and have it quote again", err=True)


def _read_answer(path: Path) -> JsonObject:
    if str(path) == "-":
        data, place = sys.stdin.buffer.read(LIMITS.answer_bytes + 1), "standard input"
    else:
        data, place = read_bounded(path, LIMITS.answer_bytes), str(path)
    try:
        answer: JsonObject = loads(data, LIMITS.answer_bytes, canonical=False)
        validate(answer, "answer")
    except InputError as error:
        if error.code == "json.syntax":
            why = error.why if data.strip() else "is empty"
            raise InputError(error.code, why, place, ANSWER_HINT) from None
        raise error.at(place) from None
    return answer


@cli.command("demo", short_help="Run everything once, in a temporary workspace.")
def demo_command() -> int:
    """Run everything once on this project's own documentation, in a temporary workspace."""
    return run_demo()
