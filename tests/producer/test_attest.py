"""Attest: artifacts, signed rejections, a request's own sources, masked answers, dry runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kansho_sign.canonical_json import dumps
from kansho_sign.errors import InputError, StateError
from kansho_sign.evidence import Evidence, Masking, Policy, UntrustedAnswer
from kansho_sign.limits import LIMITS
from kansho_sign.pipeline import attest as attest_module
from kansho_sign.pipeline.attest import Attestation, attest, materialise
from kansho_sign.pipeline.request_registry import RequestView
from kansho_sign.pipeline.requests import Answer
from kansho_sign.pipeline.view import open_view
from kansho_sign.schema import validate
from kansho_sign.workspace import NEWCOMER_POLICY, Workspace
from tests.support.workspaces import (
    NONCE,
    answer_json,
    asker,
    attest_it,
    ingest_it,
    make_workspace,
    publish_it,
    write_files,
)

REFUND = "# Refunds\n\nRefunds take ten days. We pay 2,700,000 yen.\n\n- They are free.\n- They are final.\n"
PARK = "Parking is free."
ALL: dict[str, Any] = {"coverage": "all_selected_sources"}
TURNS: dict[str, Any] = {
    "schema": "kansho.registry.v1",
    "sources": [
        {"source_id": "turn-1", "role": "user", "text": "I got up at 07:30.\r\nThen I ran."},
        {"source_id": "turn-2", "role": "assistant", "text": "You ran."},
        {"source_id": "turn-3", "role": "user", "text": "# Lunch\n\nIt was good.", "media_type": "text/markdown"},
    ],
}


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    made = make_workspace(tmp_path / "workspace")
    ingest_it(made, write_files(tmp_path / "in", {"refund.md": REFUND, "park.txt": PARK, "empty.txt": ""}))
    publish_it(made)
    yield made
    made.close()


def sections(answer: Answer) -> tuple[dict[str, Any], dict[str, Any]]:
    assert answer.bundle is not None
    validate(answer.bundle, "bundle")
    return answer.bundle["public"]["payload"], answer.bundle["audit"]["payload"]


def policy(**changes: Any) -> Policy:
    return Policy.from_json({**NEWCOMER_POLICY, **changes})


class TestArtifact:
    def test_sources_are_claims_over_their_whole_span(self, workspace: Workspace) -> None:
        answer = answer_json(("refund.md", "ten days"), ("park.txt", "free"), ("refund.md", "ten days"))
        public, audit = sections(attest_it(workspace, answer, selected_ids=["park.txt", "refund.md"], **ALL))
        claims = {claim["claim"]: claim for claim in public["claims"]}
        assert [claim["text"] for claim in public["claims"]] == ["ten days", "free", PARK, REFUND]
        artifact = public["artifact"]
        assert artifact["order"] == artifact["source_order"] == ["park.txt", "refund.md"]
        assert [claims[one["claim"]]["text"] for one in artifact["sources"]] == [PARK, REFUND]
        assert [claims[one["claim"]]["text"] for one in artifact["evidence"]] == ["ten days", "free"]
        whole = claims[artifact["sources"][1]["claim"]]["citations"][0]
        assert (whole["char_start"], whole["char_end"], whole["anchor"]) == (0, len(REFUND), "document")
        assert audit["policy"]["coverage"] == "all_selected_sources"
        assert "annotations_unverified" not in public

    def test_an_excerpt_that_is_the_whole_source_is_one_claim(self, workspace: Workspace) -> None:
        public, _ = sections(attest_it(workspace, answer_json(("park.txt", PARK)), selected_ids=["park.txt"], **ALL))
        (claim,) = public["claims"]
        assert public["artifact"]["sources"][0]["claim"] == public["artifact"]["evidence"][0]["claim"] == claim["claim"]

    def test_selected_evidence_materialises_no_source(self, workspace: Workspace) -> None:
        answer = answer_json(("park.txt", "free"), ("refund.md", "free"))
        made = attest_it(workspace, answer, coverage="selected_evidence", selected_ids=["park.txt"])
        public, _ = sections(made)
        assert public["artifact"]["sources"] == []
        assert [one["source_id"] for one in public["artifact"]["evidence"]] == ["park.txt", "refund.md"]

    def test_annotations_stand_apart(self, workspace: Workspace) -> None:
        answer = answer_json(("park.txt", "free"), annotations=[{"text": "No charge.", "evidence": [0]}])
        wanted: dict[str, Any] = {"selected_ids": ["park.txt"], "include_unverified_annotations": True, **ALL}
        public, _ = sections(attest_it(workspace, answer, **wanted))
        assert public["annotations_unverified"] == [{"text": "No charge.", "claims": [public["claims"][0]["claim"]]}]
        assert "No charge." not in {claim["text"] for claim in public["claims"]}

    @pytest.mark.parametrize(
        ("selected", "code"),
        [
            (["park.txt", "park.txt"], "policy.selected_duplicate"),
            (["staff.md"], "policy.selected_unknown"),
            (["empty.txt"], "policy.selected_empty"),
        ],
    )
    def test_a_selection_that_cannot_be_whole_signs_nothing(
        self, workspace: Workspace, selected: list[str], code: str
    ) -> None:
        with pytest.raises(InputError) as caught:
            attest_it(workspace, answer_json(("park.txt", "free")), selected_ids=selected, **ALL)
        assert caught.value.code == code

    def test_materialised_sources_count_as_work(self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        work = len(PARK) + LIMITS.work_of_an_occurrence
        monkeypatch.setattr(attest_module, "LIMITS", replace(LIMITS, occurrence_work_code_points=work))
        answer = answer_json(("park.txt", "free"))
        assert attest_it(workspace, answer).bundle is not None
        with pytest.raises(InputError) as caught:
            attest_it(workspace, answer, selected_ids=["park.txt"], **ALL)
        assert caught.value.code == "limits.work"


class TestRejection:
    def test_signed_only_when_asked_for(self, workspace: Workspace) -> None:
        bad = answer_json(("park.txt", "free"), ("park.txt", "costly"), ("x", "y"))
        assert attest_it(workspace, bad).bundle is None
        public, audit = sections(attest_it(workspace, bad, sign_rejection=True, selected_ids=["park.txt"], **ALL))
        assert (public["status"], public["claims"]) == ("evidence_rejected", [])
        assert "artifact" not in public
        assert audit["failure"] == {"code": "evidence_rejected"}
        assert [(one["code"], one["claim"]) for one in audit["evidence"]] == [
            (None, None), ("unverified_excerpt", None), ("unknown_source", None),
        ]  # fmt: skip
        assert audit["documents"] == []
        assert set(audit["filter_summary"].values()) == {0}

    def test_what_stands_is_signed_as_ever(self, workspace: Workspace) -> None:
        assert attest_it(workspace, answer_json(("park.txt", "free")), sign_rejection=True).status == "answered"

    def test_hidden_documents_change_no_byte_of_it(self, workspace: Workspace, tmp_path: Path) -> None:
        bad = answer_json(("park.txt", "costly"), ("staff.md", "secret"), ("park.txt", "secret"))
        before = attest_it(workspace, bad, sign_rejection=True)
        ingest_it(workspace, write_files(tmp_path / "staff", {"staff.md": "The secret is costly."}), groups=["staff"])
        publish_it(workspace)
        after = attest_it(workspace, bad, sign_rejection=True)
        assert [one.finding for one in before.findings] == [one.finding for one in after.findings]
        assert before.bundle is not None
        assert after.bundle is not None
        assert dumps(before.bundle["public"]) == dumps(after.bundle["public"])


def request(workspace: Workspace, registry: dict[str, Any] = TURNS, **changes: Any) -> RequestView:
    return RequestView(workspace, registry, replace(asker(), **changes))


def attest_turns(workspace: Workspace, *evidence: tuple[str, str], **changes: Any) -> Answer:
    answer = UntrustedAnswer(tuple(Evidence(*one) for one in evidence))
    wanted = policy(allowed_roles=["user"], **changes)
    return attest(workspace, request(workspace), answer, asker(), Attestation(wanted))


class TestRequestRegistry:
    def test_it_is_a_generation_of_its_own(self, tmp_path: Path) -> None:
        workspace = make_workspace(tmp_path / "w")  # nothing is published in it
        public, audit = sections(attest_turns(workspace, ("turn-1", "got up at 07:30.\nThen"), ("turn-3", "good")))
        assert public["registry"] == "request"
        generation = audit["generation_sha256"] and attest_turns(workspace, ("turn-1", "ran")).bundle
        payload = (generation or {})["audit"]["generation"]["payload"]
        assert (payload["registry"], payload["sequence"], payload["previous_sha256"]) == ("request", 1, None)
        assert (payload["document_count"], audit["filter_summary"]["visible_documents"]) == (3, 3)
        citation = public["claims"][0]["citations"][0]
        assert (citation["source_uri"], citation["source_version"]) == ("urn:kansho:request:turn-1", "1")
        assert not (workspace.published / "generation.json").exists()
        workspace.close()

    def test_roles_of_turns(self, workspace: Workspace) -> None:
        found = attest_turns(workspace, ("turn-2", "You ran."), ("turn-1", "You ran."), ("turn-1", "It was good."))
        assert [str(one.finding) for one in found.findings] == ["role_not_allowed", "role_not_allowed", "wrong_source"]

    def test_published_documents_are_not_in_it(self, workspace: Workspace) -> None:
        assert [one.finding for one in attest_turns(workspace, ("park.txt", "free")).findings] == ["unknown_source"]

    def test_the_nonce_fixes_every_byte(self, workspace: Workspace) -> None:
        one, other = (attest_turns(workspace, ("turn-1", "ran")).bundle for _ in range(2))
        assert dumps(one) == dumps(other)
        salts = {
            request(workspace, nonce=nonce).generation["payload"]["map_salt"] for nonce in (NONCE, "00" * 16, NONCE)
        }
        assert len(salts) == 2

    def test_other_sources_with_the_same_nonce_have_the_same_salts_and_other_revisions(
        self, workspace: Workspace
    ) -> None:
        changed = {**TURNS, "sources": [{**TURNS["sources"][0], "text": "Other."}, *TURNS["sources"][1:]]}
        one, other = request(workspace), request(workspace, changed)
        assert one.derived("turn-2").canonical_revision == other.derived("turn-2").canonical_revision
        assert one.derived("turn-1").canonical_revision != other.derived("turn-1").canonical_revision
        assert one.generation["payload"]["generation"] != other.generation["payload"]["generation"]

    @pytest.mark.parametrize(
        ("change", "code"),
        [
            ({"source_id": "turn-3"}, "registry.duplicate"),
            ({"source_id": "../x"}, "name.document"),
            ({"source_id": "a:b"}, "name.document"),
            ({"role": " user"}, "schema.violation"),
            ({"text": "a\x00"}, "text.nul"),
            ({"text": 7}, "schema.violation"),
            ({"text": None}, "schema.violation"),
            ({"more": 1}, "schema.violation"),
            ({"media_type": "application/pdf"}, "source.media_type"),
            ({"text": "\U0001f600" * 4_194_305}, "limits.bytes"),
        ],
    )
    def test_what_is_no_registry(self, workspace: Workspace, change: dict[str, Any], code: str) -> None:
        sources = [{**TURNS["sources"][0], **change}, *TURNS["sources"][1:]]
        with pytest.raises(InputError) as caught:
            request(workspace, {**TURNS, "sources": sources})
        assert caught.value.code == code

    def test_no_sources(self, workspace: Workspace) -> None:
        with pytest.raises(InputError) as caught:
            request(workspace, {"schema": "kansho.registry.v1", "sources": []})
        assert caught.value.code == "schema.violation"


class TestOtherWays:
    def test_a_dry_run_signs_nothing(self, workspace: Workspace) -> None:
        wanted = Attestation(policy(), dry_run=True, sign_rejection=True)
        with open_view(workspace, "default", ("public",)) as view:
            good = attest(workspace, view, UntrustedAnswer((Evidence("park.txt", "free"),)), asker(), wanted)
            bad = attest(workspace, view, UntrustedAnswer((Evidence("park.txt", "dear"),)), asker(), wanted)
        assert (good.status, good.bundle) == ("answered", None)
        assert (bad.status, bad.bundle) == ("evidence_rejected", None)
        assert list((workspace.folder / "audit").iterdir() if (workspace.folder / "audit").exists() else []) == []

    def test_the_masking_map_enters_no_bundle(self, workspace: Workspace) -> None:
        masking = Masking(texts=("ten days",), placeholders=("[[DURATION]]",))
        wanted = Attestation(policy(), masking=masking)
        answer = UntrustedAnswer((Evidence("refund.md", "Refunds take [[DURATION]]."),))
        with open_view(workspace, "default", ("public",)) as view:
            made = attest(workspace, view, answer, asker(), wanted)
        public, _ = sections(made)
        assert public["claims"][0]["text"] == "Refunds take ten days."
        assert b"[[DURATION]]" not in dumps(made.bundle)
        assert "ten days" not in repr(wanted)

    def test_sources_materialised_without_an_answer(self, workspace: Workspace) -> None:
        wanted = Attestation(policy(selected_ids=["park.txt"], **ALL))
        with open_view(workspace, "default", ("public",)) as view:
            public, audit = sections(materialise(workspace, view, asker(), wanted))
            assert public["artifact"]["evidence"] == audit["evidence"] == []
            assert [claim["text"] for claim in public["claims"]] == [PARK]
            for nothing in (policy(), policy(selected_ids=[], **ALL)):
                with pytest.raises(InputError) as caught:
                    materialise(workspace, view, asker(), Attestation(nothing))
                assert caught.value.code == "policy.nothing_selected"

    def test_an_answer_without_evidence_is_never_attested(self, workspace: Workspace) -> None:
        with pytest.raises(InputError) as caught:
            attest_it(workspace, answer_json(), selected_ids=["park.txt"], **ALL)
        assert caught.value.code == "evidence.none"

    def test_nothing_published_is_nothing_to_cite(self, tmp_path: Path) -> None:
        workspace = make_workspace(tmp_path / "w")
        with pytest.raises(StateError) as caught:
            attest_it(workspace, answer_json(("a", "b")))
        assert caught.value.code == "publish.missing"
        workspace.close()
