"""``ask``."""

from pathlib import Path

import click

from kansho_sign.cli.messages import escape
from kansho_sign.cli.options import asker_options
from kansho_sign.cli.showing import deliver, output_option
from kansho_sign.cli.workspaces import open_workspace
from kansho_sign.limits import LIMITS
from kansho_sign.pipeline.ask import ask
from kansho_sign.pipeline.requests import Asker
from kansho_sign.pipeline.view import PublishedView, open_view

__all__ = ["ask_command"]


def _no_answer(view: PublishedView) -> str:
    """What a person can do about it. Only standard error says it: the bundle tells nothing of what is visible."""
    if not view.documents:
        groups = ", ".join(escape(group, 80) for group in view.groups)
        return f"nothing published is visible to the groups {groups} of the tenant {escape(view.tenant, 80)}"
    return "words are compared, not meanings: ask in the words of the documents, and leave out the others"


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
@asker_options
@click.pass_context
def ask_command(
    ctx: click.Context,
    question: str,
    top_k: int,
    output: Path,
    asker: Asker,
) -> int:
    """Answer QUESTION with claims from the published documents, in a signed bundle.

    Exit code 4: nothing that the reader may see answers it; the bundle says so. Words are compared, not meanings.
    """
    with open_workspace(ctx) as workspace, open_view(workspace, asker.tenant, asker.groups) as view:
        answer = ask(workspace, view, question, asker, top_k=top_k)
        words = "Answered:" if answer.status == "answered" else "No answer: insufficient evidence."
        deliver(workspace, answer.bundle or {}, output, words)
        if answer.status != "answered":
            click.echo(f"hint: {_no_answer(view)}", err=True)
    return 0 if answer.status == "answered" else 4
