"""The tables to copy, their order and method; a restored store equals one that a crash could leave.

The app writes referenced rows before the rows that refer to them (docs/architecture.md). A copy takes time, so it
proceeds in reverse: a row that vouches for others is read before them. docs/operations.md, "What a backup is as of".
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from local.backup.rows import Row


class Way(Enum):
    """The method of reading a table while the app writes to it."""

    ROWS = "row by row"
    """Each row is as of its own moment."""
    PARTITIONS = "partition by partition"
    """All rows of a partition are as of one moment."""
    LOG = "log by log"
    """Heads and checkpoints of a partition are as of one moment, with the appended rows that they vouch for."""


type Change = Callable[[Row, datetime, datetime], Row]
"""Changes a row, given the time when storage wrote it and the start of the copy of the table it refers to."""


def _dirty(row: Row, _written: datetime, _begun: datetime) -> Row:
    """Marks a job's row as dirty, so that the next poll sums its leaves, which are copied later, and compares."""
    return row | {"dirty": True} if "generation" in row else row


def _undecided(row: Row, written: datetime, begun: datetime) -> Row:
    """Resets an index row about minutes and hours that was written during their copy: hours may exist."""
    if "blob" in row or written < begun - CLOCKS_APART:
        return row
    return row | {"hours": True, "rolled": False}


@dataclass(frozen=True, slots=True)
class TablePlan:
    """The copy of one table: `page` rows per request; `change` gets the start of the copy of the table `since`.

    If the copy of the table `fresh` is older than FRESH at a resume, both tables are copied again.
    """

    name: str
    way: Way = Way.ROWS
    page: int = 1000
    change: Change | None = None
    since: str = ""
    fresh: str = ""


FRESH = timedelta(minutes=30)
"""Half the time for which housekeeping keeps unreferenced generations."""
CLOCKS_APART = timedelta(minutes=5)
"""More than the clocks of storage servers differ."""
PLANS = (
    TablePlan("accounts"),
    TablePlan("jobs", page=500, change=_dirty),
    TablePlan("tasks", Way.PARTITIONS, page=20, fresh="jobs"),
    TablePlan("jobhistory"),
    TablePlan("pools", page=200),
    TablePlan("nodes", Way.PARTITIONS, page=50),
    TablePlan("poolhistory"),
    TablePlan("jobschedules", page=500),
    TablePlan("operations"),
    TablePlan("blobs"),
    TablePlan("telemetry", Way.PARTITIONS, page=20),
    TablePlan("events", Way.LOG, page=50),  # behind telemetry, whose checkpoints vouch for events of nodes
    TablePlan("attempts"),  # behind telemetry, whose checkpoints vouch for ended runs
    TablePlan("nodeindex", change=_undecided, since="telemetry"),
    TablePlan("pooltelemetry", Way.PARTITIONS, page=20),
    TablePlan("rejects"),
    TablePlan("prices"),
    TablePlan("usage"),
    TablePlan("outputs", page=50),
)
