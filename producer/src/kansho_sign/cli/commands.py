"""The command ``kansho-sign``: its options, ``init``, ``demo``, and the commands of the other modules."""

from pathlib import Path

import click

from kansho_sign import __version__
from kansho_sign.cli.ask import ask_command
from kansho_sign.cli.attest import attest_command
from kansho_sign.cli.demo import run_demo
from kansho_sign.cli.messages import escape
from kansho_sign.cli.options import PATH, now_option, passphrase_source
from kansho_sign.cli.quotes import quotes_command
from kansho_sign.cli.repair import repair_command
from kansho_sign.cli.sources import ingest_command, publish_command
from kansho_sign.errors import UsageError
from kansho_sign.workspace import TRUST_ROOT_DAYS, create

__all__ = ["cli"]


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
    click.echo(f"  trust-root.json  whoever verifies gets it from you, once; good for {TRUST_ROOT_DAYS} days")
    click.echo("  published/       and this after every publish")
    click.echo("  keys/            stays here" + ("; the keys are NOT encrypted" if unencrypted_keys else ""))
    enter = "" if folder.resolve() == Path.cwd() else f"cd {place}, "
    click.echo(f"Next: {enter}kansho-sign ingest PATH…, kansho-sign publish")


@cli.command("demo", short_help="Run everything once, in a temporary workspace.")
def demo_command() -> int:
    """Run everything once on this project's own documentation, in a temporary workspace."""
    return run_demo()


for _command in (ingest_command, publish_command, ask_command, attest_command, repair_command, quotes_command):
    cli.add_command(_command)
