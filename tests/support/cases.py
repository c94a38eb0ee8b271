"""Runs one case of ``tests/vectors/bundles/cases.json`` through the consumer's library."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kansho_verify import Expectations, Profile, Verdict, to_document, verify
from tests import ROOT

FOLDER = ROOT / "tests" / "vectors"


def vector_sources() -> dict[str, bytes]:
    """The raw sources of the vectors, by name."""
    folder = FOLDER / "sources"
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def expectations(case: dict[str, Any]) -> Expectations:
    """What the case's caller asked for."""
    return Expectations(
        question=case["question"],
        any_question=case["any_question"],
        audience=case["audience"],
        challenge=case["challenge"],
        tenant=case["tenant"],
        subject=case["subject"],
        groups=tuple(case["groups"]),
        allow_request_registry=case["allow_request_registry"],
    )


def verify_case(case: dict[str, Any], bundle: bytes | None = None) -> Verdict:
    """The consumer's verdict on a case's bundle, or on other bytes in its place."""
    bundles = FOLDER / "bundles"

    def read(name: str | None) -> bytes | None:
        return None if name is None else (bundles / name).read_bytes()

    return verify(
        bundle if bundle is not None else (bundles / case["bundle"]).read_bytes(),
        trust_root=read(case["trust_root"]),
        expected=expectations(case),
        now=case["at"],
        profile=Profile(case["profile"]),
        generation=read(case["generation"]),
        live=read(case["live"]),
        sources=vector_sources() if case["sources"] else None,
    )


def codes(verdict: Verdict) -> Iterator[str]:
    """Every reason code of a verdict, of checks, claims and citations."""
    document = to_document(verdict)
    for check in document["checks"]:
        yield from (reason["code"] for reason in check["reasons"])
    for claim in document["claims"]:
        for citation in claim["citations"]:
            yield from (reason["code"] for reason in citation["reasons"])


__all__ = ["FOLDER", "codes", "expectations", "vector_sources", "verify_case"]
