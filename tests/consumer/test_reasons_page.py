"""``docs/spec/reasons.md`` is what the table in the code says."""

from __future__ import annotations

from kansho_verify.explanations import as_markdown
from tests import ROOT


def test_the_page_is_made_from_the_table() -> None:
    assert (ROOT / "docs" / "spec" / "reasons.md").read_text("utf-8") == as_markdown()
