"""What must be accepted, by which profile, and that nothing is fetched on the way."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from kansho_verify import Code, Outcome, Pins, RejectedError, Result, project, require, to_document
from kansho_verify.canonical_json import canonical
from tests.consumer.attacks import change, hooked
from tests.consumer.checking import PUBLIC, check
from tests.support.forge import (
    ALL_SOURCES,
    BLANK,
    CHALLENGE,
    DOCS,
    EVIDENCE_ALONE,
    FAQ,
    NOW,
    POLICY,
    QUESTION,
    REFUND,
    Doc,
    Forge,
    TestKey,
    covering,
)

ID = REFUND.document
ONE_ENTRY = Doc("line.txt", "One line without an end", ["One line without an end"], media_type="text/plain")
WITH_ONE_ENTRY = (*DOCS, ONE_ENTRY)
GOOD = {
    "ranked": Forge(),
    "excerpt": Forge(excerpts=[(ID, "five business")]),
    "one excerpt twice": Forge(excerpts=[(ID, "five business"), (ID, "five business")]),
    "whole texts": Forge(excerpts=[(ID, REFUND.text), ("faq.txt", FAQ.text)]),
    "crossings and gaps": Forge(excerpts=[(ID, "days.\n\n> Gift"), (ID, "\n\n> "), (ID, "# "), (ID, "card.\n")]),
    "two keys a role": Forge(
        signers={role: [TestKey(role), TestKey(role + "2")] for role in ("citation", "live", "root")}
    ),
    "the older algorithm name": Forge(keys={"citation": {"alg": -8}}),
    "no question": Forge(question=None, excerpts=[(ID, "five business")]),
    "annotations": hooked(
        {"excerpts": [(ID, "five business")], "policy": {**POLICY, "include_unverified_annotations": True}},
        public=lambda public: public.update(
            annotations_unverified=[{"text": "A week.", "claims": [public["claims"][0]["claim"]]}]
        ),
    ),
    "whole sources": Forge(excerpts=[(ID, "five business")], policy=covering(ALL_SOURCES, "faq.txt", ID)),
    "whole sources and no evidence": Forge(excerpts=[], policy=covering(ALL_SOURCES, "faq.txt", ID, "blank.txt")),
    "evidence alone": Forge(
        excerpts=[(ID, "five business"), (ID, "Gift cards"), (ID, "five business")],
        policy=covering(EVIDENCE_ALONE, "faq.txt", ID),
    ),
    "evidence of sources that are not selected": Forge(
        excerpts=[("faq.txt", "Only one"), (ID, "five business")], policy=covering(ALL_SOURCES, ID)
    ),
    "evidence alone and nothing selected": Forge(
        excerpts=[(ID, "five business")], policy=covering(EVIDENCE_ALONE, source_order=[])
    ),
    "sources and nothing selected": Forge(excerpts=[(ID, "five business")], policy=covering(ALL_SOURCES)),
    "another order of encounter": Forge(
        excerpts=[(ID, "five business")], policy=covering(ALL_SOURCES, "faq.txt", ID, source_order=[ID, "faq.txt"])
    ),
    "an encounter with a source that is not selected": Forge(
        excerpts=[(ID, "five business")], policy=covering(ALL_SOURCES, ID, source_order=["blank.txt", ID, "faq.txt"])
    ),
    "an excerpt that is the last source": Forge(
        excerpts=[("faq.txt", FAQ.text), (ID, "five business")], policy=covering(ALL_SOURCES, ID, "faq.txt")
    ),
    "excerpts that are all sources": Forge(
        excerpts=[("faq.txt", FAQ.text), (ID, REFUND.text)], policy=covering(ALL_SOURCES, ID, "faq.txt")
    ),
    "a source that is one entry": Forge(docs=WITH_ONE_ENTRY, excerpts=[], policy=covering(ALL_SOURCES, "line.txt")),
    "a source of one entry and a line end": Forge(excerpts=[], policy=covering(ALL_SOURCES, "faq.txt")),
    "a source without entries": Forge(excerpts=[], policy=covering(ALL_SOURCES, BLANK.document)),
    "a source that begins with a mark": Forge(
        docs=(Doc("mark.txt", "\u0301 and 5\n", ["and 5"], media_type="text/plain"),),
        excerpts=[],
        policy=covering(ALL_SOURCES, "mark.txt"),
    ),
    "an artifact and annotations": hooked(
        {"excerpts": [], "policy": covering(ALL_SOURCES, ID, include_unverified_annotations=True)},
        public=lambda public: public.update(
            annotations_unverified=[{"text": "A week.", "claims": [public["claims"][0]["claim"]]}]
        ),
    ),
}


@pytest.fixture(autouse=True)
def _no_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("verification opened a socket")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)


@pytest.mark.parametrize("name", GOOD)
def test_a_good_bundle_is_accepted(name: str) -> None:
    verdict = check(GOOD[name])
    assert verdict.outcome is Outcome.ACCEPTED, verdict.codes
    assert verdict.exit_code == 0
    assert verdict.bound_to_question
    assert {claim.result for claim in verdict.claims} == {Result.PASS}
    assert {citation.evidence_level for claim in verdict.claims for citation in claim.citations} == {"raw_exact"}


@pytest.mark.parametrize("name", GOOD)
def test_its_public_projection_is_accepted_under_public(name: str) -> None:
    forge = GOOD[name]
    verdict = check(forge, data=project(forge.bundle_bytes), profile=PUBLIC, live=None, generation=None)
    assert verdict.outcome is Outcome.ACCEPTED, verdict.codes
    assert not verdict.bound_to_question
    assert verdict.generation is None


@pytest.mark.parametrize(
    ("name", "claims", "anchors"),
    [
        ("whole sources", 3, ["entry", "document", "document"]),
        ("evidence of sources that are not selected", 3, ["entry", "entry", "document"]),
        ("an excerpt that is the last source", 3, ["document", "entry", "document"]),
        ("excerpts that are all sources", 2, ["document", "document"]),
        ("a source that is one entry", 1, ["entry"]),
        ("a source of one entry and a line end", 1, ["document"]),
        ("a source without entries", 1, ["document"]),
        ("evidence alone", 2, ["entry", "entry"]),
    ],
)
def test_an_excerpt_that_is_a_source_and_the_source_are_one_claim(name: str, claims: int, anchors: list[str]) -> None:
    """What the forger made of these, so that nothing above is accepted for another reason."""
    listed = GOOD[name].public["payload"]["claims"]
    assert len(listed) == claims
    assert [claim["citations"][0]["anchor"] for claim in listed] == anchors


def test_the_projection_is_bound_to_a_question_by_the_challenge() -> None:
    forge = GOOD["ranked"]
    data = project(forge.bundle_bytes)
    bound = check(forge, data=data, profile=PUBLIC, expected={"challenge": CHALLENGE})
    assert bound.outcome is Outcome.ACCEPTED
    assert bound.bound_to_question
    other = check(forge, data=data, profile=PUBLIC, expected={"challenge": CHALLENGE, "question": "Why?"})
    assert other.codes & {Code.REQUEST_COMMITMENT_MISMATCH}
    assert other.exit_code == 3


@pytest.mark.parametrize(
    ("forge", "expected", "given"),
    [
        (Forge(), {"question": None, "any_question": True}, {}),
        (Forge(), {"no_live": True}, {"live": None}),
        (Forge(), {"challenge": CHALLENGE}, {"generation": None}),
        (Forge(registry="request"), {"allow_request_registry": True}, {}),
        (Forge(keys={"citation": {"retired_at": NOW - 50}}), {"trust_claimed_time": True}, {}),
        (
            hooked(request=lambda request: request.update(audience="shop", subject="ann")),
            {"audience": "shop", "subject": "ann"},
            {},
        ),
        (Forge(), {"max_age": 100}, {}),
        (Forge(), {"question": "\ufeff" + QUESTION}, {}),
        (hooked(live=change(tombstones=[{"document_key": Forge().key_of(ID).hex(), "event_sequence": 6}])), {}, {}),
        (Forge(), {}, {"generation": hooked(generation=change(sequence=3)).generation_bytes}),
    ],
)
def test_what_the_caller_says_is_enough(forge: Forge, expected: dict[str, Any], given: dict[str, Any]) -> None:
    verdict = check(forge, expected=expected, **given)
    assert verdict.outcome is Outcome.ACCEPTED, verdict.codes


def test_pins_that_are_met() -> None:
    forge = GOOD["ranked"]
    seen = check(forge)
    assert seen.generation is not None
    pins = Pins(
        seen.artifact_sha256, seen.generation.sha256, forge.generation["payload"]["pipeline_fingerprint"], "auth-1"
    )
    assert check(forge, expected={"pins": pins}).outcome is Outcome.ACCEPTED


def test_all_that_is_missing_is_named_at_once() -> None:
    forge = GOOD["ranked"]
    missing = {"generation": None, "live": None, "sources": None, "expected": {"question": None}}
    named = {
        Code.REQUEST_QUESTION_MISSING,
        Code.GENERATION_CURRENT_UNKNOWN,
        Code.SOURCE_NOT_GIVEN,
        Code.LIVE_MISSING,
    }
    for more, codes in (({}, set()), ({"trust_root": None}, {Code.TRUST_ROOT_MISSING})):
        verdict = check(forge, **missing, **more)
        assert verdict.exit_code == 4
        assert named | codes <= verdict.codes
        hints = [reason.hint or "" for one in verdict.checks for reason in one.reasons]
        assert all(
            any(option in hint for hint in hints) for option in ("--question", "--published", "--sources", "--no-live")
        )


def test_the_raising_wrapper() -> None:
    forge = GOOD["ranked"]
    verdict = check(forge)
    with pytest.raises(RejectedError) as caught:
        require(forge.bundle_bytes, trust_root=None, expected=_expected(), now=NOW)
    assert caught.value.verdict.exit_code == 4
    assert caught.value.reason.code is Code.TRUST_ROOT_MISSING
    given: dict[str, Any] = {"trust_root": forge.trust_root_bytes, "live": forge.live_bytes, "sources": forge.sources}
    assert require(forge.bundle_bytes, expected=_expected(), now=NOW, **given).claims == verdict.claims


def _expected() -> Any:
    from kansho_verify import Expectations  # noqa: PLC0415 - kept beside its use

    return Expectations(question=QUESTION)


def test_the_verdict_document_is_canonical_json() -> None:
    document = to_document(check(GOOD["ranked"]))
    assert canonical(document)
    assert [item["step"] for item in document["checks"]] == list(range(1, 13))


def test_a_public_profile_reads_no_audit_section_beyond_its_form() -> None:
    broken = hooked(audit=change(public_sha256="0" * 64))
    assert check(broken, profile=PUBLIC).outcome is Outcome.ACCEPTED
    assert check(broken).outcome is Outcome.REJECTED


def test_display_hazards_are_told_and_do_not_decide() -> None:
    text = "pay \u202epal\u202c \u200b\u0430dmin pаypal \U000e0041\x07\n"
    verdict = check(Forge(docs=(Doc(ID, text, [text.strip()]),), excerpts=[(ID, text.rstrip("\n"))]))
    assert verdict.outcome is Outcome.ACCEPTED
    assert {hazard.kind for hazard in verdict.hazards} == {
        "bidi_control",
        "invisible",
        "tag_character",
        "control",
        "mixed_script",
    }
