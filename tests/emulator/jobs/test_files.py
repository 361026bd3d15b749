"""Files of tasks and nodes: listed, read, read in part, deleted."""

from collections.abc import AsyncIterator
from email.utils import parsedate_to_datetime
from typing import Any

import pytest
from azure.batch.aio import BatchClient

from local.batch_emulator.contents.last_words import RunIdentity
from local.batch_emulator.contents.scripts import parse_script
from local.batch_emulator.contents.written_files import RunProgress, written_files
from tests.emulator.support.direct import Direct
from tests.emulator.support.driver import API, Answer, Driver

_ECHO = "/bin/sh -c 'echo hello world; sleep 5; echo oh no >&2'"
_FILES = "/jobs/job/tasks/t000/files"


async def _ran(driver: Driver, *lines: str, **pool: Any) -> str:
    """Completes a job's tasks on the pool's one node; returns the node's id."""
    await driver.add_pool(nodes=1, **pool)
    await driver.add_job()
    await driver.add_tasks("job", *(lines or (_ECHO,)))
    await driver.advance(120)
    return str((await driver.rows("/pools/pool/nodes"))[0]["id"])


async def _read(driver: Driver, path: str, method: str = "GET", **headers: str) -> tuple[int, bytes, Any]:
    sent = {"Authorization": f"Bearer {driver.emulator.credentials.token}"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    url = f"{driver.url}{path}?api-version={API}"
    async with driver.session.request(method, url, headers=sent) as answer:
        return answer.status, await answer.read(), answer.headers


def _names(rows: list[Any]) -> list[str]:
    return [row["name"] for row in rows]


@pytest.mark.parametrize(
    ("line", "out", "errors"),
    [
        ('cmd /c "echo hello world"', "hello world\n", ""),
        ("echo hi", "hi\n", ""),
        ("/bin/bash -c 'echo a && sleep 3; echo b 1>&2; exit 2; echo d'", "a\n", "b\n"),
        ("bash -lc \"echo -n x; echo 'q r'\"", "xq r\n", ""),
        ("/bin/sh -c 'echo x | wc; echo y > file; echo z || echo w'", "z\n", ""),
        ("/bin/sh -c 'sleep 60'", "", ""),
        ("python train.py", "", ""),
    ],
)
def test_a_command_line_writes_its_echoes(line: str, out: str, errors: str) -> None:
    script = parse_script(line)
    files = written_files(RunProgress(RunIdentity("", "", "", ""), script, 0, script.seconds, 1.0))
    contents = [files[name].content for name in ("stdout.txt", "stderr.txt")]
    assert [content.read(0, content.size).decode() for content in contents] == [out, errors]


async def test_a_task_leaves_its_output_in_its_directory(stepped: Driver) -> None:
    await _ran(stepped)
    assert _names(await stepped.rows(_FILES)) == ["stderr.txt", "stdout.txt", "wd"]
    assert (await _read(stepped, f"{_FILES}/stdout.txt"))[:2] == (200, b"hello world\n")
    assert (await _read(stepped, f"{_FILES}/stderr.txt"))[:2] == (200, b"oh no\n")
    row = (await stepped.rows(_FILES, _filter="startswith(name, 'stdout')"))[0]
    task = await stepped.task()
    assert row == {
        "name": "stdout.txt",
        "url": f"{stepped.url}{_FILES}/stdout.txt",
        "isDirectory": False,
        "properties": {
            "lastModified": task["executionInfo"]["startTime"],
            "contentLength": "12",
            "contentType": "text/plain",
            "fileMode": "0o100644",
        },
    }


async def test_properties_are_headers_without_a_body(stepped: Driver) -> None:
    node = await _ran(stepped, _ECHO, "true")
    status, body, headers = await _read(stepped, f"{_FILES}/stdout.txt", "HEAD")
    assert (status, body, headers["Content-Length"]) == (200, b"", "12")
    assert headers["ocp-batch-file-isdirectory"] == "false"
    assert headers["ocp-batch-file-mode"] == "0o100644"
    assert headers["ocp-batch-file-url"] == f"{stepped.url}{_FILES}/stdout.txt"
    started = (await stepped.task())["executionInfo"]["startTime"]
    assert f"{parsedate_to_datetime(headers['Last-Modified']):%Y-%m-%dT%H:%M:%S}" == started[:19]
    _, _, empty = await _read(stepped, "/jobs/job/tasks/t001/files/stderr.txt", "HEAD")
    assert empty["Content-Length"] == "0"
    _, _, directory = await _read(stepped, f"/pools/pool/nodes/{node}/files/workitems/job", "HEAD")
    assert directory["ocp-batch-file-isdirectory"] == "true"
    assert (await _read(stepped, f"{_FILES}/nothing", "HEAD"))[0] == 404


async def test_windows_files_have_creation_times_and_no_modes(stepped: Driver) -> None:
    machine = {"nodeAgentSKUId": "batch.node.windows amd64", "imageReference": {"offer": "windowsserver"}}
    await _ran(stepped, 'cmd /c "echo hi"', virtualMachineConfiguration=machine)
    properties = (await stepped.rows(_FILES))[0]["properties"]
    assert "fileMode" not in properties
    assert properties["creationTime"] <= properties["lastModified"]
    _, _, headers = await _read(stepped, f"{_FILES}/stdout.txt", "HEAD")
    assert "ocp-batch-file-mode" not in headers
    assert headers["ocp-creation-time"].endswith("GMT")


@pytest.mark.parametrize(
    ("asked", "part", "shown"),
    [
        ("bytes=0-4", b"hello", "bytes 0-4/12"),
        ("bytes=6-", b"world\n", "bytes 6-11/12"),
        ("bytes=-6", b"world\n", "bytes 6-11/12"),
        ("bytes=6-500", b"world\n", "bytes 6-11/12"),
        ("bytes=11-11", b"\n", "bytes 11-11/12"),
    ],
)
async def test_a_range_reads_a_part_of_a_file(stepped: Driver, asked: str, part: bytes, shown: str) -> None:
    await _ran(stepped)
    for header, status in (("Range", 206), ("ocp_range", 200)):
        found = await _read(stepped, f"{_FILES}/stdout.txt", **{header: asked})
        assert found[:2] == (status, part)
        assert (found[2]["Content-Range"], found[2]["Content-Length"]) == (shown, str(len(part)))


async def test_the_official_client_reads_files_and_parts_of_them(stepped: Driver, client: BatchClient) -> None:
    node = await _ran(stepped)
    root = (await stepped.task())["nodeInfo"]["taskRootDirectory"]

    async def read(found: AsyncIterator[bytes]) -> bytes:
        return b"".join([chunk async for chunk in found])

    assert await read(await client.download_task_file("job", "t000", "stdout.txt")) == b"hello world\n"
    assert await read(await client.download_task_file("job", "t000", "stdout.txt", ocp_range="bytes=0-4")) == b"hello"
    assert await read(await client.download_node_file("pool", node, f"{root}/stderr.txt")) == b"oh no\n"
    properties = await client.get_task_file_properties("job", "t000", "stdout.txt")
    assert (properties.content_length, properties.is_directory, properties.file_mode) == (12, False, "0o100644")
    listed = {file.name: file async for file in client.list_node_files("pool", node, recursive=True)}
    details = listed[f"{root}/stdout.txt"].properties
    assert details is not None
    assert (details.content_length, details.content_type) == (12, "text/plain")


@pytest.mark.parametrize(
    ("asked", "status", "code"),
    [
        ("bytes=12-", 416, b"InvalidRange"),
        ("bytes=-0", 416, b"InvalidRange"),
        ("bytes=5-2", 400, b"InvalidHeaderValue"),
        ("lines=1-2", 400, b"InvalidHeaderValue"),
        ("bytes=-", 400, b"InvalidHeaderValue"),
        ("bytes=0-1,3-4", 400, b"InvalidHeaderValue"),
    ],
)
async def test_a_range_that_can_not_be_had_is_refused(stepped: Driver, asked: str, status: int, code: bytes) -> None:
    await _ran(stepped)
    found = await _read(stepped, f"{_FILES}/stdout.txt", ocp_range=asked)
    assert found[0] == status
    assert code in found[1]


async def test_files_take_conditions_on_dates_and_no_others(stepped: Driver) -> None:
    await _ran(stepped)
    url = f"{_FILES}/stdout.txt"
    same = (await _read(stepped, url, "HEAD"))[2]["Last-Modified"]
    before = "Sun, 04 Jan 2026 00:00:00 GMT"
    for method in ("GET", "HEAD"):
        assert (await _read(stepped, url, method, If_Modified_Since=same))[0] == 304
        assert (await _read(stepped, url, method, If_Modified_Since=before))[0] == 200
        assert (await _read(stepped, url, method, If_Unmodified_Since=same))[0] == 200
        assert (await _read(stepped, url, method, If_Unmodified_Since=before))[0] == 412
        assert (await _read(stepped, url, method, If_Match="*"))[0] == 400


async def test_a_node_lists_its_directories_and_all_in_them_if_asked(stepped: Driver) -> None:
    node = await _ran(stepped, startTask={"commandLine": "sh -c 'echo started; sleep 1'"})
    url = f"/pools/pool/nodes/{node}/files"
    top = ["applications", "fsmounts", "shared", "startup", "volatile", "workitems"]
    rows = await stepped.rows(url)
    assert _names(rows) == top
    assert all(row["isDirectory"] and "properties" not in row for row in rows)
    root = (await stepped.task())["nodeInfo"]["taskRootDirectory"]
    everything = _names(await stepped.rows(url, recursive="true", maxresults=3))
    assert len(set(everything)) == len(everything)
    assert {*top, root, f"{root}/wd", f"{root}/stdout.txt", "startup/stdout.txt"} <= set(everything)
    assert (await _read(stepped, f"{url}/startup/stdout.txt"))[1] == b"started\n"
    assert (await _read(stepped, f"{url}/{root.replace('/', '%2F')}/stdout.txt"))[1] == b"hello world\n"
    assert (await stepped.call("GET", url, recursive="perhaps")).status == 400


async def test_preparation_and_release_leave_files_too(stepped: Driver) -> None:
    await stepped.add_pool(nodes=1)
    sides = ({"commandLine": "echo before; sleep 1"}, {"commandLine": "echo after; sleep 1"})
    await stepped.add_job(jobPreparationTask=sides[0], jobReleaseTask=sides[1])
    await stepped.add_tasks("job", _ECHO)
    await stepped.advance(120)
    await stepped.call("POST", "/jobs/job/terminate")
    await stepped.advance(60)
    status = (await stepped.rows("/jobs/job/jobpreparationandreleasetaskstatus"))[0]
    for name, text in (("jobPreparationTaskExecutionInfo", b"before\n"), ("jobReleaseTaskExecutionInfo", b"after\n")):
        path = status[name]["taskRootDirectoryUrl"].removeprefix(stepped.url)
        assert (await _read(stepped, f"{path}/stdout.txt"))[1] == text


async def test_a_deleted_file_is_gone_for_the_task_and_its_node_until_it_is_written_again(stepped: Driver) -> None:
    node = await _ran(stepped, "/bin/sh -c 'echo x; exit 1'")
    root = (await stepped.task())["nodeInfo"]["taskRootDirectory"]
    assert (await stepped.call("DELETE", f"{_FILES}/stdout.txt")).status == 200
    assert (await stepped.call("DELETE", f"{_FILES}/stdout.txt")).code == "FileNotFound"
    assert (await stepped.call("GET", f"/pools/pool/nodes/{node}/files/{root}/stdout.txt")).code == "FileNotFound"
    assert _names(await stepped.rows(_FILES)) == ["stderr.txt", "wd"]
    await stepped.call("POST", "/jobs/job/tasks/t000/reactivate")
    await stepped.advance(120)
    assert _names(await stepped.rows(_FILES)) == ["stderr.txt", "stdout.txt", "wd"]


async def test_a_directory_is_deleted_with_all_in_it_only_if_asked(stepped: Driver) -> None:
    node = await _ran(stepped)
    url = f"/pools/pool/nodes/{node}/files"
    root = (await stepped.task())["nodeInfo"]["taskRootDirectory"]
    refused = await stepped.call("DELETE", f"{url}/{root}")
    assert (refused.status, refused.code) == (403, "IOError")
    assert (await stepped.call("DELETE", f"{url}/{root}/wd")).status == 200
    assert (await stepped.call("DELETE", f"{url}/{root}", recursive="true")).status == 200
    assert not any(name.startswith(root) for name in _names(await stepped.rows(url, recursive="true")))
    assert await stepped.rows(_FILES) == []
    assert (await stepped.call("DELETE", f"{url}/workitems", recursive="true")).code == "IOError"
    assert (await stepped.call("DELETE", f"{url}/workitems/job", recursive="true")).status == 200
    await stepped.call("POST", "/jobs/job/tasks", {"id": "later", "commandLine": "echo later; sleep 1"})
    await stepped.advance(30)
    names = [name for name in _names(await stepped.rows(url, recursive="true")) if name.startswith("workitems/")]
    assert names[:3] == ["workitems/job", "workitems/job/job-1", "workitems/job/job-1/later"]
    assert len(names) == 6


async def _code(driver: Driver, path: str = _FILES) -> tuple[int, str]:
    answer: Answer = await driver.call("GET", path)
    return answer.status, "" if answer.status == 200 else answer.code


async def test_files_are_unavailable_before_a_run_and_after_their_node(stepped: Driver) -> None:
    await stepped.add_job()
    await stepped.add_tasks("job", _ECHO)
    assert await _code(stepped) == (409, "TaskFilesUnavailable")
    await stepped.add_pool(nodes=1)
    await stepped.advance(120)
    assert await _code(stepped) == (200, "")
    await stepped.call("POST", "/pools/pool/resize", {"targetDedicatedNodes": 0})
    await stepped.advance(60)
    assert await _code(stepped) == (409, "TaskFilesUnavailable")
    assert await _code(stepped, "/jobs/job/tasks/none/files") == (404, "TaskNotFound")


async def test_a_reimaged_node_has_lost_its_files_and_a_rebooted_one_has_not(stepped: Driver) -> None:
    node = await _ran(stepped)
    url = f"/pools/pool/nodes/{node}"
    for verb, busy, wanted in (
        ("reboot", "NodeBeingRebooted", (200, "")),
        ("reimage", "NodeBeingReimaged", (409, "TaskFilesUnavailable")),
    ):
        await stepped.call("POST", f"{url}/{verb}")
        assert await _code(stepped, f"{url}/files") == (409, busy)
        await stepped.advance(120)
        assert await _code(stepped) == wanted
    assert not [name for name in _names(await stepped.rows(f"{url}/files", recursive="true")) if "t000" in name]


async def test_files_are_kept_for_the_retention_time(stepped: Driver) -> None:
    await stepped.add_pool(nodes=1)
    await stepped.add_job()
    await stepped.add_tasks("job", _ECHO, constraints={"retentionTime": "PT1H"})
    await stepped.advance(120)
    assert await _code(stepped) == (200, "")
    await stepped.advance(3600)
    assert await _code(stepped) == (409, "TaskFilesCleanedup")


async def test_a_directory_can_not_be_read(stepped: Driver) -> None:
    await _ran(stepped)
    answer = await stepped.call("GET", f"{_FILES}/wd")
    assert (answer.status, answer.code) == (403, "IOError")


def test_files_follow_the_clock_of_their_node_however_wrong_it_is() -> None:
    direct = Direct(3)
    direct.emulator.settings.nodeClockSkewSeconds = 1000.0
    pool = {"id": "pool", "vmSize": "standard_d2s_v5", "targetDedicatedNodes": 4}
    assert direct.call("POST", "/pools", pool)[0] == 201
    assert direct.call("POST", "/jobs", {"id": "job", "poolInfo": {"poolId": "pool"}})[0] == 201
    direct.advance(60)
    for round_number in range(2):
        names = [f"t{round_number}{number}" for number in range(4)]
        for name in names:
            assert direct.call("POST", "/jobs/job/tasks", {"id": name, "commandLine": "sleep 1"})[0] == 201
        direct.advance(10)
        for name in names:
            path = f"/jobs/job/tasks/{name}/files/stdout.txt"
            assert direct.call("DELETE", path)[0] == 200
            assert direct.call("GET", path) == (404, "FileNotFound")
        for node in direct.rows("/pools/pool/nodes"):
            assert direct.call("POST", f"/pools/pool/nodes/{node['id']}/reimage", {})[0] == 202
        direct.advance(100)
        assert direct.call("GET", f"/jobs/job/tasks/{names[0]}/files") == (409, "TaskFilesUnavailable")
