"""Scripts for groups of failed tasks, run as users do against the emulator."""

import asyncio
import os
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from azure.batch import models

from local.batch_emulator.protocol.auth import DEVELOPMENT_KEY
from tests.emulator.support.staging import add_job, add_pool
from tests.functions.conftest import World

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def _failed(world: World, job: str, *, number: int = 3) -> str:
    """Runs a job with failed tasks and one that succeeds; returns the path of its group of failures."""
    await add_pool(world.batch, nodes=2, slots=4)
    await add_job(world.batch, job)
    world.advance(600)
    variables = [models.EnvironmentSetting(name="KEY", value="hidden")]
    for at in range(number):
        options = models.BatchTaskCreateOptions(
            id=f"frame-{at}", command_line="exit 3", display_name=f"Frame {at}", environment_settings=variables
        )
        await world.batch.create_task(job, options)
    await world.batch.create_task(job, models.BatchTaskCreateOptions(id="sound", command_line="exit 0"))
    world.advance(600)
    await world.poll()
    (group,) = (await world.get(f"accounts/demo/jobs/{job}/failures")).body["groups"]
    assert group["count"] == number
    return f"accounts/demo/jobs/{job}/failures/{group['id']}/rerun"


async def _run(program: str, tmp_path: Path) -> tuple[int | None, str, str]:
    """Runs a program as a user does; returns its exit code, output and errors."""
    file = tmp_path / "again.py"
    file.write_text(program, encoding="utf-8")
    keys = {"AZURE_BATCH_ACCOUNT": "demo", "AZURE_BATCH_ACCESS_KEY": DEVELOPMENT_KEY}
    running = await asyncio.create_subprocess_exec(
        sys.executable, file, env={**os.environ, **keys}, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    output, errors = await running.communicate()
    return running.returncode, output.decode(), errors.decode()


async def _states(world: World, job: str) -> dict[str, Any]:
    return {task.id: task.state async for task in world.batch.list_tasks(job)}


async def test_a_program_reactivates_the_tasks_of_its_group_alone(world: World, tmp_path: Path) -> None:
    path = await _failed(world, "again")
    answer = await world.get(path)
    assert (answer.status, answer.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    assert answer.headers["content-disposition"].startswith('attachment; filename="reactivate-')
    assert await _run(answer.body, tmp_path) == (0, "3 of 3 tasks were reactivated.\n", "")
    states = await _states(world, "again")
    assert states.pop("sound") == "completed"
    assert set(states.values()) == {"active"}
    code, output, errors = await _run(answer.body, tmp_path)
    assert (code, output) == (1, "0 of 3 tasks were reactivated.\n")
    assert errors.count("frame-") == 3


async def test_a_program_submits_copies_with_what_batch_has_of_the_tasks(world: World, tmp_path: Path) -> None:
    path = await _failed(world, "copied")
    answer = await world.get(f"{path}?action=resubmit")
    assert "hidden" not in answer.body
    code, output, errors = await _run(answer.body, tmp_path)
    assert (code, output, errors) == (0, "3 of 3 tasks were submitted.\n", "")
    copy = await world.batch.get_task("copied", "frame-1-again")
    assert (copy.command_line, copy.display_name) == ("exit 3", "Frame 1")
    assert [(one.name, one.value) for one in copy.environment_settings or []] == [("KEY", "hidden")]


async def test_what_has_no_script_is_refused_with_a_sentence(world: World) -> None:
    path = await _failed(world, "refused")
    shell = await world.get(f"{path}?language=shell")
    assert shell.body.startswith("#!/bin/sh\n")
    answer = await world.get(f"{path}?language=shell&action=resubmit")
    assert (answer.status, answer.body["error"]["target"]) == (400, "language")
    answer = await world.get("accounts/demo/jobs/refused/failures/none/rerun")
    assert (answer.status, answer.body["error"]["code"]) == (404, "FailureGroupNotFound")


async def test_a_group_of_too_many_tasks_is_divided_into_parts(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    path = await _failed(world, "large", number=9)
    monkeypatch.setattr("functions.api.jobs.failure_rerun._MAX_TASKS", 8)
    answer = await world.get(path)
    assert (answer.status, answer.body["error"]["target"]) == (400, "parts")
    assert answer.body["error"]["message"].startswith("These are more than 8 tasks")
    scripts = [await world.get(f"{path}?parts=3&part={part}") for part in (1, 2, 3)]
    named = [re.findall(r"'(frame-\d)',", script.body) for script in scripts]
    assert sorted(chain(*named)) == [f"frame-{at}" for at in range(9)]
    assert "part 2 of 3, as of " in scripts[1].body.splitlines()[0]
    assert scripts[1].headers["content-disposition"].endswith('-2-of-3.py"')
    await world.batch.reactivate_task("large", named[0][0])
    await world.poll()
    again = await world.get(f"{path}?parts=3&part=2")
    assert re.findall(r"'(frame-\d)',", again.body) == named[1]  # whoever leaves another part moves nobody
    answer = await world.get(f"{path}?parts=3&part=4")
    assert (answer.status, answer.body["error"]["target"]) == (400, "part")
