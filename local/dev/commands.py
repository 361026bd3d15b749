"""The command line of dev.py: parses, dispatches, and turns every expected failure into one plain sentence."""

import argparse
import contextlib
import re
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType

from local.dev.checking.checks import check, check_message
from local.dev.checking.guards import guards
from local.dev.checking.licences import write_licences
from local.dev.checking.pins import lock_all
from local.dev.clean import clean
from local.dev.packaging.build import build
from local.dev.packaging.sbom import sbom
from local.dev.running.stack import Options
from local.dev.running.up import up
from local.dev.scripts import backup, emulator, infra, run_script, test
from local.dev.setup.install import prepare
from local.dev.system.checkout import HERE, Checkout
from local.dev.system.console import Failure, StopRequested, complain, say

type Command = Callable[[Checkout, argparse.Namespace], int]
ACCOUNT = re.compile(r"https://[a-z0-9]+\.[a-z0-9]+\.batch\.(azure\.com|usgovcloudapi\.net|chinacloudapi\.cn)/?")
OWN_ARGUMENTS = {
    "test": 1, "emulator": 1, "backup": 1, "restore": 1, "deploy-check": 1, "bench": 2, "prove": 2, "infra": 2
}  # fmt: skip
OWN_HELP = frozenset({"emulator", "backup", "restore", "deploy-check"})
INTERRUPTED = 130
LAST_PORT = 65535


def main(arguments: Sequence[str]) -> int:
    """Runs one command; returns the exit code, 0 on success."""
    own, further = split(arguments)
    options = parser().parse_args(own)
    options.further = further
    chosen: Command = options.command
    with _stop_signals():
        try:
            return chosen(HERE, options)
        except Failure as failure:
            complain(str(failure))
        except (KeyboardInterrupt, StopRequested):
            say("Stopped.")
            return 0 if chosen is _up else INTERRUPTED
        except OSError as error:
            complain(f"{error.strerror or error}: {error.filename or 'no file named'}")
        except Exception:
            complain(f"dev.py itself failed, which it should not; what happened is in {_noted()}.")
    return 1


def split(arguments: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Splits arguments into those of dev.py and those that it passes on unchanged to pytest or a script."""
    own = OWN_ARGUMENTS.get(arguments[0], len(arguments)) if arguments else 0
    if arguments[1:2] in (["-h"], ["--help"]) and arguments[0] not in OWN_HELP:
        own = 2
    return arguments[:own], arguments[own:]


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="dev.py", description="Batchscope on this machine: run it, test it, build it.")
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    _add_up(commands.add_parser("up", help="start everything and open for business; Ctrl-C stops it"))
    alone = commands.add_parser("emulator", help="serve the Batch emulator alone; --help lists its options")
    _add(alone, lambda checkout, options: emulator(checkout, options.further))
    tests = commands.add_parser(
        "test",
        help="run the tests, those of a PATH, or the fast ones",
        usage="dev.py test [-h] [--fast | --nightly] [PATH ...] [PYTEST ARGUMENT ...]",
        description="Runs the whole suite, or the files, folders and node ids named; sets up only what they need. "
        "web stands for the unit tests of the dashboard.",
        epilog="--fast runs the tests that only compute, without the slowest, in about a minute; "
        "--nightly also searches, with more and random examples of property tests.",
    )
    _add(tests, lambda checkout, options: test(checkout, options.further))
    checks = commands.add_parser("check", help="lint, types, import rules, workflows, references, lock files, commits")
    checks.add_argument("--strict", action="store_true", help="fail where figures in docs are older than their code")
    checks.add_argument(
        "--fast", action="store_true", help="only ruff, Biome where it is installed, and the subjects of commits"
    )
    checks.add_argument("--message", type=Path, metavar="FILE", help="only the subject of a commit message in FILE")
    _add(checks, _check)
    for kind, text in (("bench", "measure something"), ("prove", "run a long proof")):
        _add_script(commands.add_parser(kind, help=f"{text}; without NAME lists what there is"), kind)
    checked = commands.add_parser("deploy-check", help="name everything that would make a deployment to Azure fail")
    _add(checked, lambda checkout, options: infra(checkout, "deploy-check", options.further))
    scripts = commands.add_parser("infra", help="run a script of infra/; without NAME lists what there is")
    _add_script(scripts, "infra")
    _add(scripts, lambda checkout, options: infra(checkout, options.name, options.further))
    guarded = commands.add_parser("guards", help="name the test modules that guard a file, to run after changing it")
    guarded.add_argument("file", metavar="FILE")
    _add(guarded, lambda checkout, options: guards(checkout, options.file))
    for name, text in (("backup", "copy all tables to blobs"), ("restore", "copy a backup into empty tables")):
        _add_backup(commands.add_parser(name, help=f"{text}; --help lists its options"), name)
    built = commands.add_parser("build", help="make dist/batchscope.zip, which is deployed, with all dependencies")
    built.add_argument("--remote", action="store_true", help="without dependencies, for a remote build in Azure")
    _add(built, lambda checkout, options: build(checkout, remote=options.remote))
    _add(commands.add_parser("sbom", help="list what is in the package, as CycloneDX documents"), lambda c, _: sbom(c))
    _add(commands.add_parser("clean", help="remove everything that was made here"), lambda c, _: clean(c))
    locks = commands.add_parser("lock", help="compile the lock files from their .in files and package.json")
    locks.add_argument("--upgrade", action="store_true", help="take the newest versions instead of keeping them")
    _add(locks, _lock)
    return top


def _add(command: argparse.ArgumentParser, run: Command) -> None:
    command.description = command.description or None
    command.set_defaults(command=run)


def _add_script(command: argparse.ArgumentParser, kind: str) -> None:
    command.add_argument("name", metavar="NAME", nargs="?")
    command.usage = f"dev.py {kind} [-h] [NAME [ARGUMENT ...]]"
    command.epilog = "Arguments after NAME go to the script, for example --json FILE."
    _add(command, lambda checkout, options: run_script(checkout, kind, options.name, options.further))


def _add_backup(command: argparse.ArgumentParser, name: str) -> None:
    _add(command, lambda checkout, options: backup(checkout, name, options.further))


def _add_up(command: argparse.ArgumentParser) -> None:
    say_default = "(default: %(default)s)"
    add = command.add_argument
    add("--port", type=_port, default=7071, help=f"port of the dashboard and the API, 0 for any {say_default}")
    add("--data", type=Path, metavar="DIR", help="keep storage and the emulated account in DIR (default: in memory)")
    add(
        "--scenario",
        choices=("demo", "quiet", "big", "none"),
        default="demo",
        help=f"what the workload does {say_default}",
    )
    add("--speed", type=_speed, default=1.0, help=f"divides how long tasks and starts take {say_default}")
    add("--seed", type=int, default=1, help=f"start of the emulator's chance {say_default}")
    text = "watch a real account, https://NAME.REGION.batch.azure.com, with your own credential; repeatable"
    add("--account", type=_account, action="append", default=[], metavar="URL", help=text)
    _add(command, _up)


def _up(checkout: Checkout, options: argparse.Namespace) -> int:
    return up(
        checkout,
        Options(
            port=options.port,
            kept_in=options.data.resolve() if options.data else None,
            scenario=options.scenario,
            speed=options.speed,
            seed=options.seed,
            accounts=tuple(options.account),
        ),
    )


def _check(checkout: Checkout, options: argparse.Namespace) -> int:
    if options.message:
        return check_message(options.message)
    return check(checkout, strict=options.strict, fast=options.fast)


def _lock(checkout: Checkout, options: argparse.Namespace) -> int:
    prepare(checkout, node=False)
    lock_all(checkout, upgrade=options.upgrade)
    prepare(checkout, node=False)
    write_licences(checkout)
    return 0


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > LAST_PORT:
        raise argparse.ArgumentTypeError(f"{text} is not a port")
    return int(text)


def _speed(text: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 < float(text) < float("inf"):
            return float(text)
    raise argparse.ArgumentTypeError(f"{text} is not a number above 0")


def _account(text: str) -> str:
    if not ACCOUNT.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text} is not of the form https://NAME.REGION.batch.azure.com")
    return text.rstrip("/")


@contextlib.contextmanager
def _stop_signals() -> Iterator[None]:
    """Makes SIGTERM and SIGHUP interrupt the program like Ctrl-C."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise StopRequested

    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), stop)
    yield


def _noted() -> Path:
    log = HERE.logs / "dev.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(traceback.format_exc(), encoding="utf-8")
    return log
