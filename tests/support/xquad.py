"""XQuAD as a corpus: each paragraph a document, each answer an excerpt with an independent offset."""

from __future__ import annotations

import gzip
import json
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kansho_sign.pipeline.ingest import Wanted, ingest
from kansho_sign.pipeline.publish import publish
from kansho_sign.workspace import Workspace, create
from tests.support.fixed_test_keys import CountingRandom, fixed_secrets

LANGUAGES = ("en", "zh", "hi", "de")
NOW = 1_790_000_000


@dataclass(frozen=True, slots=True)
class Annotated:
    """One human answer: where it stands in the raw paragraph, in code points of the raw text."""

    document: str
    question: str
    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Xquad:
    """240 paragraphs by document id, 1,190 answers."""

    paragraphs: dict[str, str]
    answers: tuple[Annotated, ...]

    def expected(self, answer: Annotated) -> tuple[int, int, int]:
        """Start, end and overlapping occurrences in the NFC text, by the standard library alone."""
        whole = self.paragraphs[answer.document]
        # Some paragraphs begin with a byte order mark, which is no part of the canonical text.
        raw = whole.removeprefix("\ufeff")
        offset = answer.start - (len(whole) - len(raw))
        text, excerpt = unicodedata.normalize("NFC", raw), unicodedata.normalize("NFC", answer.text)
        start = len(unicodedata.normalize("NFC", raw[:offset]))
        count = sum(text.startswith(excerpt, at) for at in range(len(text)))
        return start, start + len(excerpt), count


def _read(path: Path) -> Iterator[tuple[str, list[Annotated]]]:
    number = 0
    for article in json.loads(gzip.decompress(path.read_bytes()))["data"]:
        for paragraph in article["paragraphs"]:
            document = f"paragraph-{number:03}.txt"
            number += 1
            yield (
                paragraph["context"],
                [
                    Annotated(document, question["question"], answer["text"], answer["answer_start"])
                    for question in paragraph["qas"]
                    for answer in question["answers"]
                ],
            )


def read_xquad(vectors: Path, language: str) -> Xquad:
    """One language's data."""
    paragraphs, answers = {}, []
    for number, (context, annotated) in enumerate(_read(vectors / "xquad" / f"xquad.{language}.json.gz")):
        paragraphs[f"paragraph-{number:03}.txt"] = context
        answers += annotated
    if (len(paragraphs), len(answers)) != (240, 1190):
        raise AssertionError(f"XQuAD {language} has {len(paragraphs)} paragraphs and {len(answers)} answers")
    return Xquad(paragraphs, tuple(answers))


def publish_xquad(folder: Path, data: Xquad) -> tuple[Workspace, Path]:
    """A workspace that has published all paragraphs, and the folder of the raw files."""
    sources = folder / "sources"
    sources.mkdir()
    for document, text in data.paragraphs.items():
        (sources / document).write_text(text, encoding="utf-8", newline="")
    workspace = create(folder / "workspace", issuer="xquad", passphrase=None, now=NOW, made=fixed_secrets("xquad"))
    wanted = Wanted("default", ("public",), "document")
    summary = ingest(workspace, [sources], wanted, now=NOW, random=CountingRandom("xquad"))
    if summary.refused or len(summary.accepted) != len(data.paragraphs):
        raise AssertionError(f"refused: {summary.refused}")
    publish(workspace, NOW)
    return workspace, sources
