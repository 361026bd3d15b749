"""Files of tasks and nodes through the API: folders, parts, and the reasons where there are none."""

import pytest
import pytest_asyncio
from azure.batch.models import (
    BatchJobCreateOptions,
    BatchNodeRemoveOptions,
    BatchPoolCreateOptions,
    BatchPoolInfo,
    BatchStartTask,
    BatchTaskCreateOptions,
)

from local.batch_emulator.core.injection import Fault
from tests.functions.conftest import World

pytestmark = pytest.mark.asyncio(loop_scope="session")
SECRET = "Tr0ub4dor-and-3"
COMMAND = f"sh -c 'echo first line; echo password={SECRET}; echo last words of it >&2; exit 3'"
TASK = "accounts/demo/jobs/with-files/tasks/broken"
OUT = f"first line\npassword={'*' * len(SECRET)}\n"


async def _stage(world: World) -> None:
    start = BatchStartTask(command_line="sh -c 'echo drivers are there'", wait_for_success=True)
    await world.batch.create_pool(
        BatchPoolCreateOptions(id="with-files", vm_size="standard_d2s_v5", target_dedicated_nodes=1, start_task=start)
    )
    await world.batch.create_job(BatchJobCreateOptions(id="with-files", pool_info=BatchPoolInfo(pool_id="with-files")))
    for name, command in {"broken": COMMAND, "long": "sh -c 'echo now; sleep 100000'"}.items():
        await world.batch.create_task("with-files", BatchTaskCreateOptions(id=name, command_line=command))
    world.advance(900)
    await world.poll()


@pytest_asyncio.fixture(loop_scope="session")
async def files(world: World) -> World:
    return await world.staged_once(_stage)


async def _node(world: World) -> str:
    found = await world.get("accounts/demo/pools/with-files/nodes")
    return str(found.body["value"][0]["id"])


async def test_a_task_lists_its_files_with_their_sizes(files: World) -> None:
    found = await files.get(f"{TASK}/files")
    assert found.status == 200
    assert found.body["complete"] is True
    entries = {entry["path"]: entry for entry in found.body["value"]}
    assert entries.keys() == {"wd", "stdout.txt", "stderr.txt"}
    assert entries["wd"] == {"path": "wd", "isFolder": True, "size": None, "lastModified": None}
    assert entries["stdout.txt"]["size"] == len(OUT)
    assert entries["stdout.txt"]["lastModified"].endswith("Z")


async def test_a_file_is_text_with_its_secrets_masked_at_their_places(files: World) -> None:
    found = await files.get(f"{TASK}/files/stdout.txt")
    assert (found.status, found.body) == (200, OUT)
    assert found.headers["content-type"] == "text/plain; charset=utf-8"
    assert found.headers["x-content-type-options"] == "nosniff"
    assert found.headers["batchscope-file-size"] == found.headers["batchscope-next-offset"] == str(len(OUT))
    assert (await files.get(f"{TASK}/files/stderr.txt")).body == "last words of it\n"


@pytest.mark.parametrize(
    ("query", "shown"),
    [("tail=5", OUT[-5:]), ("offset=6&length=4", "line"), (f"offset={OUT.index('*') + 3}", OUT[OUT.index("*") + 3 :])],
)
async def test_a_part_of_a_file_is_what_the_whole_shows_there(files: World, query: str, shown: str) -> None:
    found = await files.get(f"{TASK}/files/stdout.txt?{query}")
    assert (found.status, found.body) == (200, shown)
    start = int(found.headers["batchscope-offset"])
    assert OUT[start : int(found.headers["batchscope-next-offset"])] == shown


async def test_following_a_file_from_its_end_shows_nothing_until_more_is_written(files: World) -> None:
    found = await files.get(f"{TASK}/files/stdout.txt?offset={len(OUT)}")
    assert (found.status, found.body, found.headers["batchscope-next-offset"]) == (200, "", str(len(OUT)))


@pytest.mark.parametrize(
    ("wish", "shown", "place"),
    [
        ("bytes=0-4", "first", f"bytes 0-4/{len(OUT)}"),
        ("bytes=6-", OUT[6:], f"bytes 6-{len(OUT) - 1}/{len(OUT)}"),
        ("bytes=-3", OUT[-3:], f"bytes {len(OUT) - 3}-{len(OUT) - 1}/{len(OUT)}"),
    ],
)
async def test_the_header_range_asks_for_a_part(files: World, wish: str, shown: str, place: str) -> None:
    found = await files.get(f"{TASK}/files/stdout.txt", range=wish)
    assert (found.status, found.body, found.headers["content-range"]) == (206, shown, place)


async def test_a_range_behind_the_end_is_refused_with_the_size(files: World) -> None:
    found = await files.get(f"{TASK}/files/stdout.txt", range="bytes=900-")
    assert (found.status, found.headers["content-range"]) == (416, f"bytes */{len(OUT)}")


async def test_ranges_that_are_no_single_one_are_ignored(files: World) -> None:
    for wish in ("bytes=4-2", "bytes=0-1,3-4", "lines=1-2", "bytes=-"):
        assert (await files.get(f"{TASK}/files/stdout.txt", range=wish)).status == 200


async def test_tail_and_offset_contradict_each_other(files: World) -> None:
    found = await files.get(f"{TASK}/files/stdout.txt?tail=5&offset=1")
    assert (found.status, found.body["error"]["target"]) == (400, "tail")


@pytest.mark.parametrize("path", ["nothing.txt", "wd%2F..%2Fstdout.txt", "wd%5C..%5Cwd", "a%00b", "wd%2F%2Fx"])
async def test_a_path_that_is_no_file_of_the_task_is_a_404(files: World, path: str) -> None:
    found = await files.get(f"{TASK}/files/{path}")
    assert (found.status, found.body["error"]["code"]) == (404, "FileNotFound")
    assert "among the files of the task 'broken' of 'with-files'" in found.body["error"]["message"]


async def test_a_folder_is_listed_and_not_read(files: World) -> None:
    read = await files.get(f"{TASK}/files/wd")
    assert (read.status, read.body["error"]["message"]) == (
        404,
        "'wd' is a folder; what is in it has the address files?folder=wd.",
    )
    missing = await files.get(f"{TASK}/files?folder=nowhere")
    assert (missing.status, missing.body["error"]["code"]) == (404, "FileNotFound")


async def test_a_node_lists_its_folders_and_the_files_of_its_start_task(files: World) -> None:
    node = f"accounts/demo/pools/with-files/nodes/{await _node(files)}"
    top = await files.get(f"{node}/files")
    assert {entry["path"] for entry in top.body["value"]} >= {"startup", "workitems"}
    inside = await files.get(f"{node}/files?folder=startup")
    assert [entry["path"] for entry in inside.body["value"]] == [
        "startup/wd",
        "startup/stderr.txt",
        "startup/stdout.txt",
    ]
    for path in ("startup/stdout.txt", "startup%2Fstdout.txt"):
        assert (await files.get(f"{node}/files/{path}")).body == "drivers are there\n"


async def test_unknown_tasks_jobs_and_nodes_are_404s_that_name_them(files: World) -> None:
    for path, code in {
        "accounts/demo/jobs/with-files/tasks/none/files": "FileNotFound",
        "accounts/demo/jobs/with-files/tasks/no%20id/files": "TaskNotFound",
        "accounts/demo/jobs/none/tasks/a/files": "JobNotFound",
        "accounts/demo/pools/with-files/nodes/none/files": "FileNotFound",
        "accounts/demo/pools/with-files/nodes/n%27o/files": "NodeNotFound",
        "accounts/demo/pools/none/nodes/a/files/b": "FileNotFound",
    }.items():
        found = await files.get(path)
        assert (found.status, found.body["error"]["code"]) == (404, code), path


async def test_a_403_names_the_missing_right(files: World) -> None:
    files.emulator.faults.add(Fault(path="/jobs/with-files/tasks/broken/files", status=403))
    found = await files.get(f"{TASK}/files")
    files.emulator.faults.clear()
    assert found.status == 502
    assert "assign it 'Azure Batch Account Reader'" in found.body["error"]["message"]


async def test_files_of_a_removed_node_are_a_404_with_the_reason(files: World) -> None:
    await files.batch.begin_remove_nodes("with-files", BatchNodeRemoveOptions(node_ids=[await _node(files)]))
    files.advance(600)
    found = await files.get(f"{TASK}/files/stderr.txt")
    assert found.status == 404
    assert "the node is gone or was created anew since the task ran on it" in found.body["error"]["message"]
