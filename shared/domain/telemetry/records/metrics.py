"""What decoders give: records as the node's agent wrote them, and what makes no sense, with where and why.

Reasons are sentences of ours and never quote what was read, which may hold secrets.
"""

from dataclasses import dataclass

import msgspec

type Value = bool | int | float | str


class Metric(msgspec.Struct, rename={"time": "timestamp"}, gc=False):
    """One record. `time` is in nanoseconds since 1970, None where none was written.

    A struct, so that JSON is read straight into it. It is never changed once a decoder has given it away, nor are tags
    and fields, which records share.
    """

    name: str
    tags: dict[str, str]
    fields: dict[str, Value]
    time: int | None = None


@dataclass(frozen=True, slots=True)
class Rejected:
    """Bytes `start` to `end` of a blob that are no telemetry.

    `position` counts from `start` where the bytes stand in the blob as they are, and within the decompressed text where
    `compressed`; `end` equals `start` only where nothing can be read from there on.
    """

    start: int
    end: int
    position: int
    reason: str
    compressed: bool = False


class TextError(ValueError):
    """A line that can't be read: `position` within the text, and why. `open` where a closing quote is missing."""

    def __init__(self, reason: str, position: int, *, is_open: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.position, self.is_open = reason, position, is_open
