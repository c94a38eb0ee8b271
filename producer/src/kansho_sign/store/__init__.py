"""The store: sources, events, published generations."""

from kansho_sign.store.records import DocumentRow, PublishedDocument, PublishedEntry
from kansho_sign.store.sqlite import Connection, Store
from kansho_sign.store.tables import SCHEMA_VERSION

__all__ = ["SCHEMA_VERSION", "Connection", "DocumentRow", "PublishedDocument", "PublishedEntry", "Store"]
