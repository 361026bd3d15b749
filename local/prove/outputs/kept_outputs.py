"""What was kept of the failing job: its rows in storage, its groups, and answers on tasks that were kept or weren't."""

import random
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from azure.data.tables import TableServiceClient

from local.prove.outputs.failing_job import JOB, exit_code_of, number_of, task_id
from local.prove.stack.api import Stack
from local.prove.stack.rig import Rig

_UNKEPT_EACH = 5  # tasks of each cause that weren't kept


@dataclass(frozen=True, slots=True)
class StoredOutput:
    """A row of the table of kept outputs: a task of a job by its number, its node, and whether something was kept."""

    job: str
    task: int
    node: str
    is_kept: bool


@dataclass(slots=True)
class LastLook:
    """The rows, the number of tasks by exit code as the API groups them, and what `…/output` answered.

    `others` counts rows of other jobs, `texts` tasks whose output was shown, `reasons` why it wasn't. `wrong` are
    sentences on wrong answers, `slowest` is the longest answer in seconds.
    """

    stored: Sequence[StoredOutput]
    groups: Counter[int]
    others: int = 0
    texts: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    slowest: float = 0.0

    def take(self, answer: Mapping[str, Any], exit_code: int, *, is_kept: bool) -> None:
        """Judges an answer: it has a text and the task's exit code, or says why there is none."""
        streams = answer["stderr"], answer["stdout"]
        if any(stream["text"] for stream in streams):
            self.texts += 1
            if answer["exitCode"] != exit_code:
                self.wrong.append(f"{answer['id']}: exit code {answer['exitCode']} in place of {exit_code}")
        elif is_kept:
            self.wrong.append(f"{answer['id']}: its row has an output, but the answer has none")
        else:
            self.reasons[streams[0]["reason"] or "none"] += 1
            if not all(stream["reason"] and stream["message"] for stream in streams):
                self.wrong.append(f"{answer['id']}: not kept, and the answer doesn't say why")


def look_at_outputs(rig: Rig, stack: Stack, causes: Sequence[int], *, seed: int) -> LastLook:
    """Asks for an output of each of the `causes` that was kept, and for some that weren't."""
    rows = _stored(rig.storage.connection_string, f"{rig.program.environment['TABLE_PREFIX']}outputs")
    stored = [row for row in rows if row.job == JOB]
    job = f"/accounts/{stack.account}/jobs/{JOB}"
    groups = stack.get(f"{job}/failures")["groups"]
    counted = Counter({group["exitCode"]: group["count"] for group in groups})
    found = LastLook(stored, counted, len(rows) - len(stored))
    kept = {row.task for row in found.stored if row.is_kept}
    for task in chosen_tasks(causes, kept, seed=seed):
        began = time.monotonic()
        answer = stack.get(f"{job}/tasks/{task_id(task)}/output")
        found.slowest = max(found.slowest, time.monotonic() - began)
        found.take(answer, exit_code_of(causes[task]), is_kept=task in kept)
    return found


def chosen_tasks(causes: Sequence[int], kept: set[int], *, seed: int) -> list[int]:
    """Returns a kept task of each cause, and _UNKEPT_EACH others that weren't kept, or as many as there are."""
    chance, by_cause = random.Random(f"{seed}/answers"), defaultdict[tuple[int, bool], list[int]](list)
    for task, cause in enumerate(causes):
        by_cause[cause, task in kept].append(task)
    return [
        task
        for (_, is_kept), tasks in sorted(by_cause.items())
        for task in chance.sample(tasks, min(len(tasks), 1 if is_kept else _UNKEPT_EACH))
    ]


def _stored(storage: str, table: str) -> list[StoredOutput]:
    """Returns the rows of all tasks."""
    columns = ["PartitionKey", "id", "node", "kept"]
    with TableServiceClient.from_connection_string(storage) as service:
        return [
            StoredOutput(row["PartitionKey"].rpartition("~")[2], number_of(row["id"]), row["node"], bool(row["kept"]))
            for row in service.get_table_client(table).list_entities(select=columns)
            if row.get("id")
        ]
