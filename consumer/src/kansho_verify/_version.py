"""The version of the distribution, as installed."""

from __future__ import annotations

from importlib import metadata

__all__ = ["__version__"]


def _version() -> str:
    try:
        return metadata.version("kansho-verify")
    except metadata.PackageNotFoundError:
        return "0+unknown"


__version__ = _version()
