"""Blobs of an account are read side by side, each flush with few requests, and a line by few modules.

What a host remembers of them takes no more memory with each read, and harms nothing where it is stale.
"""

import asyncio
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

import shared
from shared.domain.accounts.accounts import Account
from shared.domain.blobs.blobs import SeenBlob, shard_of
from shared.domain.telemetry.query.series_query import SeriesQuery
from shared.services.blobs.blob_reader import BlobReader
from tests.ingestion.rig import NOON, Host, Mortal
from tests.ingestion.telemetry.telemetry_rig import HOUR, MINUTE, TelemetryRig, blob_of, received, used

_NETWORK = "system.network.io"
_MIB = 1 << 20
_BLOBS, _TIMES = 40, 6
_ROOT = Path(str(shared.__file__)).parent
_TOOL = 4  # an id for any tool
_BEGUN = sys.monitoring.events.PY_START  # not where a coroutine goes on


@dataclass
class Passage:
    """The modules whose functions began, and how often one began that a function of another module had called."""

    modules: set[str] = field(default_factory=set)
    changes: int = 0


class WatchedReads:
    """Notes the reads of a host's container, and how many there were at the same time.

    Each waits until as many as `expected` have begun, or for a second.
    """

    def __init__(self, host: Host, expected: int) -> None:
        self._expected, self._enough = expected, asyncio.Event()
        self._fetch, self._now, self._large = host.container.fetch, 0, 0
        self.most, self.most_large, self.names = 0, 0, list[str]()
        vars(host.container)["fetch"] = self._watched

    @property
    def count(self) -> int:
        return len(self.names)

    async def _watched(self, blob: SeenBlob, start: int, end: int) -> bytes:
        is_large = end - start > _MIB
        self.names.append(blob.name)
        self._now, self._large = self._now + 1, self._large + is_large
        self.most, self.most_large = max(self.most, self._now), max(self.most_large, self._large)
        if self._now >= self._expected:
            self._enough.set()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._enough.wait(), 1)
        try:
            return await self._fetch(blob, start, end)
        finally:
            self._now, self._large = self._now - 1, self._large - is_large


async def _flushed(rig: TelemetryRig, nodes: range, flush: int) -> None:
    for node in nodes:
        at = NOON + flush * MINUTE
        await rig.append(
            received(100 * flush, at), received(100 * flush + node, at + MINUTE / 2), name=blob_of(f"n{node}")
        )


async def test_blobs_of_an_account_are_read_side_by_side(rig: TelemetryRig) -> None:
    host = await rig.host()
    reads = WatchedReads(host, 7)
    await _flushed(rig, range(20), 1)
    await host.run()
    assert reads.most == 7
    assert reads.count == 20
    assert [await rig.sums(f"n{node}", name=_NETWORK) for node in (0, 19)] == [{_NETWORK: [0]}, {_NETWORK: [19]}]


async def test_blobs_of_several_accounts_share_the_process(rig: TelemetryRig) -> None:
    rig.accounts = [Account(name, name, name, None, "http://127.0.0.1:1") for name in ("one", "two", "three")]
    host = await rig.host()
    reads = WatchedReads(host, 16)
    for account in rig.accounts:
        for node in range(10):
            await rig.append(received(1), name=blob_of(f"n{node}", account=account.name))
    await host.run()
    assert reads.most == 16
    assert reads.count == 30


async def test_large_blobs_are_read_one_by_one_beside_small_ones(rig: TelemetryRig) -> None:
    host = await rig.host()
    reads = WatchedReads(host, 8)
    for node in range(7):
        await rig.append(b"#" * _MIB + b"\n", received(1), name=blob_of(f"large{node}"))
        await rig.append(received(1), name=blob_of(f"small{node}"))
    await host.run()
    assert reads.most == 8
    assert reads.most_large == 1
    small = max(at for at, name in enumerate(reads.names) if "small" in name)
    assert sum("large" in name for name in reads.names[:small]) <= 2


async def test_a_flush_takes_one_read_and_two_writes_and_all_flushes_of_a_shard_another(rig: TelemetryRig) -> None:
    host = await rig.host()
    for flush in (1, 2):
        await _flushed(rig, range(12), flush)
        await host.run()
    reads, mortal = WatchedReads(host, 1), Mortal(host.tables)
    requests = list[int]()
    for nodes in (range(2), range(2, 12)):
        mortal.methods.clear()
        await _flushed(rig, nodes, 3)
        await host.run()
        requests.append(len(mortal.methods))
    shards = [len({shard_of(blob_of(f"n{node}")) for node in nodes}) for nodes in (range(2), range(2, 12))]
    assert requests[1] - requests[0] == 2 * 8 + shards[1] - shards[0]
    assert reads.count == 12


async def test_what_a_host_remembers_of_a_blob_that_another_has_read_on_is_never_counted_again(
    rig: TelemetryRig,
) -> None:
    one, other = await rig.host(), await rig.host()
    for flush, host in enumerate((one, other, one, one, other, other, one, one), 1):
        await _flushed(rig, range(3, 6), flush)
        await host.run()
    for host in (one, other):
        await host.run()
    for node in range(3, 6):
        minutes = (await rig.sums(f"n{node}", name=_NETWORK))[_NETWORK]
        assert minutes == [float(node), *[100.0] * 7]


@pytest.fixture
def collector() -> Iterator[None]:
    """Enables the garbage collector again, also after a failure."""
    yield
    gc.enable()


@pytest.mark.usefixtures("collector")
async def test_sweeps_and_queries_leave_nothing_however_many_blobs_there_are(rig: TelemetryRig) -> None:
    for number in range(_BLOBS):
        await rig.append(used(3), name=blob_of("n1", number))
    host, queries = await rig.host(), rig.queries
    for turn in range(_TIMES + 1):
        await host.run()
        found = await queries.of_node("demo", "pool", "n1", SeriesQuery(since=NOON - HOUR))
        assert sum(one.sum for minutes in found.rollups.values() for one in minutes.values()) == 3 * _BLOBS
        if not turn:  # the blobs are read, and everything is loaded
            gc.collect()
            gc.disable()
    await asyncio.sleep(0.1)  # the loop closes lists that were left before their end
    assert gc.collect() < _TIMES * 5


async def test_a_line_passes_few_modules_from_its_blob_to_its_rows(
    rig: TelemetryRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, read, found = await rig.host(), BlobReader.read, list[Passage]()

    async def followed(*given: Any) -> Any:
        with _passage() as one:
            found.append(one)
            return await read(*given)

    for number in range(4):
        if number == 3:  # the host remembers the blob by now
            monkeypatch.setattr(BlobReader, "read", followed)
        await rig.append(used(number, NOON + number * MINUTE), name=blob_of("n1"))
        await host.run()

    (passage,) = found
    assert len(passage.modules) <= 30, sorted(passage.modules)
    assert passage.changes <= 150


@contextmanager
def _passage() -> Iterator[Passage]:
    """Follows all threads inside the block."""
    found = Passage()

    def begun(code: CodeType, _: int) -> Any:
        module, caller = _module_of(code.co_filename), sys._getframe(1).f_back
        if module is None:
            return sys.monitoring.DISABLE
        while caller and _module_of(caller.f_code.co_filename) is None:
            caller = caller.f_back
        found.modules.add(module)
        found.changes += caller is None or _module_of(caller.f_code.co_filename) != module
        return None

    sys.monitoring.use_tool_id(_TOOL, "passage")
    sys.monitoring.register_callback(_TOOL, _BEGUN, begun)
    sys.monitoring.set_events(_TOOL, _BEGUN)
    try:
        yield found
    finally:
        sys.monitoring.set_events(_TOOL, 0)
        sys.monitoring.free_tool_id(_TOOL)


@cache
def _module_of(file: str) -> str | None:
    """Returns the module of the app in a file, None for another file."""
    path = Path(file)
    return str(path.relative_to(_ROOT)) if path.is_relative_to(_ROOT) else None
