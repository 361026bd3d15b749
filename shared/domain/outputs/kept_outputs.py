"""Kept outputs: the ends of stderr and stdout of a failed run, masked as they were read, or why there is no end."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice

from shared.domain.core.stamps import to_milliseconds
from shared.domain.files.file_parts import Part
from shared.domain.outputs.excerpts import ErrorExcerpt
from shared.domain.outputs.failed_runs import (
    MAX_OF_JOB,
    MAX_TRIED,
    Each,
    FailedRun,
    Node,
    StoredRuns,
    first_of_each,
)

TAIL = 64 * 1024
"""Bytes that are kept of a stream."""
STREAMS = ("stderr.txt", "stdout.txt")
_OVERLAP = timedelta(minutes=10)  # nodes report late, and their clocks differ
OLDEST = timedelta(days=1)
"""Runs that failed longer ago aren't kept."""
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class KeptTail:
    """The end of a stream: `content` from the byte `start` of `size`. With a `reason`, a code, nothing was kept."""

    size: int = 0
    start: int = 0
    content: bytes = field(default=b"", repr=False)
    encoding: str = "utf-8"
    reason: str = ""

    @property
    def text(self) -> str:
        return self.content.decode(self.encoding, "replace")

    def within(self, wanted: Part) -> tuple[int, bytes]:
        """Returns where the kept bytes of a part begin, and these."""
        start = min(max(wanted.start, self.start), self.size)
        return start, self.content[start - self.start : max(0, wanted.end - self.start)]


@dataclass(frozen=True, slots=True)
class KeptOutput:
    """What was kept of a run, with the lines that say why it failed; it expires on the day `expires` since 1970."""

    run: FailedRun
    kept_at: datetime
    expires: int
    tails: tuple[KeptTail, KeptTail]
    """Those of STREAMS."""
    excerpt: ErrorExcerpt | None = None

    @property
    def is_empty(self) -> bool:
        """True where nothing was kept of either stream."""
        return all(tail.reason for tail in self.tails)

    def tail(self, stream: str) -> KeptTail:
        return self.tails[STREAMS.index(stream)]


@dataclass(frozen=True, slots=True)
class OutputMark:
    """How far the failed runs of a job are dealt with.

    `created` is when the job was created, None before the first look. Runs that ended before `since` were dealt with,
    those that ended before `after` were deleted: both in milliseconds since 1970.
    """

    created: datetime | None = None
    since: int = 0
    after: int = 0

    def begins(self, now: datetime) -> int:
        """Returns the earliest end of a run that may be kept now, in milliseconds since 1970."""
        return max(self.after, self.since - _OVERLAP // timedelta(milliseconds=1), to_milliseconds(now - OLDEST))


@dataclass(frozen=True, slots=True)
class JobOutputs:
    """The mark of a job, its ETag, the runs that have something kept, and those that had nothing to keep."""

    mark: OutputMark = OutputMark()
    etag: str | None = None
    kept: tuple[FailedRun, ...] = ()
    missed: tuple[FailedRun, ...] = ()

    @property
    def runs(self) -> tuple[FailedRun, ...]:
        return self.kept + self.missed

    @property
    def by_group(self) -> Counter[str]:
        """How many runs of each failure group were kept."""
        return Counter(run.group for run in self.kept)

    @property
    def by_node(self) -> Counter[Node]:
        """How many runs on each node were read; those that had nothing to keep count, as the node may be gone."""
        return Counter(run.node for run in self.runs)

    @property
    def room(self) -> int:
        """How many more runs of a job may be read."""
        return max(0, min(MAX_OF_JOB - len(self.kept), MAX_TRIED - len(self.runs)))

    @property
    def stored(self) -> StoredRuns:
        return StoredRuns({(run.task, run.ended) for run in self.runs}, {run.task for run in self.kept})

    def chosen(self, runs: Iterable[FailedRun], each: Each) -> list[FailedRun]:
        """Returns the runs of a job's tasks to keep, the most telling first.

        Later runs of tasks that have something kept come last. They take no room, as they replace the earlier ones.
        """
        kept, again, new = self.stored.kept, list[FailedRun](), list[FailedRun]()
        for run in runs:
            (again if run.task in kept else new).append(run)
        return [*islice(first_of_each(new, self.by_group, self.by_node, each), self.room), *sorted(again)]


def expiry_day(now: datetime, kept_for: timedelta) -> int:
    """Returns the first day since 1970 on which something that is kept for so long from now on has expired."""
    return -(-to_milliseconds(now + kept_for) // (_DAY // timedelta(milliseconds=1)))
