"""What a number of hosts did with the flushes of all nodes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from local.dev.checking.figures import markdown

BOUND = 120.0
"""Seconds within which each flush must be stored."""


@dataclass(slots=True)
class HostsFindings:
    """Flushes of `nodes` every `interval` seconds, read by some hosts; `late` are seconds until the last was stored.

    `lags` are the ages of the oldest flush that wasn't stored, in seconds, looked at every few seconds.
    """

    hosts: int
    nodes: int
    interval: float
    kills: int = 0
    lags: list[float] = field(default_factory=list)
    late: float | None = None
    compared: int = 0
    differing: list[str] = field(default_factory=list)
    load: float = 0.0

    def problems(self, *, is_bounded: bool) -> Iterator[str]:
        """Yields what didn't hold; lag is only judged where `is_bounded`."""
        if self.late is None:
            yield f"{self.hosts} hosts didn't store all flushes"
        if not self.lags or not self.compared:
            yield f"with {self.hosts} hosts nothing was looked at or compared"
        if is_bounded and max(self.lags, default=0.0) > BOUND:
            yield f"with {self.hosts} hosts a flush was stored after {max(self.lags):.0f} s"
        if self.differing:
            yield f"with {self.hosts} hosts {len(self.differing)} series differ, the first: {self.differing[0]}"


def table(found: Sequence[HostsFindings]) -> str:
    """Returns all runs as Markdown."""
    header = ("hosts", "killed", "nodes", "interval", "longest lag", "all stored", "minutes compared", "differ", "load")
    rows = [
        (
            str(one.hosts),
            str(one.kills),
            f"{one.nodes:,}",
            f"{one.interval:.0f} s",
            f"{max(one.lags, default=0.0):.0f} s",
            "never" if one.late is None else f"{one.late:.0f} s after the last flush",
            f"{one.compared:,}",
            str(len(one.differing)),
            f"{one.load:.1f}",
        )
        for one in found
    ]
    return markdown(header, rows)
