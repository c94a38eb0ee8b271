"""Portable document ids and public uris (docs/spec/lifecycle.md, Source events)."""

import re
from urllib.parse import quote, urlsplit

import unicodedata2 as ucd

from kansho_sign.errors import InputError
from kansho_sign.limits import LIMITS

__all__ = ["check_document_id", "check_label", "check_source_uri", "fold", "uri_of_path"]

FORBIDDEN = re.compile(r'[\\:*?"<>|]')
DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)
HIDDEN = frozenset(("Cc", "Cf", "Cn", "Cs", "Zl", "Zp"))
NO_BREAK_SPACES = "\u00a0\u202f"
URI = re.compile(r"[!-~]+")
USER_INFORMATION = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*:(//)?[^/]*@|^//[^/]*@")


def fold(name: str) -> str:
    """Case- and normalisation-folded form; two ids with the same one are a conflict."""
    folded: str = ucd.normalize("NFC", ucd.normalize("NFKC", name).casefold())
    return folded


def _hidden(name: str) -> str | None:
    """The first code point that a label or a document id may not hold (schemas/common.v1, label)."""
    return next((c for c in name if c in NO_BREAK_SPACES or ucd.category(c) in HIDDEN), None)


def check_label(value: str, what: str) -> str:
    """A name that schemas call a label, in NFC. Raises InputError ``name.label``."""
    hidden = _hidden(value)
    if hidden is not None:
        raise InputError(
            "name.label",
            f"the {what} holds U+{ord(hidden):04X}, which is invisible, a control or a no-break space",
            ascii(value),
        )
    if not value or value != value.strip() or len(value) > LIMITS.label_code_points:
        why = f"the {what} must have 1 to {LIMITS.label_code_points} characters and no white space at its ends"
        raise InputError("name.label", why, ascii(value))
    if ucd.normalize("NFC", value) != value:
        raise InputError("name.label", f"the {what} is not in Unicode normal form C", ascii(value))
    return value


def check_document_id(name: str) -> str:
    """A portable relative path. Raises InputError ``name.document`` that says which rule is broken."""

    def refuse(why: str) -> InputError:
        return InputError("name.document", why, ascii(name), "rename it, or leave it out")

    if not name or len(name) > LIMITS.document_code_points:
        raise refuse(f"a document id has 1 to {LIMITS.document_code_points} characters")
    hidden = _hidden(name)
    if hidden is not None:
        raise refuse(f"it holds U+{ord(hidden):04X}, which is invisible, a control or a no-break space")
    if ucd.normalize("NFC", name) != name:
        raise refuse("it is not in Unicode normal form C")
    if found := FORBIDDEN.search(name):
        raise refuse(f"it holds {found.group()!a}, which not every file system allows")
    for segment in name.split("/"):
        if segment in ("", ".", ".."):
            raise refuse("it has an empty, '.' or '..' segment")
        if segment != segment.strip() or segment.endswith("."):
            raise refuse(f"the segment {segment!a} begins or ends with a space, or ends with a dot")
        if DEVICE.fullmatch(segment):
            raise refuse(f"{segment!a} is a device name on Windows")
    return name


def uri_of_path(document: str, base: str = "") -> str:
    """A uri reference for a document id, percent-encoded (RFC 3986), after an optional base."""
    return base + quote(document, safe="/!$&'()*+,;=@~-._")


def check_source_uri(uri: str, *, public: bool) -> str:
    """An ASCII uri reference without user information or query, unless it is said to be public.

    Raises InputError ``name.source_uri``.
    """
    if URI.fullmatch(uri) is None or len(uri) > LIMITS.uri_characters:
        why = f"a source uri has 1 to {LIMITS.uri_characters} visible ASCII characters"
        raise InputError("name.source_uri", why, ascii(uri)[:200], "percent-encode the others, or shorten it")
    try:
        parts = urlsplit(uri)
        secret = bool(parts.query) or parts.username is not None or USER_INFORMATION.match(uri) is not None
    except ValueError:
        raise InputError("name.source_uri", "not a uri", ascii(uri)) from None
    if secret and not public:
        hint = "put what only the connector needs into private_locator, or set source_uri_public to true"
        raise InputError("name.source_uri", "a query or user information would become public", ascii(uri)[:200], hint)
    return uri
