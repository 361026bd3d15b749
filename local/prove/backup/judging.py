"""Compares the answers of two hosts: on the original store and on the restored one."""

import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from local.prove.stack.api import Stack, call
from local.prove.stack.truth import FIELDS
from local.prove.upgrade.answers import Answers, by_field, differences

_OF_A_POLL = frozenset({"asOf", "checkedAt", "requests", "seconds", "pages", "startedAt", "finishedAt", "lastRound"})
"""Fields that every poll sets, whether it finds changes or not."""

_OF_POOLS = re.compile(r"/pools(\?[^/]*|/[^/?]+(/nodes|/nodestates)?)$")
"""Paths of the list of pools, of a pool, and of its nodes; histories, telemetry and evaluations stay at rest."""


@dataclass(slots=True)
class Findings:
    """The `lines` of the report, and the problems found (`wrong`)."""

    lines: list[tuple[str, str]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


@dataclass(slots=True)
class ShownFigures:
    """Counts of jobs, and figures of pools, by id and as-of, as the first host gave them."""

    counts: dict[str, dict[str, tuple[int, ...]]] = field(default_factory=dict)
    pools: dict[str, dict[str, str]] = field(default_factory=dict)

    def look(self, stack: Stack) -> None:
        for job in stack.jobs().values():
            if job["taskCounts"]:
                earlier = tuple(job["taskCounts"][name] for name in FIELDS)
                self.counts.setdefault(job["id"], {})[job["verdict"]["asOf"]] = earlier
        for pool in stack.pools().values():
            self.pools.setdefault(pool["id"], {})[pool["verdict"]["asOf"]] = _figures(pool)

    def has_moved(self, path: str) -> bool:
        """Returns True for present figures of pools and nodes if any pool's changed, even if they changed back."""
        shows_figures = _OF_POOLS.search(path) is not None
        return shows_figures and any(len(set(figures.values())) > 1 for figures in self.pools.values())


def _figures(pool: Any) -> str:
    return json.dumps({name: pool[name] for name in ("dedicated", "spot", "cores", "slots", "runningTasks")})


@contextmanager
def looking(stack: Stack, seen: ShownFigures) -> Iterator[None]:
    """Records the host's counts continuously inside the block."""
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.2):
            seen.look(stack)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def judge_answers(before: Answers, after: Answers, restored: Answers, seen: ShownFigures, judged: Findings) -> None:
    """Checks that answers of the first host that didn't change during the backup are equal on the second."""
    moved = {one.path for one in differences(before, after) if one.field not in _OF_A_POLL}
    moved |= set(filter(seen.has_moved, before))
    resting = {path: answer for path, answer in before.items() if path not in moved}
    found = [one for one in differences(resting, restored) if one.field not in _OF_A_POLL]
    judged.lines.append((f"{len(resting)} answers at rest", f"{len(found)} fields differ {by_field(found)}".strip()))
    judged.lines.append(("answers that moved meanwhile", str(len(moved))))
    judged.wrong += [str(one) for one in found]


def judge_events(first: Stack, second: Stack, judged: Findings) -> None:
    """Checks that the second host has all events of the first up to some moment, and no others."""
    restored, all_events = list(_events(second)), list(_events(first))
    begin = all_events.index(restored[0]) if restored and restored[0] in all_events else 0
    judged.lines.append(("events compared", f"{len(restored):,}, and {begin} that came later"))
    if not restored or restored != all_events[begin:]:
        judged.wrong.append(f"{len(restored)} events were restored that aren't the last {len(all_events) - begin}")


def _events(stack: Stack) -> Iterator[Any]:
    url: str | None = f"{stack.api}/accounts/{stack.account}/events?maxpagesize=1000"
    while url:
        page = call("GET", url)
        yield from page["value"]
        url = page.get("nextLink")


def judge_counts(seen: ShownFigures, second: Stack, judged: Findings) -> None:
    """Checks that counts of jobs and figures of pools are those that the first host gave as of the same moment."""
    jobs, pools = second.jobs(), second.pools()
    counts = {job: tuple(answer["taskCounts"][name] for name in FIELDS) for job, answer in jobs.items()}
    figures = {pool: _figures(answer) for pool, answer in pools.items()}
    _judge_by_as_of("jobs", seen.counts, jobs, counts, judged)
    _judge_by_as_of("pools", seen.pools, pools, figures, judged)


def _judge_by_as_of(
    kind: str,
    seen: Mapping[str, Mapping[str, Any]],
    answers: Mapping[str, Any],
    found: Mapping[str, Any],
    judged: Findings,
) -> None:
    compared = 0
    for key, answer in answers.items():
        as_of = answer["verdict"]["asOf"]
        earlier = seen.get(key, {}).get(as_of)
        compared += earlier is not None
        if earlier is not None and earlier != found[key]:
            judged.wrong.append(f"{key} as of {as_of}: {found[key]}, and was {earlier}")
    judged.lines.append((f"{kind} compared by as-of", f"{compared} of {len(seen)}"))
    if compared < len(seen) / 2:
        judged.wrong.append(f"only {compared} of {len(seen)} {kind} could be compared by as-of")
