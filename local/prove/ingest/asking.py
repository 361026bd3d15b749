"""Reads all ingested data from the API and has it judged."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode

from local.prove.ingest.book import WrittenData
from local.prove.ingest.judging import Verdict, judge_events, judge_node, judge_rejects, judge_totals
from local.prove.ingest.pens import POOL
from local.prove.stack.api import Stack, call

_PAGE = 1000


def compare(stack: Stack, book: WrittenData, since: datetime, *, killed: bool) -> dict[str, Verdict]:
    """Returns verdicts by subject; `since` precedes the first sample, and hosts may have been `killed`.

    Raises the error of a host that doesn't answer.
    """
    account = f"{stack.api}/accounts/{stack.account}"
    telemetry = urlencode({"from": since.isoformat(), "step": "PT1M"})
    found = {
        node: judge_node(node, call("GET", f"{account}/pools/{POOL}/nodes/{quote(node)}/telemetry?{telemetry}"), book)
        for node in book.nodes
    }
    found["events"] = judge_events(list(_listed(f"{account}/events")), book)
    found["rejects"] = judge_rejects(_listed(f"{account}/rejects"), book)
    found["totals"] = judge_totals(call("GET", f"{account}/ingestion"), book, killed=killed)
    return found


def _listed(url: str) -> Iterator[Mapping[str, Any]]:
    """Yields all entries of a list, following next links."""
    following: str | None = f"{url}?maxpagesize={_PAGE}"
    while following:
        page = call("GET", following)
        yield from page["value"]
        following = page.get("nextLink")
