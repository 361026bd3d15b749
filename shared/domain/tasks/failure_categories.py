"""Failed tasks by category: a closed list, and one table from Batch's failure codes to it.

Sources of codes: TaskFailureInformationCodes of the Batch documentation, the documented events of tasks, and the
scheduling errors of jobs with a pool of their own. A code that isn't in the table is `other`. An exit code is the
program's own word, so only those count that mean the same wherever the operating system sets them.

A killed program counts as out of memory: the kernel kills for that, and Batch says `TaskEnded` of tasks that it kills.
A kill by somebody on the node looks the same; only events of node agents show the kernel's kills (docs/limits.md).
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal, get_args

from shared.domain.tasks.failures import Failures

type FailureCategory = Literal[
    "userCode", "outOfMemory", "diskFull", "timeLimit", "imagePull", "dataAccess", "identity", "nodeLost",
    "preempted", "dependency", "configuration", "service", "terminated", "other",
]  # fmt: skip
CATEGORIES: tuple[FailureCategory, ...] = get_args(FailureCategory.__value__)
type FailedTasks = Mapping[str, int]
"""Numbers of failed tasks by category, without categories that have none."""

_EXITED, _ENDED = "failureexitcode", "taskended"
_SERVICE = ("servererror", "internalerror")
_KILLED = (137, -9)  # SIGKILL, as a shell reports it, and of a program that the shell became (Azure/Batch issue 101)
_OUT_OF_MEMORY = (*_KILLED, 0xC0000017 - (1 << 32))  # or STATUS_NO_MEMORY
_BY_CODE: Mapping[str, FailureCategory] = MappingProxyType({
    "applicationpackageerror": "dataAccess",
    "autopoolcreationfailedwithquotareached": "configuration",
    "badcommandtype": "configuration",
    "blobaccessdenied": "identity",
    "blobdownloadmiscerror": "dataAccess",
    "blobdownloadtimedout": "dataAccess",
    "blobnotfound": "dataAccess",
    "commandlaunchfailed": "configuration",
    "commandprogramnotfound": "configuration",
    "containerinvalidimage": "imagePull",
    "containerinvalidregistry": "imagePull",
    "containerinvalidsettings": "configuration",
    "containermiscerror": "configuration",
    "diskfull": "diskFull",
    "fileuploadaccessdenied": "identity",
    "fileuploadcontainernotfound": "dataAccess",
    "fileuploadmiscerror": "dataAccess",
    "fileuploadtimedout": "dataAccess",
    "invalidapplicationpackagereferencesinautopool": "configuration",
    "jobpreparationtaskfailed": "dependency",
    "resourcecontaineraccessdenied": "identity",
    "resourcecontainerlistmiscerror": "dataAccess",
    "resourcecontainernotfound": "dataAccess",
    "resourcedirectorycreatefailed": "dataAccess",
    "resourcefilecreatefailed": "dataAccess",
    "resourcefilewritefailed": "dataAccess",
})  # fmt: skip


def category_of(failure: tuple[str, str], exit_code: int | None) -> FailureCategory:
    """Returns the category of tasks with this (category, code) of Batch and this exit code, in any case of letters.

    Batch gives a task that exceeded its time limit the same code as one that somebody ended. Only the former has an
    exit code, or Batch's category for the server.
    """
    source, code = failure[0].lower(), failure[1].lower()
    if code == _ENDED:
        return "timeLimit" if exit_code is not None or source in _SERVICE else "terminated"
    if code in {"", _EXITED} and exit_code is not None:
        return "outOfMemory" if exit_code in _OUT_OF_MEMORY else "userCode"
    if code == _EXITED:
        return "userCode"
    return _BY_CODE.get(code, "service" if not code and source in _SERVICE else "other")


def is_known(code: str) -> bool:
    """Returns whether the table has a failure code; an empty one counts as known."""
    return code.lower() in _BY_CODE or code.lower() in {"", _EXITED, _ENDED}


def failed_tasks_of(failures: Failures) -> FailedTasks:
    """Returns the numbers by category, in the order of CATEGORIES; tasks in no group are `other`."""
    numbers = Counter[str]({"other": failures.ungrouped})
    for group in failures.groups:
        numbers[category_of(group.failure, group.exit_code)] += group.count
    return _ordered(numbers)


def summed_failed_tasks(many: Iterable[FailedTasks]) -> FailedTasks:
    numbers = Counter[str]()
    for one in many:
        numbers.update(one)
    return _ordered(numbers)


def _ordered(numbers: Mapping[str, int]) -> FailedTasks:
    return {category: numbers[category] for category in CATEGORIES if numbers.get(category)}
