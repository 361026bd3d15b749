"""`python -m local.batch_emulator`: the emulator by itself."""

import argparse
import asyncio
import signal
import sys

from local.batch_emulator.auth import DEVELOPMENT_KEY, DEVELOPMENT_TOKEN
from local.batch_emulator.emulator import Emulator
from local.batch_emulator.server import Server


def main() -> int:
    options = _parser().parse_args()
    keys = dict(options.account or [("demo", DEVELOPMENT_KEY)])
    emulator = Emulator(keys, token=options.token, seed=options.seed, speed=options.speed, stepped=options.stepped)
    try:
        asyncio.run(_serve(emulator, options.host, options.port))
    except OSError as error:
        print(f"The emulator can't listen on {options.host}:{options.port}: {error.strerror}.", file=sys.stderr)
        return 1
    return 0


async def _serve(emulator: Emulator, host: str, port: int) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    server = Server(emulator)
    chosen = await server.start(host, port)
    print(f"listening on http://{host}:{chosen}", flush=True)
    await stop.wait()
    await server.stop()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m local.batch_emulator",
        description="An emulator of Azure Batch on this machine. Controls are under /_emulator/.",
    )
    add = parser.add_argument
    add(
        "--host",
        default="127.0.0.1",
        choices=("127.0.0.1", "localhost", "::1"),
        help="address to listen on (default: %(default)s)",
    )
    add("--port", type=int, default=9000, help="port, 0 for any free one (default: %(default)s)")
    add(
        "--account",
        type=_account,
        action="append",
        metavar="NAME[=KEY]",
        help="an account it serves; repeatable (default: demo)",
    )
    add("--token", default=DEVELOPMENT_TOKEN, help="the bearer token it accepts (default: %(default)s)")
    add("--seed", type=int, default=1, help="start of its chance (default: %(default)s)")
    add("--speed", type=_speed, default=1.0, help="divides every duration; stamps stay real (default: %(default)s)")
    add("--stepped", action="store_true", help="virtual time that POST /_emulator/clock moves, for tests")
    return parser


def _account(text: str) -> tuple[str, str]:
    name, _, key = text.partition("=")
    if not name.isalnum():
        raise argparse.ArgumentTypeError(f"'{name}' is no account's name: letters and digits only")
    return name.lower(), key or DEVELOPMENT_KEY


def _speed(text: str) -> float:
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not 0 < speed < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number above 0")
    return speed


if __name__ == "__main__":
    sys.exit(main())
