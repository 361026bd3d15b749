"""Serves a function app on this machine until SIGINT or SIGTERM.

Use: python -m local.functions_host [APP_DIR] [--address A] [--port N] [--auth] [--clock URL]. If the app can't be
served, it prints the reasons as sentences to stderr and exits with code 1.
"""

import argparse
import asyncio
import logging
import os
import signal
import sys
import threading
import time
from pathlib import Path

from local.functions_host.app.errors import ConfigurationError
from local.functions_host.app.settings import is_loopback, load_local_settings
from local.functions_host.app.storage import HOST_CONNECTION
from local.functions_host.app.worker import invocation_id
from local.functions_host.host import FunctionApp, Host
from local.functions_host.http.keys import Keys
from local.functions_host.listing import listing
from local.functions_host.timers.clock import Clock, EmulatorClock, RealClock


def main() -> int:
    options = _parser().parse_args()
    _log_to_stderr(logging.WARNING if options.quiet else logging.INFO)
    try:
        asyncio.run(_serve(options))
    except ConfigurationError as refusal:
        print(refusal, file=sys.stderr)
        return 1
    return 0


async def _serve(options: argparse.Namespace) -> None:
    stop_requested = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop_requested.set)
    app_dir = options.app.resolve()
    if not app_dir.is_dir():
        raise ConfigurationError(f"There is no folder {app_dir}.")
    load_local_settings(app_dir, os.environ)
    keys = Keys.from_environment(os.environ, checked=options.auth)
    clock: Clock = EmulatorClock(options.clock) if options.clock else RealClock()
    if is_loopback(options.address):  # as `func start` sets it; apps are open to everybody then
        os.environ.setdefault("AZURE_FUNCTIONS_ENVIRONMENT", "Development")
    os.chdir(app_dir)
    listening = any(name.startswith(HOST_CONNECTION) for name in os.environ)
    app = await FunctionApp.load(app_dir, os.environ, listening=listening)
    host = Host(app, os.environ, clock=clock, keys=keys, listening=listening)
    try:
        port = await host.start(options.address, options.port)
        base = f"http://{options.address}:{port}"
        print(listing(app, base), f"listening on {base}", sep="\n", flush=True)
        if not listening:
            logging.getLogger("host").warning(
                "Timers and queues don't run: the setting %s is missing.", HOST_CONNECTION
            )
        await stop_requested.wait()
        logging.getLogger("host").info("stopping")
    finally:
        await host.stop()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m local.functions_host", description="Serves a function app here.")
    parser.add_argument("app", nargs="?", default=".", type=Path, metavar="APP_DIR", help="its folder (default: .)")
    parser.add_argument("--address", default="127.0.0.1", help="where to listen (default: %(default)s)")
    parser.add_argument("--port", type=_port, default=7071, help="0 lets the system choose (default: %(default)s)")
    parser.add_argument(
        "--auth", action="store_true", help="check LOCAL_FUNCTION_KEY and LOCAL_MASTER_KEY, as in Azure"
    )
    parser.add_argument("--clock", metavar="URL", help="timers follow the clock of a Batch emulator on this machine")
    parser.add_argument("--quiet", action="store_true", help="log warnings only")
    return parser


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text) < 2**16):
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to 65535, not '{text}'")
    return int(text)


def _log_to_stderr(level: int) -> None:
    handler = logging.StreamHandler()
    handler.addFilter(_add_invocation)
    handler.setFormatter(
        logging.Formatter("%(asctime)s %(levelname)-7s %(invocation)-8s %(name)s: %(message)s"),
    )
    logging.basicConfig(level=level, handlers=[handler])
    logging.getLogger("azure").setLevel(logging.WARNING)


def _add_invocation(record: logging.LogRecord) -> bool:
    record.invocation = (invocation_id.get() or "-")[:8]
    return True


def _exit_process(code: int) -> None:
    """Ends the process, at the latest after 0.2 s: threads of synchronous functions can't be cancelled."""
    deadline = time.monotonic() + 0.2
    while time.monotonic() < deadline and _other_threads():
        time.sleep(0.01)
    logging.shutdown()
    sys.stdout.flush()
    if _other_threads():
        os._exit(code)
    sys.exit(code)


def _other_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread is not threading.main_thread() and not thread.daemon]


if __name__ == "__main__":
    _exit_process(main())
