"""Two watched accounts with every kind of data that the app shows, and callers with rights to one of them.

No id of a resource in bravo occurs in any other text, so a search for these ids finds a leak.
"""

import asyncio
import base64
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from azure.batch import models
from azure.batch.aio import BatchClient
from azure.core.credentials import AzureNamedKeyCredential
from azure.storage.blob.aio import BlobServiceClient

from local.azurite import StorageAddresses
from local.batch_emulator.core.clock import real_now
from local.batch_emulator.core.stamps import SECOND, stamp
from local.batch_emulator.emulator import Emulator
from local.batch_emulator.exports.log_writer import LogWriter
from local.batch_emulator.http.server import Server
from local.batch_emulator.protocol.auth import DEVELOPMENT_KEY
from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.support.separate_app import Ask, Said, SeparateApp

SITE = "https://batchscope.example"
ACCOUNTS = ("alpha", "bravo")
OPERATORS_OF_ALPHA = "8a2f1c40-0000-4000-8000-00000000000a"
OPERATORS_OF_BRAVO = "8a2f1c40-0000-4000-8000-00000000000b"
_STEPS, _STEP_SECONDS = 10, 60


def principal(*claims: tuple[str, str]) -> dict[str, str]:
    value = {"claims": [{"typ": kind, "val": value} for kind, value in claims]}
    return {"x-ms-client-principal": base64.b64encode(json.dumps(value).encode()).decode()}


READER = principal(("roles", "Alpha.Reader"))
OPERATOR = principal(("groups", OPERATORS_OF_ALPHA))
EVERYTHING = principal(("groups", OPERATORS_OF_ALPHA), ("groups", OPERATORS_OF_BRAVO))
ADMINISTRATOR = principal(("groups", OPERATORS_OF_ALPHA), ("groups", OPERATORS_OF_BRAVO), ("roles", "Reader"))
"""May also read accounts without an entry for their rights; none exist while the settings are right."""


@dataclass(frozen=True, slots=True)
class Ids:
    """The ids in an account, by the names of path parameters."""

    account: str
    job: str
    group: str
    task: str
    pool: str
    node: str
    schedule: str
    poll: str
    budget: str

    def in_path(self, path: str) -> str:
        file = "stdout.txt" if "/tasks/" in path else f"workitems/{self.job}/job-1/{self.task}/stdout.txt"
        return path.format(**{name: getattr(self, name) for name in self.__slots__}, **{"*path": file})


def settings(azurite: StorageAddresses, batch: str) -> dict[str, str]:
    return {
        "AzureWebJobsStorage": azurite.connection_string,
        "TELEMETRY_STORAGE": azurite.connection_string,
        "RESOURCE_LOG_CONTAINER": f"logs-{secrets.token_hex(6)}",
        "TELEMETRY_CONTAINER": f"telemetry-{secrets.token_hex(6)}",
        "TABLE_PREFIX": f"r{secrets.token_hex(6)}",
        "BATCH_ACCOUNTS": " ".join(f"{name}={batch}" for name in ACCOUNTS),
        "BATCH_ACCOUNT_KEYS": " ".join(f"{name}={DEVELOPMENT_KEY}" for name in ACCOUNTS),
        "ACCOUNT_ROLES": f"alpha=Reader:Alpha.Reader alpha=Operator:{OPERATORS_OF_ALPHA}"
        f" bravo=Reader:Bravo.Reader bravo=Operator:{OPERATORS_OF_BRAVO}",
        "WEBSITE_SITE_NAME": "batchscope",
        "WEBSITE_AUTH_ENABLED": "True",
    }


class TwoAccounts:
    """Runs two accounts: `async with TwoAccounts(azurite) as accounts`.

    Time is stepped up to the real time, at which the app then runs.
    """

    def __init__(self, azurite: StorageAddresses) -> None:
        self._storage = azurite.connection_string
        start = real_now() - (_STEPS + 1) * _STEP_SECONDS * SECOND
        keys = dict.fromkeys(ACCOUNTS, DEVELOPMENT_KEY)
        self.emulator = Emulator(keys, token="t", seed=11, stepped=True, start=start)
        self._server = Server(self.emulator)
        self._azurite = azurite

    async def __aenter__(self) -> Self:
        self.batch = f"http://127.0.0.1:{await self._server.start('127.0.0.1', 0)}"
        self.settings = settings(self._azurite, self.batch)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._server.stop()

    async def fill(self, app: SeparateApp) -> dict[str, Ids]:
        """Fills and polls each account: at least two entries for every list, events, telemetry, and rejected units."""
        async with LogWriter(self.emulator, self._storage, self.settings["RESOURCE_LOG_CONTAINER"]) as log:
            for name in ACCOUNTS:
                await self._stage(name)
            for _ in range(_STEPS):
                self.emulator.event_queue.advance(_STEP_SECONDS)
                await asyncio.to_thread(self._poll, app)
            await log.flush()
        found = {name: await asyncio.to_thread(self._ids, app, name) for name in ACCOUNTS}
        await self._write_telemetry(found)
        await asyncio.to_thread(app.fire, "tick")
        return found

    async def _stage(self, name: str) -> None:
        pool, job = f"{name}-pool", f"{name}-job"
        async with BatchClient(self.batch, AzureNamedKeyCredential(name, DEVELOPMENT_KEY)) as batch:
            await batch.create_pool(
                models.BatchPoolCreateOptions(
                    id=pool,
                    vm_size="standard_d2s_v5",
                    task_slots_per_node=2,
                    enable_auto_scale=True,
                    auto_scale_formula=f"$TargetDedicatedNodes = 1; // {name}",
                )
            )
            await add_job(batch, job, pool=pool)
            await add_tasks(batch, 2, job=job, command="exit 3", prefix=f"{name}-bad")
            await add_tasks(batch, 4, job=job, command="sleep 10000", prefix=f"{name}-task")
            await add_pool(batch, f"{name}-spare", nodes=0, size="standard_d2_v2")
            await add_pool(batch, f"{name}-broken", nodes=1, start=f"{name}-missing; exit 7")
            await add_job(batch, f"{name}-later", pool=f"{name}-spare")
            where = models.BatchPoolInfo(pool_id=pool)
            for schedule in (f"{name}-nightly", f"{name}-weekly"):
                await batch.create_job_schedule(
                    models.BatchJobScheduleCreateOptions(
                        id=schedule,
                        schedule=models.BatchJobScheduleConfiguration(),
                        job_specification=models.BatchJobSpecification(pool_info=where, display_name=f"{name}-made"),
                    )
                )

    def _poll(self, app: SeparateApp) -> None:
        asked = [poll_of(name, '{"all": true}', EVERYTHING) for name in ACCOUNTS]
        assert {said.status for said in app.ask(asked)} == {200}

    def _ids(self, app: SeparateApp, account: str) -> Ids:
        job, pool = f"{account}-job", f"{account}-pool"
        base = f"accounts/{account}"
        tasks = got(app, f"{base}/jobs/{job}/tasks?state=running")["value"]
        nodes = got(app, f"{base}/pools/{pool}/nodes")["value"]
        (group,) = got(app, f"{base}/jobs/{job}/failures")["groups"]
        (said,) = app.ask([poll_of(account, f'{{"jobs": ["{job}"]}}', EVERYTHING)])
        poll = json.loads(said.text)["id"]
        budget = Ask("PUT", f"{SITE}/api/{base}/budgets/{account}-budget", EVERYTHING, '{"amount": 7}')
        assert [said.status for said in app.ask([budget])] == [200]
        return Ids(
            account=account,
            job=job,
            group=group["id"],
            task=tasks[0]["id"],
            pool=pool,
            node=nodes[0]["id"],
            schedule=f"{account}-nightly",
            poll=poll,
            budget=f"{account}-budget",
        )

    async def _write_telemetry(self, found: dict[str, Ids]) -> None:
        now = int(datetime.fromisoformat(stamp(real_now())).timestamp()) * 10**9
        async with BlobServiceClient.from_connection_string(self._storage) as service:
            container = service.get_container_client(self.settings["TELEMETRY_CONTAINER"])
            await container.create_container()
            for ids in found.values():
                name = f"accounts/{ids.account}/pools/{ids.pool}/nodes/{ids.node}/{ids.account}.json"
                text = f"mem,model={ids.account}-machine used=7i {now}\n"
                await container.upload_blob(name, text.encode(), blob_type="AppendBlob")
                odd = f"accounts/{ids.account}/pools/{ids.pool}/nodes/{ids.node}/{ids.account}-odd.json"
                await container.upload_blob(odd, b"mem used=oops,\n" * 3, blob_type="AppendBlob")
            await container.upload_blob("loose/bravo-loose.json", b"mem used=1i\n", blob_type="AppendBlob")


def poll_of(account: str, body: str, caller: dict[str, str]) -> Ask:
    return Ask("POST", f"{SITE}/api/accounts/{account}/poll?wait=true", caller, body)


def asked(app: SeparateApp, path: str, *callers: dict[str, str], **headers: str) -> Sequence[Said]:
    """Returns each caller's answer, requested one after another."""
    more = {name.replace("_", "-"): value for name, value in headers.items()}
    return app.ask([Ask("GET", f"{SITE}/api/{path}", caller | more) for caller in callers])


def got(app: SeparateApp, path: str) -> Any:
    (said,) = asked(app, path, EVERYTHING)
    assert said.status == 200, said.text
    return json.loads(said.text)
