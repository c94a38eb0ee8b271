"""``kansho_sign.evidence`` as an application uses it: policy, coverage, artifact, masking, the raising face."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kansho_sign.canonical_json import dumps
from kansho_sign.errors import InputError
from kansho_sign.evidence import (
    Annotation,
    Boundary,
    Coverage,
    Evidence,
    EvidenceRejectedError,
    Finding,
    Masking,
    Policy,
    ProposedText,
    Registry,
    Result,
    Source,
    UntrustedAnswer,
    check,
    make_registry,
    read_registry,
    require,
)
from kansho_sign.evidence import checking as checking_module
from kansho_sign.limits import Limits

SOURCES = (
    Source("a", "user", "I got up at 07:30.\r\nThen I ran 5 km."),
    Source("b", "user", "Lunch at noon. Lunch was good."),
    Source("c", "assistant", "You ran 5 km."),
    Source("empty", "user", ""),
)
REGISTRY = make_registry(SOURCES)


def policy(**changes: Any) -> Policy:
    members: dict[str, Any] = {
        "allowed_roles": ("user",),
        "coverage": Coverage.ALL_SELECTED_SOURCES,
        "selected_ids": ("b", "a"),
        "source_order": None,
        "include_unverified_annotations": False,
        "excerpt_boundary": Boundary.SAFE,
    }
    return Policy(**{**members, **changes})


NO_ARTIFACT = policy(coverage=None, selected_ids=None)
STANDING = UntrustedAnswer((Evidence("a", "ran 5 km"), Evidence("b", "Lunch"), Evidence("a", "ran 5 km")))


def code_of(function: Any, *arguments: Any, **named: Any) -> str:
    with pytest.raises(InputError) as caught:
        function(*arguments, **named)
    return caught.value.code


class TestArtifact:
    def test_all_selected_sources_are_whole_however_short_the_excerpts(self) -> None:
        artifact = require(STANDING, REGISTRY, policy())
        assert (artifact.kind, artifact.coverage) == ("verified_artifact", "all_selected_sources")
        assert artifact.order == artifact.source_order == ("b", "a")
        assert [(one.source_id, one.role, one.text) for one in artifact.sources] == [
            ("b", "user", "Lunch at noon. Lunch was good."),
            ("a", "user", "I got up at 07:30.\nThen I ran 5 km."),
        ]
        assert [(one.source_id, one.start, one.end, one.text, one.occurrences) for one in artifact.evidence] == [
            ("a", 26, 34, "ran 5 km", 1),
            ("b", 0, 5, "Lunch", 2),
        ]
        assert artifact.annotations_unverified is None

    def test_selected_evidence_is_the_checked_wording_alone(self) -> None:
        artifact = require(STANDING, REGISTRY, policy(coverage=Coverage.SELECTED_EVIDENCE, selected_ids=("a",)))
        assert artifact.sources == ()
        assert [one.text for one in artifact.evidence] == ["ran 5 km", "Lunch"]
        assert artifact.order == ("a",)

    def test_the_order_of_encounter_is_independent_and_may_name_others(self) -> None:
        artifact = require(STANDING, REGISTRY, policy(source_order=("a", "c", "b")))
        assert (artifact.order, artifact.source_order) == (("b", "a"), ("a", "c", "b"))
        assert [one.source_id for one in artifact.sources] == ["b", "a"]

    def test_annotations_only_when_the_policy_asks_and_tied_to_the_evidence(self) -> None:
        said = (Annotation("They exercise.", (0, 2)), Annotation("Nice."))
        answer = UntrustedAnswer(STANDING.evidence, said)
        assert require(answer, REGISTRY, policy()).annotations_unverified is None
        shown = require(answer, REGISTRY, policy(include_unverified_annotations=True))
        assert shown.annotations_unverified == (Annotation("They exercise.", (0,)), Annotation("Nice."))
        assert "They exercise." not in {one.text for one in shown.sources}

    def test_serialised(self) -> None:
        value = require(STANDING, REGISTRY, policy(include_unverified_annotations=True)).to_json()
        assert dumps(value)
        assert sorted(value) == [
            "annotations_unverified", "coverage", "evidence", "kind", "order", "source_order", "sources",
        ]  # fmt: skip
        first = value["evidence"][0]
        assert first["span_sha256"] == hashlib.sha256(b"ran 5 km").hexdigest()
        assert (first["char_start"], first["char_end"], first["occurrences"]) == (26, 34, 1)

    def test_without_evidence_it_holds_the_sources(self) -> None:
        assert [one.source_id for one in require(UntrustedAnswer(()), REGISTRY, policy()).sources] == ["b", "a"]

    def test_none_where_none_is_asked_for_or_something_does_not_stand(self) -> None:
        assert check(STANDING, REGISTRY, NO_ARTIFACT).artifact is None
        refused = check(UntrustedAnswer((Evidence("a", "nowhere"), *STANDING.evidence)), REGISTRY, policy())
        assert refused.artifact is None
        assert [decision.path for decision in refused.findings] == ["evidence[0].excerpt"]


class TestPolicy:
    @pytest.mark.parametrize(
        ("changes", "code"),
        [
            ({"selected_ids": ("a", "b", "a")}, "policy.selected_duplicate"),
            ({"selected_ids": ("a", "x")}, "policy.selected_unknown"),
            ({"selected_ids": ("a", "c")}, "policy.selected_role"),
            ({"selected_ids": ("a", "empty")}, "policy.selected_empty"),
            ({"source_order": ("a", "b", "a")}, "policy.order_duplicate"),
            ({"source_order": ("a", "b", "x")}, "policy.order_unknown"),
            ({"source_order": ("a",)}, "policy.order_incomplete"),
            ({"source_order": ()}, "policy.order_incomplete"),
        ],
    )
    def test_a_selection_that_cannot_be_whole_fails(self, changes: dict[str, Any], code: str) -> None:
        assert code_of(check, STANDING, REGISTRY, policy(**changes)) == code

    def test_an_empty_source_has_no_evidence_either_way(self) -> None:
        wanted = policy(coverage=Coverage.SELECTED_EVIDENCE, selected_ids=("empty", "a"))
        assert check(STANDING, REGISTRY, wanted).artifact is not None

    @pytest.mark.parametrize(
        "changes",
        [
            {"allowed_roles": ()},
            {"allowed_roles": ("user", "user")},
            {"allowed_roles": ("",)},
            {"selected_ids": None},
            {"coverage": None},
            {"coverage": "everything"},
            {"excerpt_boundary": "loose"},
            {"include_unverified_annotations": "yes"},
            {"selected_ids": ("",)},
        ],
    )
    def test_what_the_schema_forbids_is_no_policy(self, changes: dict[str, Any]) -> None:
        assert code_of(policy, **changes) == "schema.violation"

    def test_plain_strings_decide_as_the_enums_do(self) -> None:
        strings = policy(coverage="all_selected_sources", excerpt_boundary="safe")
        assert strings == policy()
        cut = check(UntrustedAnswer((Evidence("a", "07:3"),)), REGISTRY, strings)
        assert [one.finding for one in cut.findings] == [Finding.EXCERPT_CUTS_NUMBER]
        assert [one.source_id for one in require(STANDING, REGISTRY, strings).sources] == ["b", "a"]

    def test_as_many_selected_sources_as_there_may_be(self) -> None:
        many = make_registry(Source(f"s{number}", "user", f"t{number}") for number in range(16_384))
        wanted = policy(selected_ids=tuple(many), source_order=tuple(reversed(tuple(many))))
        assert len(require(UntrustedAnswer(()), many, wanted).sources) == 16_384
        with_one_more = {**many, "more": Source("more", "user", "x")}
        assert code_of(policy, selected_ids=tuple(with_one_more)) == "schema.violation"

    def test_json_and_back(self) -> None:
        for one in (policy(), NO_ARTIFACT, policy(source_order=("a", "b"))):
            assert Policy.from_json(one.to_json()) == one


class TestFaces:
    def test_every_finding_in_one_run(self) -> None:
        bad = [("a", f"nowhere {number}") for number in range(7)] + [("x", "I"), ("c", "You"), ("b", "")]
        answer = UntrustedAnswer(tuple(Evidence(*one) for one in bad))
        with pytest.raises(EvidenceRejectedError) as caught:
            require(answer, REGISTRY, policy())
        assert caught.value.code == "evidence.rejected"
        assert [one.path for one in caught.value.findings] == [f"evidence[{number}].excerpt" for number in range(10)]
        assert caught.value.at("a.json").findings == caught.value.findings
        assert [str(one.finding) for one in caught.value.findings[7:]] == [
            "unknown_source", "role_not_allowed", "empty_excerpt",
        ]  # fmt: skip

    def test_require_wants_a_coverage(self) -> None:
        assert code_of(require, STANDING, REGISTRY, NO_ARTIFACT) == "policy.no_coverage"

    def test_a_proposed_text_never_replaces_the_source(self) -> None:
        changed = UntrustedAnswer((), proposed_texts=(ProposedText("a", "I got up at 06:30."),))
        assert [one.finding for one in check(changed, REGISTRY, policy()).findings] == [Finding.CANONICAL_OVERWRITE]
        same = UntrustedAnswer((), proposed_texts=(ProposedText("a", SOURCES[0].text),))
        assert require(same, REGISTRY, policy()).sources[1].text == REGISTRY["a"].text

    @pytest.mark.parametrize("numbers", [(1,), (-1,), (0, 7)])
    def test_an_annotation_of_evidence_that_is_not_there(self, numbers: tuple[int, ...]) -> None:
        arguments = (Evidence("a", "ran"),), (Annotation("x", numbers),)
        assert code_of(UntrustedAnswer, *arguments) == "annotation.evidence"

    def test_half_a_surrogate_pair_is_no_text(self) -> None:
        assert code_of(UntrustedAnswer, (Evidence("a", "\ud83d"),)) == "json.surrogate"
        assert code_of(UntrustedAnswer, (Evidence("\ud83d", "a"),)) == "json.surrogate"
        assert code_of(UntrustedAnswer, (), (), (ProposedText("a", "\udc00"),)) == "json.surrogate"

    def test_evidence_up_to_the_limit_and_beyond_it(self) -> None:
        """Half of it stands and half does not, each excerpt another one; it is one pass over the texts."""
        limit = 131_072
        text = " ".join(f"w{number}" for number in range(limit // 2))
        known = make_registry([Source("a", "user", text), Source("b", "user", "nothing of it")])
        items = [Evidence("ab"[number % 2], f"w{number // 2}") for number in range(limit)]
        result = check(UntrustedAnswer(tuple(items)), known, NO_ARTIFACT)
        assert [one.finding for one in result.decisions[:3]] == [None, Finding.WRONG_SOURCE, None]
        assert len(result.findings) == limit // 2
        assert code_of(UntrustedAnswer, (*items, items[0])) == "limits.items"

    def test_near_misses_are_explained_up_to_a_limit_of_work(self, monkeypatch: pytest.MonkeyPatch) -> None:
        answer = UntrustedAnswer((Evidence("a", "then I ran 5 km"), Evidence("b", "lunch at noon")))
        found = check(answer, REGISTRY, policy())
        assert [str(one.diagnosis and one.diagnosis.difference) for one in found.findings] == ["case", "case"]
        assert found.undiagnosed == 0
        assert check(answer, REGISTRY, policy(), diagnose=False).findings[0].diagnosis is None
        size = len(REGISTRY["a"].text) + len("then I ran 5 km")
        limits = Limits(diagnosis_work_code_points=size)
        monkeypatch.setattr(checking_module, "LIMITS", limits)
        found = check(answer, REGISTRY, policy())
        assert [one.diagnosis is None for one in found.findings] == [False, True]
        assert found.undiagnosed == 1


class TestRegistry:
    def test_texts_are_made_canonical(self) -> None:
        made = make_registry([Source("s", "r", "\ufeffe\u0301\r")])
        assert made["s"].text == "é\n"

    @pytest.mark.parametrize(
        ("sources", "code"),
        [
            ([Source("s", "r", "a"), Source("s", "r", "a")], "registry.duplicate"),
            ([Source("s", "r", "a\x00")], "text.nul"),
            ([Source("s", "r", "\ud800")], "text.surrogate"),
        ],
    )
    def test_what_is_no_registry(self, sources: list[Source], code: str) -> None:
        assert code_of(make_registry, sources) == code

    def test_from_json_with_metadata(self) -> None:
        item = {"source_id": "s", "role": "r", "text": "a", "metadata": [{"name": "said", "value": "08:00"}]}
        made = read_registry({"schema": "kansho.registry.v1", "sources": [item]})
        assert made["s"] == Source("s", "r", "a", (("said", "08:00"),))
        assert code_of(read_registry, {"schema": "kansho.registry.v1", "sources": [{**item, "more": 1}]}) == (
            "schema.violation"
        )


class TestMasking:
    MASKED = make_registry([Source("s", "user", "Anna met Bob. Anna paid 25 €."), Source("t", "user", "Plain.")])
    MAP = Masking(texts=("Anna", "Bob", "25"), placeholders=("[P1]", "[P2]", "⟨N1⟩"))

    def found(self, excerpt: str, masking: Masking | None = None) -> Result:
        answer = UntrustedAnswer((Evidence("s", excerpt),))
        return check(answer, self.MASKED, policy(coverage=None, selected_ids=None), masking=masking or self.MAP)

    def test_an_excerpt_is_unmasked_first(self) -> None:
        decision = self.found("[P1] paid ⟨N1⟩ €").decisions[0]
        assert decision.span is not None
        assert (decision.span.start, decision.span.end) == (14, 28)
        assert decision.excerpt == "Anna paid 25 €"
        assert decision.excerpt_sha256 == hashlib.sha256("Anna paid 25 €".encode()).hexdigest()

    def test_a_placeholder_that_cannot_be_resolved_finds_nothing(self) -> None:
        for excerpt in ("[P9] paid", "[P1 paid", "[p1] paid", "P1 paid", "[P1]Anna"):
            assert [one.finding for one in self.found(excerpt).decisions] == [Finding.UNVERIFIED_EXCERPT]

    def test_plain_text_still_stands(self) -> None:
        assert not self.found("Anna met Bob").findings

    def test_the_boundary_counts_after_unmasking(self) -> None:
        twice = Masking(texts=("Ann", "2"), placeholders=("[P1]", "[N]"))
        assert [one.finding for one in self.found("paid [N]", twice).decisions] == [Finding.EXCERPT_CUTS_NUMBER]

    def test_overlapping_placeholders_mean_nothing(self) -> None:
        overlapping = Masking(texts=("Anna", "Bob"), placeholders=("_A_", "_B_"))
        assert overlapping.unmask("_A_ met _B_") == "Anna met Bob"
        assert overlapping.unmask("_A__B_") == "AnnaBob"
        assert overlapping.unmask("_A_B_") is None
        assert [one.finding for one in self.found("_A_B_", overlapping).decisions] == [Finding.UNVERIFIED_EXCERPT]

    def test_a_source_that_holds_a_placeholder_is_an_error(self) -> None:
        literal = Masking(texts=("x",), placeholders=("Plain",))
        assert code_of(self.found, "Anna", literal) == "masking.placeholder_in_source"

    @pytest.mark.parametrize(
        ("texts", "placeholders", "code"),
        [
            (("a", "b"), ("[P]", "[P]"), "masking.ambiguous"),
            (("a", "a"), ("[P]", "[Q]"), "masking.ambiguous"),
            (("a", "b"), ("[P1]", "P1"), "masking.ambiguous"),
            (("a", "b"), ("P1", "P12"), "masking.ambiguous"),
            (("a", ""), ("[P]", "[Q]"), "masking.not_canonical"),
            (("a", "b"), ("[P]", ""), "masking.not_canonical"),
            (("e\u0301",), ("[P]",), "masking.not_canonical"),
            (("a\r",), ("[P]",), "masking.not_canonical"),
            (("a",), ("[P\x00]",), "masking.not_canonical"),
        ],
    )
    def test_what_is_no_map(self, texts: tuple[str, ...], placeholders: tuple[str, ...], code: str) -> None:
        assert code_of(Masking, texts=texts, placeholders=placeholders) == code

    def test_nothing_of_it_is_shown(self) -> None:
        assert "Anna" not in repr(self.MAP)
        for value in ({"placeholders": [{"placeholder": "[P]", "text": 7}]}, {"placeholders": "Anna"}):
            with pytest.raises(InputError) as caught:
                Masking.from_json({"schema": "kansho.masking.v1", **value})
            assert caught.value.code == "schema.violation"
            assert "Anna" not in str(caught.value)
            assert "7" not in caught.value.why

    def test_from_json(self) -> None:
        pairs = [{"placeholder": "[P1]", "text": "Anna"}]
        assert Masking.from_json({"schema": "kansho.masking.v1", "placeholders": pairs}).unmask("[P1]!") == "Anna!"

    def test_an_empty_map_changes_nothing(self) -> None:
        empty = Masking(texts=(), placeholders=())
        assert empty.unmask("any [P]") == "any [P]"
        assert not empty.shown_in("any")

    def test_unmasking_is_bounded_over_the_whole_answer(self) -> None:
        bomb = Masking(texts=("x" * 65_536,), placeholders=("[P1]",))
        assert code_of(self.found, "[P1]" * 200_000, bomb) == "limits.bytes"
        many = UntrustedAnswer(tuple(Evidence("s", "[P1]" * 16) for _ in range(65)))
        assert code_of(check, many, self.MASKED, NO_ARTIFACT, masking=bomb) == "limits.bytes"

    def test_a_map_takes_no_byte_order_mark_away(self) -> None:
        for excerpt in ("\ufeffAnna", "\ufeff\ufeffAnna"):
            plain = check(UntrustedAnswer((Evidence("s", excerpt),)), self.MASKED, NO_ARTIFACT, diagnose=False)
            masked = self.found(excerpt, Masking(texts=(), placeholders=()))
            assert [one.finding for one in masked.decisions] == [one.finding for one in plain.decisions]

    def test_no_repr_has_what_was_masked(self) -> None:
        assert "Anna" not in repr(self.found("[P1] met [P2]").decisions)

    def test_what_shows_openly(self) -> None:
        assert self.MAP.shown_in("… ANNA …")
        assert not self.MAP.shown_in("[P1] and [P2]")

    def test_unmasked_text_is_made_canonical_again(self) -> None:
        known = make_registry([Source("s", "user", "caf\u00e9")])
        masking = Masking(texts=("\u0301",), placeholders=("[ACUTE]",))
        decided = check(UntrustedAnswer((Evidence("s", "cafe[ACUTE]"),)), known, NO_ARTIFACT, masking=masking).decisions
        assert decided[0].span is not None

    @given(st.text(st.sampled_from("[]P12 x"), max_size=30))
    def test_masked_and_unmasked_again(self, text: str) -> None:
        masking = Masking(texts=("Anna", "Bob"), placeholders=("{1}", "{2}"))
        assert masking.unmask(text.replace("1", "{1}").replace("2", "{2}").replace("{{", "{").replace("}}", "}")) == (
            text.replace("1", "Anna").replace("2", "Bob")
        )


TEXT = st.text(st.sampled_from("ab 1.,"), min_size=1, max_size=12)
HIDDEN = st.lists(st.tuples(TEXT, st.sampled_from(["user", "other"])), max_size=4)


@given(st.lists(TEXT, min_size=1, max_size=4), HIDDEN, st.lists(TEXT, min_size=1, max_size=4))
def test_hidden_sources_change_no_finding(visible: list[str], hidden: list[tuple[str, str]], quoted: list[str]) -> None:
    """What a subject may not see is not in the registry; and findings never depend on the order of the sources."""
    seen = [Source(f"v{number}", "user", text) for number, text in enumerate(visible)]
    all_of_it = [*(Source(f"h{n}", role, text) for n, (text, role) in enumerate(hidden)), *seen]
    answer = UntrustedAnswer(tuple(Evidence(f"v{number % len(seen)}", one) for number, one in enumerate(quoted)))
    alone = check(answer, make_registry(seen), NO_ARTIFACT)
    view: Registry = {one.source_id: one for one in make_registry(all_of_it).values() if one.source_id[0] == "v"}
    assert check(answer, view, NO_ARTIFACT) == alone
    assert check(answer, make_registry(reversed(seen)), NO_ARTIFACT).decisions == alone.decisions
