"""The table `outputs`: the ends of what failed tasks wrote, a partition per job, and a row for each task.

So are those of start tasks: a partition per pool, `<account>~~pool~<pool>`, and a row for each run on a node, whose key
sorts by its start. Where methods take the key of a job, `~pool~<pool>` is that of a pool. The row `!` of a job says how
far its failed tasks are dealt with, that of a pool until when all were deleted; `kept` False marks rows that only have
reasons. The partition `<account>~~expiry` has a row for each day and job, written before the rows that expire on that
day, by which housekeeping finds them. `<account>~~spent` has what the account's limits have spent.
"""

from dataclasses import replace
from typing import Any

from azure.data.tables import UpdateMode

from shared.domain.core.keys import SEPARATOR, partition_of
from shared.domain.outputs.excerpts import ErrorExcerpt
from shared.domain.outputs.failed_runs import FailedRun
from shared.domain.outputs.kept_outputs import STREAMS, JobOutputs, KeptOutput, KeptTail, OutputMark
from shared.domain.outputs.output_limits import SpentOutputs
from shared.domain.packing.compression import NOTHING, deflated, inflated
from shared.errors import CacheConflictError
from shared.stores.tables.rows import Row, bytes_columns, bytes_of, json_columns, json_of, row_of, translated, whole
from shared.stores.tables.tables import Tables, delete_rows, load_row, load_rows, rows_between, save_row
from shared.stores.tables.unreadable import decoding, schema_of

_KIND, _MARK, _SPENT = "outputs", "!", "spent"
_TASK, _NODE = "t", "n"
_AROUND_STARTS = (SEPARATOR, f"{SEPARATOR}:")  # which follows the digits
_DAY_DIGITS = 5
_HEAD = ["RowKey", "schema", "created", "since", "after", "kept", "ended", "group", "pool", "node", "expires"]

_EXAMPLE = ["RowKey", "schema", "id", "ended", "group", "pool", "node", "exitCode", "title", "signature", "lines0"]


class OutputStore:
    """Kept outputs of all jobs. Each method raises StorageError, UnreadableError for rows of newer versions."""

    def __init__(self, tables: Tables) -> None:
        self._table = tables["outputs"]

    async def load_job(self, account_key: str, job_key: str) -> JobOutputs:
        """Returns how far a job's failed runs are dealt with, and which were kept, by one query."""
        found, runs = JobOutputs(), {True: list[FailedRun](), False: list[FailedRun]()}
        for row in await load_rows(self._table, partition_of(account_key, job_key), _HEAD):
            with decoding(row, "kept outputs, row", kind=_KIND):
                if row["RowKey"] == _MARK:
                    found = JobOutputs(_mark(row), row["etag"])
                else:
                    runs[row["kept"]].append(_run(row))
        return replace(found, kept=tuple(runs[True]), missed=tuple(runs[False]))

    async def load_mark(self, account_key: str, job_key: str) -> OutputMark:
        """Returns how far a job's failed runs are dealt with; what is stored is of the job that it names."""
        row = await load_row(self._table, partition_of(account_key, job_key), _MARK)
        if row is None:
            return OutputMark()
        with decoding(row, "kept outputs, row", kind=_KIND):
            return _mark(row)

    async def save_mark(
        self, account_key: str, job_key: str, mark: OutputMark, etag: str | None, expires: int | None = None
    ) -> str:
        """Returns the new ETag; that of a pool expires on a day. Raises CacheConflictError if another host wrote it."""
        columns: Row = {
            **schema_of(_KIND),
            "created": mark.created,
            "since": whole(mark.since),
            "after": whole(mark.after),
            "expires": expires,
        }
        return await save_row(self._table, row_of(partition_of(account_key, job_key), _MARK, columns), etag)

    async def load(self, account_key: str, job_key: str, task_key: str) -> KeptOutput | None:
        row = await load_row(self._table, partition_of(account_key, job_key), _row_key(job_key, task_key))
        if row is None:
            return None
        with decoding(row, "kept output of", kind=_KIND):
            stderr, stdout = (_tail(row, stream) for stream in STREAMS)
            return KeptOutput(_run(row), row["keptAt"], row["expires"], (stderr, stdout), _excerpt(row))

    async def load_latest(self, account_key: str, pool_key: str, node_key: str) -> KeptOutput | None:
        """Returns what is stored of a node's latest failed start task."""
        first, last = (f"{_NODE}{node_key}{end}" for end in _AROUND_STARTS)
        rows = rows_between(self._table, partition_of(account_key, pool_key), first, last, ["RowKey"])
        keys = [row["RowKey"] async for row in rows]
        return await self.load(account_key, pool_key, keys[-1][len(_NODE) :]) if keys else None

    async def load_examples(self, account_key: str, job_key: str) -> list[tuple[FailedRun, ErrorExcerpt]]:
        """Returns a job's runs that were kept, and what they say, by one query."""
        found = list[tuple[FailedRun, ErrorExcerpt]]()
        for row in await load_rows(self._table, partition_of(account_key, job_key), _EXAMPLE):
            with decoding(row, "kept outputs, row", kind=_KIND):
                if (excerpt := _excerpt(row)) is not None:
                    found.append((_run(row), excerpt))
        return found

    async def note_expiry(self, account_key: str, job_key: str, day: int) -> None:
        """Notes, before rows are saved, that a job has some that expire on a day."""
        with translated("note when outputs expire"):
            row: Row = {"PartitionKey": _expiry(account_key), "RowKey": f"{_day_key(day)}{SEPARATOR}{job_key}"}
            await self._table.upsert_entity(row, mode=UpdateMode.MERGE)

    async def save(self, account_key: str, job_key: str, output: KeptOutput) -> None:
        """Writes what was kept of a run, in place of an earlier run of the task; leaves a row of the same run alone."""
        partition, key, run = partition_of(account_key, job_key), _row_key(job_key, output.run.task), output.run
        stderr, stdout = (_tail_columns(stream, output.tail(stream)) for stream in STREAMS)
        columns: Row = {
            **schema_of(_KIND),
            "id": run.task_id,
            "kept": not output.is_empty,
            "ended": whole(run.ended),
            "group": run.group,
            "pool": run.node[0],
            "node": run.node[1],
            "attempt": run.attempt,
            "exitCode": None if run.exit_code is None else whole(run.exit_code),
            "keptAt": output.kept_at,
            "expires": output.expires,
            **stderr,
            **stdout,
            **_excerpt_columns(output.excerpt),
        }
        try:
            await save_row(self._table, row_of(partition, key, columns), None)
        except CacheConflictError:
            stored = await load_row(self._table, partition, key)
            if stored and stored["ended"] < run.ended:
                await save_row(self._table, row_of(partition, key, columns), stored["etag"])

    async def load_spent(self, account_key: str) -> SpentOutputs:
        row = await load_row(self._table, partition_of(account_key, SEPARATOR + _SPENT), _SPENT)
        if row is None:
            return SpentOutputs()
        with decoding(row, "limits of outputs, row", kind=_KIND):
            return SpentOutputs(row["day"], row["read"], row["minute"], row["tasks"], row["etag"])

    async def save_spent(self, account_key: str, spent: SpentOutputs) -> SpentOutputs:
        """Returns the same with the new ETag. Raises CacheConflictError if another host spent something meanwhile."""
        columns: Row = {
            **schema_of(_KIND),
            "day": spent.day,
            "read": whole(spent.read),
            "minute": spent.minute,
            "tasks": spent.tasks,
        }
        row = row_of(partition_of(account_key, SEPARATOR + _SPENT), _SPENT, columns)
        return replace(spent, etag=await save_row(self._table, row, spent.etag))

    async def delete_job(self, account_key: str, job_key: str, *, keep_mark: bool = False) -> int:
        """Deletes all rows of a job, or all but its mark; returns the number of tasks."""
        return await self._delete(account_key, job_key, lambda row: row["RowKey"] != _MARK or not keep_mark)

    async def delete_expired(self, account_key: str, today: int) -> int:
        """Deletes the rows that have expired `today`, in days since 1970; returns the number of tasks."""
        index, number = _expiry(account_key), 0
        past = rows_between(self._table, index, "", _day_key(today + 1), ["RowKey"])
        found = [row["RowKey"] async for row in past]
        for job_key in sorted({key.partition(SEPARATOR)[2] for key in found}):
            number += await self._delete(account_key, job_key, lambda row: row.get("expires", today + 1) <= today)
        await delete_rows(self._table, index, found)
        return number

    async def _delete(self, account_key: str, job_key: str, wanted: Any) -> int:
        partition = partition_of(account_key, job_key)
        rows = await load_rows(self._table, partition, ["RowKey", "expires"])
        keys = [row["RowKey"] for row in rows if wanted(row)]
        await delete_rows(self._table, partition, keys)
        return len(keys) - (_MARK in keys)


def _row_key(job_key: str, run_key: str) -> str:
    return (_NODE if job_key.startswith(SEPARATOR) else _TASK) + run_key


def _mark(row: Row) -> OutputMark:
    return OutputMark(row.get("created"), row["since"], row["after"])


def _run(row: Row) -> FailedRun:
    key = row["RowKey"][len(_TASK) :]
    node = row["pool"], row["node"]
    return FailedRun(
        row["ended"], key, row["group"], node, row.get("id", ""), row.get("attempt", 1), row.get("exitCode")
    )


def _tail(row: Row, stream: str) -> KeptTail:
    name = stream.partition(".")[0]
    return KeptTail(
        row.get(f"{name}Size", 0),
        row.get(f"{name}Start", 0),
        inflated(bytes_of(row, name) or NOTHING),
        row.get(f"{name}Encoding", ""),
        row.get(f"{name}Reason", ""),
    )


def _tail_columns(stream: str, tail: KeptTail) -> Row:
    name = stream.partition(".")[0]
    if tail.reason:
        return {f"{name}Reason": tail.reason}
    return {
        f"{name}Size": whole(tail.size),
        f"{name}Start": whole(tail.start),
        f"{name}Encoding": tail.encoding,
        **bytes_columns(name, deflated(tail.content)),
    }


def _excerpt(row: Row) -> ErrorExcerpt | None:
    if "signature" not in row:
        return None
    return ErrorExcerpt(row["title"], row["signature"], tuple(json_of(row, "lines")))


def _excerpt_columns(excerpt: ErrorExcerpt | None) -> Row:
    if excerpt is None:
        return {}
    lines = json_columns("lines", excerpt.lines)
    return {"title": excerpt.title, "signature": excerpt.signature, **lines}


def _expiry(account_key: str) -> str:
    return partition_of(account_key, f"{SEPARATOR}expiry")


def _day_key(day: int) -> str:
    return f"{day:0{_DAY_DIGITS}}"
