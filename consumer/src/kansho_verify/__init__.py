"""Verifies signed citations against source bytes and a trust root of one's own, offline.

:func:`verify` returns a verdict; :func:`require` raises for every outcome but accepted. Both take bytes and records
and do no input or output. The steps are those of ``docs/spec/verification.md``.
"""

from kansho_verify._version import __version__
from kansho_verify.expectations import Expectations, Pins, Profile
from kansho_verify.projection import project
from kansho_verify.raising import require
from kansho_verify.reasons import Code, Reason, Result, VerifyError
from kansho_verify.registry import read_registry
from kansho_verify.sources import MappingSources, Sources
from kansho_verify.verdict import Outcome, RejectedError, Verdict, to_document
from kansho_verify.verify import verify

__all__ = [
    "Code",
    "Expectations",
    "MappingSources",
    "Outcome",
    "Pins",
    "Profile",
    "Reason",
    "RejectedError",
    "Result",
    "Sources",
    "Verdict",
    "VerifyError",
    "__version__",
    "project",
    "read_registry",
    "require",
    "to_document",
    "verify",
]
