"""``attest`` in all its forms, ``repair`` and ``quotes``, as a person meets them."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from kansho_sign.workspace import NEWCOMER_POLICY
from tests.support.shell import Shell
from tests.support.workspaces import CHALLENGE, NONCE, NOW, answer_json

FIXED = ["--now", str(NOW), "--nonce", NONCE, "--challenge", CHALLENGE]
MAP = {"schema": "kansho.sources-map.v1", "sources": [{"by": "index", "value": "0", "source_id": "refund.md"}]}
TURNS = {
    "schema": "kansho.registry.v1",
    "sources": [
        {"source_id": "turn-1", "role": "user", "text": "I got up at 07:30."},
        {"source_id": "turn-2", "role": "assistant", "text": "Good."},
    ],
}


def write(path: Path, value: Any) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def policy(path: Path, **changes: Any) -> Path:
    return write(path, {**NEWCOMER_POLICY, **changes})


def message(*citations: tuple[str, int, int]) -> dict[str, Any]:
    """An answer of the Messages API, cut down to what is read."""
    cited = [
        {
            "type": "char_location",
            "cited_text": text,
            "document_index": 0,
            "document_title": "Refunds",
            "start_char_index": start,
            "end_char_index": end,
        }
        for text, start, end in citations
    ]
    return {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Ten.", "citations": cited}]}


def bundle(path: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(path.read_bytes())
    return value


class TestFormats:
    def test_a_providers_answer(self, published: Shell, tmp_path: Path) -> None:
        answer = write(tmp_path / "a.json", message(("take ten days", 19, 32)))
        given = ["--format", "anthropic", "--sources-map", write(tmp_path / "map.json", MAP)]
        done = published("attest", answer, *given, "-o", tmp_path / "b.json", *FIXED)
        assert (done.code, done.err) == (0, "")
        claims = bundle(tmp_path / "b.json")["public"]["payload"]["claims"]
        assert [claim["text"] for claim in claims] == ["take ten days"]

    def test_other_offsets_are_a_note_and_decide_nothing(self, published: Shell, tmp_path: Path) -> None:
        answer = write(tmp_path / "a.json", message(("take ten days", 0, 13)))
        given = ["--format", "anthropic", "--sources-map", write(tmp_path / "map.json", MAP), "--dry-run"]
        done = published("attest", answer, *given)
        assert done.code == 0
        assert "0-13" in done.err
        assert "19-32" in done.err
        (note,) = json.loads(published("attest", answer, *given, "--json").out)["notes"]
        assert (note["note"], note["provider"], note["derived"]) == ("provider_offsets_differ", [0, 13], [19, 32])
        assert (note["path"], note["at"]) == ("evidence[0].excerpt", "$.content[0].citations[0]")

    def test_findings_name_their_place_in_the_input(self, published: Shell, tmp_path: Path) -> None:
        answer = write(tmp_path / "a.json", message(*((f"no {number}", 0, 4) for number in range(10))))
        given = ["--format", "anthropic", "--sources-map", write(tmp_path / "map.json", MAP), "-o", tmp_path / "b"]
        done = published("attest", answer, *given, "--json")
        assert done.code == 3
        findings = json.loads(done.out)["findings"]
        assert [one["path"] for one in findings] == [f"evidence[{number}].excerpt" for number in range(10)]
        assert [one["at"] for one in findings] == [f"$.content[0].citations[{number}]" for number in range(10)]
        assert "$.content[0].citations[7]" in published("attest", answer, *given).err

    def test_a_document_that_the_map_does_not_have(self, published: Shell, tmp_path: Path) -> None:
        answer = write(tmp_path / "a.json", message(("ten", 0, 3)))
        empty = write(tmp_path / "map.json", {**MAP, "sources": []})
        done = published("attest", answer, "--format", "anthropic", "--sources-map", empty, "--dry-run", "--json")
        (finding,) = json.loads(done.out)["findings"]
        assert (finding["code"], finding["source_id"]) == ("unknown_source", "index:0")

    def test_no_citation_is_never_verified(self, published: Shell, tmp_path: Path) -> None:
        answer = write(tmp_path / "a.json", message())
        given = ["--format", "anthropic", "--sources-map", write(tmp_path / "map.json", MAP), "-o", tmp_path / "b"]
        published("attest", answer, *given).refusal(3, "evidence.none")

    def test_a_map_belongs_to_a_providers_format_and_to_no_other(self, published: Shell, tmp_path: Path) -> None:
        answer, out = write(tmp_path / "a.json", answer_json(("refund.md", "ten"))), tmp_path / "b.json"
        published("attest", answer, "--format", "cohere", "-o", out).refusal(2, "attest.sources_map")
        given = ["--sources-map", write(tmp_path / "map.json", MAP)]
        published("attest", answer, *given, "-o", out).refusal(2, "attest.sources_map")

    @pytest.mark.parametrize(
        ("sources", "code"),
        [
            ([{"by": "index", "value": "0", "source_id": "a"}] * 2, "adapter.map_duplicate"),
            ([{"by": "place", "value": "0", "source_id": "a"}], "schema.violation"),
            ([{"by": "index", "value": 0, "source_id": "a"}], "schema.violation"),
            ([{"by": "index", "value": "0"}], "schema.violation"),
            ({"index": "a"}, "schema.violation"),
            ({"index:0": "a"}, "json.key"),
        ],
    )
    def test_what_is_no_map(self, published: Shell, tmp_path: Path, sources: Any, code: str) -> None:
        answer = write(tmp_path / "a.json", message(("ten", 0, 3)))
        given = ["--format", "anthropic", "--sources-map", write(tmp_path / "m.json", {**MAP, "sources": sources})]
        said = published("attest", answer, *given, "-o", tmp_path / "b.json").refusal(3, code)
        assert "m.json" in said

    def test_two_references_that_mean_different_sources(self, published: Shell, tmp_path: Path) -> None:
        answer = write(tmp_path / "a.json", message(("ten", 0, 3)))
        other = {"by": "title", "value": "Refunds", "source_id": "park.txt"}
        given = ["--sources-map", write(tmp_path / "m.json", {**MAP, "sources": [*MAP["sources"], other]})]
        done = published("attest", answer, "--format", "anthropic", *given, "-o", tmp_path / "b.json")
        done.refusal(3, "adapter.map_conflict")

    @pytest.mark.parametrize("name", ["anthropic", "bedrock", "openai", "gemini", "cohere", "langchain", "llamaindex"])
    @pytest.mark.parametrize("value", ["[]", "{}", "7", "null", '"text"', '{"content": 7}', "[[[[]]]]"])
    def test_what_no_provider_sends(self, published: Shell, tmp_path: Path, name: str, value: str) -> None:
        given = ["--format", name, "--sources-map", write(tmp_path / "map.json", MAP), "-o", tmp_path / "b.json"]
        done = published("attest", write(tmp_path / "a.json", value), *given)
        assert done.code == 3
        assert "[adapter.shape]" in done.err or "[evidence.none]" in done.err
        assert not (tmp_path / "b.json").exists()


class TestOptions:
    def test_a_requests_own_sources_need_nothing_published(self, shell: Shell, tmp_path: Path) -> None:
        answer = write(tmp_path / "a.json", answer_json(("turn-1", "got up at 07:30")))
        registry = write(tmp_path / "turns.json", TURNS)
        wanted = policy(tmp_path / "p.json", allowed_roles=["user"])
        done = shell("attest", answer, "--registry", registry, "--policy", wanted, "-o", tmp_path / "b.json", *FIXED)
        assert done.code == 0, done.err
        assert bundle(tmp_path / "b.json")["public"]["payload"]["registry"] == "request"

    def test_an_artifact(self, published: Shell, tmp_path: Path) -> None:
        wanted = policy(tmp_path / "p.json", coverage="all_selected_sources", selected_ids=["park.txt", "refund.md"])
        answer = write(tmp_path / "a.json", answer_json(("refund.md", "ten days")))
        assert published("attest", answer, "--policy", wanted, "-o", tmp_path / "b.json", *FIXED).code == 0
        artifact = bundle(tmp_path / "b.json")["public"]["payload"]["artifact"]
        assert [one["source_id"] for one in artifact["sources"]] == ["park.txt", "refund.md"]
        missing = policy(tmp_path / "p.json", coverage="all_selected_sources", selected_ids=["none.md"])
        done = published("attest", answer, "--policy", missing, "-o", tmp_path / "c.json", *FIXED)
        done.refusal(3, "policy.selected_unknown")

    def test_masked(self, published: Shell, tmp_path: Path) -> None:
        pairs = [{"placeholder": "[[N1]]", "text": "ten"}]
        masking = write(tmp_path / "m.json", {"schema": "kansho.masking.v1", "placeholders": pairs})
        answer = write(tmp_path / "a.json", answer_json(("refund.md", "take [[N1]] days")))
        assert published("attest", answer, "-o", tmp_path / "b.json").code == 3
        done = published("attest", answer, "--masking", masking, "-o", tmp_path / "b.json", *FIXED)
        assert done.code == 0, done.err
        assert "[[N1]]" not in (tmp_path / "b.json").read_text("utf-8")
        secret = [{"placeholder": "[[N1]]", "text": ["topsecret"]}]
        write(masking, {"schema": "kansho.masking.v1", "placeholders": secret})
        said = published("attest", answer, "--masking", masking, "-o", tmp_path / "b.json")
        assert "topsecret" not in said.refusal(3, "schema.violation")

    def test_dry_run(self, published: Shell, tmp_path: Path) -> None:
        before = sorted(path.name for path in published.folder.rglob("*"))
        answer = write(tmp_path / "a.json", answer_json(("refund.md", "ten days")))
        done = published("attest", answer, "--dry-run")
        assert (done.code, done.err) == (0, "")
        assert json.loads(published("attest", answer, "--dry-run", "--json").out) == {
            "status": "answered", "signed": False, "findings": [], "undiagnosed": 0, "notes": [],
        }  # fmt: skip
        assert published("attest", write(answer, answer_json(("x", "y"))), "--dry-run").code == 3
        assert sorted(path.name for path in published.folder.rglob("*")) == before
        published("attest", answer, "--dry-run", "-o", tmp_path / "b.json").refusal(2, "attest.dry_run")
        published("attest", answer, "--dry-run", "--sign-rejection").refusal(2, "attest.dry_run")
        published("attest", answer).refusal(2, "attest.output")

    def test_a_signed_rejection(self, published: Shell, tmp_path: Path) -> None:
        answer = write(tmp_path / "a.json", answer_json(("refund.md", "nine days")))
        done = published("attest", answer, "--sign-rejection", "-o", tmp_path / "b.json", "--json", *FIXED)
        assert (done.code, json.loads(done.out)["signed"]) == (3, True)
        made = bundle(tmp_path / "b.json")
        assert made["public"]["payload"]["status"] == "evidence_rejected"
        assert made["audit"]["payload"]["evidence"][0]["code"] == "unverified_excerpt"
        shown = published("attest", answer, "--sign-rejection", "-o", "-", *FIXED)
        assert (shown.code, json.loads(shown.out)["public"]) == (3, made["public"])

    def test_the_diagnosis(self, published: Shell, tmp_path: Path) -> None:
        answer = write(tmp_path / "a.json", answer_json(("refund.md", "refunds take ten days")))
        (finding,) = json.loads(published("attest", answer, "--dry-run", "--json").out)["findings"]
        assert (finding["code"], finding["diagnosis"]) == ("unverified_excerpt", "case")
        assert finding["closest"] == {
            "char_start": 11, "char_end": 32, "differences": ["case"], "wording": "Refunds take ten days",
            "wording_is_whole": True,
        }  # fmt: skip
        assert "“Refunds take ten days”" in published("attest", answer, "--dry-run").err

    def test_the_source_cannot_steer_the_terminal(self, published: Shell, tmp_path: Path) -> None:
        (tmp_path / "more").mkdir()
        write(tmp_path / "more" / "evil.txt", "Before \x1b[31mred\x9b and \u202eafter it.")
        assert published("ingest", tmp_path / "more", "--now", NOW).code == 0
        assert published("publish", "--now", NOW).code == 0
        answer = write(tmp_path / "a.json", answer_json(("evil.txt", "Before red and after it.")))
        for command in (["attest", answer, "--dry-run"], ["attest", answer, "--dry-run", "--json"], ["repair", answer]):
            done = published(*command)
            assert "Before" in done.err + done.out
            assert not {"\x1b", "\x9b", "\u202e"} & set(done.err + done.out)


class TestStreams:
    def events(self) -> list[dict[str, Any]]:
        whole = message(("take ten days", 19, 32))
        citation = whole["content"][0]["citations"][0]
        return [
            {"type": "message_start", "message": {**whole, "content": []}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "", "citations": []}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Ten."}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": citation}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
            {"type": "message_stop"},
        ]

    def test_json_lines_server_sent_events_and_an_array_are_the_same(self, published: Shell, tmp_path: Path) -> None:
        events = self.events()
        sent = "".join(f"event: {one['type']}\r\ndata: {json.dumps(one)}\r\n\r\n" for one in events)
        forms = [json.dumps(events), "\n".join(map(json.dumps, events)), f": ping\n\n{sent}data: [DONE]\n\n"]
        given = ["--format", "anthropic", "--sources-map", write(tmp_path / "map.json", MAP), *FIXED]
        bundles = set()
        for number, form in enumerate(forms):
            out = tmp_path / f"b{number}.json"
            done = published("attest", write(tmp_path / "a.txt", form), *given, "-o", out)
            assert done.code == 0, done.err
            bundles.add(out.read_bytes())
        assert len(bundles) == 1

    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ('{"a": 1}\n{"a": 1, "a": 2}', "json.duplicate_key"),
            ('{"a": 1}\n{', "json.syntax"),
            ("data: {\n\n", "json.syntax"),
            ("data: 1\nnonsense\n", "json.syntax"),
            ("[" * 200 + "]" * 200, "limits.depth"),
            ('{"a": NaN}', "json.syntax"),
            ('{"a": 1e999}', "json.number"),
            ('{"a": ' + "9" * 5_000 + "}", "json.integer_range"),
            ('{"a": "\\ud800"}', "json.surrogate"),
            ("\ufeff{}", "json.bom"),
            ("", "json.syntax"),
        ],
    )
    def test_what_is_no_json(self, published: Shell, tmp_path: Path, text: str, code: str) -> None:
        given = ["--format", "anthropic", "--sources-map", write(tmp_path / "map.json", MAP), "-o", tmp_path / "b"]
        published("attest", write(tmp_path / "a.txt", text), *given).refusal(3, code)


class TestRepair:
    def test_it_proposes_and_accepts_nothing(self, published: Shell, tmp_path: Path) -> None:
        quoted = answer_json(("refund.md", "refunds take ten days"), ("park.txt", "Parking is free"))
        answer = write(tmp_path / "a.json", quoted)
        done = published("repair", answer, *FIXED)
        assert done.code == 0, done.err
        proposed = json.loads(done.out)
        assert [one["excerpt"] for one in proposed["evidence"]] == ["Refunds take ten days", "Parking is free"]
        assert "refunds take ten days" in done.err
        assert answer.read_text("utf-8") == json.dumps(quoted)
        assert not (published.folder / "audit").exists()
        assert published("repair", answer, "-o", tmp_path / "r.json").code == 0
        assert published("attest", tmp_path / "r.json", "-o", tmp_path / "b.json", *FIXED).code == 0

    def test_what_it_cannot_mend_is_said(self, published: Shell, tmp_path: Path) -> None:
        bad = answer_json(("refund.md", "Refunds take TEN days"), ("x", "y"), ("refund.md", "qqqq wwww zzzz"))
        done = published("repair", write(tmp_path / "a.json", bad))
        assert done.code == 3
        assert [one["excerpt"] for one in json.loads(done.out)["evidence"]] == [
            "Refunds take ten days", "y", "qqqq wwww zzzz",
        ]  # fmt: skip
        assert "evidence[1].excerpt (x): unknown_source" in done.err

    def test_without_evidence(self, published: Shell, tmp_path: Path) -> None:
        published("repair", write(tmp_path / "a.json", answer_json())).refusal(3, "evidence.none")


class TestQuotes:
    TEXT = (
        "We say “Refunds take ten days” ([refunds](refund.md)) and “parking”.\n\n"
        "> Parking is free.\n>\n> — [p](park.txt)\n"
    )

    def test_from_an_ordinary_text_to_a_bundle(
        self, published: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        text = write(tmp_path / "a.md", self.TEXT)
        done = published("quotes", text)
        assert done.code == 0
        assert [one["source_id"] for one in json.loads(done.out)["evidence"]] == ["refund.md", "park.txt"]
        assert "“parking”" in done.err
        assert "line 1" in done.err
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(done.out.encode())))
        assert published("attest", "-", "-o", tmp_path / "b.json", *FIXED).code == 0

    def test_with_a_map_and_an_output_file(self, published: Shell, tmp_path: Path) -> None:
        text = write(tmp_path / "a.md", "“ten days” ([x](https://example.org/refunds))")
        mapped = [{"by": "uri", "value": "https://example.org/refunds", "source_id": "refund.md"}]
        given = ["--sources-map", write(tmp_path / "m.json", {**MAP, "sources": mapped})]
        done = published("quotes", text, *given, "-o", tmp_path / "q.json")
        assert (done.code, done.out) == (0, "")
        assert json.loads((tmp_path / "q.json").read_bytes())["evidence"][0]["source_id"] == "refund.md"

    def test_no_quotation_with_a_source(self, published: Shell, tmp_path: Path) -> None:
        published("quotes", write(tmp_path / "a.md", "Just “words”.")).refusal(3, "evidence.none")
        published("quotes", write(tmp_path / "a.md", "")).refusal(3, "evidence.none")
        (tmp_path / "a.md").write_bytes(b"\xff")
        published("quotes", tmp_path / "a.md").refusal(3, "text.utf8")
        published("quotes", tmp_path / "none.md").refusal(2, "input.unreadable")
