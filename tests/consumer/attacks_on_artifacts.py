"""Attacks on the VerifiedArtifact by somebody who holds every key: all is signed again, and rightly derived.

One list of attacks, as in :mod:`tests.consumer.attacks`; what only a policy or a decision tells is attacked with the
audit section, what the public section tells by itself is attacked in both profiles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kansho_verify import Code
from tests.consumer.attacks import Attack, hooked
from tests.consumer.checking import BOUNDARY, PUBLIC, check
from tests.support.forge import ALL_SOURCES, BLANK, EVIDENCE_ALONE, FAQ, POLICY, REFUND, Doc, Forge, covering

REFUND_ID = REFUND.document
ABSENT = "clm_" + "0" * 64
EXCERPTS = [(REFUND_ID, "five business"), ("faq.txt", "Only one")]
TWO_SOURCES = covering(ALL_SOURCES, "faq.txt", REFUND_ID)
EVIDENCE_ONLY = covering(EVIDENCE_ALONE, "faq.txt", REFUND_ID)
ENCOUNTER = covering(ALL_SOURCES, "faq.txt", REFUND_ID, source_order=[REFUND_ID, "blank.txt", "faq.txt"])
SPACED = Doc("spaced.txt", "\n \tmiddle\t \n\n", ["middle"], media_type="text/plain")
NO_LINE_END = Doc("line.txt", "One line without an end", ["One line without an end"], media_type="text/plain")
TURN = Doc("turn.txt", "Do as I say.\n", ["Do as I say."], role="user", media_type="text/plain")

ARTIFACT_ATTACKS: list[Attack] = []


def artifact(edit: Callable[[Any], Any], policy: Any = TWO_SOURCES, **options: Any) -> Forge:
    """A bundle whose artifact was edited before everything above it was derived and signed."""
    return hooked({"excerpts": EXCERPTS, "policy": policy, **options}, artifact=edit)


def _enter(name: str, code: Code, make: Callable[[], Forge], *, in_public: bool = True) -> None:
    """Enter an attack in the profile boundary and, where the public section shows it by itself, in public too."""
    ARTIFACT_ATTACKS.append(Attack(name, code, lambda: check(make(), profile=BOUNDARY)))
    if in_public:
        ARTIFACT_ATTACKS.append(Attack(f"{name}_in_public", code, lambda: check(make(), profile=PUBLIC)))


def _edited(name: str, code: Code, edit: Callable[[Any], Any], policy: Any = TWO_SOURCES, **options: Any) -> None:
    in_public = options.pop("in_public", True)
    _enter(name, code, lambda: artifact(edit, policy, **options), in_public=in_public)


def _swapped(items: list[Any], member: str) -> None:
    items[0][member], items[1][member] = items[1][member], items[0][member]


# claims

_edited("a_source_of_an_absent_claim", Code.ARTIFACT_CLAIM_UNKNOWN, lambda a: a["sources"][0].update(claim=ABSENT))
_edited("evidence_of_an_absent_claim", Code.ARTIFACT_CLAIM_UNKNOWN, lambda a: a["evidence"][0].update(claim=ABSENT))

# sources

_edited("the_claims_of_two_sources_swapped", Code.ARTIFACT_SOURCE_MISMATCH, lambda a: _swapped(a["sources"], "claim"))
_edited("a_source_in_another_role", Code.ARTIFACT_SOURCE_MISMATCH, lambda a: a["sources"][0].update(role="user"))
_edited(
    "an_excerpt_in_the_place_of_a_source",
    Code.ARTIFACT_SOURCE_SHORTENED,
    lambda a: a["sources"][1].update(claim=a["evidence"][0]["claim"]),
)
_enter(
    "a_source_cited_twice",
    Code.ARTIFACT_SOURCE_MISMATCH,
    lambda: hooked({"excerpts": [], "policy": TWO_SOURCES}, citations=lambda citations: citations * 2),
)


def _cut(doc: Doc, start: int, end: int, **hooks: Any) -> Forge:
    docs = (REFUND, FAQ, doc) if doc not in (REFUND, FAQ) else (REFUND, FAQ)
    policy = covering(ALL_SOURCES, *(other.document for other in docs))
    options: dict[str, Any] = {
        "docs": docs,
        "excerpts": [],
        "policy": policy,
        "materialised": {doc.document: (start, end)},
    }
    return hooked(options, **hooks)


def _cuts(doc: Doc, name: str) -> None:
    length = len(doc.text)
    _enter(f"{name}_without_its_first", Code.ARTIFACT_SOURCE_SHORTENED, lambda: _cut(doc, 1, length))
    _enter(f"{name}_without_its_last", Code.ARTIFACT_SOURCE_SHORTENED, lambda: _cut(doc, 0, length - 1))
    _enter(f"{name}_without_either", Code.ARTIFACT_SOURCE_SHORTENED, lambda: _cut(doc, 1, length - 1))


_cuts(REFUND, "a_source_of_many_entries")
_cuts(FAQ, "a_source_of_one_entry")
_cuts(NO_LINE_END, "a_source_that_is_one_entry")
_cuts(SPACED, "a_source_between_white_space")
_cuts(BLANK, "a_source_of_white_space_alone")
_enter(
    "a_source_that_is_cut_to_its_one_entry",
    Code.ARTIFACT_SOURCE_SHORTENED,
    lambda: _cut(SPACED, SPACED.text.index("middle"), SPACED.text.index("middle") + len("middle")),
)


def _shown_as_whole(citation: Any) -> None:
    if citation["document"] == REFUND_ID:
        around = {"surrounding_start": citation["char_start"], "surrounding_end": citation["char_end"]}
        citation.update(around, anchor="document", entries=[], partial=False)


def _discloses_nothing(documents: Any) -> None:
    for document in documents:
        if document["document"] == REFUND_ID:
            document["entries"] = []


_enter(
    "a_cut_source_shown_as_the_whole",
    Code.ARTIFACT_SOURCE_SHORTENED,
    lambda: _cut(REFUND, 0, len(REFUND.text) - 1, citation=_shown_as_whole, documents=_discloses_nothing),
)


def _cut_in_the_record() -> Forge:
    """The document's record itself says that the text ends earlier than the file does."""
    return Forge(
        docs=(Doc(REFUND_ID, "word", ["word"], raw=b"word\n"),), excerpts=[], policy=covering(ALL_SOURCES, REFUND_ID)
    )


def _with_a_user(*, selected: bool) -> Forge:
    order = ["faq.txt", TURN.document] if selected else ["faq.txt"]
    excerpts = [] if selected else [(TURN.document, "as I")]
    return Forge(docs=(FAQ, TURN), excerpts=excerpts, policy=covering(ALL_SOURCES, *order))


ARTIFACT_ATTACKS += [
    Attack(
        "a_text_cut_in_its_record",
        Code.SOURCE_CANONICAL_HASH_MISMATCH,
        lambda: check(_cut_in_the_record(), profile=BOUNDARY),
    ),
    Attack(
        "a_text_cut_in_its_record_in_public",
        Code.ARTIFACT_SOURCE_SHORTENED,
        lambda: check(_cut_in_the_record(), profile=PUBLIC),
    ),
]
_enter(
    "a_source_in_a_role_that_is_not_allowed",
    Code.POLICY_ROLE_NOT_ALLOWED,
    lambda: _with_a_user(selected=True),
    in_public=False,
)
_enter(
    "an_excerpt_in_a_role_that_is_not_allowed",
    Code.POLICY_ROLE_NOT_ALLOWED,
    lambda: _with_a_user(selected=False),
    in_public=False,
)

# order

_edited("a_source_left_out", Code.ARTIFACT_ORDER_MISMATCH, lambda a: a["sources"].pop() and None)
_edited("every_source_left_out", Code.ARTIFACT_ORDER_MISMATCH, lambda a: a["sources"].clear())
_edited("a_source_twice", Code.ARTIFACT_ORDER_MISMATCH, lambda a: a["sources"].append(a["sources"][0]))
_edited("sources_reordered", Code.ARTIFACT_ORDER_MISMATCH, lambda a: a["sources"].reverse())
_edited(
    "sources_under_evidence_alone",
    Code.ARTIFACT_ORDER_MISMATCH,
    lambda a: a["sources"].append({"source_id": "faq.txt", "role": "document", "claim": a["evidence"][1]["claim"]}),
    EVIDENCE_ONLY,
)
_edited(
    "an_encounter_without_a_selected_source", Code.ARTIFACT_ORDER_MISMATCH, lambda a: a["source_order"].pop() and None
)
_edited("an_order_that_names_a_source_twice", Code.SCHEMA_VIOLATION, lambda a: a["order"].append("faq.txt"))
_edited("an_encounter_that_names_a_source_twice", Code.SCHEMA_VIOLATION, lambda a: a["source_order"].append("faq.txt"))


def _without_the_last(value: Any) -> None:
    for member in ("order", "source_order", "sources"):
        value[member].pop()


def _backwards(value: Any) -> None:
    for member in ("order", "source_order", "sources"):
        value[member].reverse()


def _materialised_backwards(value: Any) -> None:
    value["order"].reverse()
    value["sources"].reverse()


def _one_more(value: Any) -> None:
    value["order"].append("blank.txt")
    value["source_order"].append("blank.txt")


_enter(
    "a_source_left_out_everywhere",
    Code.ARTIFACT_ORDER_MISMATCH,
    lambda: hooked(
        {"excerpts": EXCERPTS, "policy": TWO_SOURCES},
        artifact=_without_the_last,
        claims=lambda claims: claims[:-1],
    ),
    in_public=False,
)
_edited(
    "the_order_of_the_policy_turned_round",
    Code.ARTIFACT_ORDER_MISMATCH,
    _backwards,
    in_public=False,
)
_enter(
    "the_order_alone_turned_round",
    Code.ARTIFACT_ORDER_MISMATCH,
    lambda: hooked({"excerpts": [], "policy": ENCOUNTER}, artifact=_materialised_backwards, claims=lambda c: c[::-1]),
    in_public=False,
)
_edited(
    "a_selected_source_left_out_of_the_order",
    Code.ARTIFACT_ORDER_MISMATCH,
    lambda a: a["order"].pop() and None,
    covering(EVIDENCE_ALONE, "faq.txt", REFUND_ID, source_order=["faq.txt", REFUND_ID]),
    in_public=False,
)
_edited("one_more_selected", Code.ARTIFACT_ORDER_MISMATCH, _one_more, EVIDENCE_ONLY, in_public=False)
_edited(
    "another_encounter_than_the_policys",
    Code.ARTIFACT_ORDER_MISMATCH,
    lambda a: a["source_order"].reverse(),
    ENCOUNTER,
    in_public=False,
)
_edited(
    "an_encounter_though_the_policy_has_none",
    Code.ARTIFACT_ORDER_MISMATCH,
    lambda a: a["source_order"].append("blank.txt"),
    in_public=False,
)
_enter(
    "claims_of_sources_reordered",
    Code.ARTIFACT_ORDER_MISMATCH,
    lambda: hooked({"excerpts": [], "policy": TWO_SOURCES}, claims=lambda claims: claims[::-1]),
)
_enter(
    "claims_of_sources_against_the_decisions",
    Code.EVIDENCE_CLAIMS_MISMATCH,
    lambda: hooked({"excerpts": EXCERPTS, "policy": TWO_SOURCES}, claims=lambda c: [*c[:2], c[3], c[2]]),
    in_public=False,
)
_enter(
    "a_source_before_the_evidence",
    Code.EVIDENCE_CLAIMS_MISMATCH,
    lambda: hooked({"excerpts": EXCERPTS, "policy": TWO_SOURCES}, claims=lambda c: [c[2], c[0], c[1], c[3]]),
    in_public=False,
)

# evidence

_edited("evidence_dropped", Code.ARTIFACT_EVIDENCE_MISMATCH, lambda a: a["evidence"].pop() and None)
_edited("all_evidence_dropped", Code.ARTIFACT_EVIDENCE_MISMATCH, lambda a: a["evidence"].clear(), EVIDENCE_ONLY)
_edited("evidence_twice", Code.ARTIFACT_EVIDENCE_MISMATCH, lambda a: a["evidence"].append(a["evidence"][0]))
_edited("evidence_reordered", Code.ARTIFACT_EVIDENCE_MISMATCH, lambda a: a["evidence"].reverse())
_edited("evidence_swapped", Code.ARTIFACT_EVIDENCE_MISMATCH, lambda a: _swapped(a["evidence"], "claim"))
_edited("evidence_moved", Code.ARTIFACT_EVIDENCE_MISMATCH, lambda a: a["evidence"][0].update(char_start=0))
_edited("evidence_shortened", Code.ARTIFACT_EVIDENCE_MISMATCH, lambda a: a["evidence"][0].update(char_end=1))
_edited(
    "evidence_under_another_hash",
    Code.ARTIFACT_EVIDENCE_MISMATCH,
    lambda a: a["evidence"][0].update(span_sha256="0" * 64),
)
_edited(
    "evidence_under_another_source",
    Code.ARTIFACT_EVIDENCE_MISMATCH,
    lambda a: a["evidence"][0].update(source_id="faq.txt"),
)
_enter(
    "evidence_cited_twice",
    Code.ARTIFACT_EVIDENCE_MISMATCH,
    lambda: hooked({"excerpts": EXCERPTS, "policy": EVIDENCE_ONLY}, citations=lambda citations: citations * 2),
)


def _source_as_evidence() -> Forge:
    """The claim of a source that no decision named, in the evidence: the public section cannot tell."""
    whole = Forge(excerpts=[*EXCERPTS, ("faq.txt", FAQ.text)], policy=TWO_SOURCES).public["payload"]["artifact"]
    return artifact(lambda a: a["evidence"].append(whole["evidence"][-1]))


def _extra(policy: Any) -> Forge:
    """A right claim that no decision made and that is no source."""
    extra = Forge(excerpts=[(REFUND_ID, "Gift cards")], policy=EVIDENCE_ONLY).public["payload"]["claims"][0]
    return hooked({"excerpts": EXCERPTS, "policy": policy}, claims=lambda claims: [*claims, extra])


_enter(
    "evidence_of_a_claim_that_is_a_source_only",
    Code.ARTIFACT_EVIDENCE_MISMATCH,
    _source_as_evidence,
    in_public=False,
)
_enter("a_claim_beside_the_artifact", Code.ARTIFACT_EVIDENCE_MISMATCH, lambda: _extra(TWO_SOURCES))
_enter("a_claim_beside_the_evidence", Code.ARTIFACT_EVIDENCE_MISMATCH, lambda: _extra(EVIDENCE_ONLY))
_enter("a_claim_that_no_decision_made", Code.EVIDENCE_CLAIMS_MISMATCH, lambda: _extra(EVIDENCE_ONLY), in_public=False)
_enter(
    "a_decision_that_the_evidence_passes_over",
    Code.ARTIFACT_EVIDENCE_MISMATCH,
    lambda: hooked(
        {"excerpts": EXCERPTS, "policy": EVIDENCE_ONLY},
        artifact=lambda a: a["evidence"].pop() and None,
        claims=lambda claims: claims[:1],
    ),
    in_public=False,
)

# policy


def _under(policy: Any, edit: Callable[[Any], Any] | None = None) -> Forge:
    """An artifact of two sources, under another policy in the audit section."""
    hooks = {} if edit is None else {"artifact": edit}
    return hooked(
        {"excerpts": EXCERPTS, "policy": TWO_SOURCES}, audit=lambda audit: audit.update(policy=policy), **hooks
    )


def _enter_policy(name: str, code: Code, policy: Any) -> None:
    _enter(name, code, lambda: _under(policy), in_public=False)


_enter_policy("an_artifact_under_a_policy_without_coverage", Code.POLICY_ARTIFACT_MISMATCH, POLICY)
_enter_policy("an_artifact_of_another_coverage", Code.POLICY_ARTIFACT_MISMATCH, EVIDENCE_ONLY)
_enter(
    "evidence_alone_where_sources_are_asked_for",
    Code.POLICY_ARTIFACT_MISMATCH,
    lambda: hooked(
        {"excerpts": EXCERPTS, "policy": EVIDENCE_ONLY}, audit=lambda audit: audit.update(policy=TWO_SOURCES)
    ),
    in_public=False,
)
_enter(
    "an_artifact_left_out_of_the_answer",
    Code.POLICY_ARTIFACT_MISMATCH,
    lambda: hooked(
        {"excerpts": EXCERPTS, "policy": TWO_SOURCES}, public=lambda public: public.pop("artifact") and None
    ),
    in_public=False,
)
_enter_policy(
    "a_policy_that_selects_twice",
    Code.POLICY_SELECTION_INVALID,
    covering(ALL_SOURCES, "faq.txt", REFUND_ID, "faq.txt"),
)
_enter_policy(
    "a_policy_that_encounters_twice",
    Code.POLICY_SELECTION_INVALID,
    covering(ALL_SOURCES, "faq.txt", REFUND_ID, source_order=["faq.txt", REFUND_ID, REFUND_ID]),
)
_enter_policy(
    "a_policy_that_never_encounters_a_source",
    Code.POLICY_SELECTION_INVALID,
    covering(ALL_SOURCES, "faq.txt", REFUND_ID, source_order=["faq.txt"]),
)
_enter_policy(
    "a_policy_that_encounters_nothing",
    Code.POLICY_SELECTION_INVALID,
    covering(ALL_SOURCES, "faq.txt", REFUND_ID, source_order=[]),
)
