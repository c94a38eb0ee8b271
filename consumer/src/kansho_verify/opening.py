"""Step 4: the statements of a bundle, opened but not verified."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kansho_verify.canonical_json import JsonObject
from kansho_verify.reasons import Code, Reason, VerifyError
from kansho_verify.statement import Statement, open_statement

__all__ = ["Bundle", "open_bundle"]


@dataclass(frozen=True, slots=True)
class Bundle:
    """The statements of a bundle. ``audit`` and ``generation`` are None where the audit section is not read.

    ``sealed_for`` is the hash of the public payload for which the audit section is sealed, if it is.
    """

    public: Statement
    audit: Statement | None
    generation: Statement | None
    sealed_for: str | None

    def statements(self) -> Iterator[tuple[Statement, str]]:
        """Every statement that is there, with its path."""
        yield self.public, "$.public"
        if self.audit is not None:
            yield self.audit, "$.audit"
        if self.generation is not None:
            yield self.generation, "$.audit.generation"

    def audit_absent(self) -> Reason:
        """Why there is no audit section to read."""
        hint = "--profile public checks the public section alone"
        if self.sealed_for is not None:
            detail = "the audit section is sealed; this version cannot open it"
            return Reason(Code.SECTION_AUDIT_SEALED, "$.audit", detail, hint=hint)
        return Reason(Code.SECTION_AUDIT_MISSING, "$", "the bundle has no audit section", hint=hint)


def open_bundle(value: JsonObject, *, public_only: bool) -> Bundle:
    """The statements of a bundle that is valid by its schema; with ``public_only`` the audit section is left alone.

    Raises VerifyError: the codes of :func:`~kansho_verify.statement.open_statement`, with paths into the bundle.
    """
    public = _open(value["public"], "$.public")
    audit = value.get("audit")
    if public_only or audit is None:
        return Bundle(public, None, None, None)
    if "sealed" in audit:
        return Bundle(public, None, None, audit["sealed"]["public_sha256"])
    return Bundle(public, _open(audit, "$.audit"), _open(audit["generation"], "$.audit.generation"), None)


def _open(section: JsonObject, path: str) -> Statement:
    try:
        return open_statement(section["payload"], section["signatures"])
    except VerifyError as error:
        raise VerifyError(error.reason.under(path)) from error
