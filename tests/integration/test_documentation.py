"""What the documentation shows is what the programs do."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

import kansho_sign.cli.commands
import kansho_verify.cli.commands
from tests import ROOT
from tests.support import help_pages

PROGRAMS = {"kansho-sign": kansho_sign.cli.commands.cli, "kansho-verify": kansho_verify.cli.commands.group}
README = (ROOT / "README.md").read_text("utf-8")


def test_the_page_of_commands_is_what_the_programs_print() -> None:
    assert help_pages.PAGE.read_text("utf-8") == help_pages.page(), "run: make help-pages"


def shown_commands() -> list[list[str]]:
    joined = README.replace("\\\n", " ")
    return [shlex.split(line.strip()) for line in joined.splitlines() if re.match(r" {4}kansho-(sign|verify) ", line)]


def test_the_readme_shows_commands() -> None:
    assert len(shown_commands()) >= 8


@pytest.mark.parametrize("line", shown_commands(), ids=" ".join)
def test_every_command_of_the_readme_has_the_options_it_shows(line: list[str]) -> None:
    command: click.Command = PROGRAMS[line[0]]
    words = line[1:]
    while isinstance(command, click.Group):
        found = command.commands.get(words.pop(0))
        assert found is not None, line
        command = found
    known = {name for parameter in command.params for name in [*parameter.opts, *parameter.secondary_opts]}
    assert [word for word in words if word.startswith("-") and word not in known] == []


@pytest.mark.parametrize("page", sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]), ids=lambda p: p.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    text = re.sub(r"(?s)```.*?```|`[^`]*`", "", page.read_text("utf-8"))  # code shows links, it has none
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_option_has_help(program: str) -> None:
    def commands(command: click.Command) -> list[click.Command]:
        subcommands = command.commands.values() if isinstance(command, click.Group) else []
        return [command, *(one for sub in subcommands for one in commands(sub))]

    for command in commands(PROGRAMS[program]):
        assert command.help, command.name
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, (command.name, parameter.name)
