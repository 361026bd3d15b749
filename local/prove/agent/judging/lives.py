"""Processes of agents as the proof saw them: their starts, pauses and ends, and the lines that they were fed."""

from collections.abc import Sequence
from dataclasses import dataclass, field

SECOND = 1_000_000_000
KILLED, ASKED = "killed", "asked"


@dataclass(slots=True)
class ProcessLife:
    """A process that measures (`run`) or takes lines (`append`); times in nanoseconds since 1970.

    `ended` is when it was killed or asked to end (`how`), 0 while it lives. `boot` counts the starts of its machine.
    `fed` are the times of the lines that it was given, by their numbers. `session` is the name of its session where its
    number doesn't show it. `in_memory` are times in which its disk took nothing, so that a kill may lose more.
    """

    node: str
    command: str
    pid: int
    began: int
    ended: int = 0
    how: str = ""
    boot: int = 1
    paused: list[tuple[int, int]] = field(default_factory=list)
    fed: list[int] = field(default_factory=list)
    session: str = ""
    in_memory: list[tuple[int, int]] = field(default_factory=list)

    @property
    def key(self) -> str:
        return f"{self.node}-{self.pid}-{self.began}"

    def line(self, number: int) -> str:
        """Returns the line with a number as it was fed."""
        return f"proof,life={self.key} n={number}i {self.fed[number]}"

    def event(self, number: int) -> str:
        """Returns the event that is fed behind the line with a number."""
        return f'batchscope_event,kind=fed message="Line {number} of {self.key}.",n={number}i {self.fed[number]}'


def outside(begin: int, end: int, windows: Sequence[tuple[int, int]]) -> int:
    """Returns the nanoseconds from begin to end that are in none of the windows, which may overlap."""
    left, at = max(end - begin, 0), begin
    for opens, closes in sorted(windows):
        covered = min(closes, end) - max(opens, at)
        if covered > 0:
            left -= covered
            at = max(opens, at) + covered
    return left
