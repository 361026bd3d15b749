r"""Table keys for the ids of Azure Batch.

Batch ids are case-insensitive and case-preserving, a schedule's jobs are named `schedule:job-1`, and table keys may
not hold `/ \ # ?`. A key is the id in lower case with everything but `a-z 0-9 _ -` escaped, so equal ids have equal
keys and the order of keys is the order of ids. The id itself is stored beside the key for display.
"""

import re

_UNSAFE = re.compile(r"[^a-z0-9_\-]")
_UNSAFE_IN_LINES = re.compile(r"[^a-z0-9_\-\n]")
SEPARATOR = "~"


def key_of(name: str) -> str:
    """The table key of a job, task, pool or node id."""
    return _UNSAFE.sub(_escape, name.lower())


def keys_of(names: list[str]) -> list[str]:
    """`key_of` for many ids at once: one pass over one string where all of them are plain."""
    lines = "\n".join(names).lower()
    if _UNSAFE_IN_LINES.search(lines):
        return [key_of(name) for name in names]
    return lines.split("\n") if names else []


def partition_of(*parts: str) -> str:
    """A partition key of several keys; the separator stands in none of them."""
    return SEPARATOR.join(parts)


def _escape(match: re.Match[str]) -> str:
    return "".join(f"={byte:02x}" for byte in match[0].encode(errors="surrogatepass"))
