"""``repair``: what the sources say in place of near misses, for a person to accept."""

import json
from pathlib import Path

import click

from kansho_sign.canonical_json import JsonObject
from kansho_sign.cli.evidence_input import EvidenceInput, evidence_options
from kansho_sign.cli.messages import counted, escape
from kansho_sign.cli.options import OutputFile, asker_options
from kansho_sign.cli.workspaces import open_workspace
from kansho_sign.errors import InputError
from kansho_sign.evidence import Decision, UntrustedAnswer, check
from kansho_sign.output import write_whole
from kansho_sign.pipeline.requests import Asker

__all__ = ["repair_command"]

SHOWN = 240


@click.command("repair", short_help="Propose the sources' own wording for quotes that nearly stand.")
@evidence_options
@click.option(
    "-o", "--output", type=OutputFile(), default="-", help="Where the proposal goes.  [default: standard output]"
)
@asker_options
@click.pass_context
def repair_command(
    ctx: click.Context,
    given: EvidenceInput,
    asker: Asker,
    output: Path,
) -> int:
    """Print ANSWER as a proposed answer in which every near miss has the source's own wording.

    Nothing is accepted and nothing is signed: a person compares what was quoted with what the source says (standard
    error shows both), and hands the proposal to attest if it still says what was meant. Exit code 3: something in it
    would be refused all the same.
    """
    reading = given.reading()
    answer = UntrustedAnswer.from_json(reading.answer)
    if not answer.evidence:
        raise InputError("evidence.none", "an answer without evidence has nothing to repair", "$.evidence")
    with open_workspace(ctx) as workspace, given.view(workspace, asker) as view:
        policy, masking = given.policy(workspace), given.masking()
        found = check(answer, view.registry, policy, masking=masking)
        proposal = _proposal(reading.answer, found.decisions)
        left = check(UntrustedAnswer.from_json(proposal), view.registry, policy, masking=masking, diagnose=False)
    mended = [decision for decision in found.decisions if decision.diagnosis is not None]
    for decision in mended:
        for line in _compared(decision):
            click.echo(line, err=True)
    for decision in left.findings:
        click.echo(f"{decision.path} ({escape(decision.source_id, 80)}): {decision.finding}, not repaired", err=True)
    summary = f"{counted(len(mended), 'excerpt')} replaced, {len(left.findings)} still refused; nothing was accepted"
    click.echo(summary, err=True)
    made = json.dumps(proposal)  # in ASCII: wording of others never steers a terminal
    if str(output) == "-":
        click.echo(made)
    else:
        write_whole(output, made.encode("ascii") + b"\n")
    return 3 if left.findings else 0


def _proposal(answer: JsonObject, decisions: tuple[Decision, ...]) -> JsonObject:
    evidence = [
        item if decision.diagnosis is None else {**item, "excerpt": decision.diagnosis.wording}
        for item, decision in zip(answer["evidence"], decisions, strict=False)
    ]
    return {**answer, "evidence": evidence}


def _compared(decision: Decision) -> list[str]:
    diagnosis = decision.diagnosis
    if diagnosis is None:
        return []
    return [
        f"{decision.path} ({escape(decision.source_id, 80)}): {', '.join(diagnosis.differences)}",
        f"  quoted: “{escape(decision.excerpt or '', SHOWN)}”",
        f"  source: “{escape(diagnosis.wording, SHOWN)}”",
    ]
