"""Fronts before the Batch emulator, one per account; each can fail in its own way.

Until `fail` is called a front passes everything on, so that the app knows the account's jobs by then.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from aiohttp import ClientSession, web
from yarl import URL

type Answer = Callable[["Front", web.BaseRequest], Awaitable[web.StreamResponse]]
_PASSED_ON = ("Content-Type", "Date", "ETag", "Last-Modified", "request-id")
_NOT_OURS = ("host", "connection", "transfer-encoding", "accept-encoding")


@dataclass(frozen=True, slots=True)
class FailureMode:
    """A way to fail (None for a closed port), and a word required in the app's reason."""

    answer: Answer | None
    word: str


@dataclass(slots=True, eq=False)
class Front:
    """One account's front. `fails` is its failure, None before it fails."""

    emulator: str
    session: ClientSession
    fails: Answer | None = None
    port: int = 0
    _runner: web.ServerRunner | None = field(default=None)

    async def start(self) -> None:
        self._runner = web.ServerRunner(web.Server(self._serve), shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        if self._runner:
            await self._runner.cleanup()
            self._runner = None

    async def fail(self, way: FailureMode) -> None:
        """Makes the front fail from now on; running requests end normally."""
        if way.answer is None:
            await self.stop()
        self.fails = way.answer

    async def passed_on(self, request: web.BaseRequest, headers: Mapping[str, str] | None = None) -> web.Response:
        """Returns the emulator's answer; target and headers are unchanged, because they are signed."""
        kept = {name: value for name, value in request.headers.items() if name.lower() not in _NOT_OURS}
        url = URL(f"{self.emulator}{request.raw_path}", encoded=True)
        async with self.session.request(
            request.method, url, headers={**kept, **(headers or {})}, data=await request.read() or None
        ) as answer:
            named = {name: answer.headers[name] for name in _PASSED_ON if name in answer.headers}
            return web.Response(status=answer.status, body=await answer.read(), headers=named)

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        return await (self.fails(self, request) if self.fails else self.passed_on(request))


def _refusal(status: int, code: str, **headers: str) -> Answer:
    async def answer(_front: Front, _request: web.BaseRequest) -> web.StreamResponse:
        body = {"code": code, "message": {"lang": "en-US", "value": f"The proof answers {status}."}}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.json_response(body, status=status, headers=named)

    return answer


async def _hang(_front: Front, _request: web.BaseRequest) -> web.StreamResponse:
    await asyncio.sleep(3600)
    return web.Response()


async def _wrong_key(front: Front, request: web.BaseRequest) -> web.StreamResponse:
    signed_by, _, _ = request.headers.get("Authorization", "").partition(":")
    return await front.passed_on(request, {"Authorization": f"{signed_by}:{'A' * 43}="})


async def _cut_short(front: Front, request: web.BaseRequest) -> web.StreamResponse:
    whole = await front.passed_on(request)
    body = whole.body if isinstance(whole.body, bytes) else b""
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(body))})
    await response.prepare(request)
    await response.write(body[: len(body) // 2])
    if request.transport:
        request.transport.close()
    return response


async def _nonsense(_front: Front, _request: web.BaseRequest) -> web.StreamResponse:
    return web.Response(text="<html><body>Welcome to the proxy</body></html>", content_type="text/html")


FAILURE_MODES: Mapping[str, FailureMode] = {
    "403, no permission": FailureMode(_refusal(403, "PermissionDenied"), "Azure Batch Account Reader"),
    "a wrong key": FailureMode(_wrong_key, "BATCH_ACCOUNT_KEYS is wrong"),
    "429, Retry-After 600": FailureMode(_refusal(429, "TooManyRequests", Retry_After="600"), "throttling (429)"),
    "503, no Retry-After": FailureMode(_refusal(503, "ServerBusy"), "too busy to answer (503)"),
    "no answer": FailureMode(_hang, "no whole answer within"),
    "a closed port": FailureMode(None, "can't be reached"),
    "bodies cut short": FailureMode(_cut_short, "cut its answer"),
    "200 with HTML": FailureMode(_nonsense, "makes no sense"),
}
