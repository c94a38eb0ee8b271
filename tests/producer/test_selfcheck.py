"""The producer's check of its own payloads: every leaf changed, alone and with all hashes made to fit again."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kansho_sign import identity
from kansho_sign.canonical_json import sha256_hex
from kansho_sign.errors import FaultError, InputError, KanshoError
from kansho_sign.selfcheck import SelfCheckError, check_generation, check_payloads
from tests.support.workspaces import answer_json, ask_it, attest_it, ingest_it, make_workspace, publish_it, write_files

REFUND = "# Refunds\n\nRefunds take ten days.\n\n- They are free.\n- They are final.\n\nThe end.\n"
PARKING = "Parking is free.\n\nIt is free."
SELECTED: dict[str, Any] = {"selected_ids": ["park.txt", "c.md"], "source_order": ["c.md", "refund.md", "park.txt"]}
"""Selected are a source that an excerpt quotes whole, and one that none does."""
Payloads = dict[str, Any]
Path_ = tuple[str | int, ...]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Payloads]:
    """The three payloads of an answer and of an attestation, and the raw bytes by hash."""
    folder = tmp_path_factory.mktemp("selfcheck")
    workspace = make_workspace(folder / "w")
    ingest_it(workspace, write_files(folder / "in", {"refund.md": REFUND, "park.txt": PARKING, "c.md": "More.\n"}))
    publish_it(workspace)
    evidence = [
        ("refund.md", "Refunds take ten"),
        ("refund.md", "free.\n- They are"),
        ("refund.md", "# Refunds\n\n"),
        ("park.txt", PARKING),
    ]
    answer = answer_json(*evidence, annotations=[{"text": "Mine.", "evidence": [0]}])
    answer["proposed_texts"] = [{"source_id": "park.txt", "text": PARKING}]
    quoted = answer_json(*evidence[:2], evidence[3])
    bundles = {
        "lexical": ask_it(workspace, "Refunds take ten days. Parking is free.").bundle,
        "evidence": attest_it(workspace, answer, include_unverified_annotations=True).bundle,
        "failure": ask_it(workspace, "nothing like it").bundle,
        "artifact": attest_it(workspace, quoted, coverage="all_selected_sources", **SELECTED).bundle,
        "selected": attest_it(workspace, quoted, coverage="selected_evidence", **SELECTED).bundle,
        "rejection": attest_it(workspace, answer_json(*evidence, ("c.md", "Less.")), sign_rejection=True).bundle,
    }
    workspace.close()
    result = {}
    for name, bundle in bundles.items():
        if bundle is None:
            pytest.fail(f"no bundle for {name}")
        result[name] = {
            "public": bundle["public"]["payload"],
            "audit": bundle["audit"]["payload"],
            "generation": bundle["audit"]["generation"]["payload"],
        }
    return result


def raw_bytes(sha256: str) -> bytes:
    for text in (REFUND, PARKING, "More.\n"):
        if hashlib.sha256(text.encode()).hexdigest() == sha256:
            return text.encode()
    raise FaultError("store.damaged", "no such bytes")


def check(payloads: Payloads) -> None:
    check_payloads(payloads["public"], payloads["audit"], payloads["generation"], raw_bytes)


def leaves(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    if isinstance(value, dict) and value:
        for name, member in value.items():
            yield from leaves(member, (*path, name))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    else:
        yield path, value


def other(value: Any) -> list[Any]:
    """Other values of the same form, where there are any."""
    match value:
        case bool():
            return [not value]
        case int():
            return [value + 1, max(value - 1, 0)] if value else [1]
        case None:
            return ["x", 1]
        case "" | [] | {}:
            return []
        case str():
            last = "0" if value[-1] != "0" else "1"
            return [value[:-1] + last, value + "a"]
        case _:
            return []


def put(payloads: Payloads, path: Path_, value: Any) -> Payloads:
    changed = copy.deepcopy(payloads)
    place: Any = changed
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return changed


def bind(payloads: Payloads) -> Payloads:
    """Claim ids, commitment, trace id and hashes made anew, as somebody would who may sign."""
    changed = copy.deepcopy(payloads)
    public, audit = changed["public"], changed["audit"]
    renamed = {}
    for claim in public["claims"]:
        digest = hashlib.sha256(claim["text"].encode()).hexdigest()
        fresh = identity.claim_id(digest, claim["citations"])
        renamed[claim["claim"]] = fresh
        claim["claim"] = fresh
    for decision in audit["evidence"]:
        decision["claim"] = renamed.get(decision["claim"], decision["claim"])
    artifact = public.get("artifact", {"evidence": [], "sources": []})
    for one in artifact["evidence"] + artifact["sources"]:
        one["claim"] = renamed.get(one["claim"], one["claim"])
    for annotation in public.get("annotations_unverified", []):
        annotation["claims"] = [renamed.get(one, one) for one in annotation["claims"]]
    request = audit["request"]
    public["request_commitment"] = identity.request_commitment(
        audience=request["audience"], question=request["question"], challenge=request["challenge"]
    )
    public.pop("trace_id")
    public["trace_id"] = identity.trace_id(nonce=audit["nonce"], request=request, public=public)
    audit["public_sha256"] = sha256_hex(public)
    audit["generation_sha256"] = sha256_hex(changed["generation"])
    return changed


def refusal(payloads: Payloads) -> str | None:
    try:
        check(payloads)
    except KanshoError as error:
        return error.code
    return None


KINDS = ["lexical", "evidence", "failure", "artifact", "selected", "rejection"]


@pytest.mark.parametrize("kind", KINDS)
def test_good_payloads_pass(made: dict[str, Payloads], kind: str) -> None:
    check(made[kind])
    check(bind(made[kind]))
    assert len(made["evidence"]["public"]["claims"]) == 4
    anchors = [claim["citations"][0]["anchor"] for claim in made["evidence"]["public"]["claims"]]
    assert set(anchors) == {"entry", "entries", "document"}


NOT_TOLD_BY_PAYLOADS = {"filter_summary", "policy"}
"""What only the visible documents and the answer itself could tell."""


def is_free(kind: str, path: Path_) -> bool:
    """A rejection has no claims, so that the answer alone tells what its decisions are about."""
    return path[1] in NOT_TOLD_BY_PAYLOADS or (kind == "rejection" and path[:2] == ("audit", "evidence"))


PROPOSAL = ("audit", "evidence", 4, "source_id")
"""A text was proposed for a source that nothing else names."""


@pytest.mark.parametrize("kind", KINDS)
def test_every_leaf_changed(made: dict[str, Payloads], kind: str) -> None:
    passed = []
    for path, value in leaves(made[kind]):
        for new in other(value)[:1]:
            code = refusal(put(made[kind], path, new))
            if code is None:
                passed.append(path)
            else:
                assert code in ("selfcheck.failed", "schema.violation", "store.damaged"), path
    assert {path for path in passed if path != PROPOSAL and not is_free(kind, path)} == set()


FREE = {
    # Inputs of the host and of the request: any value is a good one.
    ("public", "issuer"),
    ("audit", "nonce"),
    ("audit", "request"),
    ("generation", "expires_at"),
    ("generation", "issued_at"),
    ("generation", "sequence"),
    ("generation", "previous_sha256"),
    ("public", "request_commitment"),
    ("public", "trace_id"),
    ("audit", "public_sha256"),
    ("audit", "generation_sha256"),
    ("public", "annotations_unverified"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_leaf_changed_and_bound_again(made: dict[str, Payloads], kind: str) -> None:
    """Nothing but derivation can refuse these."""
    for path, value in leaves(made[kind]):
        if path[:2] in FREE or is_free(kind, path) or path[-1] == "claim" or path == PROPOSAL:
            continue
        if kind in ("failure", "rejection") and path == ("generation", "map_salt"):
            continue  # no document to be placed by it
        for new in other(value):
            assert refusal(bind(put(made[kind], path, new))) is not None, (path, new)


@pytest.mark.parametrize("kind", KINDS)
def test_members_missing_and_extra(made: dict[str, Payloads], kind: str) -> None:
    for part in ("public", "audit"):
        for name in made[kind][part]:
            changed = copy.deepcopy(made[kind])
            del changed[part][name]
            if name not in ("annotations_unverified", "artifact"):
                assert refusal(changed) == "schema.violation"
            elif name == "artifact":
                assert refusal(bind(changed)) == "selfcheck.failed"
        assert refusal(put(made[kind], (part, "more"), 1)) == "schema.violation"


Change = Callable[[Payloads], None]


def drop(*path: str | int) -> Change:
    def change(payloads: Payloads) -> None:
        place: Any = payloads
        for step in path[:-1]:
            place = place[step]
        del place[path[-1]]

    return change


def swap(*path: str | int) -> Change:
    def change(payloads: Payloads) -> None:
        place: Any = payloads
        for step in path:
            place = place[step]
        place.reverse()

    return change


def repeat(*path: str | int) -> Change:
    def change(payloads: Payloads) -> None:
        place: Any = payloads
        for step in path:
            place = place[step]
        place.append(copy.deepcopy(place[0]))

    return change


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("lexical", drop("public", "claims", 0)),
        ("lexical", drop("audit", "documents", 0)),
        ("lexical", drop("audit", "selection", 0)),
        ("lexical", swap("audit", "selection")),
        ("lexical", swap("audit", "documents")),
        ("lexical", swap("public", "claims")),
        ("lexical", repeat("audit", "documents")),
        ("lexical", repeat("public", "claims")),
        ("lexical", drop("audit", "documents", 0, "entries", 0)),
        ("lexical", repeat("audit", "documents", 0, "siblings")),
        ("lexical", drop("audit", "documents", 0, "siblings", 0)),
        ("lexical", repeat("public", "claims", 0, "citations")),
        ("evidence", drop("audit", "evidence", 0)),
        ("evidence", swap("audit", "evidence")),
        ("evidence", repeat("audit", "evidence")),
        ("evidence", drop("public", "claims", 1)),
        ("evidence", swap("public", "claims")),
        ("evidence", drop("audit", "documents", 1, "entries", 0)),
        ("evidence", swap("audit", "documents", 1, "entries")),
        ("evidence", drop("public", "claims", 1, "citations", 0, "entries", 0)),
        ("evidence", swap("public", "claims", 1, "citations", 0, "entries")),
        ("artifact", drop("public", "claims", -1)),
        ("artifact", swap("public", "claims")),
        ("artifact", drop("public", "artifact", "sources", 0)),
        ("artifact", drop("public", "artifact", "sources", 1)),
        ("artifact", swap("public", "artifact", "sources")),
        ("artifact", swap("public", "artifact", "order")),
        ("artifact", swap("public", "artifact", "source_order")),
        ("artifact", swap("audit", "policy", "selected_ids")),
        ("artifact", repeat("audit", "policy", "selected_ids")),
        ("artifact", repeat("audit", "policy", "source_order")),
        ("artifact", drop("audit", "policy", "source_order", 0)),
        ("artifact", drop("public", "artifact", "evidence", 0)),
        ("artifact", swap("public", "artifact", "evidence")),
        ("artifact", drop("audit", "evidence", 0)),
        ("selected", drop("public", "artifact", "evidence", 0)),
        ("selected", drop("public", "artifact", "order", 0)),
        ("rejection", drop("audit", "evidence", -1)),
        ("rejection", drop("audit", "evidence", 0)),
        ("rejection", swap("audit", "evidence")),
    ],
)
def test_lists_changed_and_bound_again(made: dict[str, Payloads], kind: str, change: Change) -> None:
    changed = copy.deepcopy(made[kind])
    change(changed)
    assert refusal(bind(changed)) in ("selfcheck.failed", "schema.violation")


def test_right_shape_but_false(made: dict[str, Payloads]) -> None:
    """Documents of another group, statements of another method or status."""
    payloads = copy.deepcopy(made["lexical"])
    payloads["audit"]["request"]["groups"] = ["staff"]
    assert refusal(bind(payloads)) == "selfcheck.failed"
    payloads["audit"]["request"]["groups"] = ["z", "public"]
    assert refusal(bind(payloads)) == "selfcheck.failed"
    for kind, method in (("lexical", "evidence"), ("evidence", "lexical-bm25-visible-v1"), ("evidence", "selection")):
        assert refusal(bind(put(made[kind], ("audit", "retrieval", "method"), method))) == "selfcheck.failed"
    assert refusal(bind(put(made["lexical"], ("public", "status"), "insufficient_evidence"))) == "schema.violation"
    failed = put(made["failure"], ("public", "status"), "retrieval_unavailable")
    assert refusal(bind(failed)) == "selfcheck.failed"
    places: list[tuple[Path_, int]] = [
        (("audit", "request", "top_k"), 1),
        (("audit", "filter_summary", "selected_entries"), 99),
        (("audit", "filter_summary", "visible_documents"), 0),
    ]
    for place, value in places:
        assert refusal(bind(put(made["lexical"], place, value))) == "selfcheck.failed"


def test_the_store_gives_other_bytes(made: dict[str, Payloads]) -> None:
    payloads = made["lexical"]
    with pytest.raises(SelfCheckError) as caught:
        check_payloads(payloads["public"], payloads["audit"], payloads["generation"], lambda _: b"other")
    assert caught.value.exit_code == 70


def test_generation(made: dict[str, Payloads]) -> None:
    generation = made["lexical"]["generation"]
    check_generation(generation)
    for name in identity.GENERATION_MEMBERS:
        value = generation[name]
        with pytest.raises(SelfCheckError):
            check_generation({**generation, name: value + 1 if isinstance(value, int) else value + "0"})
    pipeline = json.loads(json.dumps(generation["pipeline"]))
    pipeline["parsers"][0]["parser"] = "other-v1"
    with pytest.raises((SelfCheckError, InputError)):
        check_generation({**generation, "pipeline": pipeline})
