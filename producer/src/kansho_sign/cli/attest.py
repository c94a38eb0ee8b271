"""``attest``."""

import json
from pathlib import Path

import click

from kansho_sign.adapters.formats import offset_notes
from kansho_sign.cli.evidence_input import EvidenceInput, evidence_options
from kansho_sign.cli.findings import findings_json, in_words, notes_in_words
from kansho_sign.cli.messages import counted, escape
from kansho_sign.cli.options import OutputFile, asker_options
from kansho_sign.cli.showing import deliver
from kansho_sign.cli.workspaces import open_workspace
from kansho_sign.errors import UsageError
from kansho_sign.evidence import UntrustedAnswer
from kansho_sign.pipeline.attest import Attestation, attest
from kansho_sign.pipeline.requests import Answer, Asker, write_bundle
from kansho_sign.workspace import Workspace

__all__ = ["attest_command"]


def _check_output(output: Path | None, *, dry_run: bool, as_json: bool, sign_rejection: bool) -> None:
    if dry_run and (output is not None or sign_rejection):
        why = "nothing is signed, so that there is nothing to write"
        raise UsageError("attest.dry_run", why, "--dry-run", "leave -o and --sign-rejection out")
    if not dry_run and output is None:
        raise UsageError("attest.output", "where the bundle goes is missing", hint="give -o FILE, or --dry-run")
    if as_json and str(output) == "-":
        raise UsageError("attest.output", "findings and bundle cannot both go to standard output", hint="give -o FILE")


@click.command("attest", short_help="Check what a model quotes, and sign what stands.")
@evidence_options
@click.option("--question", help="The question that was answered.  [default: none]")
@click.option("--dry-run", is_flag=True, help="Check and print, sign nothing.")
@click.option("--sign-rejection", is_flag=True, help="Where evidence is refused, sign that it was.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option(
    "-o", "--output", type=OutputFile(), help="Where the bundle goes; '-' is standard output. Not with --dry-run."
)
@asker_options
@click.pass_context
def attest_command(
    ctx: click.Context,
    given: EvidenceInput,
    asker: Asker,
    question: str | None,
    dry_run: bool,
    sign_rejection: bool,
    as_json: bool,
    output: Path | None,
) -> int:
    """Check a model's evidence in ANSWER against the published documents and sign what stands.

    ANSWER is a JSON file, {"schema": "kansho.answer.v1", "evidence": [{"source_id": …, "excerpt": …}]}, or '-', or with
    --format a provider's answer as its program returns it. One bad piece of evidence, and nothing is written: exit code
    3.
    """
    _check_output(output, dry_run=dry_run, as_json=as_json, sign_rejection=sign_rejection)
    reading = given.reading()
    untrusted = UntrustedAnswer.from_json(reading.answer)
    with open_workspace(ctx) as workspace:
        wanted = Attestation(given.policy(workspace), question or None, given.masking(), sign_rejection, dry_run)
        with given.view(workspace, asker) as view:
            answer = attest(workspace, view, untrusted, asker, wanted)
        if answer.bundle is not None and output is not None:
            _write(workspace, answer, output, quiet=as_json)
    notes = offset_notes(reading, answer.decisions)
    if as_json:
        signed = answer.bundle is not None
        click.echo(json.dumps(findings_json(answer, reading, notes, signed=signed)))
        return 3 if answer.findings else 0
    for line in notes_in_words(notes):
        click.echo(line, err=True)
    if not answer.findings:
        if dry_run:
            click.echo(f"All evidence stands: {counted(len(answer.decisions), 'item')}. Nothing was signed.")
        return 0
    number = f"{len(answer.findings)} of {counted(len(answer.decisions), 'item')}"
    rejection = f"wrote a signed rejection to {escape(str(output))}"
    written = rejection if answer.bundle is not None else "nothing was written"
    click.echo(f"Refused: {number} do not stand; {written}.", err=True)
    for line in in_words(answer, reading):
        click.echo(line, err=True)
    click.echo("hint: give the model these findings and the sources' text, and have it quote again", err=True)
    if any(decision.diagnosis for decision in answer.findings):
        click.echo("hint: kansho-sign repair proposes the sources' own wording", err=True)
    return 3


def _write(workspace: Workspace, answer: Answer, output: Path, *, quiet: bool) -> None:
    bundle = answer.bundle or {}
    if quiet or (answer.findings and str(output) != "-"):
        write_bundle(workspace, bundle, output)
    else:
        deliver(workspace, bundle, output, "Rejected." if answer.findings else _accepted(answer))


def _accepted(answer: Answer) -> str:
    words = f"All evidence stands: {counted(len(answer.decisions), 'item')}."
    artifact = answer.result.artifact if answer.result else None
    if artifact is None:
        return words
    return f"{words} The artifact holds {counted(len(artifact.sources), 'whole source')}."
