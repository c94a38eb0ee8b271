"""Rebuilds ``tests/vectors`` byte for byte: ``python -m tests.vectors.build``."""

from __future__ import annotations

import sys
from pathlib import Path

from kansho_sign.canonical_json import dumps
from tests.vectors import bundle_vectors, format_vectors, retrieval_vectors

FOLDER = Path(__file__).resolve().parent


def files() -> dict[str, bytes]:
    """Every built file by its path in ``tests/vectors``."""
    built = {
        "identities.json": dumps(format_vectors.identities()),
        "trees.json": dumps(format_vectors.trees()),
        "signatures.json": dumps(format_vectors.signatures()),
        "text.json": dumps(format_vectors.texts()),
        "retrieval.json": dumps(retrieval_vectors.build()),
    }
    return built | bundle_vectors.files(FOLDER / "sources")


EXAMPLE_TRUST_ROOT = FOLDER.parents[1] / "keys" / "example-trust-root.json"


def main() -> None:
    """Writes what differs and removes built files that nothing makes any more."""
    built = files()
    for path in (FOLDER / "bundles").rglob("*.json"):
        if path.relative_to(FOLDER).as_posix() not in built:
            path.unlink()
    EXAMPLE_TRUST_ROOT.write_bytes(built["bundles/trust-root.json"])
    for name, data in built.items():
        path = FOLDER / name
        if not path.is_file() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            sys.stdout.write(f"wrote {name}\n")


if __name__ == "__main__":
    main()
