"""Near misses: the closest place, and what is different there (docs/spec/diagnosis.md)."""

from __future__ import annotations

import json
import random
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kansho_sign.evidence.closest import FOLDED, WHOLE
from kansho_sign.evidence.diagnosis import LONGEST, Diagnoser, Diagnosis, Difference, diagnose
from kansho_sign.evidence.folding import GRAVITY
from kansho_sign.text import canonical_text
from tests.support.xquad import LANGUAGES, read_xquad

BEFORE = "The board met in May. Rates fell by 2.75 points, to 3,120 in all. "
AFTER = " Nobody else was heard; the rest is told in section 9 of the annex."


def checked(text: str, excerpt: str) -> Diagnosis | None:
    """A diagnosis, held to what every diagnosis promises."""
    assert excerpt not in text
    found = diagnose(text, excerpt)
    assert diagnose(text, excerpt) == found
    if found is not None:
        assert 0 <= found.start < found.end <= len(text)
        assert found.wording == text[found.start : found.end] != excerpt
        assert found.difference is found.differences[0]
        assert found.differences == tuple(sorted(set(found.differences), key=GRAVITY.__getitem__, reverse=True))
    return found


def test_given_cases(cases: Path, subtests: pytest.Subtests) -> None:
    every = json.loads((cases / "llm-excerpts.json").read_bytes())["cases"]
    data = [case for case in every if "code" in case["expect"]]
    assert sum("diagnosis" in case["expect"] for case in data) >= 13
    for case in data:
        with subtests.test(id=case["id"]):
            text, excerpt = canonical_text(case["source"]), canonical_text(case["excerpt"])
            if not excerpt:
                continue
            found = checked(text, excerpt)
            wanted = case["expect"].get("diagnosis")
            if wanted is not None:
                assert found is not None
                assert (found.difference, found.wording) == (wanted, text)


@pytest.mark.parametrize(
    ("source", "excerpt", "kinds", "wording"),
    [
        ("He said “no” — then left.", 'He said "no" - then left.', "dash typographic_quotes", None),
        ("He said “no”, — then left.", 'He said "no" - then left.', "punctuation", None),
        # What the excerpt has at its edges, and what would be left open, is inside.
        ("it is “final”.", 'it is "final".', "typographic_quotes", None),
        ("it is “final”.", "IT IS “final”", "case", "it is “final”"),
        ("it is “final”.", "it is final", "punctuation", "it is “final”"),
        ("it is (in truth) so", "it is in truth", "punctuation", "it is (in truth)"),
        ("“It is final”, he said", "it is final", "case", "It is final"),
        ("“It is final”, he said", '"It is final", he said', "typographic_quotes", None),
        ("the **net fee** is due", "the net fee", "markup", "the **net fee**"),
        ("the **net fee** is due", "net fee is due", "markup", "**net fee** is due"),
        ("the **net fee** is due", "**Net** fee is", "case markup", "**net fee** is"),
        ("the <b>net fee</b> is due", "the net fee", "markup", "the <b>net fee</b>"),
        ("the <b>net fee</b> is due", "the <b>Net fee</b>", "case", "the <b>net fee</b>"),
        ("the [net fee](https://a.example/b) is due", "the net fee", "markup", "the [net fee](https://a.example/b)"),
        ("so `make test` runs", "so make test", "markup", "so `make test`"),
        ("&quot;net fee&quot; is due", '"net fee" is due', "html_entity", None),
        ("the net fee is due", "the net fee is due.", "punctuation", None),
        ("the net fee; it is due", "the net fee.", "punctuation", "the net fee;"),
        ("the net fee is due", "the net fee.", "punctuation", "the net fee"),
        # Blocks of Markdown, whose lines a model joins.
        ("\n\n# Fees\n\nThe net fee is due.", "Fees The net fee is due.", "whitespace", "Fees\n\nThe net fee is due."),
        ("\n\n# Fees\n\nThe net fee.", "# FEES", "case", "# Fees"),
        ("so:\n\n- one item\n- two items\n", "- one item two items", "markup whitespace", "- one item\n- two items"),
        ("so:\n\n1. one item\n2. two items\n", "one item two items", "markup whitespace", "one item\n2. two items"),
        ("on 1. August 1963 it was", "1. AUGUST 1963", "case", "1. August 1963"),
        ("from 9. the “net” fee", '9. the "net" fee', "typographic_quotes", "9. the “net” fee"),
        ("the [net fee](https://a.example/" + "long/" * 40 + ") is due", "the net fee is due", "markup", None),
        # Numbers.
        ("it costs 1,000 euros", "it costs 1000 euros", "number_form", None),
        ("it costs १,००० rupees", "it costs 1000 rupees", "number_form", None),
        ("it grew by -5 degrees", "It grew by 5 degrees", "wording case", "it grew by -5 degrees"),
        ("it is -5 degrees", "5 DEGREES", "wording case", "-5 degrees"),
        ("it costs 61,000 euros", "1,000 EUROS", "wording case", "61,000 euros"),
        ("in all 5% of it", "in all 5 of it", "wording", None),
        ("we saw p < 0.05 here", "we saw p > 0.05 here", "wording", None),
        ("by 2.70 points", "by 270 points", "wording", None),
        ("say २७ दिन in all", "say 28 दिन in all", "wording number_form", None),
        # A word may be cut where the excerpt cuts it, as in what stands exactly; no character may.
        ("an unlawful act", "LAWFUL act", "case", "lawful act"),
        ("le café noir", "CAFE", "wording case", "café"),
        ("q\u0301 or q", "Q\u0301", "case", "q\u0301"),
        ("देखो किताब है", "“देखो” क", "wording punctuation", "देखो कि"),
        # Wording: the place begins and ends where the excerpt does.
        ("Each tenant is bound", "Every tenant is bound", "wording", None),
        ("the tenant is bound here", "the tenant is released", "wording", "the tenant is bound"),
        ("a holding penalty on cornerback Josh", "a holding penalty on Josh", "wording", None),
        ("it is not permitted to sublet", "it is ... permitted to sublet", "wording punctuation", None),
        ("this is paypal here", "this is pаypal here", "wording", None),
        ("the **net** fee is not due", "the net fee is due", "wording markup", None),
        # Other scripts.
        ("患者口服头孢三日，一次", "患者口服头孢三日一次", "punctuation", None),
        ("患者口服头孢三日", "患者静脉头孢三日", "wording", None),
        ("（３）請求書を送る", "(3)請求書を送る", "compatibility_form", None),
        ("ﾃｽﾄを行う", "テストを行う", "compatibility_form", None),
        ("「検査」を行う", "“検査”を行う", "typographic_quotes", None),
        ("Это «чистая» плата", 'Это "чистая" плата', "typographic_quotes", None),
        ("Αυτό ισχύει", "ΑΥΤΌ ΙΣΧΎΕΙ", "case", None),
        ("किरायेदार को “नहीं” कहा", 'किरायेदार को "नहीं" कहा', "typographic_quotes", None),
        ("من می\u200cخواهم بروم", "من میخواهم بروم", "invisible_characters", None),
        ("זה צה״ל כאן", 'זה צה"ל כאן', "typographic_quotes", None),
        ("세입자는 **30**일 이내에 통지한다", "세입자는 30일 이내에 통지한다", "markup", None),
        ("ผู้เช่า \u200bต้องจ่าย", "ผู้เช่า ต้องจ่าย", "invisible_characters", None),
    ],
)
def test_place_and_kinds(source: str, excerpt: str, kinds: str, wording: str | None) -> None:
    source, excerpt = canonical_text(source), canonical_text(excerpt)
    found = checked(canonical_text(BEFORE + source + AFTER), excerpt)
    assert found is not None
    assert " ".join(found.differences) == kinds
    assert found.wording == (source if wording is None else canonical_text(wording))


@pytest.mark.parametrize(
    ("text", "excerpt"),
    [
        ("", "a"),
        (BEFORE, "completely unrelated prose about submarines"),
        (BEFORE, "“—!?”"),
        (BEFORE, "☺"),
        (BEFORE, "&nbsp;"),
        (BEFORE, "**"),
        (" \n" * 5_000, "the net fee"),
        ("—" * 5_000, "the net fee"),
        (BEFORE, "x" * 100_000),
        ("A part.\fB part.", "B part.[[PAGE_BREAK]]A part."),
        ("The net fee is due. " + "a" * LONGEST, "the net fee is due. " + "a" * LONGEST),
    ],
)
def test_nothing_is_close(text: str, excerpt: str) -> None:
    assert checked(text, excerpt) is None


def test_the_mildest_place_is_named() -> None:
    text = "THE NET FEE IS DUE\n\nthe net fees are due. the **net** fee is due. The net fee - is due"
    found = checked(text, "the net fee is due")
    assert found is not None
    assert (found.differences, found.wording) == ((Difference.MARKUP,), "the **net** fee is due")


def test_the_first_of_equal_places_is_named() -> None:
    text = "the net fee — due. " * 30
    found = checked(text, "the net fee - due.")
    assert found is not None
    assert (found.start, found.difference) == (0, Difference.DASH)


def test_one_diagnoser_says_what_many_say() -> None:
    text = prose(random.Random(3), 60_000)
    excerpts = [text[20_000:20_200].upper(), text[300:400].replace("e", "3"), "none of it", wide(text[100:160])]
    diagnoser = Diagnoser(text)
    assert [diagnoser.diagnose(one) for one in excerpts] == [diagnose(text, one) for one in excerpts]
    assert [diagnoser.diagnose(one) for one in excerpts[::-1]] == [diagnose(text, one) for one in excerpts[::-1]]


def prose(source: random.Random, size: int, letters: str = "eeetaoinshrdlucmfwypvbgk") -> str:
    """Words of a vocabulary in sentences."""
    words = ["".join(source.choices(letters, k=source.randint(2, 9))) for _ in range(2_000)]
    made, length = [], 0
    while length < size:
        sentence = " ".join(source.choices(words, k=source.randint(5, 18)))
        made.append(sentence.capitalize() + source.choice([". ", ". ", ".\n", "; "]))
        length += len(made[-1])
    return "".join(made)[:size]


def wide(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if c.isascii() and c.isalnum() else c for c in text)


LONG = {
    "ascii": (prose(random.Random(1), 2 * FOLDED), "eeetao"),
    "umlauts": (prose(random.Random(2), FOLDED, "eeetaoinäöüß"), "ää"),
    "cyrillic": (prose(random.Random(3), FOLDED, "оооеаинтсрвлкмдпу"), "оое"),
    "han": (prose(random.Random(4), FOLDED // 2, "".join(map(chr, range(0x4E00, 0x4F00)))).replace(" ", ""), "一丁"),
}


@pytest.mark.parametrize("name", LONG)
@pytest.mark.parametrize("size", [40, 300, 10_000])
def test_in_a_long_source(name: str, size: int) -> None:
    text, _ = LONG[name]
    start = text.index(".", 3 * len(text) // 4) + 2
    true = text[start : start + size]
    true = true[: true.rindex(" ")] if " " in true else true
    middle = len(true) // 2
    word = true[middle:].index(" ") + middle + 1 if " " in true[middle:] else middle
    for excerpt, kind in (
        (true.replace(true[word], f"&#{ord(true[word])};", 1), Difference.HTML_ENTITY),
        (true[:word] + "\u200b" + true[word:], Difference.INVISIBLE_CHARACTERS),
        (true[:word] + "not " + true[word:], Difference.WORDING),
    ):
        found = checked(text, excerpt)
        assert found is not None
        assert (found.difference, found.start, found.wording) == (kind, start, true)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (str.upper, Difference.CASE),
        (wide, Difference.COMPATIBILITY_FORM),
        (lambda s: s.replace("\n", " ").replace(" ", "\n"), Difference.WHITESPACE),
        (lambda s: "".join(c + "\u00ad" * c.isalpha() for c in s), Difference.INVISIBLE_CHARACTERS),
    ],
)
def test_where_no_piece_stands_as_it_is(change: Callable[[str], str], kind: Difference) -> None:
    """All of the excerpt in another form, and all of the source."""
    text = prose(random.Random(5), 400_000)
    start = text.index(".", 300_000) + 2
    true = text[start : start + 400].strip()
    found = checked(text, change(true))
    assert found is not None
    assert (found.differences, found.start, found.wording) == ((kind,), start, true)
    found = checked(change(text), true)
    assert found is not None
    assert (found.differences, found.wording) == ((kind,), change(true).removesuffix("\u00ad"))


@pytest.mark.parametrize(
    ("text", "excerpt"),
    [
        ("a" * 2_000_000, "a" * 9_000 + "b"),
        ("a" * 2_000_000, ("a" * 7 + "b") * 1_000),
        ("ab" * 1_000_000, ("ab" * 7 + "c" + "ba" * 8) * 300),
        ("abc d " * 300_000, ("abc d " * 3 + "d abc ") * 400),
        (" \n" * 1_000_000, "ab c" * 2_500),
        ("[(\"'*_" * 300_000, '[[((""a' * 1_200),
        ("the net fee is due to x. " * 80_000, "the net fee is due to y. " * 400),
        ("the net fee is due to x. " * 80_000, "The net fee is due to x. " * 10_000),
        ("5 " * 500_000, "5\n5 " * 2_000),
        ("".join(map(chr, range(0x20000, 0x2A000))), "".join(map(chr, range(0x29000, 0x2A000)))[::-1]),
        ("the net fee", "the net fee is " * 17_000),
        ("<b>" * 5_000, "<b>a" * 60_000),
        ("&amp;" * 3_000 + "a", "&amp;" * 3_000 + "A"),
    ],
)
def test_hostile_repetition_ends(text: str, excerpt: str) -> None:
    """Anything quadratic would not come back within the life of the suite."""
    checked(text, excerpt)


@pytest.mark.parametrize("change", [str.upper, wide, lambda s: s[::-1], lambda s: s.replace(" ", "  ")])
def test_memory_is_bounded(change: Callable[[str], str]) -> None:
    text, _ = LONG["ascii"]
    excerpt = change(text[FOLDED : FOLDED + 10_000])
    tracemalloc.start()
    try:
        diagnose(text, excerpt)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(text) > FOLDED
    assert peak < FOLDED


VOCABULARY = """The tenant landlord is not permitted to sublet within thirty days of receipt unless agreed in writing
    and a fee shall be due on any renewal under section seven whereas nobody may assign this lease without consent"""
WORDS = st.lists(st.sampled_from(VOCABULARY.split()), min_size=40, max_size=120)
DIFFERENT_WORDS = st.lists(st.text("abcdeilmnorstu", min_size=3, max_size=9), min_size=40, max_size=80, unique=True)
CHANGES: dict[Difference, Callable[[str], str]] = {
    Difference.TYPOGRAPHIC_QUOTES: lambda word: f"„{word}“",
    Difference.PUNCTUATION: lambda word: f"{word},",
    Difference.WHITESPACE: lambda word: f"\u00a0{word}",
    Difference.CASE: str.swapcase,
    Difference.MARKUP: lambda word: f"<i>{word}</i>",
    Difference.HTML_ENTITY: lambda word: f"&#{ord(word[0])};{word[1:]}",
    Difference.INVISIBLE_CHARACTERS: lambda word: f"\u2060{word}",
    Difference.WORDING: lambda word: f"x{word}x",
}


@given(WORDS, st.sampled_from(list(CHANGES)), st.booleans(), st.data())
def test_a_change_is_told_for_what_it_is(
    words: list[str], kind: Difference, in_source: bool, data: st.DataObject
) -> None:
    """One change, in the source or in the excerpt, whose form it was before."""
    if kind is Difference.TYPOGRAPHIC_QUOTES:
        words = [f'"{word}"' if number % 5 == 0 else word for number, word in enumerate(words)]
    size = data.draw(st.integers(8, 20))
    first = data.draw(st.integers(0, len(words) - size))
    at = data.draw(st.integers(first + 1, first + size - 2))
    plain = words
    if kind is Difference.TYPOGRAPHIC_QUOTES:
        at = next(number for number in range(first + 1, first + size) if number % 5 == 0)
        assume(at < first + size - 1)
        words = [word.strip('"') if number == at else word for number, word in enumerate(words)]
    changed = [*words[:at], CHANGES[kind](words[at]), *words[at + 1 :]]
    theirs, ours = (changed, plain) if in_source else (plain, changed)
    text, excerpt = " ".join(theirs), " ".join(ours[first : first + size])
    assume(excerpt not in text)
    true = " ".join(theirs[first : first + size])
    start = len(" ".join(theirs[:first])) + (first > 0)
    assume(text.count(true) == 1)
    found = checked(text, excerpt)
    assert found is not None
    if found.start != start:  # the same words stand, or differ less, elsewhere
        assert GRAVITY[found.difference] <= GRAVITY[kind]
        return
    assert (found.differences, found.wording) == ((kind,), true)


@given(DIFFERENT_WORDS, st.sampled_from(["less", "more", "other"]), st.data())
def test_a_word_more_or_less_is_wording(words: list[str], change: str, data: st.DataObject) -> None:
    """And the place begins and ends where the excerpt does."""
    size = data.draw(st.integers(8, 20))
    first = data.draw(st.integers(0, len(words) - size))
    at = data.draw(st.integers(first + 2, first + size - 3))
    put = {"less": [], "more": ["QQQ", words[at]], "other": ["QQQ"]}[change]
    text, true = " ".join(words), " ".join(words[first : first + size])
    excerpt = " ".join([*words[first:at], *put, *words[at + 1 : first + size]])
    found = checked(text, excerpt)
    assert found is not None
    assert (found.difference, found.wording) == (Difference.WORDING, true)


CHARGED = st.text(st.sampled_from("aBc15 ½²,.'\"“[](<b>/&amp;#*_`-–\u00ad\n!口頭ﾃ\u200bé\u0301कि१"), max_size=60).map(
    canonical_text
)


@settings(max_examples=300)
@given(CHARGED, CHARGED)
def test_anything_is_answered(text: str, excerpt: str) -> None:
    assume(excerpt and excerpt not in text)
    checked(text, excerpt)


@settings(max_examples=300)
@given(CHARGED, st.data())
def test_what_is_said_of_form_can_be_quoted(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    change = data.draw(st.sampled_from([str.upper, wide, lambda s: s.replace(" ", "\n"), lambda s: f"{s}."]))
    excerpt = canonical_text(change(text[start:end]))
    assume(excerpt and excerpt not in text)
    found = checked(text, excerpt)
    assert found is None or found.wording in text


def _upper(text: str) -> str:
    return text.upper()


def _spaced(text: str) -> str:
    return text.replace(" ", "\u2003\n", 1)


def _hidden(text: str) -> str:
    return f"{text[:2]}\u200d{text[2:]}"


def _referred(text: str) -> str:
    return f"{text[:2]}&#x{ord(text[2]):x};{text[3:]}"


XQUAD: dict[Difference, Callable[[str], str]] = {
    Difference.CASE: _upper,
    Difference.COMPATIBILITY_FORM: wide,
    Difference.WHITESPACE: _spaced,
    Difference.INVISIBLE_CHARACTERS: _hidden,
    Difference.HTML_ENTITY: _referred,
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_real_text(vectors: Path, language: str) -> None:
    """Sentences of XQuAD in another form are found where they stand, as what they are."""
    source = random.Random(language)
    paragraphs = [canonical_text(raw) for raw in read_xquad(vectors, language).paragraphs.values()]
    told = 0
    for text in source.sample(paragraphs, 60):
        diagnoser = Diagnoser(text)
        for kind, change in XQUAD.items():
            words = list(_words(text))
            first = source.randrange(len(words))
            start, end = words[first][0], words[min(len(words) - 1, first + source.randint(3, 40))][1]
            true = text[start:end]
            excerpt = canonical_text(change(true))
            if len(true) < 8 or excerpt in text or text.count(true) > 1:
                continue
            found = diagnoser.diagnose(excerpt)
            assert found is not None
            assert (found.difference, found.wording) == (kind, true)
            told += 1
    assert told > 100


def _words(text: str) -> list[tuple[int, int]]:
    """Start and end of what stands between spaces and cuts no number; for a text without spaces, of its sentences."""
    places, start = [], 0
    for end in [index for index, c in enumerate(text) if c in " 。，"] + [len(text)]:
        if end > start and not any(c.isdigit() or c in "#*_-" for c in text[start:end]):
            places.append((start, end))
        start = end + 1
    return places


def test_a_source_of_middling_length_is_looked_at_whole() -> None:
    text = "the net fee is due. " * (WHOLE // 20 - 1)
    found = checked(text + "Es gilt „dies“.", "Es gilt “dies”.")
    assert found is not None
    assert (found.start, found.difference) == (len(text), Difference.TYPOGRAPHIC_QUOTES)
