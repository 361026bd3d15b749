"""The proof of shared telemetry: its nodes write what it expects, its proxy delays, and its judge finds deviations."""

import asyncio
import sys
import time
from dataclasses import replace
from typing import cast

from azure.storage.blob.aio import ContainerClient

from local.prove.telemetry_fleet.findings import BOUND, HostsFindings, table
from local.prove.telemetry_fleet.nodes import Nodes, blob_of, flush_of, minutes_of, summary

BEGIN = 1_795_244_400
GOOD = HostsFindings(2, 10, 120.0, kills=2, lags=[3.0, 40.0], late=5.0, compared=100)


def test_a_flush_has_312_lines_over_two_minutes() -> None:
    lines = flush_of(7, BEGIN, 1).splitlines()
    stamps = {int(line.rsplit(b" ", 1)[1]) // 10**9 - BEGIN for line in lines}
    assert (len(lines), min(stamps), max(stamps)) == (312, 120, 235)


def test_the_expected_minutes_are_those_of_the_lines() -> None:
    values: dict[tuple[str, int], list[float]] = {}
    for flush in (0, 1):
        for line in flush_of(7, BEGIN, flush).decode().splitlines():
            labels, used, stamp = line.split()
            key = labels.removeprefix("disk,path="), int(stamp) // 10**9 // 60
            values.setdefault(key, []).append(float(used.removeprefix("used=").removesuffix("i")))
    assert minutes_of(7, BEGIN, 2) == {key: summary(some) for key, some in values.items()}
    assert minutes_of(7, BEGIN, 2) != minutes_of(8, BEGIN, 2)


def test_lag_is_the_age_of_the_oldest_flush_that_is_not_stored_to_its_end() -> None:
    nodes = Nodes(cast("ContainerClient", None), 2, BEGIN)
    nodes.written[0] = [(10.0, 100), (130.0, 200)]
    nodes.written[1] = [(20.0, 100)]
    assert nodes.lag({}, 140.0) == 130.0
    assert nodes.lag({blob_of(0): 199, blob_of(1): 100}, 140.0) == 10.0
    assert nodes.lag({blob_of(0): 200, blob_of(1): 100}, 140.0) == 0.0


def test_a_run_as_it_should_be_has_no_problem() -> None:
    assert list(GOOD.problems(is_bounded=True)) == []
    assert "| 2 | 2 | 10 |" in table([GOOD])


def test_each_deviation_is_a_problem() -> None:
    late = replace(GOOD, lags=[BOUND + 1])
    assert list(late.problems(is_bounded=True)) == ["with 2 hosts a flush was stored after 121 s"]
    assert list(late.problems(is_bounded=False)) == []
    assert list(replace(GOOD, late=None).problems(is_bounded=False)) == ["2 hosts didn't store all flushes"]
    unseen = list(replace(GOOD, lags=[]).problems(is_bounded=True))
    assert unseen == ["with 2 hosts nothing was looked at or compared"]
    differing = list(replace(GOOD, differing=["tvm x"]).problems(is_bounded=False))
    assert differing == ["with 2 hosts 1 series differ, the first: tvm x"]


async def test_the_proxy_delays_each_request_once() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(line)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    proxy = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "local.prove.telemetry_fleet.slow_storage",
        "200",
        str(port),
        stdout=asyncio.subprocess.PIPE,
    )
    assert proxy.stdout
    slow = int((await proxy.stdout.readline()).split()[1])
    reader, writer = await asyncio.open_connection("127.0.0.1", slow)
    for _ in range(2):
        began = time.monotonic()
        writer.write(b"a request in ")
        await writer.drain()
        await asyncio.sleep(0.01)
        writer.write(b"two packets\n")
        assert await reader.readline() == b"a request in two packets\n"
        assert 0.2 <= time.monotonic() - began < 0.39
    writer.close()
    proxy.terminate()
    await proxy.wait()
    server.close()
