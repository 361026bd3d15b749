"""What must be remembered of a blob from one step to the next, kept together with the offset where a step ends."""

import zlib
from dataclasses import dataclass, field

import msgspec

from shared.domain.packing.columns import deflated, inflated
from shared.domain.telemetry.rollups.folding import Memory
from shared.domain.telemetry.sessions.sessions import Sessions

_FORMAT = 1


@dataclass(slots=True)
class State:
    """What an intake remembers of a blob; `memories` are by the number of a session under way.

    `in_line` where reading goes on within a line that is too long, whose end is yet to come.
    """

    sessions: Sessions = field(default_factory=Sessions)
    memories: dict[int, Memory] = field(default_factory=dict)
    format: int = _FORMAT
    in_line: bool = False

    def pack(self) -> bytes:
        """Some 30 bytes for each series."""
        return deflated(msgspec.json.encode(self))

    @classmethod
    def unpack(cls, packed: bytes) -> "State":
        """Raises ValueError where it was packed in another way."""
        try:
            state = msgspec.json.decode(inflated(packed), type=cls)
        except (msgspec.MsgspecError, zlib.error, ValueError) as error:
            raise ValueError("this is no state of a blob") from error
        if state.format != _FORMAT:
            raise ValueError(f"the state of a blob is of format {state.format}")
        return state
