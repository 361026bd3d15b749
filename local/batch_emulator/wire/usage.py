"""The usage log as JSON: seconds of nodes by state and of runs, within a window."""

from collections import Counter
from dataclasses import dataclass

from local.batch_emulator.core.stamps import SECOND, stamp
from local.batch_emulator.entities import Account, Json
from local.batch_emulator.state.usage_log import RunInterval, UsageLog


@dataclass(frozen=True, slots=True)
class UsageWindow:
    """A window of time from `start` up to but without `end`, in ticks."""

    start: int
    end: int

    def overlap(self, start: int, end: int) -> int:
        """Returns how many ticks from `start` to `end` are in the window."""
        return max(0, min(end, self.end) - max(start, self.start))


def account_usage(log: UsageLog, account: Account, window: UsageWindow, now: int) -> Json:
    """Returns the account's rows of more than 0 seconds; what still lasts counts up to `now`."""
    known = UsageWindow(max(window.start, log.since), window.end)
    runs = log.run_intervals(account, now)
    return {
        "since": stamp(log.since),
        "nodes": _node_rows(log, account, known, now),
        "slots": [
            _run_row(interval, held, known)
            for interval in runs
            if (held := known.overlap(interval.start, interval.end))
        ],
    }


def _node_rows(log: UsageLog, account: Account, window: UsageWindow, now: int) -> list[Json]:
    totals: Counter[tuple[str, str, str, bool, str]] = Counter()
    for interval in log.node_intervals(account, now):
        totals[interval[:5]] += window.overlap(interval.start, interval.end)
    return [
        {
            "pool": pool,
            "node": node,
            "vmSize": vm_size,
            "dedicated": dedicated,
            "state": state,
            "seconds": total / SECOND,
        }
        for (pool, node, vm_size, dedicated, state), total in totals.items()
        if total
    ]


def _run_row(interval: RunInterval, held: int, window: UsageWindow) -> Json:
    return {
        "pool": interval.pool,
        "node": interval.node,
        "job": interval.job,
        "task": interval.task,
        "creationTime": stamp(interval.created),
        "attempt": interval.attempt,
        "outcome": interval.outcome,
        "slots": interval.slots,
        "seconds": held / SECOND,
        "runningSeconds": window.overlap(interval.started, interval.end) / SECOND,
    }
