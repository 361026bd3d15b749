"""Recorded exchanges with the real service, replayed: same status, same headers, same shape of bodies.

The requests are sent to the emulator in their order, with their recorded pauses. A body depends on the progress of its
job or pool, so shapes are compared over all answers of a route. DIFFERENCES lists the known deviations with reasons.
"""

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from tests.emulator.protocol.shapes import header_kind, shape
from tests.emulator.support.conformance import conformance
from tests.emulator.support.driver import Answer, Driver

_PREPARING = "tasks are preparing on their way, as with a job preparation task, since clients must cope with it"
DIFFERENCES: Mapping[str, str] = {
    "GET jobs * tasks: + /value[]/previousState word preparing": _PREPARING,
    "GET jobs * tasks: - /value[]/previousState word active": _PREPARING,
    "GET pools * nodes: - /value[]/certificateReferences list": "certificates were retired in February 2024",
    "GET pools * nodes: - /value[]/state word creating": "a pool is steady once its nodes start, not before",
}
_LEFT_OUT_HEADERS: Mapping[str, str] = {
    "transfer-encoding": "framing: answers have a length, recorded ones came in chunks",
    "content-length": "the same",
    "content-encoding": "the recorder kept bodies unpacked, so whether they came compressed isn't known",
    "strict-transport-security": "the recordings are of https, the emulator serves http",
}
_SPEEDS = {True: 1.5, False: 0.5}  # recorded tasks took a second, recorded nodes were slow
_LONGEST_PAUSE = 30.0


@dataclass(slots=True)
class Seen:
    """The shapes of one route's answers."""

    recorded: set[tuple[str, str]] = field(default_factory=set)
    emulated: set[tuple[str, str]] = field(default_factory=set)

    def missing(self) -> set[str]:
        return {f"- {path} {kind}" for path, kind in self.recorded - self.emulated}

    def added(self) -> set[str]:
        return {f"+ {path} {kind}" for path, kind in self.emulated - self.recorded}


def _exchanges() -> list[Any]:
    folder = conformance("batch-rest/recorded")
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]


def _headers(found: Mapping[str, Any]) -> dict[str, str]:
    flat = {name.lower(): value[0] if isinstance(value, list) else value for name, value in found.items()}
    return {name: header_kind(name, value) for name, value in flat.items() if name not in _LEFT_OUT_HEADERS}


def _route(method: str, path: str) -> str:
    parts = path.strip("/").split("/")
    return " ".join([method, *(part if place % 2 == 0 else "*" for place, part in enumerate(parts))])


async def _play(driver: Driver, exchange: Any) -> tuple[str, Answer]:
    asked = exchange["request"]
    parts = urlsplit(asked["uri"])
    sent = {
        name: asked["headers"][name][0]
        for name in ("client-request-id", "return-client-request-id")
        if name in asked["headers"]
    }
    url = f"{driver.url}{parts.path}?{parts.query}"
    return _route(asked["method"], parts.path), await driver.follow(asked["method"], url, asked["body"], headers=sent)


def _pause(exchange: Any, before: float) -> tuple[float, float]:
    at = parsedate_to_datetime(exchange["response"]["headers"]["Date"][0]).timestamp()
    return min(max(at - before, 0), _LONGEST_PAUSE) if before else 0, at


async def test_recorded_exchanges_are_answered_as_the_service_did(stepped: Driver) -> None:
    routes: dict[str, Seen] = defaultdict(Seen)
    wrong: list[str] = []
    before = 0.0
    for exchange in _exchanges():
        pause, before = _pause(exchange, before)
        speed = _SPEEDS["jobs" in exchange["request"]["uri"]]
        await stepped.control("POST", "clock", {"speed": speed})
        await stepped.advance(pause)
        route, answer = await _play(stepped, exchange)
        response = exchange["response"]
        if answer.status != response["status"]["code"]:
            wrong.append(f"{route}: {answer.status} {answer.body} for {response['status']['code']}")
        headers, recorded = _headers(answer.headers), _headers(response["headers"])
        wrong += [f"{route}: header {name} {each}" for name, each in sorted(headers.items() ^ recorded.items())]
        for body, seen in ((response["body"], routes[route].recorded), (answer.body, routes[route].emulated)):
            seen.update(shape(body) if body is not None else ())
    found = {f"{route}: {each}" for route, seen in routes.items() for each in seen.missing() | seen.added()}
    unexplained = sorted({*found, *wrong})
    assert unexplained == sorted(DIFFERENCES)
