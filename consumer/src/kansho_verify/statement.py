"""Signed statements: strict bytes, schema, order, and signatures that have the closed form (steps 1 to 4).

A :class:`Statement` is not verified yet; :func:`kansho_verify.trust.check_signatures` does that.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from kansho_verify import cose, ordering, schema, strict_json
from kansho_verify.canonical_json import JsonObject, serialise
from kansho_verify.reasons import Code, Reason, VerifyError

__all__ = ["Statement", "open_statement", "read_statement"]


@dataclass(frozen=True, slots=True)
class Statement:
    """A payload with the envelopes that name it. ``digest`` is the SHA-256 of its canonical bytes."""

    payload: JsonObject
    media_type: str
    digest: bytes
    envelopes: tuple[cose.Envelope, ...]

    @property
    def sha256(self) -> str:
        """The statement hash, in hexadecimal."""
        return self.digest.hex()


def read_statement(name: str, data: bytes, limit_bytes: int) -> Statement:
    """The statement ``kansho.NAME.v1`` that the bytes of a file are.

    Raises VerifyError: ``limits.*``, ``json.*``, ``schema.*``, and the codes of :func:`open_statement`.
    """
    value = strict_json.parse(data, limit_bytes=limit_bytes)
    schema.check(name, value)
    if name == "generation":
        ordering.check_generation(value["payload"], "$.payload")
    elif name == "live":
        ordering.check_live(value["payload"], "$.payload")
    return open_statement(value["payload"], value["signatures"])


def open_statement(payload: JsonObject, signatures: list[str]) -> Statement:
    """The statement of a payload that is valid by its schema. Paths in reasons start at the statement.

    Raises VerifyError: the codes of :func:`kansho_verify.cose.read_envelope`, and ``cose.kid_order``.
    """
    envelopes: list[cose.Envelope] = []
    for i, text in enumerate(signatures):
        try:
            envelope = cose.read_envelope(text, payload)
        except VerifyError as error:
            raise VerifyError(error.reason.under(f"$.signatures[{i}]")) from error
        if envelopes and envelope.kid <= envelopes[-1].kid:
            detail = "signatures ascend by the thumbprint of their key, and each key signs once"
            raise VerifyError(Reason(Code.COSE_KID_ORDER, f"$.signatures[{i}]", detail))
        envelopes.append(envelope)
    digest = hashlib.sha256(serialise(payload)).digest()
    return Statement(payload, cose.media_type_of(payload), digest, tuple(envelopes))
