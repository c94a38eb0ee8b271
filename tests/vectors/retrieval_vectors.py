"""Vectors of `lexical-bm25-visible-v1`: `retrieval.json`, read by both sides (docs/spec/retrieval.md).

`build` makes the value; its canonical JSON is the file. The inputs are written out here, the expected values come
from the producer; the tests of the producer hold the ones of the worked example to numbers written by hand.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from kansho_sign.retrieval import (
    FLOOR_SHARE,
    FLOOR_UNSEEN,
    RETRIEVAL,
    build_index,
    inverse_document_frequency,
    rank,
)
from kansho_sign.tokens import tokenise

PATH: Final = Path(__file__).resolve().parent / "retrieval.json"

TEXTS: Final = (
    ("empty", ""),
    ("separators alone", " \t\n.,;!?()[]{}\u200b\u2014\u2026"),
    ("words, digits, stems", "Refunds are accepted within 30 days of the purchase."),
    ("an apostrophe separates", "The customer's don't"),
    ("five code points have no stem, six have", "house houses"),
    ("a number code point forbids the stem", "invoice 20240001 AB12345 abcdef\u00b2"),
    ("full case folding", "STRASSE Stra\u00dfe \u0130stanbul \u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2"),
    ("compatibility forms", "\uff21\uff22\uff23 \ufb01nance \u2075 \u2167 \u33a1 \u338f"),
    ("raised symbols and spacing accents separate", "Kansho\u2122 don\u00b4t"),
    ("a fraction slash separates", "\u00bd"),
    (
        "ignored: soft hyphen, joiners, variation selectors",
        "co\u00adop \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 a\ufe0fb",
    ),
    ("zero width space separates", "ab\u200bcd"),
    ("Hindi keeps its vowel signs", "\u0939\u093f\u0928\u094d\u0926\u0940 \u0915\u094d\u200d\u0937 \u0915\u093c"),
    ("Chinese bigrams", "\u9000\u6b3e\u671f\u9650\u3002"),
    ("one character alone", "\u9000"),
    ("script classes part a run", "abc\u6f22\u5b57def123"),
    ("Japanese, half-width kana", "\u30c6\u30b9\u30c8\u3067\u3059 \uff83\uff7d\uff84 \u4eba\u3005"),
    ("Thai", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35"),
    ("Hangul is spaced", "\ud55c\uad6d\uc5b4 \ubb38\uc11c\uad00\ub9ac\uc2dc\uc2a4"),
    ("an ideograph above the basic plane", "\U00020000\U0002a6df\U00030000"),
    ("a mark alone is a word", "\u0301 \u00e1b \u1e97\u0301"),
    ("directional controls are ignored", "ab\u202ecd\u2066ef"),
)

REFUNDS: Final = (
    ("idx_a", "Refunds are accepted within 30 days of the purchase."),
    ("idx_b", "The warranty of the device is two years."),
    ("idx_c", "Shipping within the country takes three days."),
)
TIES: Final = (
    ("idx_9", "alphabet betamax gammaray"),
    ("idx_10", "alphabet betamax gammaray"),
    ("idx_a", "alphabet betamax gammaray alphabet"),
    ("idx_Z", "delta epsilon"),
    ("idx_z", "zeta"),
    ("idx_y", "eta"),
)
CHINESE: Final = (
    ("idx_1", "\u9000\u6b3e\u671f\u9650\u4e3a\u4e09\u5341\u5929\u3002"),
    ("idx_2", "\u4fdd\u4fee\u671f\u4e3a\u4e24\u5e74\u3002"),
    ("idx_3", "\u8fd0\u8d39\u7531\u4e70\u65b9\u627f\u62c5\u3002"),
    ("idx_4", "\u53d1\u7968\u968f\u8d27\u5bc4\u51fa\u3002"),
)
TWELVE: Final = (("idx_01", "ceo \u9000\u6b3e"), *((f"idx_{number:02}", f"w{number}") for number in range(2, 13)))
"""Numbers have no stem, and 2 * 12 + 3 is a cube: one word of one entry matches two thirds of an unseen one exactly."""
RANKINGS: Final = (
    ("worked example", REFUNDS, "Within how many days is a refund accepted?", 10),
    ("top_k cuts the order, not the counts", REFUNDS, "refunds within days, device warranty", 1),
    ("function words alone", REFUNDS, "What is the", 10),
    ("nothing known", REFUNDS, "Who wrote Hamlet?", 10),
    ("empty question", REFUNDS, "?!", 10),
    ("one short word held by one of twelve: just enough", TWELVE, "CEO", 10),
    ("two Chinese characters held by one of twelve: just enough", TWELVE, "\u9000\u6b3e", 10),
    ("one short word held by one of eleven: too little", TWELVE[:11], "CEO", 10),
    ("one known word among unknown ones: enough", TWELVE, "Who the CEO", 10),
    ("one known word among unknown ones: a share too small", TWELVE, "Who was then the CEO", 10),
    ("no entries", (), "Within how many days is a refund accepted?", 10),
    ("one entry", REFUNDS[:1], "refunds accepted within days of purchase", 10),
    ("ties by entry id", TIES, "alphabet betamax gammaray", 10),
    ("a term counts once in a question", TIES, "alphabet alphabet betamax gammaray", 10),
    ("a seam of bigrams counts nothing", CHINESE, "\u9000\u6b3e\u7684\u671f\u9650\u662f\u591a\u5c11\u5929\uff1f", 10),
    (
        "an unknown Chinese word counts",
        CHINESE,
        "\u9000\u6b3e\u7684\u989c\u8272\u3001\u6c14\u5473\u3001\u91cd\u91cf",
        10,
    ),
    ("entries without tokens count", (*REFUNDS, ("idx_d", "..."), ("idx_e", "")), "refunds accepted", 10),
)


def build() -> dict[str, Any]:
    """Return the value of `retrieval.json`."""
    return {
        "floor": {"share": list(FLOOR_SHARE), "unseen": list(FLOOR_UNSEEN)},
        "idf": [
            {"document_frequency": held, "entries": count, "idf": inverse_document_frequency(count, held)}
            for count, held in ((0, 0), (1, 0), (1, 1), (3, 1), (6, 0), (240, 0), (240, 1), (240, 120), (240, 240))
        ]
        + [
            {"document_frequency": held, "entries": 2**31 - 3, "idf": inverse_document_frequency(2**31 - 3, held)}
            for held in (0, 1, 2**30, 2**31 - 3)
        ],
        "method": RETRIEVAL,
        "rankings": [_ranking(*case) for case in RANKINGS],
        "tokens": [{"name": name, "text": text, "tokens": tokenise(text)} for name, text in TEXTS],
    }


def _ranking(name: str, entries: tuple[tuple[str, str], ...], question: str, top_k: int) -> dict[str, Any]:
    ranking = rank(build_index((entry_id, tokenise(text)) for entry_id, text in entries), question, top_k)
    return {
        "eligible": ranking.eligible,
        "entries": [{"entry": entry_id, "text": text} for entry_id, text in entries],
        "information": ranking.information,
        "matched": ranking.matched,
        "name": name,
        "order": [
            {"entry": one.entry_id, "information": one.information, "score": one.score} for one in ranking.entries
        ],
        "question": question,
        "terms": [
            {
                "document_frequency": term.document_frequency,
                "idf": term.idf,
                "information": term.information,
                "term": term.term,
            }
            for term in ranking.terms
        ],
        "top_k": top_k,
        "unseen": ranking.unseen,
    }


def dumps(value: dict[str, Any]) -> bytes:
    """Return canonical JSON; all keys here are ASCII, so sorting by code point is sorting by UTF-16."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode("utf-8")


if __name__ == "__main__":
    PATH.write_bytes(dumps(build()))
