"""A model's reconstruction of a conversation (docs/spec/adapters/journal.md)."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kansho_sign.adapters.journal import (
    Conversation,
    EntryInput,
    JournalError,
    Outcome,
    Turn,
    arrange,
    entry_input,
    policy,
    read_first_stage,
    registry_json,
    verify_reconstruction,
)
from kansho_sign.adapters.journal import conversation as conversation_module
from kansho_sign.adapters.journal.times_of_day import confirmed_time
from kansho_sign.canonical_json import dumps
from kansho_sign.errors import InputError, KanshoError
from kansho_sign.evidence import Boundary, Coverage, Masking, Policy, UntrustedAnswer, check, read_registry
from kansho_sign.limits import Limits
from kansho_sign.pipeline.attest import Attestation, attest, materialise
from kansho_sign.pipeline.request_registry import RequestView
from tests.adapters.foreign_json import JSON
from tests.support.workspaces import asker, make_workspace

EVENING, MORNING, NOON = "Gegen Ende, um 19:00, ein Film mit Anna.", "Um 07:30 aufgestanden. 🙂", "Dann Suppe."
TALK = Conversation(
    (
        Turn("t1", "user", EVENING),
        Turn("t2", "assistant", "Anna mag Filme. Und morgens?"),
        Turn("t3", "user", MORNING),
        Turn("t4", "user", " \n\u200b"),
        Turn("t5", "user", NOON),
    )
)
SAID = {"t1": EVENING, "t3": MORNING, "t5": NOON}
GOOD = {"evidence": [{"source_id": "t3", "excerpt": "07:30 aufgestanden"}, {"source_id": "t1", "excerpt": "ein Film"}]}
MASKING = Masking(texts=("Anna", "Zoë"), placeholders=("[P1]", "[P2]"))
NO_LIMIT = 1 << 40


def sent(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8")


def talk(*texts: str) -> Conversation:
    """Turns of the user: s0, s1 …"""
    return Conversation(tuple(Turn(f"s{number}", "user", text) for number, text in enumerate(texts)))


def cited(source_id: str, excerpt: str) -> bytes:
    return sent({"evidence": [{"source_id": source_id, "excerpt": excerpt}]})


def proposing(*order: str) -> bytes:
    return sent({"evidence": [], "order": list(order)})


def refused(first_stage: Any, conversation: Conversation = TALK, **named: Any) -> JournalError:
    with pytest.raises(JournalError) as caught:
        verify_reconstruction(first_stage, conversation, **named)
    return caught.value


def reason_of(first_stage: Any, conversation: Conversation = TALK, **named: Any) -> str:
    error = refused(first_stage, conversation, **named)
    assert error.code == "reconstruction_invalid"
    return str(error.diagnostics["reason"])


def input_error(function: Callable[..., object], *arguments: Any, **named: Any) -> tuple[str, str]:
    with pytest.raises(InputError) as caught:
        function(*arguments, **named)
    return caught.value.code, caught.value.where


class Model:
    """Gives its answers in turn, and notes how it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.asked = list(answers), list[bool]()

    def __call__(self, is_retry: bool) -> Any:
        self.asked.append(is_retry)
        return self.answers.pop(0)


def entry(model: Any, conversation: Conversation = TALK, **named: Any) -> EntryInput:
    given: dict[str, Any] = {"trace_id": "trace-7", "limit": NO_LIMIT, "measure": len}
    return entry_input(model, conversation, **{**given, **named})


def local(conversation: Conversation = TALK) -> dict[str, Any]:
    """The artifact of the sources alone, as JSON."""
    empty = check(UntrustedAnswer(()), conversation.registry, policy(conversation)).artifact
    assert empty is not None
    return empty.to_json()


class TestConversation:
    def test_all_user_turns_that_say_something_are_selected_in_their_order(self) -> None:
        assert TALK.selected == ("t1", "t3", "t5")
        assert set(TALK.registry) == {"t1", "t2", "t3", "t4", "t5"}

    def test_an_id_stands_once(self) -> None:
        twice = (Turn("a", "user", "x"), Turn("a", "assistant", "y"))
        assert input_error(Conversation, twice)[0] == "registry.duplicate"

    @pytest.mark.parametrize("role", ["system", "User", "user ", "", "tool"])
    def test_a_turn_is_of_the_user_or_of_the_assistant(self, role: str) -> None:
        turns = (Turn("a", "user", "x"), Turn("b", role, "x"))
        assert input_error(Conversation, turns) == ("journal.role", "$.turns[1].role")

    @pytest.mark.parametrize("source_id", ["", "a:b", " a", "a\n", "../a", "a\u200b", "x" * 513])
    def test_an_id_is_a_document_id(self, source_id: str) -> None:
        assert input_error(Conversation, (Turn(source_id, "user", "x"),))[0] == "name.document"

    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ("a\x00", "text.nul"),
            ("\ud800", "text.surrogate"),
            ("\uffff", "text.unassigned"),
            ("a" + "\u0301" * 257, "text.nonstarter_run"),
        ],
    )
    def test_a_text_has_a_canonical_form(self, text: str, code: str) -> None:
        assert input_error(Conversation, (Turn("a", "assistant", text),))[0] == code

    def test_limits(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(conversation_module, "LIMITS", Limits(source_bytes=3))
        assert Conversation((Turn("a", "user", "abc"),)).selected == ("a",)
        assert input_error(Conversation, (Turn("a", "user", "aé"), Turn("b", "user", "éé"))) == (
            "limits.bytes",
            "$.turns[1].text",
        )
        turn = Turn("a", "user", "x")
        assert input_error(Conversation, (turn,) * 16_385) == ("limits.items", "$.turns")

    def test_what_was_said_is_in_no_repr(self) -> None:
        shown = repr(TALK) + repr(entry(Model(sent(GOOD)))) + repr(read_first_stage(sent(GOOD)))
        assert "t3" in shown
        assert not any(text in shown for text in ("Anna", "aufgestanden", "Film"))


class TestVerified:
    def test_all_selected_sources_are_whole_and_the_evidence_stands(self) -> None:
        artifact = verify_reconstruction(sent(GOOD), TALK)
        assert (artifact.kind, artifact.coverage) == ("verified_artifact", Coverage.ALL_SELECTED_SOURCES)
        assert {one.source_id: one.text for one in artifact.sources} == SAID
        assert {one.role for one in artifact.sources} == {"user"}
        assert [(one.source_id, one.start, one.text) for one in artifact.evidence] == [
            ("t3", 3, "07:30 aufgestanden"),
            ("t1", 22, "ein Film"),
        ]

    def test_bytes_and_text_are_the_same(self) -> None:
        assert verify_reconstruction(sent(GOOD).decode(), TALK) == verify_reconstruction(sent(GOOD), TALK)

    def test_source_order_is_the_order_of_encounter_of_user_turns_alone(self) -> None:
        artifact = verify_reconstruction(proposing("s1", "s0"), talk("um 19:00", "um 07:30"))
        assert (artifact.order, artifact.source_order) == (("s1", "s0"), ("s0", "s1"))
        assert verify_reconstruction(sent(GOOD), TALK).source_order == ("t1", "t3", "t5")

    def test_kind_and_other_members_are_not_read_and_not_passed_on(self) -> None:
        more = {**GOOD, "kind": "trusted", "categories": ["sport"], "annotations": 7, "coverage": "selected_evidence"}
        more["evidence"] = [{**one, "char_start": 99, "role": "user", "kind": "x"} for one in GOOD["evidence"]]
        assert verify_reconstruction(sent(more), TALK) == verify_reconstruction(sent(GOOD), TALK)

    def test_evidence_may_be_empty_and_null_members_are_absent(self) -> None:
        artifact = verify_reconstruction(sent({"evidence": [], "order": None, "proposed_texts": None}), TALK)
        assert artifact.to_json() == local()

    def test_an_unchanged_proposed_text_says_nothing_new(self) -> None:
        same = {**GOOD, "proposed_texts": [{"source_id": "t5", "text": NOON}]}
        assert verify_reconstruction(sent(same), TALK) == verify_reconstruction(sent(GOOD), TALK)

    def test_line_ends_and_normal_forms_are_canonical_and_emoji_whole(self) -> None:
        conversation = talk("Cafe\u0301\r\num 9 👩‍👧 da\r")
        artifact = verify_reconstruction(cited("s0", "Café\rum 9 👩‍👧"), conversation)
        assert artifact.sources[0].text == "Café\num 9 👩‍👧 da\n"
        assert artifact.evidence[0].text == "Café\num 9 👩‍👧"
        assert reason_of(cited("s0", "👩"), conversation) == "excerpt_cuts_character"

    def test_the_boundary_is_safe_unless_said_otherwise(self) -> None:
        assert reason_of(cited("t3", "7:30")) == "excerpt_cuts_number"
        assert verify_reconstruction(cited("t3", "7:30"), TALK, excerpt_boundary=Boundary.ANY).evidence[0].start == 4

    def test_an_excerpt_is_unmasked(self) -> None:
        artifact = verify_reconstruction(cited("t1", "mit [P1]"), TALK, masking=MASKING)
        assert artifact.evidence[0].text == "mit Anna"


class TestRefused:
    @pytest.mark.parametrize(
        ("first_stage", "reason"),
        [
            (b"", "json.syntax"),
            ("", "json.syntax"),
            (b"not JSON", "json.syntax"),
            (b'```json\n{"evidence": []}\n```', "json.syntax"),
            (b'{"evidence": []', "json.syntax"),
            (b'{"evidence": [],}', "json.syntax"),
            (b'{"evidence": [], "n": NaN}', "json.syntax"),
            (b'{"evidence": []} {}', "json.syntax"),
            (b'\xef\xbb\xbf{"evidence": []}', "json.bom"),
            ('\ufeff{"evidence": []}', "json.bom"),
            (b'{"evidence": [], "x": "\xff"}', "json.utf8"),
            ('{"evidence": [], "x": "\ud800"}', "json.utf8"),
            ('{"evidence": []}'.encode("utf-16"), "json.utf8"),
            (b'{"evidence": [], "x": "\\ud800"}', "json.surrogate"),
            (b'{"evidence": [], "evidence": []}', "json.duplicate_key"),
            (b'{"evidence": [], "n": 1e999}', "json.number"),
            (b'{"evidence": [], "n": ' + b"1" * 5_000 + b"}", "json.integer_range"),
            (b"[" * 100_000, "limits.depth"),
            (b'{"a":' * 200 + b"1" + b"}" * 200, "limits.depth"),
            (b"null", "adapter.shape"),
            (b"[]", "adapter.shape"),
            (b"{}", "adapter.shape"),
            (b'{"evidence": null}', "adapter.shape"),
            (b'{"evidence": {}}', "adapter.shape"),
            (b'{"evidence": ["t1"]}', "adapter.shape"),
            (b'{"evidence": [{"source_id": "t1"}]}', "adapter.shape"),
            (b'{"evidence": [{"excerpt": "x"}]}', "adapter.shape"),
            (b'{"evidence": [{"source_id": 1, "excerpt": "x"}]}', "adapter.shape"),
            (b'{"evidence": [{"source_id": "t1", "excerpt": ["x"]}]}', "adapter.shape"),
            (b'{"evidence": [], "order": "t1"}', "adapter.shape"),
            (b'{"evidence": [], "order": [1]}', "adapter.shape"),
            (b'{"evidence": [], "proposed_texts": [{"source_id": "t1"}]}', "adapter.shape"),
            (None, "adapter.shape"),
            (7, "adapter.shape"),
        ],
    )
    def test_what_is_no_first_stage(self, first_stage: Any, reason: str) -> None:
        assert reason_of(first_stage) == reason

    def test_the_place_is_given(self) -> None:
        wrong = sent({"evidence": [*GOOD["evidence"], {"source_id": "t1", "excerpt": 7}]})
        assert refused(wrong).diagnostics == {"reason": "adapter.shape", "where": "$.evidence[2].excerpt"}

    @pytest.mark.parametrize(
        ("source_id", "excerpt", "reason"),
        [
            ("t9", "ein Film", "unknown_source"),
            ("", "ein Film", "unknown_source"),
            ("t2", "Anna mag Filme", "role_not_allowed"),
            ("t1", "Anna mag Filme", "role_not_allowed"),
            ("t5", "ein Film", "wrong_source"),
            ("t1", "ein film", "unverified_excerpt"),
            ("t1", "Ein Lied", "unverified_excerpt"),
            ("t1", "", "empty_excerpt"),
            ("t4", " \n\u200b", "empty_excerpt"),
            ("t1", "a\x00", "unverified_excerpt"),
            ("t1", "x" * 1_000_000, "unverified_excerpt"),
            ("x" * 1_000_000, "x", "unknown_source"),
        ],
    )
    def test_evidence_that_does_not_stand(self, source_id: str, excerpt: str, reason: str) -> None:
        assert reason_of(cited(source_id, excerpt)) == reason

    def test_the_assistant_is_context_and_never_content(self) -> None:
        assert reason_of(cited("t2", "Anna")) == "role_not_allowed"
        assert "t2" not in str(local())
        assert "mag Filme" not in str(local())

    def test_a_changed_text_never_replaces_a_source(self) -> None:
        changed = {**GOOD, "proposed_texts": [{"source_id": "t5", "text": NOON + " Und Brot."}]}
        error = refused(sent(changed))
        assert error.diagnostics["reason"] == "canonical_overwrite"
        assert error.diagnostics["findings"] == [{"code": "canonical_overwrite", "path": "$.proposed_texts[0].text"}]

    def test_every_finding_is_reported_with_its_path(self) -> None:
        bad = [{"source_id": "t1", "excerpt": "nowhere"}, GOOD["evidence"][0], {"source_id": "t9", "excerpt": "x"}]
        error = refused(sent({"evidence": bad}))
        assert error.to_json() == {
            "code": "reconstruction_invalid",
            "diagnostics": {
                "reason": "unverified_excerpt",
                "where": "$.evidence[0].excerpt",
                "findings": [
                    {"code": "unverified_excerpt", "path": "$.evidence[0].excerpt"},
                    {"code": "unknown_source", "path": "$.evidence[2].excerpt"},
                ],
            },
        }
        assert dumps(error.to_json())

    def test_a_hundred_thousand_items(self) -> None:
        items = [{"source_id": f"t{number % 7}", "excerpt": f"made up {number}"} for number in range(100_000)]
        assert len(refused(sent({"evidence": items})).diagnostics["findings"]) == 100_000

    def test_more_items_than_an_answer_holds(self) -> None:
        assert reason_of(b'{"evidence": [' + b"0," * 131_072 + b"0]}") == "limits.items"
        many = b'{"evidence": [], "proposed_texts": [' + b"0," * 16_384 + b"0]}"
        assert refused(many).diagnostics == {"reason": "limits.items", "where": "$.proposed_texts"}
        assert reason_of(b'{"evidence": [], "order": [' + b"0," * 16_384 + b"0]}") == "limits.items"
        as_many = b'{"evidence": [], "proposed_texts": [' + b"0," * 16_383 + b"0]}"
        assert refused(as_many).diagnostics == {"reason": "adapter.shape", "where": "$.proposed_texts[0]"}

    @pytest.mark.parametrize("excerpt", ["mit [P9]", "mit [P1", "mit [p1]", "mit [P2]"])
    def test_a_placeholder_that_cannot_be_resolved(self, excerpt: str) -> None:
        assert reason_of(cited("t1", excerpt), masking=MASKING) == "unverified_excerpt"

    def test_a_map_that_does_not_fit_the_sources(self) -> None:
        error = refused(sent(GOOD), masking=Masking(texts=("Geheim",), placeholders=("Film",)))
        assert error.diagnostics == {"reason": "masking.placeholder_in_source", "where": "source 't1'"}
        assert "Geheim" not in repr(error) + str(error)

    @pytest.mark.parametrize("conversation", [Conversation(()), talk(), talk(" \n", "\u200b", "", "\ufeff")])
    def test_no_user_sources(self, conversation: Conversation) -> None:
        error = refused(sent(GOOD), conversation)
        assert error.to_json() == {"code": "no_user_sources", "diagnostics": {"reason": "no_user_sources"}}

    def test_no_user_sources_where_only_the_assistant_spoke(self) -> None:
        alone = Conversation((Turn("a", "assistant", "Hallo"),))
        assert refused(cited("a", "Hallo"), alone).code == "no_user_sources"
        for function in (policy, registry_json):
            assert input_error(function, alone)[0] == "no_user_sources"

    def test_nothing_that_the_model_wrote_is_in_the_error(self) -> None:
        for hostile in (
            {"evidence": [{"source_id": "Anna", "excerpt": "Anna war da"}], "Anna": 1},
            {"evidence": [{"source_id": "t1", "excerpt": "[P1] war da"}]},
            {"evidence": [], "order": ["Anna", "t3", "t5"]},
            {"evidence": [{"source_id": "t1", "excerpt": {"Anna": "Anna"}}]},
        ):
            error = refused(sent(hostile), masking=MASKING)
            assert "Anna" not in repr(error) + str(error) + json.dumps(error.to_json())
        twice = refused(b'{"Anna": 1, "Anna": 2}', masking=MASKING)
        assert twice.diagnostics == {"reason": "json.duplicate_key", "where": ""}
        assert "Anna" not in repr(twice) + str(twice)

    def test_a_journal_error_is_an_input_error_with_its_exit(self) -> None:
        error = refused(b"")
        assert isinstance(error, KanshoError)
        assert error.exit_code == InputError.exit_code
        placed = error.at("conversation 4")
        assert (type(placed), placed.where) == (JournalError, "conversation 4: line 1, column 1")
        assert placed.diagnostics == error.diagnostics
        assert JournalError("no_user_sources", "why").at("a").where == "a"


class TestOrder:
    @pytest.mark.parametrize(
        ("texts", "order"),
        [
            (("um 19:00", "um 07:30"), (1, 0)),
            (("um 19 Uhr", "morgens um halb acht"), (1, 0)),
            (("at 7:30 pm", "at 12:30 am"), (1, 0)),
            (("um 8 Uhr 15.", "um 8 Uhr"), (1, 0)),
            (("um 09:00", "um 08:00", "um 07:00"), (2, 1, 0)),
            (("Zuerst.", "um 09:00", "um 08:00", "Zuletzt."), (0, 2, 1, 3)),
            (("um 9 Uhr 30 Liegestütze", "um 8 Uhr"), (1, 0)),
        ],
    )
    def test_times_in_the_sources_confirm_a_proposed_order(
        self, texts: tuple[str, ...], order: tuple[int, ...]
    ) -> None:
        wanted = tuple(f"s{number}" for number in order)
        artifact = verify_reconstruction(proposing(*wanted), talk(*texts))
        assert artifact.order == wanted
        assert tuple(one.source_id for one in artifact.sources) == wanted

    @pytest.mark.parametrize(
        ("texts", "order", "pair"),
        [
            (("Abends Film.", "um 07:30"), (1, 0), (1, 0)),
            (("um 19:00", "Morgens auf."), (1, 0), (1, 0)),
            (("um 19:00", "um halb acht"), (1, 0), (1, 0)),
            (("um 19:00", "um 07:30, halb neun los"), (1, 0), (1, 0)),
            (("um 19:00", "um 07:30, los um 08:00"), (1, 0), (1, 0)),
            (("um 19:00", "von 7 bis 8 Uhr"), (1, 0), (1, 0)),
            (("um 19:00", "um 7.30"), (1, 0), (1, 0)),
            (("um 19:00", "um 7:60"), (1, 0), (1, 0)),
            (("um 19:00", "um 19:00"), (1, 0), (1, 0)),
            (("um 07:30", "um 19:00"), (1, 0), (1, 0)),
            (("um 9 Uhr 30 Liegestütze", "um 09:15"), (1, 0), (1, 0)),
            (("um 09:00", "um 08:00", "Irgendwann."), (2, 1, 0), (2, 1)),
            (("um 09:00", "Irgendwann.", "um 08:00"), (2, 0, 1), (2, 1)),
        ],
    )
    def test_else_the_order_of_encounter_stays_for_the_whole(
        self, texts: tuple[str, ...], order: tuple[int, ...], pair: tuple[int, int]
    ) -> None:
        conversation, wanted = talk(*texts), [f"s{number}" for number in order]
        artifact = verify_reconstruction(proposing(*wanted), conversation)
        assert artifact.order == artifact.source_order == conversation.selected
        assert arrange(conversation, wanted).deciding == (f"s{pair[0]}", f"s{pair[1]}")
        made = entry(Model(proposing(*wanted)), conversation)
        assert (made.outcome, made.reason) == (Outcome.VERIFIED_ARTIFACT, None)
        assert made.diagnostics == {"order_kept": [f"s{pair[0]}", f"s{pair[1]}"]}

    def test_a_time_in_evidence_or_of_the_assistant_confirms_nothing(self) -> None:
        turns = (Turn("a", "user", "Film um 19:00"), Turn("b", "assistant", "um 07:30"), Turn("c", "user", "Auf."))
        conversation = Conversation(turns)
        first = sent({"evidence": [{"source_id": "c", "excerpt": "Auf"}], "order": ["c", "a"], "times": {"c": "07:30"}})
        assert verify_reconstruction(first, conversation).order == ("a", "c")

    @pytest.mark.parametrize(
        ("order", "reason", "where"),
        [
            (["t3", "t1"], "journal.order_incomplete", "$.order"),
            ([], "journal.order_incomplete", "$.order"),
            (["t3", "t1", "t5", "t9"], "journal.order_unknown", "$.order[3]"),
            (["t3", "t2", "t1", "t5"], "journal.order_unknown", "$.order[1]"),
            (["t1", "t3", "t4", "t5"], "journal.order_unknown", "$.order[2]"),
            (["t1", "t3", "t5", "t1"], "journal.order_duplicate", "$.order[3]"),
            (["T1", "t3", "t5"], "journal.order_unknown", "$.order[0]"),
        ],
    )
    def test_an_order_of_other_sources_is_invalid(self, order: list[str], reason: str, where: str) -> None:
        error = refused(sent({**GOOD, "order": order}))
        assert error.code == "reconstruction_invalid"
        assert error.diagnostics == {"reason": reason, "where": where}

    @given(st.data())
    def test_no_order_breaks_the_rule_of_pairs(self, data: st.DataObject) -> None:
        pieces = ["um 07:30", "08:00 Uhr", "7 Uhr 45.", "um 23:00", "Etwas.", "halb neun", "um 8:00 pm", "06:00 07:00"]
        conversation = talk(*data.draw(st.lists(st.sampled_from(pieces), min_size=1, max_size=7)))
        proposed = data.draw(st.permutations(conversation.selected))
        artifact = verify_reconstruction(proposing(*proposed), conversation)
        assert artifact.order in {tuple(proposed), conversation.selected}
        rank = {source_id: number for number, source_id in enumerate(conversation.selected)}
        times = {one.source_id: confirmed_time(one.text) for one in artifact.sources}
        for first, second in itertools.combinations(artifact.order, 2):
            if rank[first] > rank[second]:
                before, after = times[first], times[second]
                assert before is not None
                assert after is not None
                assert before.latest < after.earliest

    def test_sixteen_thousand_turns(self) -> None:
        conversation = talk(*(f"um {23 - n // 700:02}:30" for n in range(16_000)))
        backwards = tuple(reversed(conversation.selected))
        assert arrange(conversation, backwards).deciding == ("s15999", "s15998")
        by_time = sorted(conversation.selected, key=lambda one: -(int(one[1:]) // 700))
        assert arrange(conversation, by_time).order == tuple(by_time)


class TestEntry:
    def test_a_verified_artifact_is_handed_on_and_nothing_else_of_the_first_stage(self) -> None:
        model = Model(sent({**GOOD, "categories": ["sport"], "note": "Der Nutzer ist müde."}))
        made = entry(model, masking=Masking(texts=("Bob",), placeholders=("[P1]",)))
        assert (made.outcome, made.reason, made.diagnostics) == (Outcome.VERIFIED_ARTIFACT, None, {})
        assert made.artifact == verify_reconstruction(sent(GOOD), TALK)
        assert made.reconstruction == dumps(made.artifact.to_json()).decode()
        assert "sport" not in made.reconstruction
        assert "müde" not in made.reconstruction
        assert model.asked == [False]

    def test_the_trace_id_is_the_hosts(self) -> None:
        assert entry(Model(sent(GOOD)), trace_id="r-1").trace_id == "r-1"
        assert entry(Model(b""), trace_id="r-2").trace_id == "r-2"

    @pytest.mark.parametrize(
        ("answer", "reason"),
        [
            (b"", "json.syntax"),
            ("", "json.syntax"),
            (None, "adapter.shape"),
            (b"Ich kann das nicht.", "json.syntax"),
            (cited("t1", "ein Buch"), "unverified_excerpt"),
            (cited("t2", "Anna"), "role_not_allowed"),
            (sent({**GOOD, "order": ["t1"]}), "journal.order_incomplete"),
        ],
    )
    def test_an_invalid_first_stage_is_neither_handed_on_nor_repaired(self, answer: Any, reason: str) -> None:
        model = Model(answer)
        made = entry(model)
        assert (made.outcome, made.reason) == (Outcome.LOCAL_VERIFIED_ARTIFACT, "reconstruction_invalid")
        assert made.diagnostics["reason"] == reason
        assert json.loads(made.reconstruction) == local()
        assert made.artifact.order == made.artifact.source_order == ("t1", "t3", "t5")
        assert made.artifact.evidence == ()
        assert model.asked == [False]

    def test_a_map_that_does_not_fit_leaves_the_sources_alone(self) -> None:
        made = entry(Model(sent(GOOD)), masking=Masking(texts=("Geheim",), placeholders=("Film",)))
        assert (made.reason, made.diagnostics["reason"]) == ("reconstruction_invalid", "masking.placeholder_in_source")
        assert json.loads(made.reconstruction) == local()

    def test_the_entry_stops_without_user_sources_and_asks_nothing(self) -> None:
        model = Model()
        with pytest.raises(JournalError) as caught:
            entry(model, talk(" "))
        assert caught.value.code == "no_user_sources"
        assert model.asked == []

    @pytest.mark.parametrize("answer", [sent(GOOD), b"no JSON"])
    def test_the_budget_is_kept_by_refusing_and_by_nothing_else(self, answer: bytes) -> None:
        size = len(entry(Model(answer)).reconstruction)
        assert len(entry(Model(answer), limit=size).reconstruction) == size
        with pytest.raises(JournalError) as caught:
            entry(Model(answer), limit=size - 1)
        assert caught.value.to_json() == {
            "code": "prompt_budget_exceeded",
            "diagnostics": {"reason": "prompt_budget_exceeded", "limit": size - 1, "measured": size},
        }

    def test_the_measure_is_the_hosts_and_sees_the_whole(self) -> None:
        seen: list[str] = []

        def words(text: str) -> int:
            seen.append(text)
            return 7

        made = entry(Model(sent(GOOD)), limit=7, measure=words)
        assert seen == [made.reconstruction]

    def test_what_the_hosts_functions_raise_is_not_swallowed(self) -> None:
        def fails(_: object) -> Any:
            raise TimeoutError

        with pytest.raises(TimeoutError):
            entry(fails)
        with pytest.raises(TimeoutError):
            entry(Model(sent(GOOD)), measure=fails)


SHOWN = (
    cited("t1", "mit Anna"),
    cited("t1", "mit ANNA").decode(),
    b'{"evidence": [], "note": "\\u0041nna"}',
    b'{"evidence": [], "\\u0041nna": 1}',
    b'{"evidence": [], "a": [{"b": ["x \\u0041\\u006e\\u006E\\u0061 y"]}]}',
    b'{"evidence": [], "a": "{\\"b\\": \\"\\\\u0041nna\\"}"}',
    '{"evidence": [], "a": "Zoe\u0308"}',
    b'{"evidence": [], "a": "Zoe\\u0308"}',
    "Anna, das ist kein JSON",
    b"\xff Anna",
)


class TestIdentities:
    @pytest.mark.parametrize("answer", SHOWN)
    def test_an_answer_that_shows_one_after_the_retry_is_not_taken_over(self, answer: Any) -> None:
        model = Model(answer, answer)
        made = entry(model, masking=MASKING)
        assert model.asked == [False, True]
        assert (made.outcome, made.reason) == (Outcome.LOCAL_VERIFIED_ARTIFACT, "identity_in_output")
        assert made.diagnostics == {"reason": "identity_in_output"}
        assert json.loads(made.reconstruction) == local()
        assert "Anna" not in repr(made)

    @pytest.mark.parametrize("answer", SHOWN)
    def test_the_one_retry_may_do_better(self, answer: Any) -> None:
        model = Model(answer, cited("t1", "mit [P1]"))
        made = entry(model, masking=MASKING)
        assert model.asked == [False, True]
        assert (made.outcome, made.reason) == (Outcome.VERIFIED_ARTIFACT, None)
        assert made.artifact.evidence[0].text == "mit Anna"

    def test_a_retry_that_is_invalid_is_invalid(self) -> None:
        made = entry(Model(SHOWN[0], b""), masking=MASKING)
        assert (made.reason, made.diagnostics["reason"]) == ("reconstruction_invalid", "json.syntax")

    def test_without_masking_there_is_nothing_to_show(self) -> None:
        model = Model(cited("t1", "mit Anna"))
        assert entry(model).outcome == Outcome.VERIFIED_ARTIFACT
        assert model.asked == [False]

    def test_no_retry_where_nothing_shows(self) -> None:
        model = Model(cited("t1", "ein Film"))
        assert entry(model, masking=MASKING).outcome == Outcome.VERIFIED_ARTIFACT
        assert model.asked == [False]

    @pytest.mark.parametrize(
        ("answer", "reason"),
        [
            (b'{"evidence": [], "a": "\\u0000"}', "text.nul"),
            (b'{"evidence": [], "a": "\\ud800"}', "text.surrogate"),
            ('{"evidence": [], "a": "\uffff"}', "text.unassigned"),
            ('{"evidence": [], "a": "' + "\u0301" * 300 + '"}', "text.nonstarter_run"),
            (b'{"evidence": [], "a": "' + b"\\" * 1_024 + b'"}', "limits.depth"),
            (
                b'{"evidence": [], "a": "' + b"\\u005cu005cu005cu005cu005cu005cu005cu005cu005cu005cu0041nna" + b'"}',
                "limits.depth",
            ),
        ],
    )
    def test_what_cannot_be_compared_is_not_taken_over(self, answer: Any, reason: str) -> None:
        made = entry(Model(answer, answer), masking=MASKING)
        assert (made.reason, made.diagnostics) == ("identity_in_output", {"reason": reason})

    def test_the_retry_is_the_last_call_and_its_error_is_not_swallowed(self) -> None:
        def ask(is_retry: bool) -> bytes:
            if is_retry:
                raise TimeoutError
            return cited("t1", "mit Anna")

        with pytest.raises(TimeoutError):
            entry(ask, masking=MASKING)


class TestSigning:
    def test_the_same_conversation_and_evidence_give_the_same_artifact(self) -> None:
        conversation = talk("um 19:00 ein Film\r\n", "um 07:30 auf")
        first = sent({"evidence": [{"source_id": "s1", "excerpt": "auf"}], "order": ["s1", "s0"]})
        artifact = verify_reconstruction(first, conversation)
        registry = read_registry(json.loads(dumps(registry_json(conversation))))
        wanted = Policy.from_json(json.loads(dumps(policy(conversation, order=artifact.order).to_json())))
        answer = UntrustedAnswer.from_json(json.loads(dumps(read_first_stage(first).answer_json())))
        assert check(answer, registry, wanted).artifact == artifact
        assert artifact.order == ("s1", "s0")

    def test_evidence_and_the_sources_alone_are_signed(self, tmp_path: Path) -> None:
        conversation = talk("um 19:00 ein Film\r\n", "um 07:30 auf", " ")
        first = sent({"evidence": [{"source_id": "s1", "excerpt": "auf"}], "order": ["s1", "s0"]})
        artifact, workspace = verify_reconstruction(first, conversation), make_workspace(tmp_path / "workspace")
        view = RequestView(workspace, registry_json(conversation), asker())
        how = Attestation(policy(conversation, order=artifact.order))
        signed = attest(workspace, view, read_first_stage(first).answer, asker(), how)
        assert signed.status == "answered"
        assert signed.result is not None
        assert signed.result.artifact == artifact
        alone = materialise(workspace, view, asker(), Attestation(policy(conversation)))
        assert alone.result is not None
        assert alone.result.artifact is not None
        assert alone.result.artifact.to_json() == local(conversation)

    def test_the_registry_has_the_texts_as_they_were_said(self) -> None:
        made = registry_json(Conversation((Turn("a", "user", "e\u0301\r\n"), Turn("b", "assistant", ""))))
        assert made["schema"] == "kansho.registry.v1"
        assert made["sources"] == [
            {"source_id": "a", "role": "user", "text": "e\u0301\r\n"},
            {"source_id": "b", "role": "assistant", "text": ""},
        ]

    def test_the_policy_cannot_be_given_an_order_that_nothing_confirms(self) -> None:
        conversation = talk("Film.", "Auf.")
        assert policy(conversation, order=("s1", "s0")).selected_ids == ("s0", "s1")
        assert input_error(policy, conversation, order=("s1",)) == ("journal.order_incomplete", "$.order")
        made = policy(TALK, excerpt_boundary=Boundary.ANY)
        assert made == Policy(
            ("user",), Coverage.ALL_SELECTED_SOURCES, TALK.selected, TALK.selected, False, Boundary.ANY
        )

    def test_proposed_texts_are_handed_to_signing_too(self) -> None:
        first = sent({"evidence": [], "proposed_texts": [{"source_id": "t1", "text": "other"}]})
        answer = UntrustedAnswer.from_json(read_first_stage(first).answer_json())
        assert [str(one.finding) for one in check(answer, TALK.registry, policy(TALK)).findings] == [
            "canonical_overwrite"
        ]


TURNS = st.lists(
    st.tuples(st.sampled_from(["user", "assistant"]), st.sampled_from([*SAID.values(), "", " ", "e\u0301\r\n", "🙂"])),
    max_size=5,
)
FIRST_STAGES = st.one_of(
    st.binary(max_size=40),
    st.text(max_size=40),
    JSON.map(sent),
    st.fixed_dictionaries(
        {
            "evidence": st.lists(
                st.fixed_dictionaries(
                    {"source_id": st.sampled_from(["s0", "s1", "s2", "x"]), "excerpt": st.sampled_from(["", "um", "x"])}
                ),
                max_size=3,
            )
        },
        optional={"order": st.lists(st.sampled_from(["s0", "s1", "s2"]), max_size=3) | JSON, "kind": JSON},
    ).map(sent),
)


@given(TURNS, FIRST_STAGES, FIRST_STAGES, st.sampled_from([None, MASKING]), st.sampled_from([NO_LIMIT, 400]))
@example([("user", EVENING)], b"", b"", MASKING, NO_LIMIT)
def test_whatever_the_first_stage_says_every_user_text_is_handed_on_whole(
    said: list[tuple[str, str]], first: bytes | str, second: bytes | str, masking: Masking | None, limit: int
) -> None:
    conversation = Conversation(tuple(Turn(f"s{n}", role, text) for n, (role, text) in enumerate(said)))
    model = Model(first, second)
    wanted = {
        f"s{n}": text.replace("e\u0301\r\n", "é\n")
        for n, (role, text) in enumerate(said)
        if role == "user" and text.strip()
    }
    try:
        made = entry(model, conversation, masking=masking, limit=limit)
    except JournalError as error:
        reason = "prompt_budget_exceeded" if wanted else "no_user_sources"
        told = error.to_json()
        if told != {"code": reason, "diagnostics": {**error.diagnostics, "reason": reason}}:
            pytest.fail(f"stopped with {told}")
        if wanted and not error.diagnostics["measured"] > error.diagnostics["limit"] == limit:
            pytest.fail("stopped within the limit")
        return
    value = json.loads(made.reconstruction)
    assert {one["source_id"]: one["text"] for one in value["sources"]} == wanted
    assert len(value["sources"]) == len(wanted)
    assert value["source_order"] == list(wanted)
    assert (made.outcome == Outcome.VERIFIED_ARTIFACT) == (made.reason is None)
    assert all(
        one["text"] == wanted[one["source_id"]][one["char_start"] : one["char_end"]] for one in value["evidence"]
    )
    if made.reason is not None:
        assert (value["evidence"], value["order"]) == ([], list(wanted))
