"""A front before the Batch emulator that checks the requested ranges of a task list.

After a kill it gets the stored remainder of the dead process. From then on every request must continue a part of that:
a stored link, a range not begun or a part of one, or a link that follows one of these.
"""

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

import orjson
from aiohttp import ClientSession, web
from yarl import URL

from local.prove.fleet.failing_fronts import Front

_LIST = re.compile(r"/jobs/[^/]+/tasks$")
_LOW, _HIGH = re.compile(r"\bid ge '([^']*)'"), re.compile(r"\bid lt '([^']*)'")
_SINCE = re.compile(r"stateTransitionTime ge DateTime'([^']*)'")

type Link = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Span:
    """Ids from `low` (inclusive) to `high` (exclusive); None is unbounded."""

    low: str | None
    high: str | None

    def contains(self, other: "Span") -> bool:
        above = self.low is None or (other.low is not None and other.low >= self.low)
        return above and (self.high is None or (other.high is not None and other.high <= self.high))


@dataclass(frozen=True, slots=True)
class Remainder:
    """The remainder of a list of all tasks, or of those changed `since`: links to follow, and spans not begun.

    `begun` are the spans of the links.
    """

    since: datetime | None
    links: frozenset[Link]
    spans: tuple[Span, ...]
    begun: tuple[Span, ...] = ()

    @property
    def ranges(self) -> int:
        return len(self.links) + len(self.spans)

    @classmethod
    def of(cls, since: datetime | None, ranges: list[Any]) -> Self:
        """Returns the remainder from the plan's row: low, high, next link and depth of each range."""
        links = frozenset(_link(cursor) for _, _, cursor, _ in ranges if cursor)
        spans = tuple(Span(low, high) for low, high, cursor, _ in ranges if not cursor)
        return cls(since, links, spans, tuple(Span(low, high) for low, high, cursor, _ in ranges if cursor))

    def goes_on_from(self, earlier: "Remainder") -> bool:
        """Returns whether all of it was also left earlier, or belongs to the following list of changes."""
        if self.since != earlier.since:
            return self.since is not None and (earlier.since is None or self.since > earlier.since)
        untouched = all(any(span.contains(mine) for span in earlier.spans) for mine in self.spans)
        left = (*earlier.spans, *earlier.begun)
        return untouched and all(any(span.contains(mine) for span in left) for mine in self.begun)


@dataclass(frozen=True, slots=True)
class PageRequest:
    """One request for a page. `link` identifies a continuation; otherwise its filter defines the span."""

    link: Link | None
    span: Span
    since: datetime | None

    @property
    def is_part(self) -> bool:
        """False for the first page of a list of all tasks, which rounds also read, to estimate its length."""
        return self.since is None and (self.link is not None or self.span != Span(None, None))

    @classmethod
    def of(cls, target: str) -> "PageRequest":
        query = dict(parse_qsl(urlsplit(target).query))
        low, high, since = (pattern.search(query.get("$filter", "")) for pattern in (_LOW, _HIGH, _SINCE))
        return cls(
            _link(target) if "$skiptoken" in query else None,
            Span(low and low[1], high and high[1]),
            datetime.fromisoformat(since[1]) if since else None,
        )


@dataclass(slots=True, eq=False)
class RequestWatch:
    """The watch over one first read. `wrong` are requests for stored data; `served` counts tasks of full lists.

    `asked` counts requests for pages in the current host process.
    """

    served: int = 0
    asked: int = 0
    wrong: list[str] = field(default_factory=list)
    life: int = 0
    _left: Remainder | None = None
    _links: set[Link] = field(default_factory=set)
    _seen: set[PageRequest] = field(default_factory=set)

    def begin_life(self, left: Remainder | None) -> None:
        """Records the start of a host; `left` is the stored remainder that it must continue, None without one."""
        self.life += 1
        self.asked = 0
        self._left = left
        self._links = set(left.links) if left else set()
        self._seen.clear()

    def ask(self, ask: PageRequest, target: str) -> None:
        self.asked += 1
        if not self._is_allowed(ask) or (ask in self._seen and ask.is_part):
            self.wrong.append(f"life {self.life}: {target}")
        self._seen.add(ask)

    def answered(self, ask: PageRequest, life: int, tasks: int, next_link: str | None) -> None:
        self.served += 0 if ask.since else tasks
        if life == self.life and next_link:
            self._links.add(_link(next_link))

    def _is_allowed(self, ask: PageRequest) -> bool:
        left = self._left
        if ask.link is not None:
            return ask.link in self._links
        if left is None:
            return True  # nothing is stored, so it starts again, but without links of earlier processes
        if ask.since is None:
            return left.since is None and any(span.contains(ask.span) for span in left.spans)
        if left.since is None or abs(ask.since - left.since) > timedelta(milliseconds=1):
            return True  # another list: a comparison, or changes during this one
        return any(span.contains(ask.span) for span in left.spans)


@dataclass(slots=True, eq=False)
class WatchingFront:
    """The front; `watch` may be replaced at any time."""

    emulator: str
    session: ClientSession
    watch: RequestWatch
    _front: Front = field(init=False)

    async def start(self) -> str:
        """Starts the front and returns its address."""
        self._front = Front(self.emulator, self.session, fails=self._serve)
        await self._front.start()
        return f"http://127.0.0.1:{self._front.port}"

    async def stop(self) -> None:
        await self._front.stop()

    async def _serve(self, front: Front, request: web.BaseRequest) -> web.StreamResponse:
        host = {"Host": request.headers["Host"]}  # next links lead back here
        if not (request.method == "GET" and _LIST.search(request.path)):
            return await front.passed_on(request, host)
        watch, ask = self.watch, PageRequest.of(request.raw_path)
        life = watch.life
        watch.ask(ask, str(URL(request.raw_path, encoded=True)))
        answer = await front.passed_on(request, host)
        if answer.status == 200 and isinstance(answer.body, bytes):  # noqa: PLR2004
            page = orjson.loads(answer.body)
            watch.answered(ask, life, len(page["value"]), page.get("odata.nextLink"))
        return answer


def _link(target: str) -> Link:
    return frozenset(parse_qsl(urlsplit(target).query))
