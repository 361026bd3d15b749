"""The decoders' output: records as a node's agent wrote them, and rejected bytes with position and reason.

Reasons are our own sentences; they never quote the input, which may contain secrets.
"""

from dataclasses import dataclass, replace

import msgspec

type Value = bool | int | float | str


class Metric(msgspec.Struct, rename={"time": "timestamp"}, gc=False):
    """One record; `time` is in nanoseconds since 1970, or None where the record has none.

    It is a struct so that JSON is decoded straight into it. Decoded records never change; nor do their tags and fields,
    which records share.
    """

    name: str
    tags: dict[str, str]
    fields: dict[str, Value]
    time: int | None = None


@dataclass(frozen=True, slots=True)
class InvalidPart:
    """Bytes `start` to `end` of a blob that are no telemetry.

    `position` counts from `start`, or within the decompressed text where `compressed`. `end` equals `start` only where
    nothing from there on can be read.
    """

    start: int
    end: int
    position: int
    reason: str
    compressed: bool = False

    def shifted(self, offset: int) -> "InvalidPart":
        """Returns the part of a text that begins at an offset of the blob."""
        return replace(self, start=offset + self.start, end=offset + self.end)


class TextError(ValueError):
    """A line that can't be read: `position` within the text, and the reason; `is_open` for a missing closing quote."""

    def __init__(self, reason: str, position: int, *, is_open: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.position, self.is_open = reason, position, is_open
