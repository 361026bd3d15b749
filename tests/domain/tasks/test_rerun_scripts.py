"""Scripts that run failed tasks again: what they pass on, also of hostile ids and causes."""

import ast
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.tasks.rerun_scripts import (
    FailedTasks,
    Part,
    python_reactivation,
    python_resubmission,
    shell_reactivation,
)

HOSTILE = (
    "frame-1",
    "--help",
    "a b",
    "it's",
    "$(touch owned)",
    "`touch owned`",
    '"; touch owned; "',
    "\\",
    "line\nrm -rf .",
    "TASKS",
    "naïve-日本",
    "{braces}",
)
_AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def failed_tasks(ids: Sequence[str], job: str = "job's\n`x`", cause: str = "UserError\nimport os") -> FailedTasks:
    return FailedTasks("demo", "http://127.0.0.1:9", "https://batch/.default", job, cause, _AT, ids)


@given(st.lists(st.text(min_size=1, max_size=64), unique=True), st.integers(1, 9))
def test_each_task_is_in_one_part(ids: list[str], parts: int) -> None:
    for each in ids:
        assert sum(Part(number, parts).has(each) for number in range(1, parts + 1)) == 1


def test_parts_of_a_large_group_are_of_about_the_same_size() -> None:
    sizes = Counter(number for at in range(100_000) for number in range(1, 8) if Part(number, 7).has(f"frame-{at:06}"))
    assert all(13_000 < size < 16_000 for size in sizes.values())
    assert len(sizes) == 7


def test_the_shell_passes_each_id_on_as_it_is(tmp_path: Path) -> None:
    shell = shutil.which("sh")
    if shell is None:
        pytest.skip("no POSIX shell on this machine")
    cli = tmp_path / "az"
    cli.write_text(
        f"#!{sys.executable}\nimport json, sys\nopen({str(tmp_path / 'calls')!r}, 'a').write("
        "json.dumps(sys.argv[1:]) + '\\n')\nsys.exit('a b' in sys.argv[-1])\n",
        encoding="utf-8",
    )
    cli.chmod(0o755)
    (tmp_path / "empty").mkdir()
    done = subprocess.run(
        [shell, "-c", shell_reactivation(failed_tasks(HOSTILE))],
        env={"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        cwd=tmp_path / "empty",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, f"1 of {len(HOSTILE)} tasks weren't reactivated.\n")
    calls = [json.loads(line) for line in (tmp_path / "calls").read_text(encoding="utf-8").splitlines()]
    given_ids = ["batch", "task", "reactivate", "--account-endpoint=http://127.0.0.1:9", "--job-id=job's\n`x`"]
    assert calls == [[*given_ids, f"--task-id={each}"] for each in HOSTILE]
    assert list((tmp_path / "empty").iterdir()) == []


@pytest.mark.parametrize("script", [python_reactivation, python_resubmission])
@given(ids=st.lists(st.text(), max_size=5), job=st.text(), cause=st.text())
def test_programs_have_the_ids_and_nothing_else_from_outside(
    script: Callable[[FailedTasks], str], ids: list[str], job: str, cause: str
) -> None:
    program = ast.parse(script(failed_tasks(ids, job, cause)))
    constants = {
        target.id: ast.literal_eval(node.value)
        for node in program.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id in {"JOB", "TASKS"}
    }
    assert constants == {"JOB": job, "TASKS": ids}
    plain = ast.parse(script(failed_tasks([], "", "")))
    assert [type(node) for node in program.body] == [type(node) for node in plain.body]


@pytest.mark.parametrize("script", [shell_reactivation, python_reactivation, python_resubmission])
def test_scripts_begin_with_what_they_do_and_when_batch_refuses(script: Callable[[FailedTasks], str]) -> None:
    text = script(failed_tasks(["a", "b"], "nightly", "UserError FailureExitCode, exit code 127"))
    comment = [line for line in text.splitlines() if line.startswith("# ")]
    assert "2 failed tasks of the job 'nightly' (UserError FailureExitCode, exit code 127)" in comment[0]
    assert "as of 2026-01-02T03:04:05" in comment[0]
    assert any("Batch refuses" in line for line in comment)
    assert "az login" in text
