"""Ask and attest through the library: what is signed, what is not, and what nobody may notice."""

from __future__ import annotations

import json
import shutil
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kansho_sign.canonical_json import dumps
from kansho_sign.claims import claim
from kansho_sign.errors import FaultError, InputError, KanshoError
from kansho_sign.limits import LIMITS
from kansho_sign.pipeline import ask as ask_module
from kansho_sign.pipeline import attest as attest_module
from kansho_sign.pipeline import requests as requests_module
from kansho_sign.pipeline.requests import Answer, write_bundle
from kansho_sign.schema import validate
from kansho_sign.workspace import Workspace
from tests.support.workspaces import (
    answer_json,
    ask_it,
    attest_it,
    event_line,
    ingest_it,
    make_workspace,
    publish_it,
    write_files,
)

REFUND = "# Refunds\n\nRefunds take ten days. We pay 2,700,000 yen.\n\n- They are free.\n- They are final.\n"
QUESTION = "Refunds take ten days"


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    made = make_workspace(tmp_path / "workspace")
    folder = write_files(tmp_path / "in", {"refund.md": REFUND, "park.txt": "Parking is free.\n\nIt is final."})
    ingest_it(made, folder)
    ingest_it(made, write_files(tmp_path / "staff", {"staff.md": "Staff eat free.\n"}), groups=["staff"])
    ingest_it(made, write_files(tmp_path / "note", {"note.md": "A note.\n"}), role="note")
    publish_it(made)
    yield made
    made.close()


def sections(answer: Answer) -> tuple[dict[str, Any], dict[str, Any]]:
    assert answer.bundle is not None
    validate(answer.bundle, "bundle")
    return answer.bundle["public"]["payload"], answer.bundle["audit"]["payload"]


def test_an_answer(workspace: Workspace) -> None:
    public, audit = sections(ask_it(workspace, QUESTION))
    assert public["status"] == "answered"
    (claim,) = public["claims"]
    (citation,) = claim["citations"]
    assert claim["text"] == REFUND[citation["char_start"] : citation["char_end"]]
    assert claim["text"] == "Refunds take ten days. We pay 2,700,000 yen."
    assert (citation["anchor"], citation["partial"], citation["occurrences"]) == ("entry", False, 1)
    assert audit["filter_summary"]["visible_documents"] == 3
    assert [document["document"] for document in audit["documents"]] == ["refund.md"]
    assert audit["selection"] == [citation["entries"][0]["entry"]]


def test_the_same_request_gives_the_same_bytes(workspace: Workspace) -> None:
    one, other = ask_it(workspace, QUESTION).bundle, ask_it(workspace, QUESTION).bundle
    assert dumps(one) == dumps(other)


def test_no_answer_says_nothing(workspace: Workspace) -> None:
    public, audit = sections(ask_it(workspace, "Staff eat free"))
    assert (public["status"], public["claims"]) == ("insufficient_evidence", [])
    assert audit["failure"] == {"code": "insufficient_evidence"}
    assert set(audit["filter_summary"].values()) == {0}
    assert (audit["documents"], audit["selection"], audit["evidence"]) == ([], [], [])
    public, _ = sections(ask_it(workspace, "Staff eat free", groups=["staff"]))
    assert public["status"] == "answered"


@pytest.mark.parametrize(
    "question", ["", " \n", "\ufeff", "x" * 8_193, "a\x00", "a\u0378", "\ud800", "a" + "\u0301" * 300]
)
def test_questions_that_are_refused(workspace: Workspace, question: str) -> None:
    with pytest.raises(InputError) as caught:
        ask_it(workspace, question)
    assert caught.value.where.startswith("question")


def test_a_question_is_canonical(workspace: Workspace) -> None:
    one, _ = sections(ask_it(workspace, "\ufeffRefunds\r\ncafe\u0301"))
    _, audit = sections(ask_it(workspace, "Refunds\ncafé"))
    assert audit["request"]["question"] == "Refunds\ncafé"
    assert one["request_commitment"] == sections(ask_it(workspace, "Refunds\ncafé"))[0]["request_commitment"]
    assert sections(ask_it(workspace, "x" * 8_192))[0]["status"] == "insufficient_evidence"


def test_top_k(workspace: Workspace) -> None:
    for top_k in (1, 2, 100):
        _, audit = sections(ask_it(workspace, "They are final. It is free.", top_k=top_k))
        assert len(audit["selection"]) <= top_k
        assert audit["request"]["top_k"] == top_k


def test_attest(workspace: Workspace) -> None:
    whole = "Parking is free.\n\nIt is final."
    evidence = [
        ("refund.md", "Refunds take ten days."),
        ("refund.md", "2,700,000 yen.\n\n- They are free.\n- They"),
        ("park.txt", whole),
        ("refund.md", "Refunds take ten days."),
        ("refund.md", "# "),
        ("refund.md", "Refunds"),
    ]
    answer = attest_it(workspace, answer_json(*evidence, proposed_texts=[{"source_id": "park.txt", "text": whole}]))
    public, audit = sections(answer)
    assert not answer.findings
    texts = [claim["text"] for claim in public["claims"]]
    assert texts == [*dict.fromkeys(excerpt for _, excerpt in evidence)]
    anchors = [claim["citations"][0]["anchor"] for claim in public["claims"]]
    assert anchors == ["entry", "entries", "document", "document", "document"]
    claims = {claim["text"]: claim["claim"] for claim in public["claims"]}
    assert [decision["claim"] for decision in audit["evidence"]] == [*(claims[text] for _, text in evidence), None]
    assert [decision["path"] for decision in audit["evidence"]][-1] == "proposed_texts[0].text"
    assert {document["document"] for document in audit["documents"]} == {"refund.md", "park.txt"}
    assert audit["selection"] == []
    assert audit["request"]["top_k"] is audit["request"]["question"] is None
    assert audit["policy"]["schema"] == "kansho.policy.v1"


def test_more_work_than_a_consumer_does_is_not_signed(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    twice = answer_json(("park.txt", "Parking"), ("park.txt", "Parking"))
    length = len("Parking is free.\n\nIt is final.")
    monkeypatch.setattr(
        attest_module, "LIMITS", replace(LIMITS, occurrence_work_code_points=length + LIMITS.work_of_an_occurrence)
    )
    assert attest_it(workspace, twice).bundle is not None, "the same text in the same source is counted once"
    with pytest.raises(InputError) as caught:
        attest_it(workspace, answer_json(("park.txt", "Parking"), ("park.txt", "free")))
    assert caught.value.code == "limits.work"


def test_one_bad_item_and_nothing_is_signed(workspace: Workspace) -> None:
    evidence = [
        ("refund.md", "Refunds take ten days."),
        ("refund.md", "nowhere"),
        ("staff.md", "Staff"),
        ("note.md", "A"),
    ]
    answer = attest_it(workspace, answer_json(*evidence))
    assert answer.bundle is None
    assert answer.status == "evidence_rejected"
    assert [d.finding for d in answer.decisions] == [None, "unverified_excerpt", "unknown_source", "role_not_allowed"]
    assert [d.path for d in answer.findings] == [f"evidence[{n}].excerpt" for n in (1, 2, 3)]
    proposed = answer_json(evidence[0], proposed_texts=[{"source_id": "refund.md", "text": "other"}])
    assert [d.finding for d in attest_it(workspace, proposed).findings] == ["canonical_overwrite"]


def test_hidden_documents_look_like_none(workspace: Workspace) -> None:
    for excerpt in ("Staff eat free.", "nowhere", ""):
        answer = answer_json(("staff.md", excerpt), ("refund.md", excerpt))
        there = [decision.finding for decision in attest_it(workspace, answer).decisions]
        missing = answer_json(("missing.md", excerpt), ("refund.md", excerpt))
        assert there == [decision.finding for decision in attest_it(workspace, missing).decisions]
        assert there[0] == "unknown_source"
    assert not attest_it(workspace, answer_json(("staff.md", "Staff eat free.")), groups=["staff"]).findings


def test_policy(workspace: Workspace) -> None:
    assert attest_it(workspace, answer_json(("note.md", "A note.")), allowed_roles=["note"]).status == "answered"
    cut = answer_json(("refund.md", "2,70"))
    assert [d.finding for d in attest_it(workspace, cut).findings] == ["excerpt_cuts_number"]
    assert attest_it(workspace, cut, excerpt_boundary="any").status == "answered"
    with pytest.raises(InputError) as caught:
        attest_it(workspace, answer_json())
    assert caught.value.code == "evidence.none"


def test_annotations(workspace: Workspace) -> None:
    notes = [
        {"text": "It takes a while.", "evidence": [0, 1]},
        {"text": "Mine.", "evidence": []},
    ]
    answer = answer_json(("refund.md", "ten days"), ("refund.md", "ten days"), ("park.txt", "free"), annotations=notes)
    public, _ = sections(attest_it(workspace, answer))
    assert "annotations_unverified" not in public
    public, _ = sections(attest_it(workspace, answer, include_unverified_annotations=True))
    first = public["claims"][0]["claim"]
    assert public["annotations_unverified"] == [
        {"text": "It takes a while.", "claims": [first]},
        {"text": "Mine.", "claims": []},
    ]
    beyond = {**answer, "annotations": [{"text": "x", "evidence": [3]}]}
    with pytest.raises(InputError) as caught:
        attest_it(workspace, beyond, include_unverified_annotations=True)
    assert (caught.value.code, caught.value.where) == ("annotation.evidence", "$.annotations[0].evidence")


def test_audit_first_and_private(workspace: Workspace, tmp_path: Path) -> None:
    bundle = ask_it(workspace, QUESTION).bundle
    assert bundle is not None
    path = tmp_path / "out" / "bundle.json"
    path.parent.mkdir()
    write_bundle(workspace, bundle, path)
    kept = workspace.folder / "audit" / f"{bundle['public']['payload']['trace_id']}.json"
    assert kept.read_bytes() == dumps(bundle["audit"])
    assert path.read_bytes() == dumps(bundle)
    assert stat.S_IMODE(kept.stat().st_mode) == stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    assert list(path.parent.iterdir()) == [path]


def test_no_audit_no_answer(workspace: Workspace, tmp_path: Path) -> None:
    bundle = ask_it(workspace, QUESTION).bundle
    assert bundle is not None
    (workspace.folder / "audit").write_text("in the way")
    path = tmp_path / "bundle.json"
    with pytest.raises(FaultError) as caught:
        write_bundle(workspace, bundle, path)
    assert caught.value.code == "audit.unwritable"
    assert not path.exists()


def test_a_failing_output_leaves_no_partial_file(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = ask_it(workspace, QUESTION).bundle
    assert bundle is not None
    folder = tmp_path / "out"
    folder.mkdir()
    with pytest.raises(KanshoError) as caught:
        write_bundle(workspace, bundle, folder)
    assert caught.value.code == "output.not_a_file"
    with pytest.raises(FaultError) as fault:
        write_bundle(workspace, bundle, folder / "missing" / "bundle.json")
    assert fault.value.code == "output.failed"

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    (folder / "bundle.json").write_text("the old one")
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(FaultError):
        write_bundle(workspace, bundle, folder / "bundle.json")
    monkeypatch.undo()
    assert (folder / "bundle.json").read_text() == "the old one"
    assert [path.name for path in folder.iterdir()] == ["bundle.json"]


def test_what_does_not_pass_the_self_check_is_not_signed(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong claim made on the way is found before a key is touched."""
    monkeypatch.setattr(ask_module, "claim", lambda cited: {**claim(cited), "text": "Refunds take one day."})
    signed: list[object] = []
    monkeypatch.setattr(requests_module, "sign_statement", lambda *arguments: signed.append(arguments))
    with pytest.raises(FaultError) as caught:
        ask_it(workspace, QUESTION)
    assert caught.value.code == "selfcheck.failed"
    assert not signed


WORDS = st.sampled_from(["refunds", "take", "ten", "days", "free", "parking", "is", "final", "staff", "eat", "漢字"])
TEXTS = st.lists(WORDS, min_size=1, max_size=8).map(" ".join)
HIDDEN = st.lists(st.tuples(TEXTS, st.sampled_from(["md", "txt"]), st.sampled_from([1, 7])), max_size=4)


def line_of(number: int, name: str, text: str, groups: list[str], sequence: int = 1) -> bytes:
    return event_line(
        event_id=f"{name}-{number}",
        document=name,
        content=text,
        groups=groups,
        sequence=sequence,
        source_uri=name,
        media_type="text/markdown" if name.endswith("md") else "text/plain",
    )


def publics(folder: Path, visible: list[str], hidden: list[tuple[str, str, int]], question: str) -> list[bytes]:
    """Everything public that comes of a corpus: for a question, and for an answer."""
    place = Path(tempfile.mkdtemp(dir=folder))
    workspace = make_workspace(place / "w")
    try:
        path = place / "events.jsonl"
        lines = [line_of(n, f"v{n}.txt", text, ["public"]) for n, text in enumerate(visible)]
        path.write_bytes(b"\n".join(lines) + b"\n")
        ingest_it(workspace, path)
        path.write_bytes(
            b"\n".join(
                line_of(n, f"a-hidden{n}.{ending}", text, ["staff"], sequence)
                for n, (text, ending, sequence) in enumerate(hidden)
            )
            + b"\n"
        )
        ingest_it(workspace, path, seed="hidden")
        publish_it(workspace)
        excerpt = visible[0].split(" ", maxsplit=1)[0]
        asked = ask_it(workspace, question)
        attested = attest_it(workspace, answer_json(("v0.txt", excerpt)))
        rejected = attest_it(workspace, answer_json(("v0.txt", "staff eat"), ("a-hidden0.md", "x")))
        made = [dumps(one.bundle["public"]) for one in (asked, attested) if one.bundle is not None]
        codes = [[decision.finding for decision in rejected.decisions], [asked.status, attested.status]]
        return [*made, json.dumps(codes).encode()]
    finally:
        workspace.close()
        shutil.rmtree(place)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(TEXTS, min_size=1, max_size=3), HIDDEN, TEXTS)
def test_hidden_documents_change_no_public_byte(
    tmp_path: Path, visible: list[str], hidden: list[tuple[str, str, int]], question: str
) -> None:
    """Two runs that differ only in what the subject may not see: the same bytes, signatures included."""
    assert publics(tmp_path, visible, hidden, question) == publics(tmp_path, visible, [], question)
