"""The command ``kansho-sign``. Nothing here decides anything: options in, a call, words out."""

import sys
import traceback
from collections.abc import Sequence

import click

from kansho_sign.cli.commands import cli
from kansho_sign.cli.messages import escape
from kansho_sign.errors import KanshoError

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code (docs/spec/verification.md): 0, 2, 3, 4 or 70."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = cli.main(args=given, prog_name="kansho-sign", standalone_mode=False)
    except click.exceptions.Abort:
        click.echo("aborted", err=True)
        return 2
    except click.ClickException as error:
        error.show()
        general = {name for parameter in cli.params for name in parameter.opts}
        if isinstance(error, click.NoSuchOption) and error.option_name in general:
            option = error.option_name
            click.echo(f"hint: {option} goes before the command: kansho-sign {option} … COMMAND", err=True)
        return 2
    except KanshoError as error:
        place = f"{escape(error.where)}: " if error.where else ""
        click.echo(f"error: {place}{escape(error.why, 600)} [{error.code}]", err=True)
        if error.hint:
            click.echo(f"hint: {escape(error.hint, 400)}", err=True)
        # A file that was named and cannot be read is a wrong call; ingest reports its files by itself.
        return 2 if error.code.startswith("input.") else error.exit_code
    except Exception as error:  # noqa: BLE001 - the last line of defence: a fault is exit 70, never a traceback
        if "--debug" in given:
            traceback.print_exc()
        click.echo(f"error: the program failed ({type(error).__name__}); --debug shows where", err=True)
        return 70
    return code if isinstance(code, int) else 0
