"""Plain text, chunks, entries (docs/spec/parsing.md)."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kansho_sign.characters import cuts_character
from kansho_sign.chunking import LONGEST, SHORTEST, Chunk, chunks
from kansho_sign.entries import retrieval_texts
from kansho_sign.parsing.elements import Element
from kansho_sign.parsing.markdown import parse_markdown
from kansho_sign.parsing.plain import parse_plain

WHITE = " \t\n"


def one(text: str, kind: str = "text") -> list[Chunk]:
    return chunks(text, [Element(kind, 0, len(text))])


def texts(text: str) -> list[str]:
    return [text[chunk.start : chunk.end] for chunk in one(text)]


@pytest.mark.parametrize(
    ("text", "elements"),
    [
        ("", []),
        ("\n \t\n", []),
        ("a", ["a"]),
        (" a \n", ["a"]),
        ("a\n\tb\t\n\nc", ["a\n\tb", "c"]),
        ("a\n \t \nb", ["a", "b"]),
        ("\u00a0\n\nb", ["\u00a0", "b"]),
        ("a\u2028\u2028b\x0c\n", ["a\u2028\u2028b\x0c"]),
        ("\u3000", ["\u3000"]),
        ("a\n\n\n\nb\n", ["a", "b"]),
        ("\na", ["a"]),
    ],
)
def test_plain_paragraphs(text: str, elements: list[str]) -> None:
    parsed = parse_plain(text)
    assert [text[element.start : element.end] for element in parsed] == elements
    assert all((element.kind, element.level) == ("text", 0) for element in parsed)


@given(st.text(st.sampled_from("ab \t\n\u00a0漢")))
def test_plain_paragraphs_by_lines(text: str) -> None:
    parsed = parse_plain(text)
    groups: list[list[str]] = [[]]
    for line in text.split("\n"):
        if line.strip(" \t"):
            groups[-1].append(line)
        elif groups[-1]:
            groups.append([])
    wanted = ["\n".join(group).strip(" \t") for group in groups if group]
    assert [text[element.start : element.end] for element in parsed] == wanted
    assert all(before.end < after.start for before, after in pairwise(parsed))


def test_a_long_line_is_cut_at_the_longest() -> None:
    assert [len(piece) for piece in texts("x" * LONGEST)] == [LONGEST]
    assert [len(piece) for piece in texts("x" * (LONGEST + 1))] == [LONGEST, 1]
    assert [len(piece) for piece in texts("x" * 3 * LONGEST)] == [LONGEST] * 3


@pytest.mark.parametrize("mark", ["\n", ". ", "! ", "? ", "。", "！", "？", "।", " "])
def test_marks(mark: str) -> None:
    text = "x" * 2_000 + mark + "y" * 500 + mark + "z" * 3_000
    first, second = texts(text)
    assert first == text[: 2_500 + 2 * len(mark)].rstrip(WHITE)
    assert second == "z" * 3_000


def test_marks_have_an_order() -> None:
    head = "a" * 1_500
    text = head + "\n" + "b" * 500 + ". " + "c" * 500 + " " + "d" * 3_000
    assert texts(text)[0] == head
    text = text.replace("\n", "b")
    assert texts(text)[0].endswith("b.")
    text = text.replace(". ", "cc")
    assert texts(text)[0].endswith("c")


@pytest.mark.parametrize("mark", ["\n", ". ", "。", " "])
def test_a_mark_in_the_first_thousand_does_not_count(mark: str) -> None:
    early = "x" * (SHORTEST - len(mark)) + mark + "y" * 5_000
    assert len(texts(early)[0]) == LONGEST
    counted = "x" * SHORTEST + mark + "y" * 5_000
    assert texts(counted)[0] == counted[: SHORTEST + len(mark)].rstrip(WHITE)


def test_a_mark_must_lie_within_the_longest() -> None:
    inside = "x" * (LONGEST - 2) + ". " + "y" * 100
    assert texts(inside) == ["x" * (LONGEST - 2) + ".", "y" * 100]
    across = "x" * (LONGEST - 1) + ". " + "y" * 100
    assert [len(piece) for piece in texts(across)] == [LONGEST, 100]


@pytest.mark.parametrize("mark", ["\u0301", "\u200d", "\ufe0f", "\u0903", "\U0001f3fb", "\U000e0100"])
@pytest.mark.parametrize("run", [1, 2, 250, 3_500])
def test_a_cut_moves_back_before_marks(mark: str, run: int) -> None:
    """Also over more than three thousand: only where nothing would be left is the character cut."""
    head = LONGEST - run
    text = "x" * head + mark * run + mark + "y" * 5_000
    assert len(texts(text)[0]) == head - 1


def test_where_nothing_would_be_left_the_character_is_cut() -> None:
    text = "x" + "\ufe0f" * 9_000
    assert [len(piece) for piece in texts(text)] == [LONGEST, LONGEST, 1_001]


def test_headings_make_no_chunk_and_white_space_none() -> None:
    assert one("abc", "heading") == []
    assert one(" \t\n") == []
    assert one(" " * 9_000) == []
    assert one(" a ") == [Chunk(1, 2, (0,))]


LONG = st.lists(
    st.sampled_from(["x" * 700, "y" * 1_100, ". ", " ", "\n", "。", "\u0301", "\ufe0f" * 300, "漢" * 900]), max_size=30
)


@given(LONG.map("".join))
def test_no_text_is_lost_and_pieces_are_short(text: str) -> None:
    elements = parse_plain(text)
    made = chunks(text, elements)
    assert all(before.end <= after.start for before, after in pairwise(made))
    covered = [place for chunk in made for place in range(chunk.start, chunk.end)]
    assert len(set(covered)) == len(covered)
    lost = [text[place] for element in elements for place in range(element.start, element.end)]
    assert [c for c in lost if c not in WHITE] == [text[place] for place in covered if text[place] not in WHITE]
    for chunk in made:
        piece = text[chunk.start : chunk.end]
        assert 0 < len(piece) <= LONGEST
        assert piece == piece.strip(WHITE)
        (position,) = chunk.elements
        assert elements[position].start <= chunk.start < chunk.end <= elements[position].end


@given(
    st.lists(st.sampled_from(["x" * 900, "\u0301", "\ufe0f", "漢\U000e0100", "👩\u200d💻" * 20]), max_size=30).map(
        "".join
    )
)
def test_a_cut_without_marks_is_never_inside_a_character(text: str) -> None:
    for chunk in one(text)[1:]:
        assert not cuts_character(text[chunk.start - 1], text[chunk.start])


def paths(text: str) -> list[str]:
    elements = parse_markdown(text)
    return retrieval_texts(text, elements, chunks(text, elements))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", ["a"]),
        ("# H\n\na", ["H\na"]),
        ("a\n\n# H\n\nb", ["a", "H\nb"]),
        ("# A\n## B\nc\n# D\ne", ["A\nB\nc", "D\ne"]),
        ("# A\n### B\nc\n## D\ne", ["A\nB\nc", "A\nD\ne"]),
        ("### A\nb\n# C\nd\n### E\nf", ["A\nb", "C\nd", "C\nE\nf"]),
        ("# A\n# A\nb", ["A\nb"]),
        ("# A\n\n- b\n- c", ["A\nb", "A\nc"]),
        ("A\nB\n===\n\nc", ["A\nB\nc"]),
        ("> # A\n\nb", ["A\nb"]),
        ("# A", []),
    ],
)
def test_heading_paths(text: str, expected: list[str]) -> None:
    assert paths(text) == expected


def test_every_piece_of_a_long_element_has_its_headings() -> None:
    made = paths("# A\n\n" + "x" * 9_000)
    assert [len(one) for one in made] == [4_002, 4_002, 1_002]
    assert all(one.startswith("A\nx") for one in made)
