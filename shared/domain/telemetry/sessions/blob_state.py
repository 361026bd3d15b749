"""State of a blob's ingestion between steps, stored together with the offset where a step ends."""

import zlib
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from shared.domain.packing.compression import deflated, inflated
from shared.domain.telemetry.rollups.folding import MAX_BLOB_SERIES, CounterCache
from shared.domain.telemetry.sessions.sessions import Sessions


@dataclass(slots=True)
class State:
    """An intake's state for a blob; `memories` are by the number of a running session.

    `in_line` means that the next bytes continue an overlong line, whose end hasn't been read.
    """

    sessions: Sessions = field(default_factory=Sessions)
    memories: dict[int, CounterCache] = field(default_factory=dict)
    format: Literal[1] = 1
    in_line: bool = False

    @property
    def room_for_series(self) -> int:
        """Returns how many series may be new."""
        return MAX_BLOB_SERIES - sum(memory.count for memory in self.memories.values())

    def pack(self) -> bytes:
        """Returns the packed state: some 30 bytes per series."""
        return deflated(msgspec.json.encode(self))

    @classmethod
    def unpack(cls, packed: bytes) -> "State":
        """Raises ValueError for another format."""
        try:
            return msgspec.json.decode(inflated(packed), type=cls)
        except (zlib.error, ValueError) as error:  # msgspec's errors are ValueErrors, too
            raise ValueError(f"this is no state of a blob of this version: {error}") from error
