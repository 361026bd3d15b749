"""The row of each account's conditions in the table `accounts`, in one partition, so that ticks read one small page.

Without its findings a row has two times: when it was evaluated, and when the next evaluation may differ without news.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from shared.domain.conditions.condition import Condition, ConditionKey
from shared.domain.conditions.evaluation import AccountConditions
from shared.domain.core.keys import partition_of
from shared.domain.core.stamps import from_milliseconds, to_milliseconds
from shared.domain.findings.plain_findings import finding_of_plain, plain_finding
from shared.errors import UnreadableError
from shared.log import logger
from shared.stores.tables.rows import Row, json_columns, json_of, row_of
from shared.stores.tables.tables import Tables, load_row, load_rows, save_row
from shared.stores.tables.unreadable import decoding, schema_of

_LOG = logger(__name__)
_KIND = "conditions"
_PARTITION = partition_of("", "conditions")
_TIMES = ["RowKey", "at", "due"]
_BEGIN = "account"


@dataclass(frozen=True, slots=True)
class EvaluationTimes:
    """When an account's conditions were evaluated, and when the next evaluation may differ without news."""

    at: datetime
    due: datetime | None


class ConditionStore:
    def __init__(self, tables: Tables) -> None:
        self._table = tables["accounts"]

    async def load_times(self) -> Mapping[str, EvaluationTimes]:
        """Returns the times of all accounts by key, with one request. Raises StorageError."""
        rows = await load_rows(self._table, _PARTITION, _TIMES)
        return {_account_of(row): EvaluationTimes(row["at"], row.get("due")) for row in rows if "at" in row}

    async def load_all(self) -> Mapping[str, AccountConditions]:
        """Returns the evaluations of all accounts by key, without unreadable ones. Raises StorageError."""
        found = {_account_of(row): _evaluation(row) for row in await load_rows(self._table, _PARTITION)}
        return {key: one for key, one in found.items() if one}

    async def load(self, account_key: str) -> tuple[AccountConditions | None, str | None]:
        """Returns the last evaluation and the ETag of its row; an unreadable one begins anew. Raises StorageError."""
        row = await load_row(self._table, _PARTITION, _key(account_key))
        return (_evaluation(row), row["etag"]) if row else (None, None)

    async def save(self, account_key: str, found: AccountConditions, etag: str | None) -> None:
        """Writes an evaluation under the ETag of the one before. Raises CacheConflictError, StorageError."""
        columns = {
            **schema_of(_KIND),
            "at": found.at,
            "due": found.due,
            **json_columns("conditions", list(map(_plain, found.conditions.values()))),
            **json_columns("changes", list(map(_plain, found.changes))),
            **json_columns("events", [[*key, to_milliseconds(at)] for key, at in found.events.items()]),
            **json_columns("leftOut", dict(found.left_out)),
        }
        await save_row(self._table, row_of(_PARTITION, _key(account_key), columns), etag)


def _key(account_key: str) -> str:
    return partition_of(_BEGIN, account_key)


def _account_of(row: Row) -> str:
    key: str = row["RowKey"]
    return key.removeprefix(_key(""))


def _evaluation(row: Row) -> AccountConditions | None:
    try:
        with decoding(row, "row of", kind=_KIND):
            conditions = [_condition(one) for one in json_of(row, "conditions")]
            events = {ConditionKey(*key): from_milliseconds(at) for *key, at in json_of(row, "events")}
            left_out: dict[str, int] = json_of(row, "leftOut")
            changes, by_key = (
                tuple(map(_condition, json_of(row, "changes") or [])),
                {one.key: one for one in conditions},
            )
            return AccountConditions(row["at"], by_key, events, changes, left_out, row.get("due"))
    except UnreadableError as error:
        _LOG.warning("The conditions of %s begin anew: %s", _account_of(row), error)
        return None


def _plain(one: Condition) -> list[Any]:
    times = [at and to_milliseconds(at) for at in (one.since, one.gone_since, one.fired_at, one.resolved_at)]
    return [list(one.key), one.state, *times, one.unknown, one.is_old, plain_finding(one.finding)]


def _condition(plain: list[Any]) -> Condition:
    key, state, since, *later, unknown, is_old, finding = plain
    one = Condition(ConditionKey(*key), finding_of_plain(finding), state, from_milliseconds(since))
    gone, fired, resolved = (at and from_milliseconds(at) for at in later)
    return replace(one, gone_since=gone, fired_at=fired, resolved_at=resolved, unknown=unknown, is_old=bool(is_old))
