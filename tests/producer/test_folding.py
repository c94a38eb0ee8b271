"""Folds and the kinds of difference (docs/spec/diagnosis.md, Kinds)."""

from __future__ import annotations

import pytest
import unicodedata2 as ucd
from hypothesis import given
from hypothesis import strategies as st

from kansho_sign.evidence.comparing import differences
from kansho_sign.evidence.folding import GRAVITY, MILD_FIRST, Difference, fold
from kansho_sign.evidence.markup import Worded, edited, entity_edits, markup_edits, merged
from kansho_sign.evidence.reading import Reading
from kansho_sign.evidence.shapes import LEVEL, SHAPE, SKELETON
from kansho_sign.text import canonical_text

FORM = [
    # Quotation marks of many languages; singles as well, and what is typed for them.
    ("“final”", '"final"', "typographic_quotes"),
    ("„nein“", '"nein"', "typographic_quotes"),
    ("«да»", '"да"', "typographic_quotes"),
    ("« oui »", "“oui”", "whitespace typographic_quotes"),
    ("‹ja›", "'ja'", "typographic_quotes"),
    ("「はい」", '"はい"', "typographic_quotes"),
    ("『本』", "“本”", "typographic_quotes"),
    ("‘no’ she", '"no" she', "typographic_quotes"),
    ("it’s", "it's", "typographic_quotes"),
    ("it´s", "it's", "typographic_quotes"),
    ("Hawaiʻi", "Hawai'i", "typographic_quotes"),
    ("צה״ל", 'צה"ל', "typographic_quotes"),
    ("ג׳ירפה", "ג'ירפה", "typographic_quotes"),
    ("5′ wide", "5' wide", "typographic_quotes"),
    # Dashes.
    ("a‑b", "a-b", "dash"),
    ("1–5", "1-5", "dash"),
    ("−5", "-5", "dash"),
    ("word—word", "word--word", "dash"),
    ("word — word", "word -- word", "dash"),
    ("word—word", "word -- word", "whitespace dash"),
    ("בית־ספר", "בית-ספר", "dash"),
    ("3〜5", "3~5", "dash"),
    # White space, where it parts no words.
    ("Article\u00a05", "Article 5", "whitespace"),
    ("a\n\tb", "a b", "whitespace"),
    ("a b", "a  b ", "whitespace"),
    ("a\u3000b", "a b", "whitespace"),
    ("口服\n头孢", "口服头孢", "whitespace"),
    ("第 5 条", "第5条", "whitespace"),
    ("30 %", "30%", "whitespace"),
    ("p<0.05", "p < 0.05", "whitespace"),
    ("5 - 3", "5-3", "whitespace"),
    ("bon !", "bon!", "whitespace"),
    ("non-\nresident", "non-resident", "whitespace"),
    # Invisible characters.
    ("Co\u00adoperation", "Cooperation", "invisible_characters"),
    ("می\u200cخواهم", "میخواهم", "invisible_characters"),
    ("क\u094d\u200dष", "क\u094dष", "invisible_characters"),
    ("a\u2060b", "ab", "invisible_characters"),
    ("a\u200bb", "ab", "invisible_characters"),
    ("שלום\u200f!", "שלום!", "invisible_characters"),
    ("☺\ufe0f ok", "☺ ok", "invisible_characters"),
    ("a\u3164b", "ab", "invisible_characters"),
    ("a\x07b", "ab", "invisible_characters"),
    # Compatibility forms.
    ("ﬁbrils", "fibrils", "compatibility_form"),
    ("ＡＢＣ", "ABC", "compatibility_form"),
    ("１００", "100", "compatibility_form"),
    ("ﾃﾞｽﾄ", "デスト", "compatibility_form"),
    ("m²", "m2", "compatibility_form"),
    ("CO₂", "CO2", "compatibility_form"),
    ("½ cup", "1/2 cup", "compatibility_form"),
    ("№ 5", "No 5", "compatibility_form"),
    ("three…", "three...", "compatibility_form"),
    ("ﻻ", "لا", "compatibility_form"),
    ("𝐱 is", "x is", "compatibility_form"),
    ("三日，一次", "三日,一次", "compatibility_form"),
    ("（仮）", "(仮)", "compatibility_form"),
    # Hyphens at the end of a line.
    ("infor-\nmation", "information", "line_break_hyphen"),
    ("infor‐\nmation", "information", "line_break_hyphen"),
    ("infor\u00ad\nmation", "information", "line_break_hyphen"),
    ("infor- mation", "information", "line_break_hyphen"),
    ("инфор-\nмация", "информация", "line_break_hyphen"),
    ("जान-\nकारी", "जानकारी", "line_break_hyphen"),
    # Character references.
    ("Stra&szlig;e", "Straße", "html_entity"),
    ("a &lt; b", "a < b", "html_entity"),
    ("&#8220;x&#x201d;", "“x”", "html_entity"),
    ("A&amp;B", "A&B", "html_entity"),
    ("A&amp;amp;B", "A&B", "html_entity"),
    ("e&#769;te", "éte", "html_entity"),
    ("a&nbsp;b", "a b", "html_entity whitespace"),
    ("&quot;x&quot;", "“x”", "html_entity typographic_quotes"),
    # Markup.
    ("the **net** fee", "the net fee", "markup"),
    ("**Note** that", "Note that", "markup"),
    ("the *net* fee", "the net fee", "markup"),
    ("the __net__ fee", "the net fee", "markup"),
    ("***both***", "both", "markup"),
    ("~~old~~ new", "old new", "markup"),
    ("**N**ational", "National", "markup"),
    ("这是**重点**内容", "这是重点内容", "markup"),
    ("共**30**天", "共30天", "markup"),
    ("**중요**합니다", "중요합니다", "markup"),
    ("**Note: the fee", "Note: the fee", "markup"),
    ("`make test`", "make test", "markup"),
    ("``a`b``", "a`b", "markup"),
    ("```sh\nmake\n```", "make", "markup whitespace"),
    ("the [net fee](https://a.example/x_y(z) 'T') due", "the net fee due", "markup"),
    ("the [net fee][1] due", "the net fee due", "markup"),
    ("![a picture](p.png)", "a picture", "markup"),
    ("[![a picture](p.png)](q)", "a picture", "markup"),
    ("so[^1] it is", "so it is", "markup"),
    ("<https://a.example>", "https://a.example", "markup"),
    ("# Fees", "Fees", "markup"),
    ("Fees\n====\nThe net", "Fees\nThe net", "markup"),
    ("- one\n- two", "one\ntwo", "markup"),
    ("* one\n* two", "one two", "markup whitespace"),
    ("- [ ] one\n- [x] two", "one\ntwo", "markup"),
    ("1. one\n2. two", "one\ntwo", "markup"),
    ("> one\n> two", "one\ntwo", "markup"),
    ("the <b>net</b> fee", "the net fee", "markup"),
    ("one<br/>two", "one two", "markup"),
    ("<p class='x'>One</p><p>two</p>", "One two", "markup whitespace"),
    ("a<!-- b -->c", "ac", "markup"),
    (r"a\*b", "a*b", "markup"),
    # Case.
    ("ПРИВЕТ", "привет", "case"),
    ("STRASSE", "Straße", "case"),
    ("ΛΟΓΟΣ", "λογος", "case"),
    ("İstanbul", "istanbul", "case"),
    # Punctuation of sentences.
    ("the fee.", "the fee", "punctuation"),
    ("one, two", "one two", "punctuation"),
    ("三日，一次。", "三日一次", "punctuation"),
    ("यह है।", "यह है", "punctuation"),
    ("هذا؟", "هذا", "punctuation"),
    ("the “net” fee", "the net fee", "punctuation"),
    ('said "30" days', "said 30 days", "punctuation"),
    ("the (net) fee", "the net fee", "punctuation"),
    ("so – yes", "so yes", "punctuation"),
    ("is ... due", "is due", "punctuation"),
    ("why?", "why!", "punctuation"),
    # Forms of one number.
    ("1,000", "1000", "number_form"),
    ("1.000", "1,000", "number_form"),
    ("1'000", "1000", "number_form"),
    ("1\u202f000", "1000", "number_form"),
    ("10,00,000", "1,000,000", "number_form"),
    ("2.700,50", "2,700.50", "number_form"),
    ("2.700,50", "2700.50", "number_form"),
    ("1,5", "1.5", "number_form"),
    ("१०००", "1000", "number_form"),
    ("٣٫٥", "3.5", "number_form"),
    ("١٬٠٠٠", "1000", "number_form"),
    # Several kinds at once, the gravest first.
    ("THE “NET” FEE", 'the "net" fee', "case typographic_quotes"),
    ("The **net** fee", "the net fee", "case markup"),
    ("1,000 – “all”", '1000 - "all"', "number_form dash typographic_quotes"),
]

WORDING = [
    ("2.70", "270"),
    ("3.14", "314"),
    ("0.500", "500"),
    ("2.70", "2.7"),
    ("1.2.2024", "122024"),
    ("-5", "5"),
    ("−5", "+5"),
    ("±5", "5"),
    ("- 5", "5"),
    ("is - 5", "is -5"),
    ("5 -3", "5-3"),
    ("(5)", "5"),
    ("< 5", "> 5"),
    ("a ≤ b", "a < b"),
    ("> 5", "5"),
    ("5%", "5"),
    ("5 ‰", "5 %"),
    ("٥٪", "٥"),
    ("$5", "5"),
    ("§ 5", "5"),
    ("5!", "5"),
    ("!x", "x"),
    ("07:30", "0730"),
    ("5'", '5"'),
    ("3. 14", "3.14"),
    ("5 0", "50"),
    ("10²", "102"),
    ("10⁻³", "10-3"),
    ("1½", "11/2"),
    ("10<sup>2</sup>", "102"),
    ("2*3*4", "234"),
    ("2**3**4", "234"),
    ("a*b*c", "abc"),
    ("snake_case", "snakecase"),
    ("not able", "notable"),
    ("re-sign", "resign"),
    ("it's", "its"),
    ("f(x)", "fx"),
    ("a/b", "ab"),
    ("day(s)", "days"),
    ("Masse", "Maße"),
    ("cafe", "café"),
    ("бік", "бiк"),
    ("ー", "—"),
    ("not permitted", "permitted"),
    ("не разрешено", "разрешено"),
    ("[a](u1)", "[a](u2)"),
    ("<a href='u1'>a</a>", "<a href='u2'>a</a>"),
    ("1. one", "2. one"),
    ("in June\n30. The", "in June The"),
    ("List<String>", "List"),
    ("a <b c> d", "a d"),
    ("&unknown;", ""),
    ("&#0;x", "x"),
    ("&ampx", "&x"),
    ("&notit;", "¬it;"),
]


def told(left: str, right: str) -> tuple[Difference, ...]:
    return differences(Worded.read(left), Worded.read(right))


@pytest.mark.parametrize(("left", "right", "kinds"), FORM)
def test_form(left: str, right: str, kinds: str) -> None:
    left, right = canonical_text(left), canonical_text(right)
    assert told(left, right) == tuple(map(Difference, kinds.split()))
    assert told(right, left) == tuple(map(Difference, kinds.split()))


@pytest.mark.parametrize(("left", "right"), WORDING)
def test_wording(left: str, right: str) -> None:
    left, right = canonical_text(left), canonical_text(right)
    assert told(left, right)[0] is Difference.WORDING
    assert told(right, left)[0] is Difference.WORDING


def test_form_beside_wording() -> None:
    assert told("THE “NET” FEE", 'the "gross" fee') == tuple(map(Difference, ("wording", "case", "typographic_quotes")))
    assert told("a strict review", "a relaxed review") == (Difference.WORDING,)


def test_long_texts_say_wording_alone() -> None:
    text = "The “net” fee is due. " * 200
    assert told(text, text.upper().replace("NET", "GROSS")) == (Difference.WORDING,)
    assert told(text, text.upper()) == (Difference.CASE,)
    assert told(text, text.upper().replace(".", "")) == (Difference.PUNCTUATION, Difference.CASE)


def test_gravity() -> None:
    graver_first = """wording number_form punctuation case markup html_entity line_break_hyphen compatibility_form
        invisible_characters whitespace dash typographic_quotes"""
    assert sorted(Difference, key=GRAVITY.__getitem__, reverse=True) == graver_first.split()
    assert set(MILD_FIRST) == set(Difference) - {Difference.WORDING}


ANY = st.text(st.characters(exclude_categories=("Cs", "Cn"), exclude_characters="\x00"), max_size=40).map(
    canonical_text
)
CHARGED = st.text(
    st.sampled_from("aB1ß½²,.'’\"“”()[]<>/&;#*_`~-–\u00ad \n\u00a0!?।口ﾃ\u200bé\u0301प१"), max_size=40
).map(canonical_text)
LINED = st.lists(
    st.sampled_from(
        [
            "- ",
            "1. ",
            "# ",
            "> ",
            "**",
            "`",
            "<b>",
            "</b>",
            "&amp;",
            "](u)",
            "[",
            "a",
            "5",
            " ",
            "\n",
            "-\n",
            "\\",
            "~~",
        ]
    ),
    max_size=25,
).map("".join)
TEXTS = ANY | CHARGED | LINED


@given(TEXTS)
def test_form_keeps_letters_and_numbers(text: str) -> None:
    """What lets two texts be told apart before any fold is tried."""
    for kind in set(MILD_FIRST) - {Difference.HTML_ENTITY, Difference.MARKUP}:
        kept = ucd.normalize("NFD", text.translate(SKELETON))
        assert ucd.normalize("NFD", fold(Worded.read(text), (kind,)).translate(SKELETON)) == kept
        assert ucd.normalize("NFD", fold(Worded.read(text), (kind,), capitals=True).translate(SKELETON)) == kept


@given(TEXTS, TEXTS)
def test_differences_are_named_alike_from_both_sides(left: str, right: str) -> None:
    found = told(left, right)
    assert found == told(right, left)
    assert found == tuple(sorted(set(found), key=GRAVITY.__getitem__, reverse=True))
    assert found[0] is Difference.WORDING or fold(Worded.read(left), found, capitals=True) == fold(
        Worded.read(right), found, capitals=True
    )


@given(st.integers(0, 10**7), st.integers(0, 10**7), st.sampled_from(["", "-", "<", ">", "%", "$", "±"]))
def test_another_number_is_another_wording(one: int, other: int, mark: str) -> None:
    if one != other:
        assert told(f"is {one:,} now", f"is {other} now")[0] is Difference.WORDING
    if mark:
        assert told(f"is {mark}{one} now", f"is {one} now")[0] is Difference.WORDING


@given(TEXTS)
def test_edits_lie_apart(text: str) -> None:
    edits = merged(entity_edits(text) + markup_edits(text))
    place = 0
    for edit in edits:
        assert place <= edit.start < edit.end <= len(text)
        place = edit.end
    assert Reading(text).content == edited(text, edits)


@given(TEXTS)
def test_a_reading_knows_where_everything_stood(text: str) -> None:
    around = f"x{text}y"
    reading = Reading(around, 1, 1 + len(text))
    assert len(reading.level) == len(reading.content)
    assert reading.content.translate(SKELETON) == reading.skeleton
    places = [reading.origin(index) for index in range(len(reading.content))]
    assert all(1 <= start < end <= 1 + len(text) for start, end in places)
    assert places == sorted(places)
    for (start, end), c in zip(places, reading.content, strict=True):
        assert around[start:end] == c or around[start] == "&"
    for offset in range(len(reading.skeleton)):
        index = reading.index(offset)
        assert len(reading.content[:index].translate(SKELETON)) <= offset
        assert len(reading.content[: index + 1].translate(SKELETON)) > offset


@given(ANY)
def test_tables_that_keep_places(text: str) -> None:
    assert len(text.translate(SHAPE)) == len(text.translate(LEVEL)) == len(text)


def test_what_markup_carries() -> None:
    text = Worded.read("[a](b&amp;) <i class='c'>d</i>\n\n7. e [f][g]")
    assert text.carried(entities=False) == ("b&amp;", "class='c'", "7", "g")
    assert text.carried(entities=True) == ("b&", "class='c'", "7", "g")


def test_inside_a_line_nothing_begins_an_item() -> None:
    assert edited("- [a](b)", markup_edits("- [a](b)")) == "a"
    assert edited("- [a](b)", markup_edits("- [a](b)", inline=True)) == "- a"


@pytest.mark.parametrize(
    "unit",
    [
        *("*a ", "**a", "`a ``b", "[", "[a](", "![a](", "[a][b", "[^", "<a b=", "<a ", "<!--", "&amp;", "- ", "\n- "),
        *("²", "#", " #", "\n# ", "(1", "'", '"', ">", "\n>", "_a_", "~~a", "1,", "1,000", ". ", " - ", "\\[", "`"),
        *(
            "<a href='",
            " ",
            "\n",
            "= ",
            "\n*",
            "\n* * ",
            "!",
            "-\n",
            "a-\n",
            "(",
            "[a](b(c",
            '[a](b "c',
            "\u0301",
            "&#",
        ),
    ],
)
def test_repetition_is_folded_in_linear_time(unit: str) -> None:
    """What tries every start against every end would not come back within the life of the suite."""
    text = unit * (40_000 // len(unit))
    assert isinstance(fold(Worded.read(text), MILD_FIRST), str)
    assert fold(Worded.read(f"# {text}x"), MILD_FIRST).endswith("x")
