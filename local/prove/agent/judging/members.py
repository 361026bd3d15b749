"""Reads blobs of agents: gzip members with names, and the lines in them. It shares no code with the agent."""

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

_MAGIC = b"\x1f\x8b\x08\x08"  # gzip, deflate, with a name
_HEADER = 10
_PATH = re.compile(r"nodes/(?P<node>[^/]+)/agent/(?P<session>[^/]+)\.(?P<number>\d+)\.gz$")
_UNIT = re.compile(r"(?P<session>.+)\.(?P<number>\d+)")
_INTEGER = re.compile(r"[ ,](?P<name>\w+)=(?P<value>\d+)i")
OPENING = "opening"
"""The end of the name of the member that begins a blob."""


class DamageError(Exception):
    """Bytes that aren't whole gzip members with names."""


@dataclass(frozen=True, slots=True)
class Member:
    """A gzip member: its name, its bytes, its lines without their ends."""

    name: str
    content: bytes
    lines: tuple[str, ...]

    @property
    def session(self) -> str:
        return self.name.rpartition(".")[0]

    @property
    def number(self) -> int | None:
        """The number of the unit, None for an opening."""
        found = _UNIT.fullmatch(self.name)
        return int(found["number"]) if found else None


@dataclass(frozen=True, slots=True)
class BlobName:
    """Whose blob it is, and its number in the session's series."""

    node: str
    session: str
    number: int


def blob_name(path: str) -> BlobName | None:
    """Returns the parts of a blob's path, None for one that no agent writes."""
    found = _PATH.search(path)
    return BlobName(found["node"], found["session"], int(found["number"])) if found else None


def members_of(stored: bytes) -> Iterator[Member]:
    """Yields the members of a blob or unit. Raises DamageError."""
    while stored:
        end = stored.find(b"\0", _HEADER)
        decoder = zlib.decompressobj(zlib.MAX_WBITS | 16)
        try:
            text = decoder.decompress(stored)
        except zlib.error as error:
            raise DamageError(f"no gzip member: {error}") from None
        if not stored.startswith(_MAGIC) or not decoder.eof:
            raise DamageError("a member is cut off" if stored.startswith(_MAGIC) else "a member without a name")
        if text and not text.endswith(b"\n"):
            raise DamageError("a line is cut off")
        size = len(stored) - len(decoder.unused_data)
        yield Member(stored[_HEADER:end].decode(), stored[:size], tuple(text.decode().splitlines()))
        stored = decoder.unused_data


def measurement_of(line: str) -> str:
    return line.partition(" ")[0].partition(",")[0]


def time_of(line: str) -> int:
    """Returns a line's time in nanoseconds since 1970. Raises ValueError."""
    return int(line.rpartition(" ")[2])


def integers_of(line: str) -> dict[str, int]:
    """Returns the whole numbers among a line's fields, as far as no text holds their like."""
    return {found["name"]: int(found["value"]) for found in _INTEGER.finditer(line)}
