"""Order and uniqueness of the lists that the pages call ascending; a schema cannot say it (step 3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any

from kansho_verify.canonical_json import JsonObject
from kansho_verify.reasons import Code, Reason, VerifyError

__all__ = ["check_bundle", "check_generation", "check_live"]


def check_bundle(bundle: JsonObject) -> None:
    """Every such list of a bundle's sections. Raises ``schema.not_ascending``."""
    audit = bundle.get("audit")
    if audit is None:
        return
    if "sealed" in audit:
        _ascending(audit["sealed"]["recipients"], "$.audit.sealed.recipients", itemgetter("recipient"))
        return
    _check_audit(audit["payload"], "$.audit.payload")
    check_generation(audit["generation"]["payload"], "$.audit.generation.payload")


def _check_audit(payload: JsonObject, path: str) -> None:
    _ascending(payload["request"]["groups"], f"{path}.request.groups")
    _ascending(payload["documents"], f"{path}.documents", itemgetter("document"))
    for i, document in enumerate(payload["documents"]):
        _ascending(document["acl"]["groups"], f"{path}.documents[{i}].acl.groups")
        _ascending(document["entries"], f"{path}.documents[{i}].entries", itemgetter("index"))


def check_generation(payload: JsonObject, path: str) -> None:
    """The pipeline's parsers ascend by media type. Raises ``schema.not_ascending``."""
    _ascending(payload["pipeline"]["parsers"], f"{path}.pipeline.parsers", itemgetter("media_type"))


def check_live(payload: JsonObject, path: str) -> None:
    """Tombstones ascend by document key, blocked keys ascend. Raises ``schema.not_ascending``."""
    _ascending(payload["tombstones"], f"{path}.tombstones", itemgetter("document_key"))
    _ascending(payload["blocked"], f"{path}.blocked")


def _ascending(items: Iterable[Any], path: str, key: Callable[[Any], Any] = lambda item: item) -> None:
    last = None
    for i, item in enumerate(items):
        this = key(item)
        if last is not None and this <= last:
            detail = "out of order, or there twice: this list ascends strictly by code point"
            raise VerifyError(Reason(Code.SCHEMA_NOT_ASCENDING, f"{path}[{i}]", detail))
        last = this
