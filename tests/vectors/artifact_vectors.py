"""``artifact*``, ``request-registry*`` and ``rejected``: coverage, a request's own sources, a signed rejection."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kansho_sign.claims import cite, claim
from kansho_sign.evidence import Evidence, Policy, UntrustedAnswer
from kansho_sign.pipeline.attest import Attestation, attest, materialise
from kansho_sign.pipeline.request_registry import RequestView
from kansho_sign.pipeline.view import open_view

if TYPE_CHECKING:
    from pathlib import Path

    from tests.vectors.bundle_vectors import Corpus

Bundle = dict[str, Any]

EVIDENCE = (
    Evidence("policies/refund.md", "Vouchers are not refunded."),
    Evidence("menu.txt", "café menu"),
)
REFUND, SHIPPING, MENU = "policies/refund.md", "policies/shipping.txt", "menu.txt"
SELECTION = {"selected_ids": [SHIPPING, REFUND], "source_order": [REFUND, MENU, SHIPPING]}
ATTESTED: dict[str, Any] = {"question": ""}
OF_A_REQUEST: dict[str, Any] = {"allow_request_registry": True, "generation": None, "live": None, **ATTESTED}


class Artifacts:
    """Bundles with an artifact, made by the producer; and the same, forged."""

    def __init__(self, corpus: Corpus, sources: Path) -> None:
        self._corpus = corpus
        self.whole = self._attest(EVIDENCE, coverage="all_selected_sources", **SELECTION)
        self.evidence = self._attest(EVIDENCE, coverage="selected_evidence", **SELECTION)
        self.alone = self._materialise()
        self.request = self._request(sources)
        self.rejected = self._attest((Evidence(MENU, "tea menu"), *EVIDENCE), coverage=None)

    def _policy(self, **changes: Any) -> Policy:
        return Policy.from_json({**self._corpus.workspace.policy(), **changes})

    def _attest(self, evidence: tuple[Evidence, ...], **policy: Any) -> Bundle:
        corpus, wanted = self._corpus, Attestation(self._policy(**policy), sign_rejection=True)
        with open_view(corpus.workspace, "default", ("public",)) as view:
            answer = UntrustedAnswer(evidence)
            return attest(corpus.workspace, view, answer, corpus.asker(), wanted).bundle or {}

    def _materialise(self) -> Bundle:
        corpus = self._corpus
        wanted = Attestation(self._policy(coverage="all_selected_sources", selected_ids=[MENU]))
        with open_view(corpus.workspace, "default", ("public",)) as view:
            return materialise(corpus.workspace, view, corpus.asker(), wanted).bundle or {}

    def _request(self, sources: Path) -> Bundle:
        """The two turns of a conversation; their texts are the files in ``sources/turns``."""
        corpus = self._corpus
        turns = [
            {"source_id": path.name, "role": role, "text": path.read_bytes().decode()}
            for path, role in ((sources / "turns" / "one.txt", "user"), (sources / "turns" / "two.txt", "assistant"))
        ]
        view = RequestView(corpus.workspace, {"schema": "kansho.registry.v1", "sources": turns}, corpus.asker())
        coverage = {"coverage": "all_selected_sources", "selected_ids": ["one.txt"], "source_order": None}
        wanted = Attestation(self._policy(allowed_roles=["user"], **coverage))
        answer = UntrustedAnswer((Evidence("one.txt", "up at 07:30"),))
        return attest(corpus.workspace, view, answer, corpus.asker(), wanted).bundle or {}

    def accepting(self) -> dict[str, tuple[Bundle, dict[str, Any]]]:
        """Name, bundle, and what differs from the standard call."""
        return {
            "artifact": (self.whole, ATTESTED),
            "artifact-of-evidence": (self.evidence, ATTESTED),
            "artifact-without-evidence": (self.alone, ATTESTED),
            "request-registry": (self.request, OF_A_REQUEST),
        }

    def refused(self) -> dict[str, tuple[Bundle, tuple[int, list[str]], dict[str, Any]]]:
        """Name, bundle, exit and codes, and what differs from the standard call."""
        unexpected = {**ATTESTED, "generation": None}
        made: dict[str, tuple[Bundle, tuple[int, list[str]], dict[str, Any]]] = {
            "rejected": (self.rejected, (4, ["claims.none"]), ATTESTED),
            "request-registry-unexpected": (self.request, (3, ["generation.request_registry"]), unexpected),
        }
        for name, (code, change) in FORGERIES.items():
            bundle = copy.deepcopy(self.whole)
            change(bundle)
            made[name] = (self._corpus.bound(bundle), (3, [code]), ATTESTED)
        bundle = copy.deepcopy(self.whole)
        self._shorten(bundle)
        made["artifact-source-shortened"] = (self._corpus.bound(bundle), (3, ["artifact.source_shortened"]), ATTESTED)
        return made

    def _shorten(self, bundle: Bundle) -> None:
        """The last code point, a line feed, is left out of the materialised source."""
        public, audit = bundle["public"]["payload"], bundle["audit"]["payload"]
        with open_view(self._corpus.workspace, "default", ("public",)) as view:
            document = view.derived(REFUND)
            shorter = cite(document, 0, len(document.text) - 1)
            listed = next(one for one in audit["documents"] if one["document"] == REFUND)
            needed = sorted({entry["index"] for entry in listed["entries"]} | set(shorter.disclosed))
            listed["entries"] = self._corpus.entries(document, needed)
        old = next(one["claim"] for one in public["artifact"]["sources"] if one["source_id"] == REFUND)
        new = claim(shorter)
        public["claims"] = [new if one["claim"] == old else one for one in public["claims"]]
        for one in public["artifact"]["sources"]:
            one["claim"] = new["claim"] if one["claim"] == old else one["claim"]


def _artifact(bundle: Bundle) -> Bundle:
    found: Bundle = bundle["public"]["payload"]["artifact"]
    return found


def _leave_out_a_source(bundle: Bundle) -> None:
    left = _artifact(bundle)["sources"].pop()
    claims = bundle["public"]["payload"]["claims"]
    claims.remove(next(one for one in claims if one["claim"] == left["claim"]))


def _reverse(bundle: Bundle) -> None:
    _artifact(bundle)["order"].reverse()
    _artifact(bundle)["sources"].reverse()


def _reverse_encounter(bundle: Bundle) -> None:
    _artifact(bundle)["source_order"].reverse()


def _leave_out_evidence(bundle: Bundle) -> None:
    _artifact(bundle)["evidence"].pop()


def _ask_for_none(bundle: Bundle) -> None:
    none = {"coverage": None, "selected_ids": None, "source_order": None}
    bundle["audit"]["payload"]["policy"].update(none)


def _drop_the_artifact(bundle: Bundle) -> None:
    del bundle["public"]["payload"]["artifact"]


def _repeat_a_selected_source(bundle: Bundle) -> None:
    bundle["audit"]["payload"]["policy"]["selected_ids"].append(SHIPPING)


FORGERIES: dict[str, tuple[str, Callable[[Bundle], None]]] = {
    "artifact-source-left-out": ("artifact.order_mismatch", _leave_out_a_source),
    "artifact-order-reversed": ("artifact.order_mismatch", _reverse),
    "artifact-encounter-reversed": ("artifact.order_mismatch", _reverse_encounter),
    "artifact-evidence-left-out": ("artifact.evidence_mismatch", _leave_out_evidence),
    "artifact-not-asked-for": ("policy.artifact_mismatch", _ask_for_none),
    "artifact-dropped": ("policy.artifact_mismatch", _drop_the_artifact),
    "artifact-selected-twice": ("policy.selection_invalid", _repeat_a_selected_source),
}
