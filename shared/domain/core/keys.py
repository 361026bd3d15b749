r"""Table keys for the ids of Azure Batch.

Batch ids are case-insensitive and case-preserving, a schedule's jobs are named `schedule:job-1`, and table keys may not
hold `/ \ # ?`. A key is the id in lower case with everything but `a-z 0-9 _ -` escaped. So equal ids have equal keys,
and keys sort as ids do. The id itself is stored beside the key for display.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

_UNSAFE = re.compile(r"[^a-z0-9_\-]")
_ESCAPED = re.compile("(?:=[0-9a-f]{2})+")
_PLAIN_LINES = b"abcdefghijklmnopqrstuvwxyz0123456789_-\n"
SEPARATOR = "~"
_DIGEST = 16  # bytes
_BEFORE_ALL, _AFTER_ALL = "\0", "~"  # sort before and after every character of a key


@dataclass(frozen=True, slots=True)
class KeyRange:
    """Keys from `low` (inclusive) to `high` (exclusive); None: no upper bound."""

    low: str = ""
    high: str | None = None

    @property
    def is_empty(self) -> bool:
        return self.high is not None and self.high <= self.low

    def common(self, other: "KeyRange") -> "KeyRange":
        """Returns the intersection of both ranges."""
        highs = [high for high in (self.high, other.high) if high is not None]
        return KeyRange(max(self.low, other.low), min(highs, default=None))

    def places(self, keys: Sequence[str]) -> range:
        """Returns the indexes of the range's keys within a sorted sequence of keys."""
        first = bisect_left(keys, self.low)
        return range(first, len(keys) if self.high is None else bisect_left(keys, self.high, first))


def keys_after(key: str) -> KeyRange:
    return KeyRange(low=key + _BEFORE_ALL)


def keys_before(key: str) -> KeyRange:
    return KeyRange(high=key)


def keys_of_prefix(prefix: str) -> KeyRange:
    """Returns the range of keys of all ids that begin with `prefix`, in any case."""
    start = key_of(prefix)
    return KeyRange(start, start + _AFTER_ALL) if start else KeyRange()


@lru_cache(maxsize=4096)  # a poll needs the keys of its jobs many times
def key_of(name: str) -> str:
    """Returns the table key of a job, task, pool or node id."""
    return _UNSAFE.sub(_escape, name.lower())


def id_of(key: str) -> str:
    """Returns the id of a key, in lower case."""
    return _ESCAPED.sub(_unescape, key)


def keys_of(names: list[str]) -> list[str]:
    """Returns `key_of` for many ids, in a few passes over one string where none of them needs escaping."""
    lines = "\n".join(names)
    keys = lines.lower()
    is_plain = keys.isascii() and not keys.encode().translate(None, _PLAIN_LINES)
    if not is_plain or lines.count("\n") >= len(names):
        return [key_of(name) for name in names]
    return names.copy() if keys == lines else keys.split("\n")


def are_keys(lines: bytes) -> bool:
    """Returns True where ids, one a line, certainly are their own keys; it may return False for some that are."""
    return not lines.translate(None, _PLAIN_LINES)


def name_key(name: str) -> str:
    """Returns a table key for a name that may be too long for a key or contain invalid characters, like a blob's."""
    return blake2b(name.encode(errors="surrogatepass"), digest_size=_DIGEST).hexdigest()


def partition_of(*parts: str) -> str:
    """Joins keys to a partition key; no key contains the separator."""
    return SEPARATOR.join(parts)


def _escape(match: re.Match[str]) -> str:
    return "".join(f"={byte:02x}" for byte in match[0].encode(errors="surrogatepass"))


def _unescape(match: re.Match[str]) -> str:
    return bytes.fromhex(match[0].replace("=", "")).decode(errors="surrogatepass")
