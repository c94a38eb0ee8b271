"""The command ``kansho-verify``. The logic is elsewhere: commands read files, call the library, and print."""

from kansho_verify.cli.commands import main

__all__ = ["main"]
