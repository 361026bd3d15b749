"""The list of retail prices: its route, without authentication as at the service, and its controls."""

from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from math import isfinite
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import web

from local.batch_emulator.core.injection import Fault
from local.batch_emulator.core.stamps import SECOND, parse_stamp
from local.batch_emulator.emulator import Emulator
from local.batch_emulator.entities import Json
from local.batch_emulator.http.broken_responses import json_response
from local.batch_emulator.prices.price_items import CURRENCIES
from local.batch_emulator.prices.price_list import PriceChange
from local.batch_emulator.prices.price_queries import price_page, read_price_query

PATH = "/api/retail/prices"
_ROUTE = f"GET {PATH}"
_OK, _BAD_REQUEST, _NOT_ALLOWED = 200, 400, 405
_CHANGE = ("armSkuName", "armRegionName", "factor", "effectiveStartDate")
_MAX_FACTOR = 1_000


class PriceHandler:
    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator

    async def handle(self, incoming: web.BaseRequest) -> web.StreamResponse:
        """Answers with a page, 400 with the reason, or as a fault has it; only requests without a fault count."""
        return await json_response(incoming, self._emulator, partial(self._answer, incoming))

    def _answer(self, incoming: web.BaseRequest, fault: Fault | None) -> tuple[int, Json]:
        if fault and fault.status:
            return fault.status, _error(fault.code, "This failure was asked for.")
        if incoming.method != "GET":
            return _NOT_ALLOWED, _error("MethodNotAllowed", f"There is only {_ROUTE}.")
        status, body = self._page(incoming)
        self._emulator.count_request(_ROUTE, PATH, body.get("Count", 0), incoming.headers.get("User-Agent", ""))
        return status, body

    def _page(self, incoming: web.BaseRequest) -> tuple[int, Json]:
        try:
            query = read_price_query(parse_qsl(incoming.rel_url.raw_query_string, keep_blank_values=True))
        except ValueError as error:
            return _BAD_REQUEST, _error("BadRequest", str(error))
        size = self._emulator.settings.pricePageSize
        return _OK, price_page(self._emulator.prices, query, size, _address(incoming))


def right_prices(emulator: Emulator, query: Mapping[str, str]) -> Json:
    """Returns the right price of each kind of node. Raises ValueError for another currency or parameter."""
    currency = query.get("currencyCode", "USD")
    if query.keys() - {"currencyCode"} or currency not in CURRENCIES:
        raise ValueError(f"Prices have one parameter, currencyCode, which is one of {', '.join(CURRENCIES)}.")
    prices = emulator.prices.right_prices(currency, emulator.clock.now)
    return {"currencyCode": currency, "prices": prices}


def change_prices(emulator: Emulator, body: Mapping[str, Any]) -> Json:
    """Changes prices of a size in a region from a moment on, by default now. Raises ValueError."""
    if unknown := sorted(body.keys() - set(_CHANGE)):
        raise ValueError(f"There is no '{unknown[0]}' in a change of prices; known are {', '.join(_CHANGE)}.")
    factor = body.get("factor")
    if isinstance(factor, bool) or not isinstance(factor, int | float) or not isfinite(factor):
        raise ValueError("factor is a number.")
    if not 0 < factor <= _MAX_FACTOR:
        raise ValueError(f"factor is above 0 and at most {_MAX_FACTOR}.")
    size, region = (str(body.get(name, "")) for name in ("armSkuName", "armRegionName"))
    start = body.get("effectiveStartDate")
    starts = emulator.clock.now if start is None else parse_stamp(str(start))
    change = PriceChange(size, region, Decimal(str(factor)), starts - starts % SECOND)
    return {"rows": emulator.prices.change(change)}


def _address(incoming: web.BaseRequest) -> str:
    """Returns the list's address with its port, as the service writes it even where it is the scheme's own."""
    url = incoming.url
    return f"{url.scheme}://{url.host_subcomponent}:{url.port}{PATH}"


def _error(code: str, message: str) -> Json:
    return {"Error": {"Code": code, "Message": message}}
