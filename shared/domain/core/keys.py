r"""Table keys for the ids of Azure Batch.

Batch ids are case-insensitive and case-preserving, a schedule's jobs are named `schedule:job-1`, and table keys may
not hold `/ \ # ?`. A key is the id in lower case with everything but `a-z 0-9 _ -` escaped, so equal ids have equal
keys and the order of keys is the order of ids. The id itself is stored beside the key for display.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

_UNSAFE = re.compile(r"[^a-z0-9_\-]")
_PLAIN_LINES = b"abcdefghijklmnopqrstuvwxyz0123456789_-\n"
SEPARATOR = "~"
_BEFORE_ALL, _AFTER_ALL = "\0", "~"  # characters before and after all that stand in keys


@dataclass(frozen=True, slots=True)
class KeyRange:
    """Keys from `low` to before `high`; None: to the end."""

    low: str = ""
    high: str | None = None

    @property
    def is_empty(self) -> bool:
        return self.high is not None and self.high <= self.low

    def common(self, other: "KeyRange") -> "KeyRange":
        """The keys that are in both."""
        highs = [high for high in (self.high, other.high) if high is not None]
        return KeyRange(max(self.low, other.low), min(highs, default=None))

    def places(self, keys: Sequence[str]) -> range:
        """Where its keys stand among keys that are sorted."""
        first = bisect_left(keys, self.low)
        return range(first, len(keys) if self.high is None else bisect_left(keys, self.high, first))


def keys_after(key: str) -> KeyRange:
    return KeyRange(low=key + _BEFORE_ALL)


def keys_before(key: str) -> KeyRange:
    return KeyRange(high=key)


def keys_of_prefix(prefix: str) -> KeyRange:
    """The keys of all ids that begin with a text, whatever its case."""
    start = key_of(prefix)
    return KeyRange(start, start + _AFTER_ALL) if start else KeyRange()


def key_of(name: str) -> str:
    """The table key of a job, task, pool or node id."""
    return _UNSAFE.sub(_escape, name.lower())


def keys_of(names: list[str]) -> list[str]:
    """`key_of` for many ids at once: a few passes over one string where all of them are plain."""
    lines = "\n".join(names)
    keys = lines.lower()
    is_plain = keys.isascii() and not keys.encode().translate(None, _PLAIN_LINES)
    if not is_plain or lines.count("\n") >= len(names):
        return [key_of(name) for name in names]
    return names.copy() if keys == lines else keys.split("\n")


def are_keys(lines: bytes) -> bool:
    """Whether ids, each in a line of its own, are their own keys; False too where that would take a longer look."""
    return not lines.translate(None, _PLAIN_LINES)


def partition_of(*parts: str) -> str:
    """A partition key of several keys; the separator stands in none of them."""
    return SEPARATOR.join(parts)


def _escape(match: re.Match[str]) -> str:
    return "".join(f"={byte:02x}" for byte in match[0].encode(errors="surrogatepass"))
