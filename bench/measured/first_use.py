"""A process of `bench cold`: from its start to the first answered request, or to the end of the first tick.

`python -m bench.measured.first_use MODE STARTED` prints milliseconds of CPU, and of time since STARTED, which is the
starter's `time.monotonic()`. MODE is `request` or `tick`; with the prefix `eager-` all modules are imported at start,
as if nothing loaded on first use.
"""

import asyncio
import sys
import time
from importlib import import_module
from types import SimpleNamespace
from typing import Any


def main() -> None:
    mode, started = sys.argv[1], float(sys.argv[2])
    if mode.startswith("eager-"):
        import_all()
    functions = indexed()
    asyncio.run(_request(functions) if mode.endswith("request") else _tick(functions))
    print(time.process_time() * 1e3, (time.monotonic() - started) * 1e3)


def indexed() -> dict[str, Any]:
    """Returns the functions of the app by name, as the worker finds them."""
    app = import_module("function_app").app
    return {found.get_function_name(): found.get_user_function() for found in app.get_functions()}


def import_all() -> None:
    """Imports everything that the first request and the first tick would load."""
    import_module("shared.composition.opening")
    endpoints = import_module("functions.api.endpoints").ENDPOINTS
    for module in ("handlers", *(endpoint.module for endpoint in endpoints)):
        import_module(f"functions.api.{module}")


async def _request(functions: dict[str, Any]) -> None:
    asked = import_module("azure.functions").HttpRequest("GET", "http://127.0.0.1/api/accounts", body=b"")
    answer = await functions["list_accounts"](asked)
    if answer.status_code != 200:  # noqa: PLR2004 - a status
        raise SystemExit(f"GET accounts answered {answer.status_code}: {answer.get_body().decode()}")


async def _tick(functions: dict[str, Any]) -> None:
    """Runs a tick, whose failure raises."""
    await functions["tick"](SimpleNamespace(past_due=False), SimpleNamespace(set=lambda _: None))


if __name__ == "__main__":
    main()
