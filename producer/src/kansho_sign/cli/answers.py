"""``ask`` and ``attest``."""

import json
import shutil
import sys
import textwrap
from pathlib import Path

import click

from kansho_sign.canonical_json import JsonObject, dumps, loads
from kansho_sign.cli.messages import counted, escape
from kansho_sign.cli.options import PATH, OutputFile, asker_options, subject_options
from kansho_sign.cli.workspaces import open_workspace
from kansho_sign.errors import InputError, UsageError
from kansho_sign.evidence import Decision, Finding
from kansho_sign.limits import LIMITS
from kansho_sign.output import read_bounded
from kansho_sign.pipeline.answer import Answer, Asker, View, ask, attest, open_view, write_bundle
from kansho_sign.schema import validate
from kansho_sign.sources.names import check_label
from kansho_sign.workspace import Workspace, load_policy

__all__ = ["ask_command", "attest_command"]

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


@click.command("ask", short_help="Answer a question in the documents' own words.")
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
    with open_workspace(ctx) as workspace, open_view(workspace, asker.tenant, asker.groups) as view:
        answer = ask(workspace, view, question, asker, top_k=top_k)
        words = "Answered:" if answer.status == "answered" else "No answer: insufficient evidence."
        _deliver(workspace, answer, output, words)
        if answer.status != "answered":
            click.echo(f"hint: {_no_answer(view)}", err=True)
    return 0 if answer.status == "answered" else 4


@click.command("attest", short_help="Check what a model quotes, and sign what stands.")
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
    with open_workspace(ctx) as workspace:
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
