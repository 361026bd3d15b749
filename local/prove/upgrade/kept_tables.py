"""The tables that 0.1.0 wrote, kept as a backup beside the tests, with its answers from them."""

import gzip
import json
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

from azure.core.exceptions import ResourceExistsError
from azure.storage.blob.aio import ContainerClient

from local.azurite import StorageAddresses
from local.backup.backup import Backup
from local.backup.restore import Restore
from local.backup.storage import StorageAccount
from local.dev.running.stack import EmulatedAccount, Options, app_settings, emulator_program
from local.dev.system.checkout import HERE
from local.dev.system.children import Children
from local.prove.upgrade.answers import Answers, recorded
from local.prove.upgrade.versions import Hosts, asked, present_source

FOLDER = HERE.root / "tests/data/tables-0.1.0"
_ANSWERS = "answers.json.gz"
_NAME = "kept"


async def keep(connection_string: str, answers: Answers, until: datetime) -> None:
    """Writes the tables of a storage account, and answers, into the folder."""
    async with StorageAccount(connection_string) as account:
        container = account.blobs().get_container_client(_NAME)
        await Backup(account.tables(), container, _NAME, "", "0.1.0").run()
        async for blob in container.list_blob_names():
            path = FOLDER / blob.removeprefix(f"{_NAME}/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(await (await container.download_blob(blob)).readall())
    kept = json.dumps({"until": until.isoformat(), "answers": answers}, indent=1, sort_keys=True).encode()
    (FOLDER / _ANSWERS).write_bytes(gzip.compress(kept, mtime=0))


async def put_back(connection_string: str, prefix: str = "") -> None:
    """Restores the folder's tables into a storage account. Raises Failure if they are damaged."""
    async with StorageAccount(connection_string) as account:
        container = account.blobs().get_container_client(f"{_NAME}{prefix.lower()}")
        await _upload(container)
        await Restore(container, _NAME, account.tables(), prefix, replace=False).run()


def kept_answers() -> tuple[Answers, datetime]:
    """Returns 0.1.0's answers from these tables, and the end of histories in them."""
    kept = json.loads(gzip.decompress((FOLDER / _ANSWERS).read_bytes()))
    return kept["answers"], datetime.fromisoformat(kept["until"])


def answers_of_this_version(children: Children, storage: StorageAddresses, prefix: str, folder: Path) -> Answers:
    """Returns this version's answers from the restored tables, as of the time of 0.1.0's answers, without polls.

    `folder` holds the app and its log. The time comes from an emulator with a stopped clock. Raises Failure.
    """
    account, (_, until) = EmulatedAccount(), kept_answers()
    program = emulator_program(HERE, Options(), account)
    stepped = ("--stepped", "--start", until.isoformat())
    still = replace(program, command=(*program.command, *stepped), log=folder / "emulator.log")
    emulator = children.start(still)["address"].rstrip("/")
    settings = app_settings(Options(), storage.connection_string, account, emulator)
    own = {"TABLE_PREFIX": prefix, "CLOCK_URL": f"{emulator}/_emulator/clock"}
    hosts = Hosts(children, settings | own, folder, emulator, account.name)
    stack = hosts.start(present_source(folder / "present"), polls=False)
    return recorded(partial(asked, stack.api), account.name, until)


async def _upload(container: ContainerClient) -> None:
    with suppress(ResourceExistsError):
        await container.create_container()
    for path in _files(FOLDER):
        blob = f"{_NAME}/{path.relative_to(FOLDER).as_posix()}"
        await container.upload_blob(blob, path.read_bytes(), overwrite=True)


def _files(folder: Path) -> list[Path]:
    found = [*folder.glob("manifest.json"), *folder.glob("*/*.jsonl.gz")]
    return sorted(found)
