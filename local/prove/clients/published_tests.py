"""Runs azure-batch's published tests against an emulator: ADDRESS ACCOUNT KEY and the folder of the tests.

The tests need recordings and Azure Resource Manager, whose helpers aren't published. Stand-ins give each test an empty
account with the pool or job that it requests. All tests run unmodified.
"""

import asyncio
import importlib
import sys
import traceback
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aiohttp import ClientSession
from azure.batch import BatchClient, models
from azure.batch.aio import BatchClient as AsyncBatchClient
from azure.core.credentials import AzureNamedKeyCredential

_TRIES = 300


@dataclass(frozen=True, slots=True)
class Requirement:
    """A pool or job that a test requests from its preparers."""

    kind: str
    options: dict[str, Any]


def main() -> int:
    address, account, key, folder = sys.argv[1:]
    sys.path.insert(0, folder)
    _stand_in()
    module = importlib.import_module("test_batch")
    names = [name for name in vars(module.TestBatch) if name.startswith("test_")]
    credential = AzureNamedKeyCredential(account, key)
    failed = 0
    for name in names:
        for make, kind in ((BatchClient, "sync"), (AsyncBatchClient, "async")):
            problem = asyncio.run(_problem(module.TestBatch(), name, address, make(address, credential)))
            failed += problem is not None
            print(f"{'FAIL' if problem else 'ok  '} {name} [{kind}]{f' - {problem}' if problem else ''}", flush=True)
    return 1 if failed else 0


async def _problem(case: Any, name: str, address: str, client: Any) -> str | None:
    """Returns the reason for a test's failure, in one line; None if it passed."""
    async with ClientSession() as session, session.post(f"{address}/_emulator/reset") as answer:
        await answer.read()
    test = getattr(case, name)
    try:
        prepared = await _prepared(client, getattr(test, "needs", []))
        await test(client, **prepared, **getattr(test, "variables", {}))
    except Exception as error:
        lines = str(error).splitlines() or [""]
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {lines[0]} (line {where.lineno}: {where.line})"
    finally:
        await _wrapped(client.close())
    return None


async def _prepared(client: Any, needs: list[Requirement]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for needed in sorted(needs, key=lambda each: each.kind, reverse=True):
        found[f"batch_{needed.kind}"] = await (_pool if needed.kind == "pool" else _job)(client, needed.options, found)
    return found


async def _pool(client: Any, options: dict[str, Any], found: dict[str, Any]) -> Any:
    del found
    name, size = str(options.get("pool_name", "pool")), int(options.get("size", 0))
    image = models.BatchVmImageReference(publisher="canonical", offer="ubuntu-24_04-lts", sku="server")
    machine = models.VirtualMachineConfiguration(image_reference=image, node_agent_sku_id="batch.node.ubuntu 24.04")
    await _wrapped(
        client.create_pool(
            models.BatchPoolCreateOptions(
                id=name,
                vm_size="standard_d2s_v5",
                virtual_machine_configuration=machine,
                target_dedicated_nodes=size,
                task_slots_per_node=1,
            )
        )
    )
    for _ in range(_TRIES):
        if (await _wrapped(client.get_pool(name))).allocation_state == "steady":
            break
        await asyncio.sleep(0.2)
    return types.SimpleNamespace(name=name, id=name)


async def _job(client: Any, options: dict[str, Any], found: dict[str, Any]) -> Any:
    pool = models.BatchPoolInfo(pool_id=found["batch_pool"].name if "batch_pool" in found else "pool")
    extra = {name: value for name, value in options.items() if name == "task_failure_mode"}
    await _wrapped(client.create_job(models.BatchJobCreateOptions(id="job", pool_info=pool, **extra)))
    return types.SimpleNamespace(id="job")


async def _wrapped(found: Any) -> Any:
    return await found if hasattr(found, "__await__") else found


def _stand_in() -> None:
    """Installs stand-ins for modules that the tests import but aren't published."""
    same = _plain
    _module(
        "devtools_testutils",
        AzureMgmtRecordedTestCase=type("Case", (), {"is_live": True}),
        AzureRecordedTestCase=object,
        recorded_by_proxy=same,
        EnvironmentVariableLoader=_variables,
        StorageAccountPreparer=_factory,
        CachedResourceGroupPreparer=_factory,
        set_custom_default_matcher=lambda **_: None,
    )
    _module("batch_preparers", AccountPreparer=_factory, PoolPreparer=_needing("pool"), JobPreparer=_needing("job"))
    _module("decorators", recorded_by_proxy_async=same, client_setup=same)
    _module("six", ensure_binary=str.encode, ensure_str=bytes.decode)


def _module(name: str, **names: Any) -> None:
    made = types.ModuleType(name)
    vars(made).update(names)
    sys.modules[name] = made


def _plain[F](test: F) -> F:
    return test


def _factory(*_: Any, **__: Any) -> Callable[[Any], Any]:
    return _plain


def _variables(*_: Any, **named: str) -> Callable[[Any], Any]:
    def mark(test: Any) -> Any:
        test.variables = {name: value for name, value in named.items() if name.startswith("batch_")}
        return test

    return mark


def _needing(kind: str) -> Callable[..., Callable[[Any], Any]]:
    def preparer(*_: Any, **options: Any) -> Callable[[Any], Any]:
        def mark(test: Any) -> Any:
            test.needs = [*getattr(test, "needs", []), Requirement(kind, options)]
            return test

        return mark

    return preparer


if __name__ == "__main__":
    sys.exit(main())
