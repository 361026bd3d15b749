"""Drives the emulator by bare HTTP, with its own signer, for details that the official client hides."""

import base64
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import aiohttp
import orjson
from yarl import URL

from local.batch_emulator.emulator import Emulator
from local.batch_emulator.protocol.auth import DEVELOPMENT_KEY

API = "2025-06-01"
JSON = "application/json; odata=minimalmetadata"
_SIGNED = "content-encoding content-language content-length content-md5 content-type date if-modified-since if-match"
_SIGNED += " if-none-match if-unmodified-since range"


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: Any

    @property
    def code(self) -> str:
        return str(self.body["code"])

    @property
    def values(self) -> dict[str, str]:
        return {each["key"]: each["value"] for each in self.body.get("values", [])}


@dataclass(slots=True)
class Driver:
    url: str
    session: aiohttp.ClientSession
    emulator: Emulator
    account: str = "demo"
    key: str = DEVELOPMENT_KEY

    async def control(self, method: str, name: str, body: Any = None) -> Any:
        answer = await self.try_control(method, name, body)
        assert answer.status in (200, 201), answer.body
        return answer.body

    async def try_control(self, method: str, name: str, body: Any = None) -> Answer:
        payload = None if body is None else orjson.dumps(body)
        async with self.session.request(method, f"{self.url}/_emulator/{name}", data=payload) as response:
            return Answer(response.status, response.headers, orjson.loads(await response.read()))

    async def advance(self, seconds: float) -> None:
        await self.control("POST", "clock", {"advanceSeconds": seconds})

    async def call(
        self, method: str, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None, **query: Any
    ) -> Answer:
        """Sends one signed request; query names with `$` are given as `_filter`, `_select` and so on."""
        named = {name.replace("_", "$", 1) if name.startswith("_") else name: value for name, value in query.items()}
        text = urlencode({"api-version": API, **named}, quote_via=quote)
        return await self.follow(method, f"{self.url}{path}?{text}", body, headers=headers)

    async def follow(
        self, method: str, url: str, body: Any = None, *, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Sends one signed request to a whole address, such as a next link."""
        payload = None if body is None else orjson.dumps(body)
        sent = {"ocp-date": format_datetime(datetime.now(UTC), usegmt=True), **(headers or {})}
        if payload is not None:
            sent |= {"content-type": JSON, "content-length": str(len(payload))}
        sent.setdefault("authorization", f"SharedKey {self.account}:{self.signature(method, url, sent)}")
        asked = self.session.request(
            method, URL(url, encoded=True), data=payload, headers=sent, skip_auto_headers=["Content-Type"]
        )
        async with asked as response:
            raw = await response.read()
            return Answer(response.status, response.headers, orjson.loads(raw) if raw else None)

    def signature(self, method: str, url: str, sent: Mapping[str, str]) -> str:
        headers = {name.lower(): value for name, value in sent.items()}
        lines = [method, *(headers.get(name, "") for name in _SIGNED.split())]
        lines += [f"{name}:{value}" for name, value in sorted(headers.items()) if name.startswith("ocp-")]
        parts = urlsplit(url)
        pairs = sorted(parse_qsl(parts.query))
        lines += [f"/{self.account}{parts.path}", *(f"{name}:{value}" for name, value in pairs if value)]
        digest = hmac.new(base64.b64decode(self.key), "\n".join(lines).encode(), hashlib.sha256).digest()
        return base64.b64encode(digest).decode()

    async def pages(self, path: str, **query: Any) -> list[Answer]:
        """Returns all pages of a list."""
        found = [await self.call("GET", path, **query)]
        while link := found[-1].body.get("odata.nextLink"):
            found.append(await self.follow("GET", link))
        return found

    async def rows(self, path: str, **query: Any) -> list[Any]:
        return [row for page in await self.pages(path, **query) for row in page.body["value"]]

    async def add_pool(self, name: str = "pool", nodes: int = 2, **spec: Any) -> None:
        body = {"id": name, "vmSize": "standard_d2s_v5", "targetDedicatedNodes": nodes, **spec}
        assert (await self.call("POST", "/pools", body)).status == 201

    async def add_job(self, name: str = "job", pool: str = "pool", **spec: Any) -> None:
        body = {"id": name, "poolInfo": {"poolId": pool}, **spec}
        assert (await self.call("POST", "/jobs", body)).status == 201

    async def add_tasks(self, job: str = "job", *lines: str, **spec: Any) -> None:
        """Adds tasks t000, t001, … with these command lines."""
        tasks = [{"id": f"t{number:03}", "commandLine": line, **spec} for number, line in enumerate(lines)]
        for start in range(0, len(tasks), 100):
            answer = await self.call("POST", f"/jobs/{job}/addtaskcollection", {"value": tasks[start : start + 100]})
            assert {row["status"] for row in answer.body["value"]} == {"Success"}, answer.body

    async def truth_jobs(self) -> dict[str, Any]:
        """Returns the account's jobs from the controls."""
        found: dict[str, Any] = (await self.control("GET", "truth"))["accounts"][self.account]["jobs"]
        return found

    async def task(self, name: str = "t000", job: str = "job") -> Any:
        return (await self.call("GET", f"/jobs/{job}/tasks/{name}")).body
