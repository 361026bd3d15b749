"""Which tables are copied, in which order and in which way, so that a restored store is one that a crash could leave.

The app writes what is pointed to before what points to it (docs/architecture.md). A copy takes time, so it goes the
other way round: a row that vouches for others is read before them. docs/operations.md, "What a backup is as of".
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from local.backup.rows import Row


class Way(Enum):
    """How a table is read while the app writes to it."""

    ROWS = "row by row"
    """Each row as of its own moment."""
    PARTITIONS = "partition by partition"
    """All rows of a partition as of one moment."""
    LOG = "log by log"
    """Heads and checkpoints of a partition as of one moment, and the appended rows that they vouch for."""


type Change = Callable[[Row, datetime, datetime], Row]
"""What becomes of a row, of when storage wrote it, and of when the table that it speaks of began to be copied."""


def _dirty(row: Row, _written: datetime, _begun: datetime) -> Row:
    """A job's leaves are copied after its row: as after a crash, the next poll sums them up and compares."""
    return row | {"dirty": True} if "generation" in row else row


def _undecided(row: Row, written: datetime, begun: datetime) -> Row:
    """A note on minutes and hours that was written while they were copied may say too much: hours may be there."""
    if "blob" in row or written < begun - CLOCKS_APART:
        return row
    return row | {"hours": True, "rolled": False}


@dataclass(frozen=True, slots=True)
class TablePlan:
    """How one table is copied; `page` rows a request, `change` with the start of the copy of the table `since`.

    Where the table `fresh` is older than FRESH at a resume, both are copied anew.
    """

    name: str
    way: Way = Way.ROWS
    page: int = 1000
    change: Change | None = None
    since: str = ""
    fresh: str = ""


FRESH = timedelta(minutes=30)
"""Half the time for which housekeeping leaves generations that nothing points to any more."""
CLOCKS_APART = timedelta(minutes=5)
"""More than clocks of storage's servers differ."""
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
    TablePlan("events", Way.LOG, page=50),
    TablePlan("telemetry", Way.PARTITIONS, page=20),
    TablePlan("nodeindex", change=_undecided, since="telemetry"),
    TablePlan("rejects"),
)
