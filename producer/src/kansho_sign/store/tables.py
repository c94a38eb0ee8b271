"""The tables of the store."""

import sqlalchemy as sa

__all__ = [
    "SCHEMA_VERSION",
    "blob",
    "document",
    "event",
    "generation",
    "live",
    "metadata",
    "published_document",
    "published_entry",
    "published_group",
    "setting",
]

SCHEMA_VERSION = "1"

metadata = sa.MetaData()
setting = sa.Table(
    "setting",
    metadata,
    sa.Column("name", sa.String, primary_key=True),
    sa.Column("value", sa.String, nullable=False),
)
blob = sa.Table(
    "blob",
    metadata,
    sa.Column("sha256", sa.String(64), primary_key=True),
    sa.Column("content", sa.LargeBinary, nullable=False),
)
document = sa.Table(
    "document",
    metadata,
    sa.Column("tenant", sa.String, primary_key=True),
    sa.Column("document", sa.String, primary_key=True),
    sa.Column("folded", sa.String, nullable=False),
    sa.Column("connector", sa.String, nullable=False),
    sa.Column("deleted", sa.Boolean, nullable=False),
    sa.Column("sequence", sa.BigInteger, nullable=False),
    sa.Column("tombstone_sequence", sa.BigInteger),
    sa.Column("origin", sa.String),
    sa.Column("private_locator", sa.String),
    sa.Column("revision", sa.JSON),
    sa.UniqueConstraint("tenant", "folded"),
)
event = sa.Table(
    "event",
    metadata,
    sa.Column("event_id", sa.String, primary_key=True),
    sa.Column("fingerprint", sa.String(64), nullable=False),
)
generation = sa.Table(
    "generation",
    metadata,
    sa.Column("sequence", sa.BigInteger, primary_key=True),
    sa.Column("statement_sha256", sa.String(64), nullable=False, unique=True),
    sa.Column("state", sa.String, nullable=False),
    sa.Column("statement", sa.JSON, nullable=False),
)
live = sa.Table(
    "live",
    metadata,
    sa.Column("sequence", sa.BigInteger, primary_key=True),
    sa.Column("statement", sa.JSON, nullable=False),
)
published_document = sa.Table(
    "published_document",
    metadata,
    sa.Column("tenant", sa.String, primary_key=True),
    sa.Column("document", sa.String, primary_key=True),
    sa.Column("document_key", sa.String(64), nullable=False, unique=True),
    sa.Column("record_sha256", sa.String(64), nullable=False),
    sa.Column("revision", sa.JSON, nullable=False),
)
published_group = sa.Table(
    "published_group",
    metadata,
    sa.Column("tenant", sa.String, primary_key=True),
    sa.Column("group", sa.String, primary_key=True),
    sa.Column("document", sa.String, primary_key=True),
    sa.ForeignKeyConstraint(
        ["tenant", "document"],
        ["published_document.tenant", "published_document.document"],
        ondelete="CASCADE",
    ),
)
published_entry = sa.Table(
    "published_entry",
    metadata,
    sa.Column("tenant", sa.String, primary_key=True),
    sa.Column("document", sa.String, primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True),
    sa.Column("entry", sa.String, nullable=False, unique=True),
    sa.Column("retrieval_text", sa.Text, nullable=False),
    sa.ForeignKeyConstraint(
        ["tenant", "document"],
        ["published_document.tenant", "published_document.document"],
        ondelete="CASCADE",
    ),
)
