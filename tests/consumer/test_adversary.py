"""What an attacker with some of the keys, or with none, once got past the verifier: one test for each kind."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kansho_verify import Code, Outcome, Result, schema, spans
from kansho_verify.characters import cuts, is_blank
from kansho_verify.escape import shown
from kansho_verify.limits import LIMITS, Limits
from kansho_verify.occurrences import first_occurrence
from kansho_verify.strict_json import parse
from kansho_verify.verdict import steps_in_words
from tests.consumer.attacks import DECISION, ONE_EXCERPT, REFUND_ID, change, hooked
from tests.consumer.checking import PUBLIC, check, refused
from tests.support import forge as forging
from tests.support.forge import FAQ, REFUND, Doc, Forge, sha

ID = REFUND_ID


def public_only(edit: Callable[[Any], Any], **options: Any) -> Any:
    return check(hooked({"excerpts": ONE_EXCERPT, **options}, citation=edit), profile=PUBLIC)


# schemas

MEMBERS = ["document", "source_uri", "source_version", "role", "media_type", "coordinate_space"]


@pytest.mark.parametrize("member", MEMBERS)
def test_a_line_feed_after_a_name_is_no_part_of_it(member: str) -> None:
    """Python's ``$`` lets a line feed follow; other languages' validators refuse it."""
    assert Code.SCHEMA_VIOLATION in public_only(lambda c: c.update({member: c[member] + "\n"})).codes


def test_no_pattern_lets_a_line_feed_follow() -> None:
    def patterns(node: Any) -> list[str]:
        members = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        own = [node["pattern"]] if isinstance(node, dict) and isinstance(node.get("pattern"), str) else []
        return own + [pattern for member in members for pattern in patterns(member)]

    assert all(not pattern.endswith("$") for pattern in patterns(schema._expanded("bundle")))


def test_the_length_of_a_list_is_looked_at_before_its_items() -> None:
    bundle = Forge().bundle
    bundle["public"]["payload"]["claims"] = [0] * 131_073
    with pytest.raises(Exception, match="too many items"):
        schema.check("bundle", bundle)


# memory: nothing here is signed


@pytest.mark.parametrize("item", [b"{},", b"0,", b"[],", b'"",'])
def test_small_values_are_counted_before_they_take_memory(item: bytes) -> None:
    data = b"[" + item * (LIMITS.items + 1) + b"0]"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert refused(parse, data, limit_bytes=LIMITS.bundle_bytes) is Code.LIMITS_ITEMS
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 1024 * 512


def test_commas_inside_strings_do_not_count() -> None:
    data = b'["' + b",{[" * LIMITS.items + b'"]'
    assert len(parse(data, limit_bytes=LIMITS.bundle_bytes)) == 1


def test_the_place_of_a_bad_number_is_found_without_a_list_of_all_places() -> None:
    data = b"[" + b"0," * 1_000_000 + b"0.5]"
    start = time.perf_counter()
    assert refused(parse, data, limit_bytes=len(data)) is Code.JSON_NUMBER
    assert time.perf_counter() - start < 15


# the public section alone: the citation key


@pytest.mark.parametrize(
    "edit",
    [
        change(entries=[]),
        lambda citation: citation.update(entries=citation["entries"] * 2),
        change(anchor="entries", entries=[]),
        lambda c: c.update(anchor="document", surrounding_start=0, surrounding_end=len(REFUND.text)),
    ],
)
def test_an_anchor_that_its_own_entries_contradict(edit: Callable[[Any], Any]) -> None:
    assert Code.SPAN_SURROUNDING_MISMATCH in public_only(edit).codes


@pytest.mark.parametrize("member", ["source_uri", "source_version", "role", "canonical_revision", "parse_revision"])
def test_two_citations_that_say_different_things_of_one_document(member: str) -> None:
    other = "can_" if member == "canonical_revision" else "par_" if member == "parse_revision" else ""
    number = iter(range(9))

    def edit(citation: Any) -> None:
        if next(number):
            citation[member] = f"{other}{'0' * 64}"

    verdict = public_only(edit, excerpts=[(ID, "five business"), (ID, "Gift cards")])
    assert Code.CLAIM_CITATION_CONFLICT in verdict.codes


def test_one_file_under_two_names_is_no_contradiction() -> None:
    twin = Doc("twin.md", REFUND.text, REFUND.parts)
    made = Forge(docs=(REFUND, twin), excerpts=[(ID, "five business"), ("twin.md", "five business")])
    assert check(made).outcome is Outcome.ACCEPTED


def test_what_only_the_producer_says_is_named() -> None:
    said = " ".join(check(Forge(), profile=PUBLIC).not_checked)
    assert all(word in said for word in ("document id", "role", "surroundings"))


@pytest.mark.parametrize("profile", [{}, {"profile": PUBLIC}])
def test_annotations_are_named_as_unverified(profile: dict[str, Any]) -> None:
    forge = hooked(
        {"excerpts": ONE_EXCERPT, "policy": {**forging.POLICY, "include_unverified_annotations": True}},
        public=change(annotations_unverified=[{"text": "It is free.", "claims": []}]),
    )
    verdict = check(forge, **profile)
    assert verdict.outcome is Outcome.ACCEPTED
    assert any("annotations" in line for line in verdict.not_checked)


# evidence: citation and audit key

YEN = Doc(ID, "It costs 2,700,000 yen, that is 70 for each of them, at −5 °C.\n", ["It costs 2,700,000 yen"])


@pytest.mark.parametrize("excerpt", ["2,70", "700", "00,000", "700,000 yen", "5 °C"])
def test_an_excerpt_that_cuts_a_number(excerpt: str) -> None:
    assert Code.SPAN_EXCERPT_PLACE in check(Forge(docs=(YEN,), excerpts=[(ID, excerpt)])).codes
    loose = {**forging.POLICY, "excerpt_boundary": "any"}
    assert check(Forge(docs=(YEN,), excerpts=[(ID, excerpt)], policy=loose)).outcome is Outcome.ACCEPTED


def test_an_excerpt_that_cuts_a_character() -> None:
    doc = Doc(ID, "x q\u0323 y\n", ["x q\u0323 y"])
    assert Code.SPAN_EXCERPT_PLACE in check(Forge(docs=(doc,), excerpts=[(ID, "x q")])).codes


def _moved(start: int, length: int, policy: Any) -> Any:
    text = YEN.text[start : start + length]
    place = {"char_start": start, "char_end": start + length, "anchor": "document", "entries": []}
    forge = hooked({"docs": (YEN,), "excerpts": [(ID, text)], "policy": policy}, citation=change(**place))
    return check(forge)


def test_an_excerpt_at_another_place_than_the_first() -> None:
    safe, loose = forging.POLICY, {**forging.POLICY, "excerpt_boundary": "any"}
    second = YEN.text.index("70 for")
    assert Code.SPAN_EXCERPT_PLACE not in _moved(second, 2, safe).codes
    text = "word and word\n"
    doc = Doc(ID, text, ["word and word"])
    for policy in (safe, loose):
        made = hooked(
            {"docs": (doc,), "excerpts": [(ID, "word")], "policy": policy}, citation=change(char_start=9, char_end=13)
        )
        assert Code.SPAN_EXCERPT_PLACE in check(made).codes


@pytest.mark.parametrize(
    ("text", "part", "is_cut"),
    [
        ("a 12 b", "12", False),
        ("a 123 b", "12", True),
        ("a 1.2 b", "1", True),
        ("a 1.2 b", "2", True),
        ("a 1.2 b", "1.", True),
        ("a 1. b", "1", False),
        ("a -5 b", "5", True),
        ("a -5 b", "-5", False),
        ("a A-5 b", "5", False),
        ("a 3-5 b", "5", False),
        ("a \u0661\u0662 b", "\u0661", True),
        ("a \u0661\u066b\u0662 b", "\u0662", True),
        ("e\ufe0f b", "e", True),
        ("\U0001f44d\U0001f3ff", "\U0001f44d", True),
        ("a\u200db", "b", True),
        ("a\u200db", "a", True),
        ("ab", "a", False),
    ],
)
def test_cuts(text: str, part: str, is_cut: bool) -> None:
    at = text.index(part)
    assert cuts(text, at, at + len(part)) is is_cut


@given(st.text("12.a", max_size=12), st.text("12.a", min_size=1, max_size=5), st.integers(1, 40), st.data())
def test_the_first_place_is_the_first_by_definition(before: str, period: str, times: int, data: st.DataObject) -> None:
    text = before + period * times + data.draw(st.text("12.a", max_size=6))
    start = data.draw(st.integers(0, len(text) - 1))
    part = text[start : start + data.draw(st.integers(1, 40))]

    def is_allowed(at: int) -> bool:
        return not cuts(text, at, at + len(part))

    every = [i for i in range(len(text)) if text.startswith(part, i) and is_allowed(i)]
    assert first_occurrence(text, part, is_allowed) == (every[0] if every else None)


@pytest.mark.parametrize("blank", [" ", "\n\n", "\u3000", "\u3164\u2800", "\u200b\ufe0f"])
def test_an_accepted_excerpt_of_nothing(blank: str) -> None:
    assert is_blank(blank)
    doc = Doc(ID, f"word{blank}word\n", ["word"])
    loose = {**forging.POLICY, "excerpt_boundary": "any"}
    verdict = check(Forge(docs=(doc,), excerpts=[(ID, blank)], policy=loose))
    assert Code.EVIDENCE_DECISION_INVALID in verdict.codes


PROPOSED = {**DECISION, "path": "proposed_texts[0].text", "excerpt_sha256": sha(REFUND.text)}


@pytest.mark.parametrize(
    "edit",
    [
        lambda d: d.append({**d[0], "path": "evidence[00].excerpt"}),
        lambda d: d.append({**d[0], "path": "evidence[2].excerpt"}),
        lambda d: d[0].update(path="evidence[1].excerpt"),
        lambda d: d[0].update(path="evidence[0].source_id"),
        lambda d: d.insert(0, PROPOSED),
        lambda d: d.append({**PROPOSED, "path": "proposed_texts[1].text"}),
        lambda d: d.append({**PROPOSED, "excerpt_sha256": "0" * 64}),
    ],
)
def test_decisions_that_skip_repeat_or_contradict(edit: Callable[[Any], Any]) -> None:
    verdict = check(hooked({"excerpts": ONE_EXCERPT}, audit=lambda audit: edit(audit["evidence"])))
    assert Code.EVIDENCE_DECISION_INVALID in verdict.codes


def test_a_proposed_text_that_agrees() -> None:
    forge = hooked({"excerpts": ONE_EXCERPT}, audit=lambda audit: audit["evidence"].append(PROPOSED))
    assert check(forge).outcome is Outcome.ACCEPTED


# the audit key alone


def test_a_ranking_turned_into_something_that_cannot_be_replayed() -> None:
    assert Code.SELECTION_MISMATCH in check(hooked(audit=change(retrieval={"method": "selection"}))).codes


def test_a_selection_of_the_application() -> None:
    made = hooked({"method": "selection"}, request=change(top_k=None))
    assert check(made).outcome is Outcome.ACCEPTED


def test_a_ranking_of_no_question() -> None:
    assert Code.SELECTION_MISMATCH in check(Forge(question=None)).codes


def test_a_ranking_in_a_generation_that_ranks_otherwise() -> None:
    pipeline = {**forging.PIPELINE, "retrieval": "lexical-bm25-visible-v2"}
    assert Code.SELECTION_MISMATCH in check(hooked(generation_parts=change(pipeline=pipeline))).codes


def _summary(**counts: int) -> Any:
    return check(hooked(audit=lambda audit: audit["filter_summary"].update(counts)))


def test_eligible_entries_left_out_of_an_answer() -> None:
    assert Code.SELECTION_MISMATCH in _summary(eligible_entries=3, matched_entries=3).codes


def test_fewer_visible_entries_than_the_cited_documents_have() -> None:
    assert Code.SELECTION_SUMMARY_INVALID in _summary(visible_entries=4).codes


def test_something_matched_where_nothing_was_ranked() -> None:
    forge = hooked({"excerpts": ONE_EXCERPT}, audit=lambda audit: audit["filter_summary"].update(matched_entries=1))
    assert Code.SELECTION_SUMMARY_INVALID in check(forge).codes


# verdicts that mislead


@pytest.mark.parametrize("chars", [10, len(REFUND.text) + 2 * 1_024, len(REFUND.text) * 2 + len(FAQ.text) - 1])
def test_what_was_not_looked_at_does_not_pass(chars: int) -> None:
    with mock.patch.object(spans, "LIMITS", Limits(work_chars=chars)):
        verdict = check(Forge())
    assert Code.LIMITS_WORK in verdict.codes
    assert {claim.result for claim in verdict.claims} == {Result.FAIL}


def test_hashing_counts_as_work() -> None:
    """Many documents of the same bytes, each with its own spans, and one text that is counted once."""
    text = "word " * 2_000
    docs = [Doc(f"{i:03}.md", text, [], spans=[(i, len(text))]) for i in range(100)]
    loose = {**forging.POLICY, "excerpt_boundary": "any"}
    forge = Forge(docs=docs, excerpts=[(doc.document, "word") for doc in docs], policy=loose)
    assert Code.SPAN_HASH_MISMATCH not in check(forge).codes
    count = 2_000 * LIMITS.work_of_an_occurrence_chars
    with mock.patch.object(spans, "LIMITS", Limits(work_chars=len(text) + count + 50 * len(text))):
        assert Code.LIMITS_WORK in check(forge).codes


def test_the_live_state_does_not_pass_by_being_read() -> None:
    verdict = check(Forge(), expected={"question": "another"})
    assert verdict.checks[10].result is Result.UNDECIDED
    assert {reason.code for reason in verdict.checks[10].reasons} == {Code.CHECK_NOT_REACHED}


@pytest.mark.parametrize("member", ["question", "audience"])
def test_a_caller_whose_words_are_no_text_is_told_of_a_mismatch(member: str) -> None:
    expected = {"challenge": forging.CHALLENGE, member: "\udcff"}
    assert Code.REQUEST_COMMITMENT_MISMATCH in check(Forge(), profile=PUBLIC, expected=expected).codes


# displays


def test_steps_in_words() -> None:
    assert steps_in_words([11]) == "step 11"
    assert steps_in_words([1, 2]) == "steps 1 to 2"
    assert steps_in_words([1, 2, 3, 5, 7, 8]) == "steps 1 to 3, 5 and 7 to 8"


@pytest.mark.parametrize("char", ["\ufe0f", "\u034f", "\u17b4", "\u180b", "\U000e0100", "\u115f", "\u2800"])
def test_what_takes_no_place_is_shown_by_its_number(char: str) -> None:
    assert shown(f"public{char}") == f'"public\\u{{{ord(char):x}}}"'
