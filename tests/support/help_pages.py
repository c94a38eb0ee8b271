"""``docs/commands.md``: the help of every command, as the programs print it. ``python -m tests.support.help_pages``."""

from __future__ import annotations

from collections.abc import Iterator

import click

import kansho_sign.cli.commands
import kansho_verify.cli.commands
from tests import ROOT

PAGE = ROOT / "docs" / "commands.md"
INTRODUCTION = """\
# Commands

The help of every command, as the programs print it. `make help-pages` writes this page; the tests compare it.
"""


def _commands(command: click.Command, name: str, parent: click.Context | None) -> Iterator[str]:
    context = click.Context(
        command, info_name=name, parent=parent, terminal_width=100, max_content_width=100, **command.context_settings
    )
    yield f"\n## `{context.command_path}`\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for sub in command.list_commands(context):
            made = command.get_command(context, sub)
            if made is not None:
                yield from _commands(made, sub, context)


def page() -> str:
    """The whole page."""
    programs = (
        ("kansho-sign", kansho_sign.cli.commands.cli),
        ("kansho-verify", kansho_verify.cli.commands.group),
    )
    return INTRODUCTION + "".join(part for name, program in programs for part in _commands(program, name, None))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
