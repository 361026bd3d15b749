"""`python -m local.batch_emulator`: serves emulated Batch accounts on this machine until SIGINT or SIGTERM."""

import argparse
import asyncio
import contextlib
import gc
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from ssl import SSLContext

from local.batch_emulator.core.settings import EmulatorSettings
from local.batch_emulator.core.stamps import parse_stamp
from local.batch_emulator.emulator import Emulator
from local.batch_emulator.http.certificate import tls_context
from local.batch_emulator.http.server import Server
from local.batch_emulator.persistence.store import Store, StoreError
from local.batch_emulator.persistence_service import PersistenceService
from local.batch_emulator.protocol.auth import DEVELOPMENT_KEY, DEVELOPMENT_TOKEN, is_key
from local.batch_emulator.protocol.tokens import ISSUER, TokenKey, read_token_key
from local.batch_emulator.telemetry.samplers import PERIOD_SECONDS

_MAX_PORT = 65535
_EPILOG = """controls, without authentication, from this machine only:
  GET  /_emulator/truth      what every list would show now
  GET  /_emulator/usage      seconds of nodes by state and of runs of tasks, ?from=TIME&to=TIME&account=NAME
  GET  /_emulator/prices     the right price of each size, region, OS and priority; POST {"armSkuName",
                             "armRegionName", "factor", "effectiveStartDate"} changes prices from a moment on
  GET  /_emulator/clock      POST {"paused": true}; stepped mode: {"advanceSeconds": 60}, {"speed": 2}
  POST /_emulator/faults     {"method", "path", "status", "count", "retryAfter", "delaySeconds", "reset", "truncate",
                             "lateReportSeconds"}; GET lists, DELETE clears
  GET  /_emulator/counters   requests, items and bytes of files served, by route, task list and client
  GET  /_emulator/log        what was written to the resource log, by account and kind
  GET  /_emulator/telemetry  what was written of nodes' telemetry, by account and node
  GET  /_emulator/settings   POST changes them
  POST /_emulator/reset      empty accounts again"""


def main() -> int:
    parser = _parser()
    options = parser.parse_args()
    if options.data and options.stepped:
        parser.error("--data goes with real time only: what is kept would not fit --stepped, which is for tests")
    if options.start is not None and not options.stepped:
        parser.error("--start goes with --stepped only: real time starts now")
    if options.jwt_issuer and not options.jwt_key:
        parser.error("--jwt-issuer goes with --jwt-key only")
    names = [name for name, _ in options.account]
    if len(set(names)) < len(names):
        parser.error("an account is named twice")
    try:
        tls = tls_context(options.https) if options.https else None
    except OSError as error:
        print(f"There is no certificate in {options.https}: {error.strerror or error}.", file=sys.stderr)
        return 1
    try:
        with contextlib.closing(Store(options.data)) if options.data else contextlib.nullcontext() as store:
            asyncio.run(_serve(options, store, tls))
    except StoreError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        reason = error.strerror or error
        print(f"The emulator can't listen on {options.host}:{options.port}: {reason}.", file=sys.stderr)
        return 1
    return 0


async def _serve(options: argparse.Namespace, store: Store | None, tls: SSLContext | None) -> None:
    emulator = Emulator(
        dict(options.account) or {"demo": DEVELOPMENT_KEY},
        token=options.token,
        token_key=options.jwt_key and replace(options.jwt_key, issuer=options.jwt_issuer or ISSUER),
        seed=options.seed,
        speed=options.speed,
        stepped=options.stepped,
        start=options.start,
        settings=EmulatorSettings(nodeClockSkewSeconds=options.node_clock_skew, preemptionSeconds=options.preemption),
    )
    persistence = PersistenceService(emulator, store) if store else None
    if persistence:
        persistence.load(lambda tasks: print(f"{tasks:,} tasks read", file=sys.stderr, flush=True))
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
    _limit_garbage_collection()
    server = Server(emulator, persistence)
    async with _logging(emulator, options.logs), _measuring(emulator, options.telemetry, options.telemetry_interval):
        try:
            port = await server.start(options.host, options.port, tls)
            print(f"listening on {'https' if tls else 'http'}://{options.host}:{port}", flush=True)
            await server.run(stop)
        finally:
            await server.stop()


@contextlib.asynccontextmanager
async def _logging(emulator: Emulator, connection_string: str | None) -> AsyncIterator[None]:
    """Writes resource logs inside the block, if a storage is given."""
    if connection_string is None:
        yield
        return
    from local.batch_emulator.exports.log_writer import LogWriter  # noqa: PLC0415 - slow to load, and mostly of no use

    async with LogWriter(emulator, connection_string) as writer:
        writer.start()
        yield


@contextlib.asynccontextmanager
async def _measuring(emulator: Emulator, connection_string: str | None, period: float) -> AsyncIterator[None]:
    """Writes node telemetry inside the block, if a storage is given."""
    if connection_string is None:
        yield
        return
    from local.batch_emulator.exports.telemetry_writer import TelemetryWriter  # noqa: PLC0415 - slow to load, too

    async with TelemetryWriter(emulator, connection_string, period=period) as writer:
        writer.start()
        yield


def _limit_garbage_collection() -> None:
    """Limits the garbage collector to new objects: scanning a million tasks would delay requests."""
    gc.freeze()
    gc.set_threshold(5_000, 10, 1_000)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dev.py emulator",
        description="Emulates the Azure Batch REST service on this machine.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--port", type=_port, default=10180, help="0 lets the system choose (default: %(default)s)")
    add("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    kept = "keep all accounts in DIR, where a later run finds them, even after a kill -9 (default: in memory only)"
    add("--data", type=_directory, metavar="DIR", help=kept)
    https = "serve https with a certificate made in DIR; clients trust DIR/certificate.pem"
    add("--https", type=_directory, metavar="DIR", help=https)
    account = "an account to serve, repeatable; the key is base64 (default: demo with the development key)"
    add("--account", action="append", default=[], type=_account, metavar="NAME[=KEY]", help=account)
    add(
        "--token",
        type=_filled,
        default=DEVELOPMENT_TOKEN,
        help="the bearer token that is always accepted (default: %(default)s)",
    )
    jwt_key = "accept JWTs signed by this key too: a public key in PEM, or the secret of HS256"
    add("--jwt-key", type=_token_key, metavar="FILE", help=jwt_key)
    add("--jwt-issuer", metavar="TEXT", help=f"the issuer of those JWTs (default: {ISSUER})")
    logs = "write resource logs to this storage as Azure Monitor does: a connection string (default: none)"
    add("--logs", type=_filled, metavar="STORAGE", help=logs)
    telemetry = "write what nodes measure to this storage as agents do: a connection string (default: none)"
    add("--telemetry", type=_filled, metavar="STORAGE", help=telemetry)
    interval = "real seconds between the samples of a node, at least 1 (default: %(default)s)"
    add("--telemetry-interval", type=_interval, default=PERIOD_SECONDS, metavar="SECONDS", help=interval)
    add("--seed", type=int, default=1, help="of everything left to chance (default: %(default)s)")
    add("--speed", type=_speed, default=1.0, help="divides durations; stamps stay real (default: %(default)s)")
    add("--stepped", action="store_true", help="virtual time that moves by POST /_emulator/clock only, for tests")
    add("--start", type=_moment, metavar="TIME", help="stepped mode: where virtual time starts (default: now)")
    skew = "how far the clocks of nodes are off at most, either way (default: %(default)s)"
    add("--node-clock-skew", type=_seconds, default=1.0, metavar="SECONDS", help=skew)
    life = "mean time to the preemption of a spot node, shortened by the speed; 0 never (default: %(default)s)"
    add("--preemption", type=_seconds, default=900.0, metavar="SECONDS", help=life)
    return parser


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text) <= _MAX_PORT):
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to {_MAX_PORT}, not '{text}'")
    return int(text)


def _account(text: str) -> tuple[str, str]:
    name, _, key = text.partition("=")
    if not (name.isascii() and name.isalnum()):
        raise argparse.ArgumentTypeError(f"'{name}' is not an account's name: letters and digits only")
    if key and not is_key(key):
        raise argparse.ArgumentTypeError(f"the key of '{name}' is not base64")
    return name.lower(), key or DEVELOPMENT_KEY


def _token_key(text: str) -> TokenKey:
    try:
        return read_token_key(Path(text))
    except (OSError, ValueError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _filled(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("it is empty")
    return text


def _directory(text: str) -> Path:
    return Path(_filled(text))


def _seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds")
    return found


def _interval(text: str) -> float:
    found = _seconds(text)
    if found < 1:
        raise argparse.ArgumentTypeError(f"samples are at least a second apart, not '{text}'")
    return found


def _speed(text: str) -> float:
    found = _seconds(text)
    if not found:
        raise argparse.ArgumentTypeError("a speed is above 0")
    return found


def _moment(text: str) -> int:
    try:
        return parse_stamp(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a time such as 2026-01-05T08:00:00Z") from None


if __name__ == "__main__":
    sys.exit(main())
