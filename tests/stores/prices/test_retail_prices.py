"""Requests for retail prices, against a server on this machine that fails in every way that a list may."""

import json
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from yarl import URL

from shared.errors import PriceAnswerError, PriceSourceError
from shared.stores.prices.retail_prices import RetailPrices
from tests.domain.prices.odd_pages import BESIDE, USUAL, row
from tests.stores.loopback import on_loopback

PATH = "/api/retail/prices"
SIZE, REGION = "standard_d4s_v5", "westeurope"
type Reply = Callable[[web.BaseRequest], web.StreamResponse]


class PriceServer:
    """A server whose replies are taken in turn, the last one again and again; it keeps what was requested."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.requests: list[URL] = []
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{PATH}"

    async def serve(self, request: web.BaseRequest) -> web.StreamResponse:
        self.requests.append(URL(str(request.rel_url), encoded=True))
        reply = self.replies[0] if len(self.replies) == 1 else self.replies.pop(0)
        found = reply(request)
        if isinstance(found, _Broken):
            await found.prepare(request)
            await found.write(b'{"Items": [')
            assert request.transport
            request.transport.abort()
        return found


class _Broken(web.StreamResponse):
    """A response that ends before its body does."""


@pytest_asyncio.fixture
async def server() -> AsyncIterator[PriceServer]:
    found = PriceServer()
    async with on_loopback(found.serve) as found.port:
        yield found


def page(*rows: Any, link: str | None = None) -> Reply:
    body = {"BillingCurrency": "USD", "Items": rows, "NextPageLink": link, "Count": len(rows)}
    return lambda _: web.Response(body=json.dumps(body).encode(), content_type="application/json")


def status(number: int, **headers: str) -> Reply:
    return lambda _: web.Response(status=number, headers={name.replace("_", "-"): v for name, v in headers.items()})


def broken(_: web.BaseRequest) -> web.StreamResponse:
    return _Broken(headers={"Content-Length": "900"})


async def prices_of(server: PriceServer, *, seconds: float = 10) -> list[float]:
    source = RetailPrices(server.url, first_pause=timedelta(), limit=timedelta(seconds=seconds))
    return [float(item.hourly) for item in (await source.fetch(SIZE, REGION, "EUR")).items]


USUAL_PRICES = [one["retailPrice"] for one in USUAL]


async def test_a_size_is_requested_by_its_usual_spelling_in_one_region_and_currency(server: PriceServer) -> None:
    server.replies = [page(*USUAL)]
    assert await prices_of(server) == USUAL_PRICES
    (sent,) = server.requests
    assert (sent.path, dict(sent.query)) == (PATH, {
        "api-version": "2023-01-01-preview", "currencyCode": "'EUR'",
        "$filter": "serviceName eq 'Virtual Machines' and armRegionName eq 'westeurope'"
                   " and armSkuName eq 'Standard_D4s_v5'",
    })  # fmt: skip


async def test_a_size_without_rows_is_requested_once_more_where_letters_do_not_matter(server: PriceServer) -> None:
    server.replies = [page(), page(row(armSkuName="Standard_D4S_v5"))]
    assert await prices_of(server) == [0.2]
    assert ["api-version" in sent.query for sent in server.requests] == [True, False]
    server.replies = [page()]
    assert await prices_of(server) == []


async def test_pages_are_followed_with_port_and_position_and_odd_rows_are_counted(server: PriceServer) -> None:
    server.replies = [page(row(), 7, link=f"{server.url}?$filter=a eq 'b'&$skip=2"), page(*BESIDE, row("odd"))]
    source = RetailPrices(server.url, first_pause=timedelta())
    found = await source.fetch(SIZE, REGION, "USD")
    assert (len(found.items), found.unread) == (len(USUAL), 2)
    assert server.requests[1].query["$skip"] == "2"


@pytest.mark.parametrize("failure", [
    status(429), status(500), status(503), status(429, Retry_After="0"), status(429, Retry_After="soon"), broken,
])  # fmt: skip
async def test_a_failed_request_is_sent_again(server: PriceServer, failure: Reply) -> None:
    server.replies = [failure, failure, failure, failure, page(*USUAL)]
    assert await prices_of(server) == USUAL_PRICES
    server.requests.clear()
    server.replies = [failure]
    with pytest.raises(PriceSourceError, match="after 5 tries"):
        await prices_of(server)
    assert len(server.requests) == 5


async def test_a_failure_within_the_pages_repeats_that_page_alone(server: PriceServer) -> None:
    server.replies = [page(row(), link=f"{server.url}?$skip=1"), broken, status(500), page(*BESIDE)]
    assert await prices_of(server) == USUAL_PRICES


async def test_pauses_double_and_are_those_that_the_list_asks_for(
    server: PriceServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr("shared.stores.prices.retail_prices.asyncio.sleep", pause)
    server.replies = [status(429), status(429, Retry_After="20"), status(500), status(429, Retry_After="900")]
    server.replies.append(page(*USUAL))
    await RetailPrices(server.url).fetch(SIZE, REGION, "USD")
    assert pauses == [4, 20, 16, 60]


@pytest.mark.parametrize("link", [
    "http://127.0.0.1:9/api/retail/prices?$skip=1", "http://localhost:{port}/api/retail/prices?$skip=1",
    "https://127.0.0.1:{port}/api/retail/prices?$skip=1", "http://127.0.0.1:{port}/elsewhere?$skip=1",
    "http://user@127.0.0.1:{port}/api/retail/prices?$skip=1", "/api/retail/prices?$skip=1", "nonsense",
    "http://[", "http://127.0.0.1:{port}:1/",
        "http://127.0.0.1:{port}/api/retail/prices?a\r\nHost: b",
])  # fmt: skip
async def test_a_next_link_that_leads_elsewhere_is_never_followed(server: PriceServer, link: str) -> None:
    server.replies = [page(row(), link=link.format(port=server.port))]
    with pytest.raises(PriceAnswerError, match="leads elsewhere"):
        await prices_of(server)
    assert len(server.requests) == 1


async def test_links_without_end_are_broken_off(server: PriceServer) -> None:
    server.replies = [page(row(), link=f"{server.url}?$skip=1")]
    with pytest.raises(PriceAnswerError, match="next link twice"):
        await prices_of(server)
    server.requests.clear()
    server.replies = [page(row(), link=f"{server.url}?$skip={number}") for number in range(60)]
    with pytest.raises(PriceAnswerError, match="more than 20 pages"):
        await prices_of(server)
    assert len(server.requests) == 20


@pytest.mark.parametrize("reply", [
    status(400), status(404), status(301, Location="/elsewhere"), status(204),
    lambda _: web.Response(text="<html>"), lambda _: web.Response(text='{"value": []}'),
    lambda _: web.Response(text='{"Items": [{"retailPrice": NaN}]}'),
    lambda _: web.Response(body=b" " * (5 << 20)),
])  # fmt: skip
async def test_an_answer_that_is_no_page_is_refused_at_once(server: PriceServer, reply: Reply) -> None:
    server.replies = [reply]
    with pytest.raises(PriceAnswerError):
        await prices_of(server)
    assert len(server.requests) == 1


async def test_a_list_that_cannot_be_reached_is_named() -> None:
    source = RetailPrices(f"http://127.0.0.1:9{PATH}", first_pause=timedelta())
    with pytest.raises(PriceSourceError, match="can't be reached"):
        await source.fetch(SIZE, REGION, "USD")
