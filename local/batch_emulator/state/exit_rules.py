"""The effects of a task's end on its job and its dependents: exitConditions and their defaults.

Source: the reference of ExitConditions and ExitOptions. A single exit code ranks before a range, a range before the
default. Without any of them, success satisfies dependents and failure blocks them and terminates the job.
"""

from collections.abc import Mapping
from typing import Any

from local.batch_emulator.core.errors import BatchError, invalid_property, missing_property
from local.batch_emulator.entities import Job, Task
from local.batch_emulator.state.failures import ENDED

JOB_ACTIONS = ("none", "disable", "terminate")
_DEPENDENCY_ACTIONS = ("satisfy", "block")
_SINGLE = ("preProcessingError", "fileUploadError", "default")
_MAX_CHARACTERS = 64_000
_PERFORM = "performexitoptionsjobaction"


def satisfies_dependents(task: Task) -> bool:
    """Returns whether dependents of this completed task may start."""
    return bool(_option(task, "dependencyAction", "block" if task.failure else "satisfy") == "satisfy")


def job_action(job: Job, task: Task) -> str:
    """Returns a completed task's action on its job: none, disable or terminate.

    A task that a user ended met no exit condition (observed: its job goes on, and it can be reactivated).
    """
    if task.failure is ENDED or str(job.spec.get("onTaskFailure", "")).lower() != _PERFORM:
        return "none"
    return str(_option(task, "jobAction", "terminate" if task.failure else "none"))


def check_exit_conditions(job: Job, sent: Mapping[str, Any]) -> None:
    """Raises BatchError for invalid exit conditions. Job actions need a job that performs them (documented)."""
    for row in (*(sent.get("exitCodes") or ()), *(sent.get("exitCodeRanges") or ())):
        for name in ("code",) if "code" in row else ("start", "end"):
            if not isinstance(row.get(name), int):
                raise invalid_property(f"exitConditions.{name}", row.get(name), "It is a whole number.")
        if not isinstance(row.get("exitOptions"), dict):
            raise missing_property("exitOptions")
    for options in _all(sent):
        _check(job, options)


def _check(job: Job, options: Mapping[str, Any]) -> None:
    for name, words in (("jobAction", JOB_ACTIONS), ("dependencyAction", _DEPENDENCY_ACTIONS)):
        if name in options and str(options[name]).lower() not in words:
            raise invalid_property(name, options[name], f"It is one of {', '.join(words)}.")
    if options.get("jobAction") and str(job.spec.get("onTaskFailure", "")).lower() != _PERFORM:
        raise invalid_property("jobAction", options["jobAction"], "The job's onTaskFailure is noaction.")
    if options.get("dependencyAction") and not job.spec.get("usesTaskDependencies"):
        raise _without_dependencies()


def _all(sent: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    rows = (*(sent.get("exitCodes") or ()), *(sent.get("exitCodeRanges") or ()))
    return [row["exitOptions"] for row in rows] + [sent[name] for name in _SINGLE if isinstance(sent.get(name), dict)]


def _option(task: Task, name: str, default: str) -> str:
    found = _matching(task, task.spec.get("exitConditions") or {})
    return str(found.get(name) or default).lower()


def _matching(task: Task, sent: Mapping[str, Any]) -> Mapping[str, Any]:
    code = task.exit_code
    if code is None:
        return sent.get("preProcessingError") or sent.get("default") or {}
    for row in sent.get("exitCodes") or ():
        if row["code"] == code:
            return row["exitOptions"] or {}
    for row in sent.get("exitCodeRanges") or ():
        if row["start"] <= code <= row["end"]:
            return row["exitOptions"] or {}
    return (sent.get("default") if code else None) or {}


def _without_dependencies() -> BatchError:
    text = "The task has dependencies, but its job does not use task dependencies."
    return BatchError(400, "TaskDependenciesNotSpecifiedOnJob", text)


def check_dependencies(job: Job, sent: Mapping[str, Any]) -> None:
    """Raises BatchError for invalid dependencies. Ids may have 64,000 characters in all (documented)."""
    if not sent:
        return
    if not job.spec.get("usesTaskDependencies"):
        raise _without_dependencies()
    names, ranges = sent.get("taskIds") or [], sent.get("taskIdRanges") or []
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise invalid_property("dependsOn.taskIds", names, "It is a list of ids.")
    if sum(map(len, names)) > _MAX_CHARACTERS:
        text = f"The ids of a task's dependencies have more than {_MAX_CHARACTERS} characters."
        raise BatchError(400, "TaskDependencyListTooLong", text)
    if not isinstance(ranges, list) or not all(_is_range(each) for each in ranges):
        raise invalid_property("dependsOn.taskIdRanges", ranges, "It is a list of ranges with start and end.")


def _is_range(found: Any) -> bool:
    if not isinstance(found, dict):
        return False
    start, end = found.get("start"), found.get("end")
    return isinstance(start, int) and isinstance(end, int) and 0 <= start <= end
