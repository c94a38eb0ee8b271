"""How the tests of the consumer run it on what the forger made. Helpers raise; they never assert."""

from __future__ import annotations

from typing import Any

from kansho_verify import Code, Expectations, Profile, Verdict, schema, to_document, verify
from kansho_verify.reasons import VerifyError
from tests.support.forge import NOW, Forge


def check(forge: Forge, *, expected: dict[str, Any] | None = None, **changes: Any) -> Verdict:
    """The verdict on the forger's bundle with everything given that the default profile needs, but for ``changes``.

    The verdict's document is validated every time.
    """
    wanted = {"question": forge.question or ""} | (expected or {})
    arguments: dict[str, Any] = {
        "data": forge.bundle_bytes,
        "trust_root": forge.trust_root_bytes,
        "generation": forge.generation_bytes,
        "live": forge.live_bytes,
        "sources": forge.sources,
        "now": NOW,
        "expected": Expectations(**wanted),
    }
    arguments |= changes
    verdict = verify(arguments.pop("data"), **arguments)
    schema.check("check", to_document(verdict))
    return verdict


def check_bytes(data: bytes) -> Verdict:
    """The verdict on any bytes, with the trust root and all else of an ordinary corpus."""
    return check(Forge(), data=data)


def refused(call: Any, *arguments: Any, **keywords: Any) -> Code:
    """The code of the VerifyError that a call raises."""
    try:
        call(*arguments, **keywords)
    except VerifyError as error:
        return error.reason.code
    raise RuntimeError("it was not refused")


PUBLIC, BOUNDARY, AUDIT = Profile.PUBLIC, Profile.BOUNDARY, Profile.AUDIT
