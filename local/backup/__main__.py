"""`python3 dev.py backup` and `python3 dev.py restore`."""

import argparse
import asyncio
import logging
import os
import re
import sys
import time
import tomllib
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from azure.core.exceptions import AzureError, ClientAuthenticationError, ServiceRequestError
from azure.storage.blob.aio import ContainerClient

from local.backup.backup import Backup, total
from local.backup.manifest import Manifest
from local.backup.restore import Restore, check
from local.backup.storage import StorageAccount, name_of
from local.dev.system.checkout import HERE
from local.dev.system.console import Failure, complain, say

_EPILOG = """A storage account is a connection string or https://NAME.table.core.windows.net with your own credential
(`az login`, or the identity of the machine). So that no key stands in a command line, the environment may name them:
BATCHSCOPE_STORAGE for --storage, BATCHSCOPE_BACKUPS for --backups."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
type Command = Callable[[argparse.Namespace], Coroutine[Any, Any, Manifest]]


def main(arguments: Sequence[str]) -> int:
    """Returns exit code 0 when the tables are copied or checked; else prints one sentence and returns 1."""
    options = _parser().parse_args(arguments)
    command: Command = options.command
    logging.getLogger("azure").setLevel(logging.CRITICAL)  # failures are printed as sentences
    try:
        begun = time.monotonic()
        manifest = asyncio.run(command(options))
    except Failure as failure:
        complain(str(failure))
    except AzureError as error:
        complain(f"{reason_of(error)} {_advice(options)}".rstrip())
    except KeyboardInterrupt:
        complain(f"Stopped. {_advice(options)}".rstrip())
    else:
        sums = total(manifest)
        say(
            f"'{options.name}': {sums['rows']:,} rows in {sums['blobs']} blobs of {sums['bytes'] / 1e6:.1f} MB,"
            f" {time.monotonic() - begun:.0f} s."
        )
        return 0
    return 1


async def _backup(options: argparse.Namespace) -> Manifest:
    async with StorageAccount(_place(options, "storage")) as source, StorageAccount(_place(options, "backups")) as to:
        options.name = options.name or f"{datetime.now(UTC):%Y-%m-%dT%H%M%SZ}"
        tables, container = source.tables(), _container(to, options)
        say(
            f"Backing up the storage account '{name_of(tables)}' to '{options.name}'"
            f" in the container '{options.container}' of '{name_of(container)}'."
        )
        backup = Backup(tables, container, options.name, options.prefix, _version(), options.resume)
        manifest = await backup.run()
        say(f"{source.transport.requests:,} requests to tables, {to.transport.requests:,} to blobs.")
        return manifest


async def _restore(options: argparse.Namespace) -> Manifest:
    async with StorageAccount(_place(options, "backups")) as source:
        container = _container(source, options)
        if options.check:
            return await check(container, options.name)
        async with StorageAccount(_place(options, "storage")) as target:
            tables = target.tables()
            if options.replace not in {None, name_of(tables)}:
                raise Failure(f"--replace names '{options.replace}', but the target is '{name_of(tables)}'.")
            restore = Restore(container, options.name, tables, options.prefix, replace=bool(options.replace))
            manifest = await restore.run()
            say(f"{target.transport.requests:,} requests to tables, {source.transport.requests:,} to blobs.")
            return manifest


def _container(account: StorageAccount, options: argparse.Namespace) -> ContainerClient:
    return account.blobs().get_container_client(options.container)


def _place(options: argparse.Namespace, name: str) -> str:
    variable = f"BATCHSCOPE_{name.upper()}"
    place: str | None = getattr(options, name) or os.environ.get(variable)
    if not place:
        raise Failure(f"Which storage account? Give --{name}, or set {variable} in the environment.")
    return place


def _parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="dev.py", description=__doc__)
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    text = "Copies all tables of an app to blobs, while the app runs. Run again after a failure, it goes on."
    backup = commands.add_parser("backup", description=text, epilog=_EPILOG)
    _add_places(backup, "whose tables are backed up", "whose blobs the backup becomes")
    text = "folder of the backup (default: the time); one that isn't complete is gone on with"
    backup.add_argument("--name", type=_name, help=text)
    text = "leave a complete backup of that name alone, and count it as done"
    backup.add_argument("--resume", action="store_true", help=text)
    backup.set_defaults(command=_backup)
    text = "Copies a backup into the tables of an app, which has to be stopped (`az functionapp stop`), and compares."
    restore = commands.add_parser("restore", description=text, epilog=_EPILOG)
    _add_places(restore, "whose tables are written", "whose blobs hold the backup")
    restore.add_argument("--name", type=_name, required=True, help="folder of the backup")
    text = "delete all rows of the target first, if it has any; NAME is that of its storage account"
    restore.add_argument("--replace", metavar="NAME", help=text)
    restore.add_argument("--check", action="store_true", help="only read the backup and check its hashes")
    restore.set_defaults(command=_restore)
    return top


def _add_places(command: argparse.ArgumentParser, storage: str, backups: str) -> None:
    command.add_argument("--storage", metavar="ACCOUNT", help=f"storage account {storage}")
    command.add_argument("--backups", metavar="ACCOUNT", help=f"storage account {backups}")
    text = "container of backups (default: %(default)s)"
    command.add_argument("--container", default="batchscope-backups", help=text)
    command.add_argument("--prefix", default="", help="TABLE_PREFIX of the app (default: none)")


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(f"'{text}' isn't up to 100 letters, digits, dots, dashes and underscores")
    return text


def _version() -> str:
    return str(tomllib.loads((HERE.root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


def _advice(options: argparse.Namespace) -> str:
    if not options.name or getattr(options, "check", False):
        return ""
    return f"The same command with --name {options.name} goes on where this one ended."


def reason_of(error: AzureError) -> str:
    """Returns a sentence with the reason of a storage error, and advice."""
    status = getattr(error, "status_code", None)
    if isinstance(error, ClientAuthenticationError) and status is None:
        return "Nobody is signed in to Azure here: run `az login`, or name the storage account by a connection string."
    first = (str(error).strip().splitlines() or [type(error).__name__])[0]
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return f"Storage refused: {first} The roles and networks that it takes are in docs/operations.md."
    if isinstance(error, ServiceRequestError):
        return f"{first}: is the name right, and with private networking is this machine in its network?"
    return f"Storage didn't do what was asked: {first}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
