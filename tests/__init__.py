"""The project's tests, and the two places that they start from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
"""The top of the repository."""

VECTORS: Final = (ROOT / (os.environ.get("KANSHO_VECTORS") or "../shared/vectors")).resolve()
"""The conformance data, from KANSHO_VECTORS; it may be absent. Tests take it from the fixture ``vectors``."""
