"""Runs the sample app without a socket; a test starts it in a separate process, as a process runs one app."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from local.functions_host.app.errors import ConfigurationError, FunctionFailedError
from local.functions_host.app.storage import HOST_CONNECTION
from local.functions_host.in_process import InProcessApp


async def failure(work: Any) -> str:
    try:
        await work
    except (FunctionFailedError, ConfigurationError) as error:
        return str(error)
    return ""


async def check(sample: Path) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    async with InProcessApp(sample, os.environ) as app:
        reply = await app.request("GET", "/items/7")
        seen["get"] = [reply.status, reply.body.decode()]
        seen["echo"] = json.loads((await app.request("POST", "/echo/a?x=1", body=b"hi")).body)
        seen["missing"] = (await app.request("DELETE", "/thing")).status
        seen["boom"] = (await app.request("GET", "/boom")).status
        await app.fire("tick", past_due=True)
        await app.deliver("work", "hello", dequeue_count=3)
        seen["fail"] = await failure(app.deliver("work", "fail"))
        seen["sync"] = (await app.request("GET", "/hello/you")).body.decode()
    os.environ.pop(HOST_CONNECTION)
    async with InProcessApp(sample, os.environ) as again:
        seen["unsent"] = (await again.request("POST", "/send", body=b'["x"]')).status
        seen["again"] = (await again.request("GET", "/hello")).body.decode()
    return seen


async def other(folder: Path) -> str:
    return await failure(InProcessApp(folder, os.environ).__aenter__())


if __name__ == "__main__":
    found = asyncio.run(check(Path(sys.argv[1])))
    found["other"] = asyncio.run(other(Path(sys.argv[2])))
    print(json.dumps(found))
