"""Requests every route of the API at a steady rate, for jobs, tasks, pools and nodes from recent lists."""

import asyncio
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import aiohttp

from local.prove.soak.feeding import POOL

_AT_ONCE = 40  # requests; above this the hosts are too slow, which the reached rate shows
_MAX_EXAMPLES = 20
_SERVER_ERRORS = HTTPStatus.INTERNAL_SERVER_ERROR
_TIMEOUT = aiohttp.ClientTimeout(total=60)
_ROUTES = (
    "accounts", "accounts/{a}", "accounts/{a}/jobs?maxpagesize=20", "accounts/{a}/jobs?state=active", "health",
    "accounts/{a}/jobs/{j}", "accounts/{a}/jobs/{j}/tasks?maxpagesize=100", "accounts/{a}/jobs/{j}/tasks?state=active",
    "accounts/{a}/jobs/{j}/failures", "accounts/{a}/jobs/{j}/history", "accounts/{a}/jobs/{j}/explanation",
    "accounts/{a}/jobs/{j}/tasks/{t}/output",
    "accounts/{a}/jobs/{j}/timeline", "accounts/{a}/jobs/{j}/tasks/{t}", "accounts/{a}/jobs/{j}/tasks/{t}/telemetry",
    "accounts/{a}/jobs/{j}/tasks?format=csv&maxpagesize=200", "accounts/{a}/jobschedules",
    "accounts/{a}/jobschedules/{s}", "accounts/{a}/pools", "accounts/{a}/pools/{p}", "accounts/{a}/pools/{p}/history",
    "accounts/{a}/telemetry?name=system.memory", "accounts/{a}/pools/{p}/telemetry",
    "accounts/{a}/pools/{p}/telemetry/nodes?name=system.uptime", "accounts/{a}/pools/{p}/telemetry/metrics",
    "accounts/{a}/pools/{p}/agent",
    "accounts/{a}/pools/{p}/agent/nodes", "accounts/{a}/pools/{p}/queue", "accounts/{a}/pools/{p}/startup",
    "accounts/{a}/pools/{p}/cost", "accounts/{a}/pools/{p}/cost?format=csv",
    "accounts/{a}/pools/{p}/nodes", "accounts/{a}/pools/{p}/nodestates", "accounts/{a}/pools/{p}/autoscaleruns",
    "accounts/{a}/pools/{p}/nodes/{n}", "accounts/{a}/pools/{p}/nodes/{n}/telemetry",
    "accounts/{a}/pools/{p}/nodes/{n}/files", "accounts/{a}/pools/{p}/nodes/{n}/files/startup/stdout.txt?tail=100",
    "accounts/{a}/pools/{p}/nodes/{n}/output",
    "accounts/{a}/pools/{p}/nodes/{n}/telemetry?step=PT1M", "accounts/{a}/pools/{p}/nodes/{n}/telemetry?format=csv",
    "accounts/{a}/events?maxpagesize=100", "accounts/{a}/events?job={j}", "accounts/{a}/ingestion",
    "accounts/{a}/rejects?maxpagesize=50", "accounts/{a}/monitoring", "accounts/{a}/prices", "accounts/{a}/cost",
    "accounts/{a}/quotas",
    "accounts/{a}/cost/summary", "accounts/{a}/cost/waste", "accounts/{a}/budgets", "accounts/{a}/jobs/{j}/cost",
    "accounts/{a}/jobs/{j}/efficiency", "accounts/{a}/jobs/{j}/whatif?slots=2", "accounts/{a}/jobs/{j}/comparison",
    "accounts/{a}/pools/{p}/whatif?formula=$TargetDedicatedNodes=3;",
    "accounts/{a}/efficiency",
    "retirements", "conditions", "metrics", "openapi.json", "",
    "accounts/{a}/jobschedules/{s}/cost", "accounts/{a}/cost/focus",
)  # fmt: skip
_SOAKED = f"accounts/{{a}}/pools/{POOL}/nodes/{{m}}/telemetry"
_SOAKED_TASK = "accounts/{a}/jobs/job-{k}/tasks/task-{k}/telemetry"
_POLL = "accounts/{a}/poll"


@dataclass(slots=True)
class QueryCounts:
    """Answers by status; `broken` counts requests without an answer, `examples` shows both kinds of failure."""

    statuses: Counter[int] = field(default_factory=Counter)
    broken: int = 0
    seconds: float = 0.0
    routes: set[str] = field(default_factory=set)
    examples: list[str] = field(default_factory=list)

    @property
    def all(self) -> int:
        return self.statuses.total() + self.broken

    @property
    def failed(self) -> int:
        server_errors = (number for status, number in self.statuses.items() if status >= _SERVER_ERRORS)
        return self.broken + sum(server_errors)


class QuerySender:
    """Sends requests to several hosts in turn; `apis` end in /api."""

    def __init__(self, apis: list[str], account: str, *, per_second: float, seed: int) -> None:
        self._apis, self._account, self._pause = apis, account, 1 / per_second
        self._chance = random.Random(f"{seed} questions")
        self._known: dict[str, list[str]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.asked = QueryCounts()

    async def run(self, until: float) -> None:
        """Runs until a time of the monotonic clock; skips requests that can't be sent in time."""
        async with aiohttp.ClientSession(timeout=_TIMEOUT) as session:
            following = time.monotonic()
            while following < until:
                await asyncio.sleep(max(0.0, following - time.monotonic()))
                following = max(following + self._pause, time.monotonic() - 1)
                if len(self._tasks) < _AT_ONCE:
                    task = asyncio.create_task(self._ask(session))
                    self._tasks.add(task)
                    task.add_done_callback(self._tasks.discard)
            await asyncio.gather(*self._tasks)

    async def _ask(self, session: aiohttp.ClientSession) -> None:
        api, began = self._chance.choice(self._apis), time.monotonic()
        route = self._chance.choice((*_ROUTES, _SOAKED, _SOAKED, _SOAKED_TASK, _POLL))
        path = self._filled(route)
        if path is None:
            path = route = "accounts/{a}/jobs".replace("{a}", self._account)
        method = "POST" if route is _POLL else "GET"
        try:
            body = {"all": True} if route is _POLL else None
            url = api.removesuffix("/api") + "/" if not route else f"{api}/{path}"
            async with session.request(method, url, json=body) as answer:
                content = await answer.read()
                self._note(f"{method} {path}", answer.status, content)
                if answer.status == HTTPStatus.OK and route and answer.content_type == "application/json":
                    self._learn(route, path, await answer.json())
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            self.asked.broken += 1
            self._example(f"{method} {path}: {type(error).__name__} {error}")
        self.asked.routes.add(route)
        self.asked.seconds += time.monotonic() - began

    def _note(self, question: str, status: int, content: bytes) -> None:
        self.asked.statuses[status] += 1
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            self._example(f"{question}: {status} {content[:200].decode(errors='replace')}")

    def _example(self, text: str) -> None:
        if len(self.asked.examples) < _MAX_EXAMPLES:
            self.asked.examples.append(text)

    def _filled(self, route: str) -> str | None:
        """Returns the route with its parameters filled in; None if no name is known for one of them."""
        values = {"{a}": self._account, "{m}": f"node-{self._chance.randrange(400)}"}
        values["{k}"] = str(self._chance.randrange(50))
        for place, whole in (("{j}", "{j}/tasks/{t}"), ("{p}", "{p}/nodes/{n}"), ("{s}", "{s}")):
            kind = whole if whole in route else place
            if place in route:
                if not self._known.get(kind):
                    return None
                values[kind] = self._chance.choice(self._known[kind])
        for place, value in values.items():
            route = route.replace(place, value)
        return route

    def _learn(self, route: str, path: str, answer: Any) -> None:
        """Stores the names in a list's answer."""
        if not isinstance(answer, dict) or not answer.get("value"):
            return
        lists = {"{a}/jobs": "{j}", "{a}/pools": "{p}", "{a}/jobschedules": "{s}"}
        kind = next((place for end, place in lists.items() if route.partition("?")[0].endswith(end)), None)
        parts = path.partition("?")[0].split("/")
        if kind:
            self._known[kind] = [quote(one["id"], safe="") for one in answer["value"]]
        elif "/tasks?" in route:
            self._add("{j}/tasks/{t}", [f"{parts[3]}/tasks/{quote(one['id'], safe='')}" for one in answer["value"]])
        elif route.endswith("/nodes"):
            self._add("{p}/nodes/{n}", [f"{parts[3]}/nodes/{quote(one['id'], safe='')}" for one in answer["value"]])

    def _add(self, kind: str, names: list[str]) -> None:
        self._known[kind] = [*names, *self._known.get(kind, [])][:500]
