"""Human-made answers in four languages, forged into bundles, are accepted at the places where people saw them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import unicodedata2

from kansho_verify import Outcome
from tests.consumer.checking import check
from tests.support.forge import Doc, Forge

CONTEXTS = 12


def _load(path: Path) -> Any:
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)


@pytest.mark.parametrize("language", ["en", "de", "zh", "hi"])
def test_answers_are_verified(vectors: Path, language: str) -> None:
    paths = [path for path in (vectors / "xquad").iterdir() if f".{language}." in path.name]
    assert len(paths) == 1
    paragraphs = [one for article in _load(paths[0])["data"] for one in article["paragraphs"]][:CONTEXTS]
    docs, excerpts = [], []
    for i, paragraph in enumerate(paragraphs):
        raw = paragraph["context"]
        text = unicodedata2.normalize("NFC", raw)
        name = f"{language}/{i}.txt"
        docs.append(Doc(name, text, [text.strip()], media_type="text/plain", raw=raw.encode()))
        answers = {answer["text"] for question in paragraph["qas"] for answer in question["answers"]}
        excerpts += [(name, unicodedata2.normalize("NFC", answer)) for answer in sorted(answers)]
    verdict = check(Forge(docs=docs, excerpts=excerpts))
    assert verdict.outcome is Outcome.ACCEPTED, verdict.codes
    assert len(verdict.claims) > CONTEXTS
