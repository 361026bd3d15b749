"""`python -m local.workload`: runs a scenario on the Batch emulator until it is stopped."""

import argparse
import asyncio
import logging
import sys

from azure.core.exceptions import AzureError

from local.stop_signals import cancel_on_signals
from local.workload.retries import cause_of
from local.workload.runner import ScenarioRunner
from local.workload.scenarios import SCENARIOS
from local.workload.service import Service
from local.workload.target import TargetError, check_target, open_client

_USAGE_ERROR = 2


def main() -> int:
    """Returns the exit code, which is 0 after a stop signal."""
    options = _parser().parse_args()
    logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(asctime)s %(message)s")
    logging.getLogger("azure").setLevel(logging.ERROR)
    try:
        check_target(options.emulator)
        asyncio.run(_run(options))
    except TargetError as error:
        print(error, file=sys.stderr)
        return _USAGE_ERROR
    except AzureError as error:
        print(f"The emulator refuses the account '{options.account}': {cause_of(error)}.", file=sys.stderr)
        return 1
    except (asyncio.CancelledError, KeyboardInterrupt):
        return 0
    return 0


async def _run(options: argparse.Namespace) -> None:
    cancel_on_signals()
    async with open_client(options.emulator, options.account, options.key) as client:
        service = Service(client)
        await service.check_key()
        await ScenarioRunner(service, SCENARIOS[options.scenario], seed=options.seed, speed=options.speed).run()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m local.workload",
        description="Drives the Batch emulator on this machine through the official SDK.",
    )
    add = parser.add_argument
    add("--scenario", choices=tuple(SCENARIOS), default="demo", help="what happens (default: %(default)s)")
    add("--emulator", required=True, metavar="URL", help="the emulator, as http://127.0.0.1:PORT")
    add("--account", required=True, metavar="NAME", help="the Batch account's name")
    add("--key", required=True, help="the account's key, in base64")
    add("--seed", type=int, default=1, help="start of its chance (default: %(default)s)")
    add("--speed", type=_speed, default=1.0, help="the emulator's --speed: shortens rests (default: %(default)s)")
    return parser


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
