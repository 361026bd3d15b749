"""Proves that counts and pools equal the truth on the running local stack: pause, poll, compare, resume; twenty times.

Run `python3 dev.py up --speed 20` in one terminal and `python3 dev.py prove counts` in another. It uses only the API
and the emulator's controls, over HTTP. By the emulator's counters it also checks that a poll read no more task pages
than the changes since the last poll need.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from azure.batch import BatchClient
from azure.core.credentials import AzureNamedKeyCredential

from local.prove.stack.api import Stack
from local.prove.stack.truth import compare

MEASURED_PATHS = ("functions", "shared", "local/batch_emulator")
NOTE = Path(__file__).resolve().parents[2] / ".local" / "up.json"
_PAGE = 1000
_SLACK_PAGES = 2
_QUIET_SECONDS = 0.2


def main() -> int:
    parser = argparse.ArgumentParser(prog="dev.py prove counts", description=__doc__)
    parser.add_argument("--times", type=int, default=20, help="how often to compare (default: %(default)s)")
    parser.add_argument(
        "--seconds", type=float, default=3.0, help="how long to go on in between (default: %(default)s)"
    )
    options = parser.parse_args()
    if not NOTE.exists():
        print("Nothing is running: start `python3 dev.py up --speed 20` first.", file=sys.stderr)
        return 1
    note = json.loads(NOTE.read_text())
    stack = Stack(note["api"], note["emulator"], note["batchAccount"])
    client = BatchClient(stack.emulator, AzureNamedKeyCredential(stack.account, note["batchKey"]))
    wrong, since = 0, stack.time()
    for number in range(1, options.times + 1):
        time.sleep(options.seconds)
        stack.pause(paused=True)
        try:
            changed = changed_tasks(client, stack.truth(), since)
            before = quiet_counters(stack)
            problems = compare(stack)
            jobs, levels = stack.jobs(), sorted({job["verdict"]["level"] for job in stack.jobs().values()})
            after = stack.counters()
            pages, polls = task_pages(before, after), rounds_between(before, after)
            since = stack.time()
        finally:
            stack.pause(paused=False)
        problems += [
            f"{path}: {seen} pages in {polls} polls for {changed.get(path, 0)} changed tasks"
            for path, (seen, _) in pages.items()
            if is_excess(seen, changed.get(path, 0), polls)
        ]
        wrong += bool(problems)
        tasks = sum(job["taskCounts"]["total"] for job in jobs.values() if job["taskCounts"])
        read = sum(rows for _, rows in pages.values())
        moved = f"{sum(changed.values())} changed, {read} rows read"
        end = "; ".join(problems) or "as it should be"
        print(f"{number:3}: {len(jobs)} jobs, {tasks} tasks, {moved}, {levels}: {end}")
    print(f"{options.times - wrong} of {options.times} rounds as they should be")
    return 1 if wrong else 0


def task_pages(before: dict[str, Any], after: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Returns task-list requests and rows between two readings of the counters, by path."""
    earlier = before.get("taskLists", {})
    none = {"requests": 0, "items": 0}
    return {
        path: (seen["requests"] - earlier.get(path, none)["requests"], seen["items"] - earlier.get(path, none)["items"])
        for path, seen in after.get("taskLists", {}).items()
    }


def quiet_counters(stack: Stack) -> dict[str, Any]:
    """Returns the counters between two rounds, after any running tick."""
    before: dict[str, Any] = {}
    after = stack.counters()
    while before != after:
        time.sleep(_QUIET_SECONDS)
        before, after = after, stack.counters()
    return after


def rounds_between(before: dict[str, Any], after: dict[str, Any]) -> int:
    """Returns how often a job's tasks may have been polled between two readings of the counters, including ticks.

    Each round begins with a job list, and the demo's few jobs fit on one page.
    """
    return int(_served(after, "GET /jobs") - _served(before, "GET /jobs"))


def _served(counters: dict[str, Any], route: str) -> int:
    return int(counters["routes"].get(route, {}).get("requests", 0))


def is_excess(pages: int, changed: int, polls: int) -> bool:
    """Returns whether a poll read more pages than its changed tasks need, which means a repeated list."""
    return pages > (changed / _PAGE + _SLACK_PAGES) * polls


def changed_tasks(client: BatchClient, jobs: Iterable[str], since: str) -> dict[str, int]:
    """Returns the number of tasks that changed state since an instant, by list path; asked of the emulator."""
    condition = f"stateTransitionTime ge DateTime'{since}'"
    return {
        f"/jobs/{job}/tasks": sum(1 for _ in client.list_tasks(job, filter=condition, select=["id"])) for job in jobs
    }


if __name__ == "__main__":
    sys.exit(main())
