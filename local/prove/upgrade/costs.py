"""Costs, labels, budgets and limits of quotas, which 0.1.0 doesn't store: this version must find them as it left them.

As the proof takes minutes, the day before is a copy of the rows of the day on which it begins. Its costs may not change
at all: neither by the rollback nor by later roll-ups.
"""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import quote

from azure.data.tables.aio import TableServiceClient

from local.prove.stack.api import Stack, call
from local.prove.upgrade.answers import Answers, Get
from local.prove.upgrade.later_rows import TAG

_EPOCH, _DAY = date(1970, 1, 1), timedelta(days=1)
_GROUPINGS = ("pool", "job", "class", f"metadata:{TAG}")
_BUDGET = {"amount": 1000, "pool": "Steady_Pool-1"}
_SECONDS = 60


@dataclass(frozen=True, slots=True)
class CostPaths:
    """Paths of answers about costs of an account on the day on which the proof began, and on the day before."""

    account: str
    today: date = field(default_factory=lambda: datetime.now(UTC).date())

    @property
    def of_the_day_before(self) -> list[str]:
        return self._of_day(self.today - _DAY)

    @property
    def of_today(self) -> list[str]:
        return self._of_day(self.today)

    @property
    def budgets(self) -> str:
        return f"{self._account}/budgets"

    @property
    def quotas(self) -> str:
        return f"{self._account}/quotas"

    @property
    def all(self) -> list[str]:
        summary = f"{self._account}/cost/summary"
        return [*self.of_the_day_before, *self.of_today, summary, self.budgets, self.quotas]

    @property
    def _account(self) -> str:
        return f"/accounts/{quote(self.account)}"

    def _of_day(self, day: date) -> list[str]:
        span = f"from={day}T00:00:00Z&to={day + _DAY}T00:00:00Z"
        return [f"{self._account}/cost?groupBy={grouping}&{span}" for grouping in _GROUPINGS]

    def answers(self, get: Get) -> Answers:
        """Returns all of these answers, of quotas only the limits, as their use is that of the moment."""
        found = {path: get(path) for path in self.all}
        quotas = found[self.quotas].get("value", ())
        return {**found, self.quotas: {"limits": {one["family"] or one["quota"]: one["limit"] for one in quotas}}}


def roll_up(stack: Stack, paths: CostPaths) -> None:
    """Sets a budget, runs housekeeping, and waits for today's usage as of now, prices and limits, a minute at most."""
    call("PUT", f"{stack.api}{paths.budgets}/upgrade", _BUDGET)
    before, until = stack.get(paths.of_today[0])["asOf"], time.monotonic() + _SECONDS
    call("POST", f"{stack.api.removesuffix('/api')}/admin/functions/housekeeping", {"input": ""})
    while not _is_rolled_up(stack, paths, before) and time.monotonic() < until:
        time.sleep(1)


def _is_rolled_up(stack: Stack, paths: CostPaths, before: str | None) -> bool:
    today, quotas = stack.get(paths.of_today[0]), stack.get(paths.quotas)
    return today["asOf"] != before and today["cost"]["amount"] is not None and quotas["asOf"] is not None


def copy_to_the_day_before(connection_string: str, today: date) -> None:
    """Writes the rows of today's usage as those of yesterday, which is over."""
    asyncio.run(_copy(connection_string, (today - _EPOCH).days))


async def _copy(connection_string: str, today: int) -> None:
    async with TableServiceClient.from_connection_string(connection_string) as service:
        table = service.get_table_client("usage")
        months = [f"{_EPOCH + timedelta(days=day):%Y%m}" for day in (today, today - 1)]
        async for row in table.list_entities():
            if int(row["RowKey"][1:]) == today:
                row["PartitionKey"] = row["PartitionKey"].replace(*months)
                row["RowKey"] = f"{row['RowKey'][0]}{today - 1:07}"
                if "final" in row:
                    row["final"] = True
                await table.upsert_entity(row)


def cost_problems(found: Answers, paths: CostPaths, tag: str) -> Iterator[str]:
    """Yields what lacks after a roll-up; `tag` is the label of some pools."""
    for path in (*paths.of_the_day_before, *paths.of_today):
        if not found[path]["cost"]["amount"] or found[path]["missingDays"]:
            yield f"{path}: nothing is known"
    labels = [group["name"] for group in found[paths.of_today[-1]]["value"]]
    if tag not in labels:
        yield f"no costs have the label {tag}, but {labels}"
    if not any(found[paths.quotas]["limits"].values()):
        yield "no quota has a limit"
    if not [budget for budget in found[paths.budgets]["value"] if budget["spent"]]:
        yield "nothing was spent of the budget"


def changed_costs(before: Answers, after: Answers, paths: list[str]) -> Iterator[str]:
    """Yields which answers about costs aren't as they were."""
    for path in paths:
        if before[path] != after[path]:
            yield f"{path}: was {_short(before[path])}, is {_short(after[path])}"


def _short(answer: Any) -> str:
    return str(answer)[:300]
