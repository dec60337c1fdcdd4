"""Secrets, found and masked: by the names they stand under, by their looks, and by value where they are known.

Pure: knows no environment and no event. What has no secret in it comes back as it was, to the byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import quote

MASK = "***"

_NAMES = (
    r"passw|passphrase|pwd|secret(?!ar)|token(?!i[sz])|credential|authorization"
    r"|(?:api|access|private|account|shared|encryption)[_.\- ]?key|connection[_.\- ]?string"
    r"|(?<![a-z])(?:pass|pw|sas|sig)(?![a-z])"
)
"""What a name has in it that stands for a secret."""
_SECRET_NAME = re.compile(_NAMES)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_ABOUT_A_SECRET = frozenset(
    (
        *("arn", "class", "count", "dir", "enabled", "endpoint", "expires", "expiry", "file", "length", "path"),
        *("denied", "error", "exception", "failed", "invalid", "missing", "required"),
        *("provider", "py", "ttl", "type", "version", "yaml", "yml"),
    )
)
"""A name that ends so tells of a secret, and does not hold one."""
_KEYED_BY_COLUMN = frozenset({"fields", "columnMetrics", "columns"})
"""Mappings whose keys are a table's columns: one called `token` holds no token."""
_IDENTITIES = frozenset({"name", "namespace", "runId", "field", "eventTime", "_producer", "_schemaURL"})
"""What others find an event by; only a password inside an address is taken out."""

_HINTS = (
    *("pass", "pwd", "secret", "token", "credential", "connection", "authoriz", "bearer", "pw", "sas", "sig", "@"),
    *("akia", "asia", "eyj", "private", "glpat", "xox", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
)
"""Text in lower case without any of these, nor a key of these kinds, has no secret; looking so is fast."""
_KINDS_OF_KEY = ("api", "access", "account", "shared", "encryption")

_QUOTE = r"(?P<quote>\\*(?:\"\"\"|'''|[\"']))"
_QUOTED = rf"[rbfu]{{0,2}}{_QUOTE}(?P<quoted>(?:(?!(?P=quote))(?:\\.|.))*)(?:(?P=quote)|$)"
_BARE = r"(?P<bare>(?:(?:bearer|basic|digest|token)[ \t]+)?[^\s;&\"'<>\\]+?(?=[,)\]}.:]{0,9}(?:[\s;&\"'<>\\]|$)))"
_BETWEEN = (
    r"\\*[\"']?[\])]?[ \t]*"
    r"(?::[ \t]*(?:str|bytes|String|SecretStr|Optional\[str\]|str \| None)[ \t]*=|={1,3}|:=|!=|=>|->|:"
    r"|>|</name>\s*<value>)[ \t]*"
)
_ASSIGNED = re.compile(
    rf"(?P<name>(?:{_NAMES})[\w.\-]{{0,99}})(?P<between>{_BETWEEN})(?:{_QUOTED}|{_BARE})", re.IGNORECASE | re.MULTILINE
)
_FLAG = re.compile(
    rf"(?P<name>(?<![\w.\-])(?:--?|spark\.)[\w.\-]{{0,99}}(?:{_NAMES})[\w.\-]{{0,99}})"
    rf"(?P<between>[ \t]+)(?!-)(?:{_QUOTED}|{_BARE})",
    re.IGNORECASE,
)
_ARGUMENT = re.compile(
    r"(?P<name>(?:\b(?:options?|config|property|put|set\w*|with\w*)|(?<![\w)\]]))\([ \t]*[\"']"
    rf"[\w.\-]{{0,99}}(?:{_NAMES})[\w.\-]{{0,99}})(?P<between>[\"'][ \t]*,[ \t]*){_QUOTED}",
    re.IGNORECASE,
)
_CODE = re.compile(r"(?:str|bytes|bool|int|None|null|true|false|String|SecretStr)\b|\$\{|[A-Za-z_.]+[(\[]")
"""A value that is the code, or the variable, which fetches one."""
_USER_INFO = re.compile(r"(?<=://)[^\s/\"'<>\\]+@")
_BY_LOOKS = (
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
    re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    re.compile(r"(?<![\w-])eyJ[\w-]{6,}\.[\w-]{6,}(?:\.[\w-]*)?"),
    re.compile(r"\b(?:gh[pousr]_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,})"),
    re.compile(r"(?<=bearer )[ \t]*(?:[\w.~+/=-]{16,}|(?=[\w.~+/=-]*\d)[\w.~+/=-]{6,})", re.IGNORECASE),
    re.compile(r"(?<=[?&]sig=)[^\s&\"'<>]+|(?<=-signature=)[^\s&\"'<>]+", re.IGNORECASE),
    re.compile(r"(?<=jdbc:oracle:thin:)[^\s@\"'/]+/[^\s@\"']+(?=@)", re.IGNORECASE),
)
_SHORTEST = 6
_SHORTEST_OF_ONE_KIND = 8
_NO_SECRETS = frozenset(
    ["postgres", "password", "changeit", "changeme", "marquez", "dagster", "openlineage", "localhost"]
)
"""What stands in for a password on many a laptop, and is part of honest names everywhere."""


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """Whether a value under this name is a secret: `apiKey`, `fs.s3a.secret.key`, `DB_PASSWORD`."""
    words = [word.lower() for word in _WORD.findall(name)]
    if not words or words[-1] in _ABOUT_A_SECRET or words[0] in ("max", "num"):
        return False
    return _SECRET_NAME.search("_".join(words)) is not None


def without_user(address: str) -> str:
    """The address without what stands before its host: a user, a password, a token."""
    return _USER_INFO.sub("", address)


def redact_text(text: str) -> str:
    """The text with each secret in it masked; found by name and by looks."""
    return Secrets().text(text)


@dataclass(frozen=True, slots=True)
class Secrets:
    """Secrets that are known by value, and the finding of those that are not."""

    values: tuple[str, ...] = field(default=(), repr=False)
    _known: re.Pattern[str] | None = field(init=False, repr=False, compare=False)
    _escaped: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """As JSON spells them."""

    def __post_init__(self) -> None:
        pattern = "|".join(re.escape(form) for form in self.spelled)
        known = re.compile(rf"(?<![A-Za-z0-9])(?:{pattern})(?![A-Za-z0-9])") if pattern else None
        object.__setattr__(self, "_known", known)
        object.__setattr__(self, "_escaped", tuple(json.dumps(form)[1:-1] for form in self.spelled))

    @property
    def spelled(self) -> tuple[str, ...]:
        """Each value as it is and as an address has it, the longest first: one may be a part of another."""
        forms = {form for value in self.values for form in (value, quote(value, safe=""))}
        return tuple(sorted(forms, key=lambda form: (-len(form), form)))

    @classmethod
    def of(cls, values: Iterable[str]) -> Secrets:
        """Those of the values that can be told from honest words; masking `true` or `orders` would help nobody."""
        return cls(tuple(sorted({value for value in values if _is_telling(value)})))

    def __or__(self, other: Secrets) -> Secrets:
        return Secrets(tuple(sorted({*self.values, *other.values})))

    def text(self, text: str) -> str:
        """Free text, an error's or a program's, with its secrets masked."""
        masked = text if self._known is None else self._known.sub(MASK, text)
        if not _may_hold_secret(masked):
            return masked
        masked = _USER_INFO.sub(_without_user, masked)
        for pattern in _BY_LOOKS:
            masked = pattern.sub(MASK, masked)
        for named in (_ARGUMENT, _FLAG, _ASSIGNED):
            masked = named.sub(_without_value, masked)
        return masked

    def tree(self, value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
        """JSON that was read, with its secrets masked; names, shape and everything else stay."""
        return self._masked(value, "")

    def body(self, body: str) -> str:
        """JSON as text; the same text when there is nothing to mask."""
        if not _may_hold_secret(body) and not any(form in body for form in self._escaped):
            return body
        read = json.loads(body)
        masked = self.tree(read)
        return body if masked == read else json.dumps(masked)

    def _masked(self, value: Any, under: str) -> Any:  # noqa: ANN401 - whatever JSON holds
        if isinstance(value, str):
            return _USER_INFO.sub(_without_user, value) if under in _IDENTITIES else self.text(value)
        if isinstance(value, Mapping):
            return self._masked_mapping(value, under)
        if isinstance(value, (list, tuple)):
            if _is_pair(value):
                return [value[0], _masked_whole(value[1])]
            return [self._masked(item, under) for item in value]
        return value

    def _masked_mapping(self, value: Mapping[str, Any], under: str) -> dict[str, Any]:
        by_column = under in _KEYED_BY_COLUMN
        called = value.get("name", value.get("key"))
        is_called_secret = isinstance(called, str) and "value" in value and is_secret_name(called)
        return {
            (key if by_column else self.text(key)): (
                _masked_whole(item)
                if _holds_secret(key, item, by_column=by_column) or (is_called_secret and key == "value")
                else self._masked(item, key)
            )
            for key, item in value.items()
        }


def _may_hold_secret(text: str) -> bool:
    lowered = text.lower()
    for hint in _HINTS:  # a plain loop: this runs for every event
        if hint in lowered:
            return True
    return "key" in lowered and any(kind in lowered for kind in _KINDS_OF_KEY)


def _is_telling(value: str) -> bool:
    if len(value) < _SHORTEST or value.lower() in _NO_SECRETS or value.isdigit():
        return False
    return len(value) >= _SHORTEST_OF_ONE_KIND or not value.isalpha()


def _is_pair(value: list[Any] | tuple[Any, ...]) -> bool:
    """An entry of a Spark conf: ``["spark.hadoop.fs.s3a.secret.key", "..."]``."""
    match value:
        case [str() as name, str()]:
            return "." in name and " " not in name and is_secret_name(name)
        case _:
            return False


def _holds_secret(key: str, item: object, *, by_column: bool) -> bool:
    return is_secret_name(key) and not (by_column and isinstance(item, (Mapping, list)))


def _masked_whole(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    if isinstance(value, Mapping):
        return {key: _masked_whole(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_masked_whole(item) for item in value]
    return value if value is None or isinstance(value, bool) or value == "" else MASK


def _without_user(found: re.Match[str]) -> str:
    # `abfss://container@account` and `ssh://git@host` are addresses, with nothing to hide.
    is_web = found.string[: found.start()].endswith(("http://", "https://"))
    return f"{MASK}@" if is_web or ":" in found[0] else found[0]


def _without_value(found: re.Match[str]) -> str:
    parts = found.groupdict()
    bare = parts.get("bare")
    if not is_secret_name(parts["name"]) or (bare is not None and _CODE.match(bare)):
        return found[0]
    if bare is not None:
        return f"{parts['name']}{parts['between']}{MASK}"
    return found[0] if not parts["quoted"] else _with_quoted_masked(found)


def _with_quoted_masked(found: re.Match[str]) -> str:
    first, last = found.span("quoted")
    begin = found.start()
    return found[0][: first - begin] + MASK + found[0][last - begin :]
