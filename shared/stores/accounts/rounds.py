"""The row `round` of each account in the table `accounts`: the last round's results, and its unchanged jobs."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any

from shared.domain.jobs.snapshots import Agreement, Confirmation, TaskRead
from shared.domain.polling.rounds import Mark, Round
from shared.domain.tasks.tasks import TaskCounts
from shared.errors import CacheConflictError, UnreadableError
from shared.stores.tables.rows import Row, columns_of, fields_of, json_columns, objects_of, row_of
from shared.stores.tables.tables import Tables, load_row, save_row
from shared.stores.tables.unreadable import decoding, schema_of

ROUND_ROW = "round"
_TRIES = 5
_PATIENCE = 40
_SERVICE_COUNTS = attrgetter("active", "running", "completed", "succeeded", "failed")
_LONG_AGO = datetime.fromtimestamp(0, UTC)
_COLUMNS = {
    "started_at": "startedAt",
    "finished_at": "finishedAt",
    "whole_round_at": "wholeRoundAt",
    "as_of": "asOf",
    "reason": "reason",
    "jobs_as_of": "jobsAsOf",
    "full_list_at": "fullListAt",
    "jobs_polled": "jobsPolled",
    "jobs_failed": "jobsFailed",
    "batch_calls": "batchCalls",
    "backoff_until": "backoffUntil",
    "failed_rounds": "failedRounds",
}
_REQUIRED = {"started_at", "finished_at", "jobs_polled", "jobs_failed", "batch_calls"}


class RoundStore:
    def __init__(self, tables: Tables) -> None:
        self._table = tables["accounts"]

    async def load(self, account_key: str) -> Round | None:
        row = await load_row(self._table, account_key, ROUND_ROW)
        return round_of(row) if row else None

    async def save(self, account_key: str, latest: Round) -> Round:
        """Writes a round and returns it as stored.

        If another process wrote one meanwhile, the statements of both on jobs are kept.
        """
        for _ in range(_TRIES):
            try:
                return replace(latest, etag=await save_row(self._table, _row(account_key, latest), latest.etag))
            except CacheConflictError:
                stored = await self.load(account_key)
                if stored:
                    latest = latest.merged(stored)
        raise CacheConflictError("Too many processes write the round of one account at once.")

    async def change(
        self, account_key: str, change: Callable[[Round], Round | None], *, new: Round | None = None
    ) -> Round | None:
        """Changes the stored row, or `new` if none exists, despite concurrent writers.

        Returns the round as stored; None if none exists, or `change` returns None. Raises StorageError,
        CacheConflictError.
        """
        for _ in range(_PATIENCE):
            stored = await self.load(account_key) or new
            changed = change(stored) if stored else None
            if changed is None:
                return None
            with suppress(CacheConflictError):
                return replace(changed, etag=await save_row(self._table, _row(account_key, changed), changed.etag))
        raise CacheConflictError("Too many processes write the round of one account at once.")


def _row(account_key: str, latest: Round) -> Row:
    claims = {key: mark.message.timestamp() for key, mark in latest.queued.items() if mark.message}
    columns: Row = {
        **schema_of("round"),
        **columns_of(latest, _COLUMNS),
        **json_columns("confirmations", {key: _confirmation_json(c) for key, c in latest.confirmations.items()}),
        **json_columns("failures", dict(latest.failures)),
        **json_columns("queued", {key: mark.until.timestamp() for key, mark in latest.queued.items()}),
        **json_columns("claims", claims),  # beside the marks, so that older versions can read these
    }
    return row_of(account_key, ROUND_ROW, columns)


def round_of(row: Row) -> Round:
    """Returns the round in a row; for an unreadable one a failed round, which the next overwrites."""
    try:
        with decoding(row, f"row of {row['PartitionKey']},", kind="round"):
            return _round(row)
    except UnreadableError as error:
        return Round(started_at=_LONG_AGO, finished_at=_LONG_AGO, reason=str(error), etag=row["etag"])


def _round(row: Row) -> Round:
    confirmations, failures, marks, claims = objects_of(row, "confirmations", "failures", "queued", "claims")
    return Round(
        **fields_of(row, _COLUMNS, _REQUIRED),
        confirmations={key: _confirmation(values) for key, values in confirmations.items()},
        failures=failures,
        queued={key: Mark(datetime.fromtimestamp(at, UTC), _moment(claims.get(key))) for key, at in marks.items()},
        etag=row["etag"],
    )


def _confirmation_json(confirmation: Confirmation) -> list[Any]:
    agreement, service = confirmation.agreement, confirmation.agreement.service_counts
    counts = list(_SERVICE_COUNTS(service)) if service else None
    at = agreement.at.timestamp() if agreement.at else None
    agreed_as_of = agreement.as_of.timestamp() if agreement.as_of else None
    read = confirmation.read
    took = [read.seconds, read.requests, read.pages] if read else None
    as_of = confirmation.as_of.timestamp()
    return [confirmation.version, as_of, at, agreement.disagreements, counts, agreed_as_of, took]


def _confirmation(values: list[Any]) -> Confirmation:
    version, as_of, agreed_at, disagreements, counts, agreed_as_of, *took = values  # 0.1.0 stored no read
    service = TaskCounts(counts[0], 0, *counts[1:]) if counts else None
    agreement = Agreement(_moment(agreed_at), disagreements, service, _moment(agreed_as_of))
    read = TaskRead(*took[0]) if took and took[0] else None
    return Confirmation(version, datetime.fromtimestamp(as_of, UTC), agreement, read)


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
