"""Scripts that run failed tasks again, for users to read and to start with rights of their own.

Batch's rules are those of Reactivate Task and Add Task in its REST API. Texts from outside are quoted for the shell and
for Python, and comments have them in ASCII on one line.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from shlex import quote
from typing import NamedTuple
from zlib import crc32

from shared.domain.core.amounts import amount
from shared.domain.core.keys import key_of
from shared.domain.core.stamps import format_stamp

SUFFIX = "-again"
"""What the ids of tasks that are submitted anew end with."""
_REACTIVATION = (
    "Batch refuses a task that isn't completed or that succeeded.",
    "It refuses every task of a job that is completed, terminating or deleting.",
    "A reactivated task loses its exit code and failure, and its retries are counted from 0.",
)
_RESUBMISSION = (
    "It reads each task from Batch and adds it to the same job, with a suffix to its id, for any node.",
    "Batch refuses an id that the job has already, and every task for a job that isn't active.",
    "SAS of resource files may have expired, and new tasks fulfil no dependency on the old ones.",
)


class Part(NamedTuple):
    """One of so many parts of a group of tasks, from 1; a task is always in the same one, also when others leave."""

    number: int
    all: int

    def has(self, task_id: str) -> bool:
        return crc32(key_of(task_id).encode("utf-8", "surrogatepass")) % self.all == self.number - 1

    def __str__(self) -> str:
        return f"part {self.number} of {self.all}"


WHOLE = Part(1, 1)


@dataclass(frozen=True, slots=True)
class FailedTasks:
    """Failed tasks of a job by id, as of a time; `cause` is what they have in common, in words.

    They are one of so many parts of all that have it.
    """

    account: str
    endpoint: str
    token_scope: str
    job_id: str
    cause: str
    as_of: datetime
    ids: Sequence[str]
    part: Part = WHOLE

    def title(self, verb: str) -> str:
        tasks, part = amount(len(self.ids), "failed task"), f", {self.part}" if self.part != WHOLE else ""
        return f"{verb} {tasks} of the job {self.job_id!a} ({self.cause}){part}, as of {format_stamp(self.as_of)}."


def shell_reactivation(tasks: FailedTasks) -> str:
    """Returns a script for POSIX shells that reactivates tasks by the Azure CLI."""
    ids = "".join(f" \\\n  {quote(each)}" for each in tasks.ids)
    return f"""\
#!/bin/sh
{_comment(tasks.title("Reactivates"), *_REACTIVATION)}
# Sign in before: az login; az batch account login --name {quote(tasks.account)} --resource-group GROUP
failed=0
for task in{ids}
do
  az batch task reactivate --account-endpoint={quote(tasks.endpoint)} --job-id={quote(tasks.job_id)} \\
    --task-id="$task" || failed=$((failed + 1))
done
if [ "$failed" -gt 0 ]
then
  echo "$failed of {len(tasks.ids)} tasks weren't reactivated." >&2
  exit 1
fi
"""


def python_reactivation(tasks: FailedTasks) -> str:
    """Returns a program that reactivates tasks."""
    comment = _comment(tasks.title("Reactivates"), *_REACTIVATION)
    return _program(tasks, comment, call="client.reactivate_task(JOB, task)", done="reactivated")


def python_resubmission(tasks: FailedTasks) -> str:
    """Returns a program that reads tasks from Batch and submits them anew."""
    comment = _comment(tasks.title("Submits"), *_RESUBMISSION)
    call = "client.create_task(JOB, copied(client.get_task(JOB, task)))"
    return _program(tasks, comment, _COPIED, call=call, done="submitted")


_COPIED = f"""

SUFFIX = {SUFFIX!r}
SETTINGS = (
    "displayName", "commandLine", "containerSettings", "exitConditions", "resourceFiles", "outputFiles",
    "environmentSettings", "constraints", "requiredSlots", "userIdentity", "multiInstanceSettings", "dependsOn",
    "applicationPackageReferences", "authenticationTokenSettings",
)


def copied(task):
    settings = {{name: value for name, value in task.as_dict().items() if name in SETTINGS and value is not None}}
    return models.BatchTaskCreateOptions({{**settings, "id": task.id[: 64 - len(SUFFIX)] + SUFFIX}})
"""


def _program(tasks: FailedTasks, comment: str, functions: str = "", *, call: str, done: str) -> str:
    """Returns a program that makes a call for each task, and goes on after refused ones."""
    ids = "".join(f"    {each!a},\n" for each in tasks.ids)
    return f"""\
{comment}
# pip install azure-batch azure-identity; sign in before: az login
# Or set AZURE_BATCH_ACCOUNT and AZURE_BATCH_ACCESS_KEY, as for the Azure CLI.
import os
import sys

from azure.batch import BatchClient, models
from azure.core.credentials import AzureNamedKeyCredential
from azure.core.exceptions import HttpResponseError
from azure.identity import DefaultAzureCredential

ENDPOINT = {tasks.endpoint!a}
SCOPE = {tasks.token_scope!a}
JOB = {tasks.job_id!a}
TASKS = [
{ids}]
{functions}

def credential():
    key = os.environ.get("AZURE_BATCH_ACCESS_KEY")
    return AzureNamedKeyCredential(os.environ["AZURE_BATCH_ACCOUNT"], key) if key else DefaultAzureCredential()


failed = 0
with BatchClient(ENDPOINT, credential(), credential_scopes=[SCOPE]) as client:
    for task in TASKS:
        try:
            {call}
        except HttpResponseError as error:
            failed += 1
            print(f"{{task}}: {{error.message}}", file=sys.stderr)
print(f"{{len(TASKS) - failed}} of {{len(TASKS)}} tasks were {done}.")
sys.exit(1 if failed else 0)
"""


def _comment(*sentences: str) -> str:
    """Returns lines of a comment, each sentence on one line in ASCII."""
    return "\n".join(f"# {''.join(each if ' ' <= each <= '~' else '?' for each in one)}" for one in sentences)
