"""A workspace folder: configuration, policy, keys, store, what is published (README.md)."""

import json
import os
import secrets
import shutil
import tempfile
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kansho_sign.canonical_json import JsonObject, dumps, loads
from kansho_sign.cose import sign_statement
from kansho_sign.errors import FaultError, InputError, UsageError
from kansho_sign.keys import ROLES, SigningKey, load_key, new_key, save_key
from kansho_sign.limits import LIMITS
from kansho_sign.output import read_bounded, write_new, write_whole
from kansho_sign.schema import validate
from kansho_sign.sources.files import CONFIGURATION, WORKSPACE_NAMES
from kansho_sign.sources.names import check_label
from kansho_sign.store import SCHEMA_VERSION, Store

__all__ = [
    "NEWCOMER_POLICY",
    "TRUST_ROOT_DAYS",
    "Configuration",
    "Secrets",
    "Workspace",
    "create",
    "find",
    "load_policy",
    "trust_root_payload",
]

DAY = 86_400
LONGEST_DAYS = 36_500
TRUST_ROOT_DAYS = 365
NEWCOMER_POLICY: JsonObject = {
    "schema": "kansho.policy.v1",
    "allowed_roles": ["document"],
    "coverage": None,
    "selected_ids": None,
    "source_order": None,
    "include_unverified_annotations": False,
    "excerpt_boundary": "safe",
}
TEMPLATE = """\
# A Kansho workspace. `kansho-sign` finds it from any folder below.
[workspace]
issuer = "{issuer}"
corpus = "{corpus}"

# How long what is signed here stays good, in days.
[validity]
generation_days = {generation_days}
live_days = {live_days}
"""


@dataclass(frozen=True, slots=True)
class Configuration:
    """``kansho.toml``. ``corpus`` is 128 bits in hex."""

    issuer: str
    corpus: str
    generation_days: int = 90
    live_days: int = 7


def _parse_configuration(text: str, where: str) -> Configuration:
    try:
        value = tomllib.loads(text)
        section, validity = value["workspace"], value["validity"]
        made = Configuration(section["issuer"], section["corpus"], validity["generation_days"], validity["live_days"])
    except (tomllib.TOMLDecodeError, KeyError, TypeError, RecursionError) as error:
        raise InputError("workspace.configuration", f"not as init made it: {error}", where) from None
    unknown = (set(value) - {"workspace", "validity"}) | (set(section) - {"issuer", "corpus"})
    unknown |= set(validity) - {"generation_days", "live_days"}
    if unknown:
        raise InputError("workspace.configuration", f"unknown settings: {', '.join(sorted(unknown))}", where)
    try:
        validate(made.issuer, "common", "#/$defs/label")
        validate(made.corpus, "common", "#/$defs/random128")
    except InputError as error:
        raise InputError("workspace.configuration", f"issuer or corpus: {error.why}", where) from None
    for days in (made.generation_days, made.live_days):
        if type(days) is not int or not 1 <= days <= LONGEST_DAYS:
            raise InputError("workspace.configuration", f"validity is 1 to {LONGEST_DAYS} whole days", where)
    return made


@dataclass(slots=True)
class Workspace:
    """An opened workspace; keys are loaded when they are first used."""

    folder: Path
    configuration: Configuration
    store: Store
    passphrase: Callable[[], bytes | None]
    _keys: dict[str, SigningKey] = field(default_factory=dict)

    def key(self, role: str) -> SigningKey:
        """The private key of a role. Raises as ``keys.load_key``."""
        if role not in self._keys:
            path = self.folder / "keys" / f"{role}.pem"
            try:
                self._keys[role] = load_key(path, None)
            except UsageError as error:
                if error.code != "keys.passphrase_missing":
                    raise
                passphrase = self.passphrase()
                if passphrase is None:
                    raise
                self._keys[role] = load_key(path, passphrase)
        return self._keys[role]

    @property
    def published(self) -> Path:
        """The folder that consumers read: ``generation.json``, ``live.json``."""
        return self.folder / "published"

    def policy(self) -> JsonObject:
        """The workspace's ``policy.json``."""
        return load_policy(self.folder / "policy.json")

    def write_audit(self, trace_id: str, audit: JsonObject) -> Path:
        """Keeps an audit section, mode 0600, synced, before anything public exists."""
        folder = self.folder / "audit"
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise FaultError("audit.unwritable", f"no audit, no answer ({error.strerror})", str(folder)) from None
        path = folder / f"{trace_id}.json"
        write_whole(path, dumps(audit), mode=0o600)
        return path

    def close(self) -> None:
        """Gives back the store."""
        self.store.close()


def load_policy(path: Path) -> JsonObject:
    """A policy file: strict JSON, valid under its schema."""
    try:
        policy: JsonObject = loads(read_bounded(path, LIMITS.policy_bytes), LIMITS.policy_bytes, canonical=False)
        validate(policy, "policy")
    except InputError as error:
        raise (error if str(path) in error.where else error.at(str(path))) from None
    return policy


def trust_root_payload(issuer: str, corpus: str, keys: Mapping[str, SigningKey], times: range) -> JsonObject:
    """The first trust root of a corpus, one key a role; made at ``times.start``, it expires at ``times.stop``.

    Keys are good from the beginning of time: a time of issue is only a claim, and clocks of hosts differ.
    """
    types = {
        "root": ["trust-root"],
        "generation": ["absence", "generation"],
        "citation": ["public"],
        "audit": ["audit", "evaluation"],
        "live": ["live"],
    }
    return {
        "schema": "kansho.trust-root.v1",
        "issuer": issuer,
        "corpus": corpus,
        "issued_at": times.start,
        "expires_at": times.stop,
        "version": 1,
        "previous_sha256": None,
        "roles": {
            role: {
                "threshold": 1,
                "media_types": [f"application/vnd.kansho.{name}.v1+json" for name in names],
                "keys": [keys[role].entry(not_before=0)],
            }
            for role, names in types.items()
        },
    }


@dataclass(frozen=True, slots=True)
class Secrets:
    """What is random in a new workspace: a key for each role; corpus id (128 bits) and map salt (256 bits) in hex."""

    keys: Mapping[str, SigningKey] = field(repr=False)
    corpus: str
    map_salt: str = field(repr=False)

    @classmethod
    def fresh(cls) -> "Secrets":
        """From the operating system's random source."""
        return cls({role: new_key() for role in ROLES}, secrets.token_hex(16), secrets.token_hex(32))


def _fill(folder: Path, configuration: Configuration, made: Secrets, passphrase: bytes | None, times: range) -> None:
    (folder / "keys").mkdir(mode=0o700)
    for role, key in made.keys.items():
        save_key(folder / "keys" / f"{role}.pem", key, passphrase)
    text = TEMPLATE.format(
        issuer=configuration.issuer,
        corpus=configuration.corpus,
        generation_days=configuration.generation_days,
        live_days=configuration.live_days,
    )
    write_new(folder / CONFIGURATION, text.encode("utf-8"))
    write_new(folder / "policy.json", _readable(NEWCOMER_POLICY))
    root = trust_root_payload(configuration.issuer, configuration.corpus, made.keys, times)
    signed = sign_statement(root, [made.keys["root"]])
    validate(signed, "trust-root")
    write_new(folder / "trust-root.json", dumps(signed))
    store = Store(folder / "store.sqlite3")
    store.create(
        {
            "corpus": configuration.corpus,
            "map_salt": made.map_salt,
            "authorization_revision": "1",
            "minimum_trust_root_version": "1",
        }
    )
    store.close()
    (folder / "store.sqlite3").chmod(0o600)
    (folder / "published").mkdir()


def _readable(value: JsonObject) -> bytes:
    return (json.dumps(value, indent=2) + "\n").encode("ascii")


def create(
    folder: Path,
    *,
    issuer: str | None,
    passphrase: bytes | None,
    now: int,
    trust_root_days: int = TRUST_ROOT_DAYS,
    made: Secrets | None = None,
) -> Workspace:
    """Makes a workspace, whole or not at all; refuses (``workspace.exists``) where any of its names is taken.

    ``passphrase`` None leaves the private keys unencrypted: the caller has been asked for that by name. ``made`` fixes
    what is otherwise random.
    """
    made = made or Secrets.fresh()
    configuration = Configuration(check_label(issuer or f"kansho-{made.corpus[:8]}", "issuer"), made.corpus)
    if '"' in configuration.issuer or "\\" in configuration.issuer:
        raise InputError("name.label", "the issuer holds a quotation mark or backslash", ascii(issuer))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        taken = [name for name in sorted(WORKSPACE_NAMES) if os.path.lexists(folder / name)]
        if taken:
            hint = "choose another folder; nothing was changed"
            raise UsageError("workspace.exists", f"holds {', '.join(taken)} already", str(folder), hint)
        temporary = Path(tempfile.mkdtemp(prefix=".kansho-init-", dir=folder))
        try:
            times = range(now, now + trust_root_days * DAY)
            _fill(temporary, configuration, made, passphrase, times)
            # The configuration moves last: without it the folder is no workspace.
            for path in sorted(temporary.iterdir(), key=lambda path: path.name == CONFIGURATION):
                path.rename(folder / path.name)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    except OSError as error:
        raise FaultError("output.failed", f"cannot be written ({error.strerror})", str(folder)) from None
    return Workspace(folder, configuration, Store(folder / "store.sqlite3"), lambda: passphrase)


def _check_store(store: Store, folder: Path, configuration: Configuration) -> None:
    with store.read() as connection:
        corpus, version = store.setting(connection, "corpus"), store.setting(connection, "schema_version")
    if corpus != configuration.corpus:
        why = "the store is of another corpus than the configuration"
        raise FaultError("workspace.damaged", why, str(folder / CONFIGURATION))
    if version != SCHEMA_VERSION:
        why, hint = "the store was made by another version of kansho-sign", "use the version that made it"
        raise FaultError("workspace.version", why, str(folder), hint)


def _open_store(folder: Path, configuration: Configuration) -> Store:
    path = folder / "store.sqlite3"
    if not path.is_file():
        raise FaultError("workspace.damaged", "the store is missing", str(path))
    store = Store(path)
    try:
        _check_store(store, folder, configuration)
    except BaseException:
        store.close()
        raise
    return store


def find(start: Path, passphrase: Callable[[], bytes | None]) -> Workspace:
    """Opens the nearest workspace upwards from ``start``. Raises UsageError ``workspace.missing``."""
    for folder in (start.resolve(), *start.resolve().parents):
        path = folder / CONFIGURATION
        if path.is_file():
            text = read_bounded(path, LIMITS.statement_bytes).decode("utf-8", errors="replace")
            configuration = _parse_configuration(text, str(path))
            return Workspace(folder, configuration, _open_store(folder, configuration), passphrase)
    raise UsageError(
        "workspace.missing",
        "no kansho.toml here or above",
        str(start),
        "kansho-sign init makes a workspace; kansho-sign --workspace DIR names one",
    )
