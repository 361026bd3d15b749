"""`python -m local.prove.cost.watcher`: an app whose timers run when a request says so, for a day in stepped time.

`POST /timers/NAME` runs a timer function to its end. All other requests go to the app's own routes.
"""

import asyncio
import os
import signal
import sys
from http import HTTPStatus

from aiohttp import web

from local.dev.system.checkout import HERE
from local.functions_host.app.errors import FunctionFailedError
from local.functions_host.in_process import InProcessApp

_HOST = "127.0.0.1"


async def _serve() -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with InProcessApp(HERE.root, os.environ) as app:

        async def fire(request: web.Request) -> web.Response:
            try:
                await app.fire(request.match_info["name"])
            except FunctionFailedError as error:
                return web.json_response({"ok": False, "error": str(error)})
            return web.json_response({"ok": True})

        async def ask(request: web.Request) -> web.Response:
            reply = await app.request(request.method, request.raw_path)
            return web.Response(status=int(reply.status or HTTPStatus.OK), body=reply.body or b"")

        server = web.Application()
        server.add_routes([web.post("/timers/{name}", fire), web.get("/{path:.*}", ask)])
        runner = web.AppRunner(server)
        await runner.setup()
        site = web.TCPSite(runner, _HOST, 0)
        await site.start()
        print(f"listening on http://{_HOST}:{runner.addresses[0][1]}", flush=True)
        await stop.wait()
        await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(_serve())
    sys.exit(0)
