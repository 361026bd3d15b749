"""Calls operations of an emulator without HTTP, as the server would after authentication."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

import orjson

from local.batch_emulator.core.errors import BatchError
from local.batch_emulator.core.settings import EmulatorSettings
from local.batch_emulator.core.stamps import parse_stamp
from local.batch_emulator.emulator import Emulator
from local.batch_emulator.http.routing import find_operation
from local.batch_emulator.protocol.auth import DEVELOPMENT_KEY
from local.batch_emulator.protocol.requests import Request

_VERSION = "2025-06-01"


class Direct:
    """A stepped emulator with correct node clocks and one account."""

    def __init__(self, seed: int) -> None:
        self.emulator = Emulator(
            {"demo": DEVELOPMENT_KEY},
            seed=seed,
            stepped=True,
            start=parse_stamp("2026-01-05T08:00:00Z"),
            settings=EmulatorSettings(nodeClockSkewSeconds=0.0, preemptionSeconds=300.0),
        )

    def advance(self, seconds: float) -> None:
        self.emulator.event_queue.advance(seconds)

    def call(self, method: str, path: str, body: Any = None, **query: str) -> tuple[int, Any]:
        """Returns status, and the body or the error's code.

        A write takes a millisecond, as no two occur at the same instant.
        """
        if method != "GET":
            self.advance(0.001)
        path, _, plain = path.partition("?")
        names: Mapping[str, str] = {"api-version": _VERSION, **{f"${name}": each for name, each in query.items()}}
        names = {**names, **dict(parse_qsl(plain))}
        operation, ids = find_operation(method, path)
        raw = b"" if body is None else orjson.dumps(body)
        simulation = self.emulator.simulations["demo"]
        request = Request(method, "http://x", path, ids, names, {}, raw, simulation, self.emulator.settings)
        try:
            answer = operation.run(request)
        except BatchError as refusal:
            return refusal.status, refusal.code
        return answer.status, answer.body

    def rows(self, path: str, **query: str) -> list[dict[str, Any]]:
        """Returns the rows of a list of one page."""
        status, body = self.call("GET", path, **query)
        assert status == 200, body
        assert "odata.nextLink" not in body
        return list(orjson.loads(orjson.dumps(body["value"])))
