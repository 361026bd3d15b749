"""The API's expected numbers of a job, computed plainly from Batch's own list of its tasks, and differences from them.

It shares no code with the app. Compare only while the emulator is paused and after a poll.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from math import ceil
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

from prometheus_client.parser import text_string_to_metric_families

from local.prove.stack.api import Stack
from tests.e2e.live.brute_lists import list_differences
from tests.e2e.live.listed import STATES, Difference, Listed, Node, counted, moment

type Series = dict[tuple[str, str | None], float]

_WINDOWS = {"last5Minutes": 5, "last15Minutes": 15, "lastHour": 60}
_ENOUGH = 20  # ended tasks required for a shorter window as the basis of an estimate


def all_differences(stack: Stack, jobs: Mapping[str, list[Listed]]) -> list[str]:
    """Returns each number of the API that differs from that of a job's tasks; the metrics page is read once."""
    series = _series_of_jobs(stack)
    return [each for job, tasks in jobs.items() for each in _differences(stack, job, tasks, series.get(job, {}))]


def _differences(stack: Stack, job: str, tasks: list[Listed], series: Series) -> list[str]:
    path = f"/accounts/{stack.account}/jobs/{quote(job)}"
    answer = stack.get(path)
    found = [
        *_job_statistics(answer, tasks),
        *_failures(stack.get(f"{path}/failures"), tasks),
        *list_differences(stack, path, tasks),
        *_series(series, tasks),
        *_timeline(stack.get(f"{path}/timeline"), tasks),
    ]
    return [f"{job}: {field} is {shown}, in truth {true}" for field, shown, true in found if shown != true]


def history_differences(stack: Stack, ends: Mapping[int, Mapping[str, list[Listed]]]) -> list[str]:
    """Returns points of jobs' histories that differ from Batch's lists at their times.

    `ends` are lists of all jobs, by the end of the minute (milliseconds since 1970) at which they were read.
    """
    found = list[str]()
    for job in {job for jobs in ends.values() for job in jobs}:
        points = stack.get(f"/accounts/{stack.account}/jobs/{quote(job)}/history?step=PT1M")["value"]
        shown = {moment(point["time"]): point["taskCounts"] for point in points}
        for end, jobs in ends.items():
            if job in jobs and shown.get(end) != (true := counted(jobs[job])):
                found.append(f"{job}: its history at {end} is {shown.get(end)}, in truth {true}")
    return found


def _job_statistics(job: Mapping[str, Any], tasks: list[Listed]) -> Iterator[Difference]:
    insight, done = job["insight"], [task for task in tasks if task.state == "completed"]
    yield "counts", job["taskCounts"], counted(tasks)
    timed = [task for task in done if task.started is not None and task.ended is not None]
    first = [task for task in timed if not any(task.repeats)]
    yield from _durations("queueWait", insight, [max(0, (task.started or 0) - task.created) for task in first])
    yield from _durations("runTime", insight, [max(0, (task.ended or 0) - (task.started or 0)) for task in timed])
    end = moment(insight["throughput"]["asOf"]) // 60_000
    minutes = Counter((task.ended or task.moved) // 60_000 for task in done)
    lived = max(1, end - moment(job["creationTime"]) // 60_000)
    for name, window in _WINDOWS.items():
        number = sum(minutes[minute] for minute in range(end - window, end))
        yield name, insight["throughput"]["perMinute"][name], number / min(window, lived)
    for place, (name, having) in enumerate((("retries", "retriedTasks"), ("requeues", "requeuedTasks"))):
        times = [task.repeats[place] for task in tasks]
        yield name, (insight[name], insight[having]), (sum(times), sum(map(bool, times)))
    slots = {state: sum(task.slots for task in tasks if task.state == state) for state in STATES[:3]}
    yield "slots", insight["slots"], slots
    yield "remaining", insight["estimate"]["remaining"], len(tasks) - len(done)
    shown = insight["estimate"]["completionTime"]
    yield "estimate", shown and moment(shown), _estimated(job, tasks, minutes)


def _estimated(job: Mapping[str, Any], tasks: list[Listed], minutes: Mapping[int, int]) -> int | None:
    """Returns the expected estimated end of the job, None if unknown; `minutes` are ends of tasks by the minute.

    It is unknown if tasks may depend on failed ones, or if no task runs and none ended within two minutes.
    """
    as_of = moment(job["insight"]["throughput"]["asOf"])
    end, left = as_of // 60_000, sum(task.state != "completed" for task in tasks)
    ended = {window: sum(minutes.get(end - back, 0) for back in range(1, window + 1)) for window in _WINDOWS.values()}
    runs = any(task.state in {"preparing", "running"} for task in tasks)
    depends = any(task.depends for task in tasks)
    is_stuck = {(task.state, task.result) for task in tasks} >= {("active", None), ("completed", "failure")}
    goes_on = runs and not is_stuck if depends else runs or minutes.get(end, 0) or minutes.get(end - 1, 0)
    if job["state"] != "active" or job["verdict"]["level"] in {"stale", "catchingUp"} or not left or not goes_on:
        return None
    window = next((window for window, number in ended.items() if number >= _ENOUGH), 60)
    lived = max(1, end - moment(job["creationTime"]) // 60_000)
    return as_of + ceil(left * min(window, lived) * 60 / ended[window]) * 1000 if ended[window] else None


def _durations(name: str, insight: Mapping[str, Any], values: list[int]) -> Iterator[Difference]:
    statistics = insight[name]
    if not values:
        yield name, statistics, None
        return
    yield f"tasks of {name}", statistics["tasks"], len(values)
    yield f"mean of {name}", round(statistics["mean"], 6), round(sum(values) / len(values) / 1000, 6)
    for percent in (50, 90, 99):
        true, shown = sorted(values)[ceil(len(values) * percent / 100) - 1] / 1000, statistics[f"p{percent}"]
        if abs(shown - true) > statistics["relativeError"] * true:
            yield f"p{percent} of {name}", shown, true


def _failures(answer: Mapping[str, Any], tasks: list[Listed]) -> Iterator[Difference]:
    causes = defaultdict[tuple[str | None, str | None, int | None], list[Listed]](list)
    for task in tasks:
        if task.result == "failure":
            causes[task.cause].append(task)
    yield "failed", (answer["failed"], answer["ungrouped"]), (sum(map(len, causes.values())), 0)
    shown = {(group["category"], group["code"], group["exitCode"]): _group(group) for group in answer["groups"]}
    yield "groups", shown, {cause: _expected_group(failed) for cause, failed in causes.items()}


def _group(group: Mapping[str, Any]) -> Any:
    nodes = {(node["poolId"], node["nodeId"]): node["count"] for node in group["nodes"]}
    return (
        group["count"], moment(group["firstTime"]), moment(group["lastTime"]), group["tasks"], nodes,
        group["otherNodes"],
    )  # fmt: skip


def _expected_group(failed: list[Listed]) -> Any:
    ends = [task.ended or task.moved for task in failed]
    nodes = Counter(task.node for task in failed if all(task.node))
    best = dict(sorted(nodes.items(), key=lambda node: (-node[1], node[0]))[:10])
    examples = sorted(task.id for task in failed)[:5]
    return len(failed), min(ends), max(ends), examples, best, len(failed) - sum(best.values())


def _series_of_jobs(stack: Stack) -> dict[str, Series]:
    """Returns the Prometheus metrics of each job."""
    found = defaultdict[str, Series](dict)
    with urlopen(f"{stack.api}/metrics") as answer:  # noqa: S310 - on loopback
        families = text_string_to_metric_families(answer.read().decode())
    for sample in (sample for family in families for sample in family.samples):
        if sample.labels.get("account") == stack.account and "job" in sample.labels:
            name = sample.name.removeprefix("azbatch_")
            label = sample.labels.get("state") or sample.labels.get("result")
            found[sample.labels["job"]][name, label] = round(sample.value, 3)
    return found


def _series(shown: Series, tasks: list[Listed]) -> Iterator[Difference]:
    """Compares the Prometheus metrics of the job."""
    counts, slots = counted(tasks), Counter[str]()
    for task in tasks:
        slots[task.state] += task.slots
    timed = [
        task for task in tasks if task.state == "completed" and task.started is not None and task.ended is not None
    ]
    runs = [max(0, (task.ended or 0) - (task.started or 0)) for task in timed]
    waits = [max(0, (task.started or 0) - task.created) for task in timed if not any(task.repeats)]
    true: Series = {
        **{("job_tasks", state): counts[state] for state in STATES},
        **{
            ("job_completed_tasks", word): counts[name]
            for word, name in (("success", "succeeded"), ("failure", "failed"))
        },
        ("job_task_retries", None): sum(task.repeats[0] for task in tasks),
        ("job_task_requeues", None): sum(task.repeats[1] for task in tasks),
        **{("job_slots", state): slots[state] for state in STATES[:3]},
        ("task_run_seconds_count", None): len(runs),
        ("task_run_seconds_sum", None): round(sum(runs) / 1000, 3),
        ("task_queue_wait_seconds_count", None): len(waits),
        ("task_queue_wait_seconds_sum", None): round(sum(waits) / 1000, 3),
    }
    yield "series", {name: shown.get(name) for name in true}, true


def _timeline(timeline: Mapping[str, Any], tasks: list[Listed]) -> Iterator[Difference]:
    known = moment(timeline["asOf"])
    runs = [task for task in tasks if task.started is not None]
    busy = Counter[Node]()
    for task in runs:
        busy[task.node] += (task.until(known) - (task.started or 0)) * task.slots
    shown = {(node["poolId"], node["nodeId"]): node["busySlotSeconds"] for node in timeline["nodes"]}
    yield "busy time", shown, {node: time / 1000 for node, time in busy.items()}
    yield "aggregated", timeline["aggregated"], len(runs) > 2000
    parts = [part for node in timeline["nodes"] for part in node.get("buckets", node.get("runs"))]
    if timeline["aggregated"]:
        yield "failed in buckets", sum(part["failed"] for part in parts), sum(task.result == "failure" for task in runs)
        total = round(sum(part["busySlotSeconds"] for part in parts), 3)
        yield "busy time of buckets", total, round(busy.total() / 1000, 3)
    else:
        began = sorted((part["task"], moment(part["start"])) for part in parts)
        yield "runs", began, sorted((task.id, task.started) for task in runs)
