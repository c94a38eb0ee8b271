"""Untrusted evidence against a registry (docs/spec/evidence.md)."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import unicodedata2 as ucd
from hypothesis import assume, given
from hypothesis import strategies as st

from kansho_sign.characters import cuts_character, is_digit, is_letter_or_digit, only_invisible
from kansho_sign.evidence import Boundary, Decision, Policy, Registry, Source, Span, UntrustedAnswer, make_registry
from kansho_sign.evidence import check as check_untrusted
from kansho_sign.evidence.matching import locate, occurrences
from kansho_sign.text import canonical_text
from kansho_sign.workspace import NEWCOMER_POLICY

DEVANAGARI = "०१२३४५६७८९"
ARABIC = "٠١٢٣٤٥٦٧٨٩"
WIDE = "０１２３４５６７８９"
OUTSIDE_ASCII = [
    pytest.param(DEVANAGARI, id="devanagari"),
    pytest.param(ARABIC, id="arabic"),
    pytest.param(WIDE, id="full-width"),
]


def registry(*sources: tuple[str, str, str]) -> Registry:
    """(id, role, raw text) made canonical."""
    return make_registry(Source(*source) for source in sources)


def decide(source: str, excerpt: str, boundary: str = "safe") -> Decision:
    (decision,) = check(registry(("s", "document", source)), [("s", excerpt)], excerpt_boundary=boundary)
    return decision


def check(known: Registry, evidence: list[tuple[str, str]], **policy: Any) -> list[Decision]:
    items = [{"source_id": source, "excerpt": excerpt} for source, excerpt in evidence]
    return decided(known, {"schema": "kansho.answer.v1", "evidence": items}, **policy)


def decided(known: Registry, answer: dict[str, Any], **policy: Any) -> list[Decision]:
    wanted = Policy.from_json({**NEWCOMER_POLICY, **policy})
    return list(check_untrusted(UntrustedAnswer.from_json(answer), known, wanted).decisions)


def outcome(source: str, excerpt: str, boundary: str = "safe") -> tuple[int, int, int] | str:
    """(start, end, occurrences), or the code."""
    decision = decide(source, excerpt, boundary)
    if decision.span is None:
        assert decision.finding is not None
        return str(decision.finding)
    assert decision.finding is None
    return decision.span.start, decision.span.end, decision.span.occurrences


def test_given_cases(cases: Path, subtests: pytest.Subtests) -> None:
    data = json.loads((cases / "llm-excerpts.json").read_bytes())["cases"]
    assert len(data) >= 29
    for case in data:
        with subtests.test(id=case["id"]):
            expect = case["expect"]
            wanted = expect["code"] if "code" in expect else (*expect["span"], expect["occurrences"])
            assert outcome(case["source"], case["excerpt"]) == wanted


@pytest.mark.parametrize(
    ("source", "excerpt", "expected"),
    [
        # The kinds of the given cases in other scripts.
        ("一。\r\n二。\r\n三。", "三。", (6, 8, 1)),
        ("एक।\rदो।", "दो।", (4, 7, 1)),
        ("\ufeff见附件。", "见附件", (0, 3, 1)),
        ("각 조", "각", (0, 1, 1)),
        ("Ελλάδα", "Ελλα\u0301δα", (0, 6, 1)),
        ("👩\u200d💻 ships", "ships", (4, 9, 1)),
        ("Straße", "STRASSE", "unverified_excerpt"),
        ("ＡＢＣ", "ABC", "unverified_excerpt"),
        ("ﾃｽﾄ", "テスト", "unverified_excerpt"),
        ("«да»", '"да"', "unverified_excerpt"),
        ("раураl", "paypal", "unverified_excerpt"),
        ("не разрешено", "разрешено", (3, 12, 1)),
        ("He said „nein“.", 'He said "nein".', "unverified_excerpt"),
        ("禁止转租", "准许转租", "unverified_excerpt"),
        ("می\u200cخواهم", "میخواهم", "unverified_excerpt"),
        ("क\u094d\u200dष", "क\u094dष", "unverified_excerpt"),
        ("a\u2060b", "ab", "unverified_excerpt"),
        ("a b", "a\u00a0b", "unverified_excerpt"),
        ("a b", "a  b", "unverified_excerpt"),
        ("a\nb", "a b", "unverified_excerpt"),
        ("ab", "ab ", "unverified_excerpt"),
        ("fi", "\ufb01", "unverified_excerpt"),
        ("x²", "x2", "unverified_excerpt"),
        ("½", "1/2", "unverified_excerpt"),
        # Numbers.
        ("pay 2,700,000 now", "2,70", "excerpt_cuts_number"),
        ("pay 2,700,000 now", "700,000", "excerpt_cuts_number"),
        ("pay 2,700,000 now", "2,700,000", (4, 13, 1)),
        ("pay 2,700,000 now", ",", "excerpt_cuts_number"),
        ("pay 2,700,000 now", "2,", "excerpt_cuts_number"),
        ("pay 30, then", "30", (4, 6, 1)),
        ("pay 30, then", "pay 30,", (0, 7, 1)),
        ("pay 30.", "30", (4, 6, 1)),
        ("3.14", "3", "excerpt_cuts_number"),
        ("3.14", "14", "excerpt_cuts_number"),
        ("3.14", ".14", "excerpt_cuts_number"),
        ("3.x 5", "3", (0, 1, 1)),
        ("1'000", "1", "excerpt_cuts_number"),
        ("1\u2019000", "000", "excerpt_cuts_number"),
        ("1\u00a0000", "1", "excerpt_cuts_number"),
        ("1\u202f000", "000", "excerpt_cuts_number"),
        ("1 000", "000", (2, 5, 1)),
        ("1\u066b5", "5", "excerpt_cuts_number"),
        ("1\u066c5", "1", "excerpt_cuts_number"),
        ("1..5", "1", (0, 1, 1)),
        ("1/5", "5", (2, 3, 1)),
        ("1:5", "1", (0, 1, 1)),
        ("is -5 degrees", "5 degrees", "excerpt_cuts_number"),
        ("is \u22125 degrees", "5", "excerpt_cuts_number"),
        ("is \u00b15", "5", "excerpt_cuts_number"),
        ("is +5", "5", "excerpt_cuts_number"),
        ("-5", "5", "excerpt_cuts_number"),
        ("is -5 degrees", "-5 degrees", (3, 13, 1)),
        ("A-5", "5", (2, 3, 1)),
        ("3-5", "5", (2, 3, 1)),
        ("Ⅷ-5", "5", (2, 3, 1)),
        ("½-5", "5", (2, 3, 1)),
        ("(-5", "5", "excerpt_cuts_number"),
        ("--5", "5", "excerpt_cuts_number"),
        ("a\u0301-5", "5", (2, 3, 1)),
        ("\u20135", "5", (1, 2, 1)),
        ("5 or 15", "5", (0, 1, 2)),
        ("15 or 5", "5", (6, 7, 2)),
        ("15", "5", "excerpt_cuts_number"),
        ("H2O", "H", (0, 1, 1)),
        ("H2O", "2", (1, 2, 1)),
        ("x²3", "3", (2, 3, 1)),
        ("12²", "2", "excerpt_cuts_number"),
        # Characters.
        ("q\u0301 x", "q", "excerpt_cuts_character"),
        ("q\u0301 x", "\u0301 x", "excerpt_cuts_character"),
        ("कि", "क", "excerpt_cuts_character"),
        ("👩\u200d💻", "👩", "excerpt_cuts_character"),
        ("👩\u200d💻", "💻", "excerpt_cuts_character"),
        ("👩\u200d💻", "👩\u200d💻", (0, 3, 1)),
        ("☺\ufe0f", "☺", "excerpt_cuts_character"),
        ("👍🏽", "👍", "excerpt_cuts_character"),
        ("葛\U000e0100城", "葛", "excerpt_cuts_character"),
        ("ᠠ\u180bᠡ", "ᠠ", "excerpt_cuts_character"),
        ("ᠠ\u180fᠡ", "ᠠ", "excerpt_cuts_character"),
        ("می\u200cخ", "می", "excerpt_cuts_character"),
        ("می\u200cخ", "خ", (3, 4, 1)),
        ("🇩🇪🇫🇷", "🇪", (1, 2, 1)),
        ("q\u0301 q", "q", (3, 4, 2)),
        # A number before a character, at either edge; the first place decides.
        ("1q\u0301", "q", "excerpt_cuts_character"),
        ("15\u0301", "5", "excerpt_cuts_number"),
        ("5\u0301 15", "5", "excerpt_cuts_character"),
        ("15 5\u0301", "5", "excerpt_cuts_number"),
        # Overlapping occurrences.
        ("aaaa", "aa", (0, 2, 3)),
        ("ababa", "aba", (0, 3, 2)),
        ("1111", "11", "excerpt_cuts_number"),
        ("aXaXa", "aXa", (0, 3, 2)),
        # Empty.
        ("", "x", "unverified_excerpt"),
        ("any", "", "empty_excerpt"),
        ("any", " \t\r\n", "empty_excerpt"),
        ("any \u200b", " \u200b\u00ad\ufeff", "empty_excerpt"),
        ("any", "\u2800\u3164\u115f\ufe0f\U000e0041\u00a0\u3000", "empty_excerpt"),
        ("any", "\ufeff", "empty_excerpt"),
        ("any", "\x00", "empty_excerpt"),
        ("any", "\u0378", "empty_excerpt"),
        ("any", "\U0001d173\U0001bca0\u17b4\u034f\uffa0", "empty_excerpt"),
        ("\u0301 x", "\u0301", (0, 1, 1)),
        # No canonical form: it stands nowhere.
        ("any", "any\x00", "unverified_excerpt"),
        ("any", "any\u0378", "unverified_excerpt"),
        ("any", "a" + "\u0301" * 300, "unverified_excerpt"),
    ],
)
def test_outcomes(source: str, excerpt: str, expected: tuple[int, int, int] | str) -> None:
    assert outcome(source, excerpt) == expected


@pytest.mark.parametrize("digits", OUTSIDE_ASCII)
def test_numbers_in_other_digits(digits: str) -> None:
    assert outcome(f"x {digits[1]}{digits[5]} y", digits[5]) == "excerpt_cuts_number"
    assert outcome(f"x {digits[1]}5 y", "5") == "excerpt_cuts_number"
    assert outcome(f"x {digits[1]}.{digits[5]} y", digits[1]) == "excerpt_cuts_number"
    assert outcome(f"x -{digits[5]} y", digits[5]) == "excerpt_cuts_number"
    assert outcome(f"x {digits[5]} y", digits[5]) == (2, 3, 1)
    assert outcome(f"x {digits[5]} y", "5") == "unverified_excerpt"


def test_the_bare_rule() -> None:
    assert outcome("pay 2,700,000", "2,70", "any") == (4, 8, 1)
    assert outcome("15 or 5", "5", "any") == (1, 2, 2)
    assert outcome("q\u0301", "q", "any") == (0, 1, 1)
    assert outcome("any", " ", "any") == "empty_excerpt"


KNOWN = registry(
    ("a", "document", "alpha 10. shared. 115"),
    ("b", "document", "beta. shared."),
    ("c", "private", "gamma. shared. only here"),
    ("d", "document", ""),
)


@pytest.mark.parametrize(
    ("source", "excerpt", "code"),
    [
        ("x", "alpha", "unknown_source"),
        ("x", "", "unknown_source"),
        ("", "alpha", "unknown_source"),
        ("A", "alpha", "unknown_source"),
        ("a ", "alpha", "unknown_source"),
        ("c", "gamma", "role_not_allowed"),
        ("c", "", "role_not_allowed"),
        ("c", "alpha", "role_not_allowed"),
        ("c", "nowhere", "role_not_allowed"),
        ("a", "", "empty_excerpt"),
        ("a", "gamma", "role_not_allowed"),
        ("a", "only here", "role_not_allowed"),
        ("a", "beta", "wrong_source"),
        ("b", "alpha", "wrong_source"),
        ("d", "shared.", "wrong_source"),
        ("a", "nowhere", "unverified_excerpt"),
        ("a", "nowhere\x00", "unverified_excerpt"),
        ("b", "15", "wrong_source"),
        ("a", "15", "excerpt_cuts_number"),
        ("a", "shared.", None),
        ("b", "shared.", None),
    ],
)
def test_precedence(source: str, excerpt: str, code: str | None) -> None:
    (decision,) = check(KNOWN, [(source, excerpt)])
    assert decision.finding == code
    assert (decision.span is None) == (code is not None)
    assert decision.source_id == source
    assert decision.path == "evidence[0].excerpt"


def test_every_item_is_decided_in_order() -> None:
    decisions = check(KNOWN, [("a", "alpha"), ("x", "y"), ("a", "alpha"), ("c", "z")])
    assert [d.path for d in decisions] == [f"evidence[{number}].excerpt" for number in range(4)]
    assert [d.finding for d in decisions] == [None, "unknown_source", None, "role_not_allowed"]
    assert check(KNOWN, []) == []


def test_hash_of_the_excerpt() -> None:
    """Of the canonical form; of the string as it came where it has none."""
    for excerpt, hashed in (("e\u0301\r\n", "é\n"), ("\ufeffa", "a"), ("a\x00", "a\x00"), ("a\u0378\r", "a\u0378\r")):
        (decision,) = check(KNOWN, [("a", excerpt)])
        assert decision.excerpt_sha256 == hashlib.sha256(hashed.encode()).hexdigest()


@pytest.mark.parametrize(
    ("source", "text", "code"),
    [
        ("b", "beta. shared.", None),
        ("b", "\ufeffbeta. shared.", None),
        ("b", "beta. shared.\r\n", "canonical_overwrite"),
        ("b", "beta. shared", "canonical_overwrite"),
        ("b", "", "canonical_overwrite"),
        ("b", "beta.\x00", "canonical_overwrite"),
        ("d", "", None),
        ("c", "gamma. shared. only here", "role_not_allowed"),
        ("x", "beta. shared.", "unknown_source"),
    ],
)
def test_proposed_texts(source: str, text: str, code: str | None) -> None:
    proposed = [{"source_id": source, "text": text}]
    (decision,) = decided(KNOWN, {"schema": "kansho.answer.v1", "evidence": [], "proposed_texts": proposed})
    assert (decision.path, decision.finding, decision.span) == ("proposed_texts[0].text", code, None)


def test_hidden_sources_change_nothing() -> None:
    """The registry is all that findings are made over."""
    visible = {name: source for name, source in KNOWN.items() if name in ("a", "d")}
    evidence = [("a", "beta"), ("b", "beta"), ("a", "shared."), ("a", "only here"), ("c", "gamma")]
    codes = [decision.finding for decision in check(visible, evidence)]
    assert codes == ["unverified_excerpt", "unknown_source", None, "unverified_excerpt", "unknown_source"]


SMALL = st.text(st.sampled_from("ab1,.- \u0301\u200d०कि\n漢"), min_size=1, max_size=30).map(canonical_text)


@given(SMALL, st.data())
def test_any_true_slice_is_found_at_its_first_place(text: str, data: st.DataObject) -> None:
    assume(text)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    excerpt = text[start:end]
    places = [place for place in range(len(text)) if text.startswith(excerpt, place)]
    assert list(occurrences(text, excerpt)) == places
    expected = Span("s", places[0], places[0] + len(excerpt), len(places))
    assert locate("s", text, excerpt, Boundary.ANY) == expected
    found = locate("s", text, excerpt, Boundary.SAFE)
    good = [place for place in places if not naive_cut(text, place, place + len(excerpt))]
    if good:
        assert found == Span("s", good[0], good[0] + len(excerpt), len(places))
    else:
        assert str(found) == naive_cut(text, places[0], places[0] + len(excerpt))


def naive_cut(text: str, start: int, end: int) -> str | None:
    """The page's rules, with the text padded so that every neighbour exists."""
    padded = "\n\n" + text + "\n\n"
    start, end = start + 2, end + 2
    for edge in (start, end):
        p, a, b, n = list(padded[edge - 2 : edge + 2])
        digit = [ucd.category(c) == "Nd" for c in (p, a, b, n)]
        marks = ".,'\u2019\u066b\u066c\u00a0\u202f"
        if (digit[1] and digit[2]) or (digit[1] and b in marks and digit[3]) or (digit[0] and a in marks and digit[2]):
            return "excerpt_cuts_number"
        if edge == start and digit[2] and a in "+-\u2212\u00b1" and ucd.category(p)[0] not in "LN":
            return "excerpt_cuts_number"
    for edge in (start, end):
        a, b = padded[edge - 1], padded[edge]
        inside = 2 < edge < len(padded) - 2
        point = ord(b)
        ranges = [(0x200C, 0x200D), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF), (0x180B, 0x180D), (0x180F, 0x180F)]
        joins = ucd.category(b)[0] == "M" or any(low <= point <= high for low, high in [*ranges, (0x1F3FB, 0x1F3FF)])
        if inside and (joins or a == "\u200d"):
            return "excerpt_cuts_character"
    return None


WORDS = st.lists(
    st.sampled_from(
        [
            "The",
            "tenant",
            "is",
            "not",
            "permitted",
            "to",
            "sublet",
            "within",
            "30",
            "days",
            "of",
            "receipt",
            "unless",
            "agreed",
        ]
    ),
    min_size=4,
    max_size=12,
)


@given(WORDS, st.data())
def test_a_mutated_excerpt_is_refused_unless_it_stands_there(words: list[str], data: st.DataObject) -> None:
    source = " ".join(words)
    kind = data.draw(st.sampled_from(["drop", "digit", "case", "space", "lookalike", "swap", "ellipsis"]))
    place = data.draw(st.integers(0, len(words) - 1))
    changed = list(words)
    match kind:
        case "drop":
            del changed[place]
        case "digit":
            changed[place] = changed[place].replace("30", "39")
        case "case":
            changed[place] = changed[place].swapcase()
        case "space":
            changed[place] += " "
        case "lookalike":
            changed[place] = changed[place].replace("e", "е").replace("a", "а")
        case "swap":
            changed.reverse()
        case _:
            changed[place] = "..."
    excerpt = " ".join(changed)
    result = outcome(source, excerpt, "any")
    if excerpt in source:
        place = source.index(excerpt)
        assert result == (place, place + len(excerpt), len(list(occurrences(source, excerpt))))
    else:
        assert result == "unverified_excerpt"


@pytest.mark.parametrize(
    ("unit", "times", "part"),
    [("a", 400_000, 200_000), ("ab", 200_000, 100_001), ("=" * 63 + "\n", 8_000, 300_000), ("abcab", 90_000, 7)],
)
def test_periodic_text_is_counted_in_linear_time(unit: str, times: int, part: int) -> None:
    """Searching anew after each find would compare tens of billions of characters."""
    text = unit * times
    excerpt = text[:part]
    assert sum(1 for _ in occurrences(text, excerpt)) == len(range(0, len(text) - part + 1, len(unit)))


@given(
    st.lists(st.sampled_from(["a", "b", "aab", "abab", "aaaa", "abaab"]), max_size=30).map("".join),
    st.lists(st.sampled_from(["a", "b", "aab", "abab"]), min_size=1, max_size=6).map("".join),
)
def test_occurrences_by_trying_every_place(text: str, part: str) -> None:
    assert list(occurrences(text, part)) == [place for place in range(len(text)) if text.startswith(part, place)]


INVISIBLE = [
    (0x2800, 0x2800),
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
]


def test_classes_over_every_code_point() -> None:
    listed = {point for low, high in INVISIBLE for point in range(low, high + 1)}
    selectors = {*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0), 0x180B, 0x180C, 0x180D, 0x180F, 0x200C, 0x200D}
    modifiers = set(range(0x1F3FB, 0x1F400))
    for point in range(sys.maxunicode + 1):
        character, category = chr(point), ucd.category(chr(point))
        assert only_invisible(character) == (category[0] in "ZC" or point in listed)
        assert cuts_character("x", character) == (category[0] == "M" or point in selectors or point in modifiers)
        assert is_digit(character) == (category == "Nd")
        assert is_letter_or_digit(character) == (category[0] in "LN")
    assert only_invisible("")
    for pair in (("", "\u0301"), ("x", ""), ("", ""), ("\u200d", "")):
        assert not cuts_character(*pair)
    assert cuts_character("\u200d", "x")
    assert not is_digit("")
    assert not is_letter_or_digit("")
