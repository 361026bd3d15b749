"""Reads prices from an emulator by bare HTTP, and chooses among rows by the documented rules.

The choice uses nothing of the emulator: it is a second opinion about the prices that the emulator calls right.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import orjson
from yarl import URL

from tests.emulator.support.driver import Answer, Driver

PATH = "/api/retail/prices"
VERSION = "2023-01-01-preview"
type Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PriceClient:
    driver: Driver

    async def page(self, method: str = "GET", **query: Any) -> Answer:
        """Sends a request with the version unless it is given (None: without it); `_filter` and so on stand for `$`."""
        given = {"api_version": VERSION, **query}
        named = {_parameter(name): value for name, value in given.items() if value is not None}
        return await self.follow(f"{self.driver.url}{PATH}?{urlencode(named, quote_via=quote)}", method)

    async def follow(self, url: str, method: str = "GET", **headers: str) -> Answer:
        async with self.driver.session.request(method, URL(url, encoded=True), headers=headers) as response:
            return Answer(response.status, response.headers, orjson.loads(await response.read()))

    async def pages(self, **query: Any) -> list[Answer]:
        found = [await self.page(**query)]
        while link := found[-1].body["NextPageLink"]:
            found.append(await self.follow(link))
        return found

    async def rows(self, **query: Any) -> list[Row]:
        return [row for page in await self.pages(**query) for row in page.body["Items"]]


def chosen_price(rows: Iterable[Row], *, windows: bool, priority: str, now: str) -> float | None:
    """Returns the price of a node among rows of its size and region; None unless exactly one remains."""
    left = [row for row in rows if _is_candidate(row, now) and row["productName"].endswith(" Windows") == windows]
    left = [row for row in left if _priority(row) == priority]
    newest = max((row["effectiveStartDate"] for row in left), default="")
    left = [row for row in left if row["effectiveStartDate"] == newest]
    if len(left) > 1:
        left = [row for row in left if row["isPrimaryMeterRegion"]]
    return left[0]["retailPrice"] if len(left) == 1 else None


def of_node(rows: Sequence[Row], size: str, region: str) -> list[Row]:
    return [row for row in rows if (row["armSkuName"], row["armRegionName"]) == (size, region)]


def _is_candidate(row: Row, now: str) -> bool:
    names = f"{row['productName']}\n{row['skuName']}\n{row['meterName']}\n"
    return (
        row["type"] == "Consumption"
        and not re.search(r"Cloud ?Services|Dedicated Host|Expired\n", names)
        and row.get("effectiveEndDate", "9999") > now
        and row["tierMinimumUnits"] == 0
        and row["retailPrice"] > 0
        and row["effectiveStartDate"] <= now
    )


def _priority(row: Row) -> str:
    found = re.search(r" (Spot|Low Priority)$", row["skuName"])
    return found[1] if found else "Regular"


def _parameter(name: str) -> str:
    return name.replace("_", "$", 1) if name.startswith("_") else name.replace("_", "-")
