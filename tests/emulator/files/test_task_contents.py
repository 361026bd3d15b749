"""What tasks write, as clients see it: files that grow, rotate, are huge or odd, and end with last words."""

from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any
from urllib.parse import quote

import aiohttp
import pytest
from azure.batch.aio import BatchClient

from tests.emulator.support.driver import API, Driver

_FILES = "/jobs/job/tasks/t000/files"


async def _started(driver: Driver, *lines: str, seconds: float = 10.0, **spec: Any) -> None:
    """Adds tasks to a pool that is ready, and lets a part of their time pass."""
    await driver.add_pool(nodes=1, taskSlotsPerNode=4)
    await driver.advance(120)
    await driver.add_job()
    await driver.add_tasks("job", *lines, **spec)
    await driver.advance(seconds)


async def _read(driver: Driver, path: str, method: str = "GET", **headers: str) -> tuple[int, bytes, Any]:
    sent = {"Authorization": f"Bearer {driver.emulator.credentials.token}"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    async with driver.session.request(method, f"{driver.url}{path}?api-version={API}", headers=sent) as answer:
        return answer.status, await answer.read(), answer.headers


async def _text(driver: Driver, name: str, files: str = _FILES) -> bytes:
    status, body, _ = await _read(driver, f"{files}/{quote(name)}")
    assert status == 200, body
    return body


async def _sizes(driver: Driver, **query: str) -> dict[str, int]:
    rows = await driver.rows(_FILES, recursive="true", **query)
    return {row["name"]: int(row["properties"]["contentLength"]) for row in rows if not row["isDirectory"]}


async def _all(found: AsyncIterator[bytes]) -> bytes:
    return b"".join([chunk async for chunk in found])


async def test_output_grows_while_a_task_runs_and_stays_when_it_has_ended(stepped: Driver) -> None:
    await _started(stepped, "sh -c 'emulate log 2; sleep 60; echo the end'")
    read = [await _text(stepped, "stdout.txt")]
    tags = set()
    for _ in range(8):
        await stepped.advance(10)
        read.append(await _text(stepped, "stdout.txt"))
        tags.add((await _read(stepped, f"{_FILES}/stdout.txt", "HEAD"))[2]["ETag"])
    assert all(later.startswith(earlier) for earlier, later in pairwise(read))
    assert len(read[0]) < len(read[1]) < len(read[2])
    assert read[-1] == read[-2]
    assert read[-1].endswith(b"\nthe end\n")
    assert read[-1].count(b"\n") == 2 * 60 + 1
    assert len(tags) > 4


async def test_the_modification_time_is_that_of_the_last_line_and_ends_with_the_task(stepped: Driver) -> None:
    await _started(stepped, "sh -c 'emulate log 1; sleep 30'")
    last = (await _text(stepped, "stdout.txt")).splitlines()[-1][:19].decode()
    (row,) = await stepped.rows(_FILES, _filter="startswith(name, 'stdout')")
    assert row["properties"]["lastModified"].startswith(last)
    await stepped.advance(60)
    (row,) = await stepped.rows(_FILES, _filter="startswith(name, 'stdout')")
    assert row["properties"]["lastModified"][:19] == (await stepped.task())["executionInfo"]["endTime"][:19]


async def test_a_task_that_is_stopped_has_written_only_what_it_came_to(stepped: Driver) -> None:
    line = "sh -c 'echo begun; emulate log 1; sleep 1000; emulate failure r-error'"
    await _started(stepped, line, line, seconds=1)
    await stepped.advance(10)
    await stepped.call("POST", "/jobs/job/tasks/t000/terminate")
    await stepped.advance(500)
    stopped = await _text(stepped, "stdout.txt")
    assert stopped.startswith(b"begun\n")
    assert stopped.count(b"\n") < 15
    assert await _text(stepped, "stderr.txt") == b""
    assert len(await _text(stepped, "stdout.txt", "/jobs/job/tasks/t001/files")) > len(stopped)


async def test_a_time_limit_cuts_the_output(stepped: Driver) -> None:
    line = "sh -c 'emulate log 1; sleep 100; echo too late'"
    await _started(stepped, line, seconds=300, constraints={"maxWallClockTime": "PT20S"})
    assert (await stepped.task())["executionInfo"]["exitCode"] == 137
    assert (await _text(stepped, "stdout.txt")).count(b"\n") == 20


async def test_a_program_that_never_began_has_written_nothing(stepped: Driver) -> None:
    file = {"httpUrl": "https://store.example/missing.bin", "filePath": "in.bin"}
    await _started(stepped, "sh -c 'echo hello'", seconds=60, resourceFiles=[file])
    assert (await stepped.task())["executionInfo"]["failureInfo"]["code"] == "BlobNotFound"
    assert await _sizes(stepped) == {"stderr.txt": 0, "stdout.txt": 0}


async def test_a_log_rotates_while_its_task_runs(stepped: Driver) -> None:
    await _started(stepped, "sh -c 'emulate log 4 2KiB 2 > app.log; sleep 60; exit 0'", seconds=3)
    assert set(await _sizes(stepped)) == {"stderr.txt", "stdout.txt", "wd/app.log"}
    await stepped.advance(30)
    sizes = await _sizes(stepped, _filter="startswith(name, 'wd/')")
    assert set(sizes) == {"wd/app.log", "wd/app.log.1", "wd/app.log.2"}
    assert sizes["wd/app.log.1"] == sizes["wd/app.log.2"] == 2048
    renamed = await _text(stepped, "wd/app.log.1")
    await stepped.advance(4)
    assert await _text(stepped, "wd/app.log.2") == renamed
    newest = [(await _text(stepped, f"wd/app.log{end}")) for end in (".2", ".1", "")]
    lines = b"".join(newest).splitlines()
    assert lines == sorted(lines)


async def test_of_a_huge_file_only_the_requested_part_is_sent(stepped: Driver, client: BatchClient) -> None:
    await _started(stepped, "sh -c 'emulate bytes 6GiB > core.dump; emulate text 5GiB > huge.log; sleep 5'", seconds=60)
    for name, size in (("wd/core.dump", 6 << 30), ("wd/huge.log", 5 << 30)):
        properties = await client.get_task_file_properties("job", "t000", name)
        assert properties.content_length == size
        part = await _all(await client.download_task_file("job", "t000", name, ocp_range=f"bytes={size - 300_000}-"))
        assert len(part) == 300_000
        status, body, headers = await _read(stepped, f"{_FILES}/{name}", Range="bytes=-10")
        assert (status, body) == (206, part[-10:])
        assert headers["Content-Range"] == f"bytes {size - 10}-{size - 1}/{size}"


async def test_bytes_of_files_that_are_read_are_counted(stepped: Driver) -> None:
    await _started(stepped, "sh -c 'emulate text 5GiB > huge.log; sleep 5'", seconds=60)
    await _read(stepped, f"{_FILES}/wd/huge.log", method="HEAD")
    for part in ("bytes=100-299", "bytes=-1000"):
        await _read(stepped, f"{_FILES}/wd/huge.log", ocp_range=part)
    routes = (await stepped.control("GET", "counters"))["routes"]
    path = "/jobs/{jobId}/tasks/{taskId}/files/{filePath}"
    assert routes[f"GET {path}"] == {"requests": 2, "items": 2, "bytes": 1200}
    assert routes[f"HEAD {path}"] == {"requests": 1, "items": 1}


async def test_a_huge_file_is_sent_while_it_is_computed(stepped: Driver) -> None:
    await _started(stepped, "sh -c 'emulate bytes 6GiB > core.dump'", seconds=60)
    sent = {"Authorization": f"Bearer {stepped.emulator.credentials.token}"}
    async with stepped.session.get(f"{stepped.url}{_FILES}/wd/core.dump?api-version={API}", headers=sent) as answer:
        assert answer.headers["Content-Length"] == str(6 << 30)
        first = await answer.content.readexactly(1 << 20)
    assert first == (await _read(stepped, f"{_FILES}/wd/core.dump", Range="bytes=0-1048575"))[1]


async def test_an_injected_fault_sends_half_of_a_file(stepped: Driver) -> None:
    await _started(stepped, "sh -c 'emulate text 1000'", seconds=60)
    await stepped.control("POST", "faults", {"path": "*stdout.txt", "truncate": True, "count": 1})
    with pytest.raises(aiohttp.ClientPayloadError):
        await _read(stepped, f"{_FILES}/stdout.txt")
    assert len(await _text(stepped, "stdout.txt")) == 1000


async def test_the_official_client_lists_and_reads_binary_files_and_odd_names(
    stepped: Driver, client: BatchClient
) -> None:
    names = {
        "a file with spaces.txt": "utf-8 600",
        "ünïcode 温度.log": "latin-1 600",
        "100%41 more?#.bin": "zip 600",
        "deep/er/and/deeper/still/x.bin": "bytes 600",
        "wide.csv": "utf-16 600",
    }
    writes = "\n".join(f'emulate {form} > "{name}"' for name, form in names.items())
    await _started(stepped, f"sh -c 'touch \"em pty.txt\"\n{writes}\nsleep 5'", seconds=60)
    listed = {file.name: file async for file in client.list_task_files("job", "t000", recursive=True)}
    assert {f"wd/{name}" for name in names} | {"wd/em pty.txt", "wd/deep/er/and"} <= set(listed)
    assert listed["wd/deep/er/and"].is_directory
    assert await _text(stepped, "wd/em pty.txt") == b""
    for name in names:
        content = await _all(await client.download_task_file("job", "t000", f"wd/{name}"))
        assert len(content) == 600
        details = listed[f"wd/{name}"].properties
        assert details is not None
        assert details.content_length == 600
        path = listed[f"wd/{name}"].url
        assert path is not None
        assert (await _read(stepped, path.removeprefix(stepped.url)))[1] == content


async def test_a_list_of_many_files_has_each_once_on_pages(stepped: Driver) -> None:
    writes = "; ".join(f"echo {number} > out/part-{number:03}.txt" for number in range(120))
    await _started(stepped, f"sh -c '{writes}; sleep 1'", seconds=60)
    names = [row["name"] for row in await stepped.rows(_FILES, recursive="true", maxresults=25)]
    assert len(names) == len(set(names)) == 120 + 4
    assert await _text(stepped, "wd/out/part-077.txt") == b"77\n"


async def test_a_retry_writes_its_files_anew(stepped: Driver) -> None:
    line = "sh -c 'emulate text 200 > wd.log; sleep 30; emulate failure python-key-error'"
    await _started(stepped, line, seconds=20, constraints={"maxTaskRetryCount": 1})
    first = await _text(stepped, "wd/wd.log")
    await stepped.advance(120)
    assert (await stepped.task())["executionInfo"]["retryCount"] == 1
    assert await _text(stepped, "wd/wd.log") != first
    last = await _text(stepped, "stderr.txt")
    assert last.splitlines()[-1].startswith(b"KeyError: ")
    assert await _text(stepped, "stderr.txt") == last


async def test_failed_tasks_of_a_job_have_alike_last_words_and_the_exit_code_of_their_kind(stepped: Driver) -> None:
    line = "sh -c 'python train.py; sleep 5; emulate failure cuda-out-of-memory'"
    await _started(stepped, line, line, "sh -c 'sleep 5; emulate failure windows-dll-not-found'", seconds=60)
    texts = [await _text(stepped, "stderr.txt", f"/jobs/job/tasks/t00{number}/files") for number in range(2)]
    assert all(b"CUDA out of memory" in text for text in texts)
    assert texts[0] != texts[1]
    codes = [(await stepped.task(f"t00{number}"))["executionInfo"]["exitCode"] for number in range(3)]
    assert codes == [1, 1, -1073741515]


async def test_bytes_of_a_command_line_stand_at_an_exact_offset(stepped: Driver) -> None:
    planted = "c2lnPXBsYW50ZWQlM0QmX3NlY3JldA=="
    await _started(stepped, f"sh -c 'emulate text 65530; emulate base64 {planted}; emulate text 1000'", seconds=60)
    text = await _text(stepped, "stdout.txt")
    assert text[65530:].startswith(b"sig=planted%3D&_secret")
    assert len(text) == 65530 + 22 + 1000


async def test_start_preparation_and_release_tasks_have_last_words_too(stepped: Driver) -> None:
    failing = {"commandLine": "sh -c 'sleep 5; emulate failure name-resolution'", "waitForSuccess": False}
    await stepped.add_pool(nodes=1, startTask=failing)
    await stepped.advance(120)
    sides: dict[str, Any] = {
        "jobPreparationTask": failing,
        "jobReleaseTask": {"commandLine": "sh -c 'emulate failure r-error'"},
    }
    await stepped.add_job(**sides)
    await stepped.add_tasks("job", "sleep 1")
    await stepped.advance(60)
    (node,) = await stepped.rows("/pools/pool/nodes")
    assert node["startTaskInfo"]["exitCode"] == 1
    files = f"/pools/pool/nodes/{node['id']}/files"
    assert b"Could not resolve host" in await _text(stepped, "startup/stderr.txt", files)
    (status,) = await stepped.rows("/jobs/job/jobpreparationandreleasetaskstatus")
    info = status["jobPreparationTaskExecutionInfo"]
    assert info["exitCode"] == 1
    assert b"Could not resolve host" in await _text(stepped, f"{info['taskRootDirectory']}/stderr.txt", files)


async def test_files_that_are_cleaned_up_are_gone_from_their_node_too(stepped: Driver) -> None:
    await _started(stepped, "echo kept", "echo gone", seconds=0)
    await stepped.call("PUT", "/jobs/job/tasks/t001", {"constraints": {"retentionTime": "PT1H"}})
    await stepped.advance(60)
    (node,) = await stepped.rows("/pools/pool/nodes")
    files = f"/pools/pool/nodes/{node['id']}/files"
    assert await _text(stepped, "workitems/job/job-1/t001/stdout.txt", files) == b"gone\n"
    await stepped.advance(3700)
    assert (await stepped.call("GET", "/jobs/job/tasks/t001/files")).code == "TaskFilesCleanedup"
    names = {row["name"] for row in await stepped.rows(files, recursive="true")}
    assert "workitems/job/job-1/t000/stdout.txt" in names
    assert not any("t001" in name for name in names)
    assert (await stepped.call("GET", f"{files}/workitems/job/job-1/t001/stdout.txt")).code == "FileNotFound"


async def test_files_vanish_with_their_node(stepped: Driver) -> None:
    await _started(stepped, "echo hello", seconds=60)
    (node,) = await stepped.rows("/pools/pool/nodes")
    await stepped.call("POST", "/pools/pool/removenodes", {"nodeList": [node["id"]]})
    await stepped.advance(60)
    assert (await stepped.call("GET", f"{_FILES}/stdout.txt")).code == "TaskFilesUnavailable"
    path = "workitems/job/job-1/t000/stdout.txt"
    assert (await stepped.call("GET", f"/pools/pool/nodes/{node['id']}/files/{path}")).code == "NodeNotFound"


async def test_the_primary_of_several_instances_writes_what_the_coordination_command_does(stepped: Driver) -> None:
    await stepped.add_pool(nodes=2, enableInterNodeCommunication=True)
    await stepped.add_job()
    several = {"numberOfInstances": 2, "coordinationCommandLine": "sh -c 'echo ring; sleep 5'"}
    await stepped.add_tasks("job", "sh -c 'echo solve; sleep 5'", multiInstanceSettings=several)
    await stepped.advance(180)
    assert await _text(stepped, "stdout.txt") == b"ring\nsolve\n"


async def test_the_emulators_seed_decides_what_runs_say(stepped: Driver) -> None:
    await _started(stepped, "sh -c 'emulate text 500'", seconds=60)
    text = await _text(stepped, "stdout.txt")
    stepped.emulator.simulations["demo"].context.seed = "another"
    assert await _text(stepped, "stdout.txt") != text


async def test_outputs_that_a_job_uploads_itself_are_shown_as_they_were_given(stepped: Driver) -> None:
    upload = {
        "filePattern": "../std*.txt",
        "destination": {"container": {"containerUrl": "https://store.example/logs", "path": "t000"}},
        "uploadOptions": {"uploadCondition": "taskcompletion"},
    }
    await _started(stepped, "echo hello", outputFiles=[upload])
    assert (await stepped.task())["outputFiles"] == [upload]
