"""The example of docs/evidence-library.md runs, and says what the page says it says."""

from __future__ import annotations

import contextlib
import io
import re
from typing import Any

from kansho_sign.evidence import Evidence, UntrustedAnswer, check
from tests import ROOT

PAGE = ROOT / "docs" / "evidence-library.md"


def test_the_example() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()) as said:
        exec(compile(example, str(PAGE), "exec"), names)  # noqa: S102 - the page's own code is what is tested
    assert said.getvalue() == "evidence[1].excerpt unverified_excerpt wording\n"
    assert names["result"].artifact is None
    good = check(UntrustedAnswer((Evidence("turn-1", "ran 5 km"),)), names["registry"], names["policy"])
    assert good.artifact is not None
    assert [one.text for one in good.artifact.sources] == ["I got up at 07:30. Then I ran 5 km."]
