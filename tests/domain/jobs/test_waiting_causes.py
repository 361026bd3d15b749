"""Causes for which jobs wait: the closed list, and the time that tasks have waited for each."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from local.dev.system.checkout import HERE
from shared.domain.explain.causes import CAUSES, UNKNOWN
from shared.domain.jobs.job_counters import NO_POOL
from shared.domain.jobs.jobs import Job, JobFacts
from shared.domain.jobs.snapshots import JobSnapshot
from shared.domain.jobs.waiting_causes import INTERVAL, UNKNOWN_CAUSE, WaitingCause, WaitingCauses, waiting_tasks
from shared.domain.reports.pool_tasks import account_tasks
from shared.domain.tasks.tasks import TaskCounts

NOW = datetime(2026, 11, 29, 7, tzinfo=UTC)
MINUTES = 60_000


def job(name: str, waiting: int, pool: str | None = "Blue", state: str = "active") -> Job:
    counts = TaskCounts(active=waiting, running=1)
    return Job(JobFacts(name, NOW, state, NOW, pool_id=pool), JobSnapshot("g", NOW, "delta", counts, NOW, NOW, NOW))


def by_key(*jobs: Job) -> dict[str, Job]:
    return {one.key: one for one in jobs}


def test_each_code_of_an_explanation_is_a_cause_with_an_actor_and_documented() -> None:
    rules = (HERE.root / "shared/domain/explain").rglob("*.py")
    text = "\n".join(path.read_text(encoding="utf-8") for path in rules)
    codes = set(re.findall(r'about_(?:job|pool)\(\s*"(\w+)"', text))
    assert len(codes) > 15
    assert codes <= CAUSES.keys()
    page = (HERE.root / "docs/api.md").read_text(encoding="utf-8")
    section = page.partition("\n## Explanation\n")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (`[^|]+) \|", section, re.MULTILINE)
    listed = {code for cell in cells for code in re.findall(r"`(\w+)`", cell)} - {"code"}
    assert listed | {UNKNOWN} == CAUSES.keys()
    table = (HERE.root / "docs/explanations.md").read_text(encoding="utf-8").partition("## Causes as numbers")[2]
    actors = {
        code: actor
        for actor, cell in re.findall(r"^\| (\w+)[^|]*\| ([^|]+) \|$", table, re.MULTILINE)
        for code in re.findall(r"`(\w+)`", cell)
    }
    assert actors == dict(CAUSES)
    assert UNKNOWN == UNKNOWN_CAUSE


def test_tasks_are_counted_by_the_cause_of_their_job_and_unknown_before_it_was_explained() -> None:
    jobs = by_key(job("a", 3), job("b", 4), job("c", 5, pool=None), job("over", 6, state="completed"), job("idle", 0))
    causes = WaitingCauses().after(jobs, {"a": "slotsBusy", "c": "poolMissing"}, NOW)
    tasks = account_tasks(jobs.values(), {}, causes)
    assert tasks.of_pool("blue").waiting == {"slotsBusy": 3, "unknown": 4}
    assert tasks.of_pool(NO_POOL).waiting == {"poolMissing": 5}
    assert tasks.all.waiting == {"poolMissing": 5, "slotsBusy": 3, "unknown": 4}
    assert (tasks.of_pool("blue").explained_at, tasks.all.explained_at) == (NOW, NOW)
    assert causes.of_job(jobs["a"]) == WaitingCause("slotsBusy", NOW)
    assert causes.of_job(jobs["b"]) == WaitingCause(UNKNOWN_CAUSE, None)
    assert causes.of_job(jobs["idle"]) is None
    assert waiting_tasks(replace(jobs["a"], deleted_at=NOW)) == 0


def test_a_job_that_was_created_anew_under_its_id_begins_unexplained_and_is_next() -> None:
    old, other = job("a", 3), job("b", 4)
    causes = WaitingCauses().after(by_key(old, other), {"a": "slotsBusy", "b": "slotsBusy"}, NOW)
    new = replace(old, facts=replace(old.facts, creation_time=NOW + timedelta(minutes=4)))
    jobs = by_key(new, other)
    assert causes.of_job(new) == WaitingCause(UNKNOWN_CAUSE, None)
    assert causes.next_jobs(jobs, 1) == [new]
    later = causes.after(jobs, {}, NOW + INTERVAL)
    assert later.waited == {"blue": {"slotsBusy": 4 * 5 * MINUTES}}
    assert later.of_job(new) == WaitingCause(UNKNOWN_CAUSE, None)
    assert later.after(jobs, {}, NOW + 2 * INTERVAL).waited["blue"] == {
        "slotsBusy": 2 * 4 * 5 * MINUTES, "unknown": 3 * 5 * MINUTES,
    }  # fmt: skip


def test_the_causes_of_a_pool_are_as_old_as_the_oldest_of_jobs_that_wait_now() -> None:
    first = by_key(job("a", 3), job("b", 4), job("c", 5, pool="Red"))
    causes = WaitingCauses().after(first, {"a": "slotsBusy", "c": "slotsBusy"}, NOW)
    causes = causes.after(first, {"b": "slotsBusy", "c": "slotsBusy"}, NOW + INTERVAL)
    tasks = account_tasks(first.values(), {}, causes)
    assert [tasks.of_pool(pool).explained_at for pool in ("blue", "red")] == [NOW, NOW + INTERVAL]
    assert tasks.all.explained_at == NOW
    later = account_tasks(by_key(job("a", 0), job("b", 4)).values(), {}, causes)
    assert later.all.explained_at == NOW + INTERVAL
    unexplained = account_tasks(by_key(job("d", 1)).values(), {}, causes)
    assert unexplained.all.explained_at is None


def test_time_counts_for_the_cause_that_was_known_and_only_for_jobs_that_waited_before() -> None:
    first = by_key(job("a", 3))
    causes = WaitingCauses().after(first, {"a": "slotsBusy"}, NOW)
    assert causes.waited == {}
    later = by_key(job("a", 2), job("b", 4))
    causes = causes.after(later, {"a": "olderJobs", "b": "slotsBusy"}, NOW + INTERVAL)
    assert causes.waited == {"blue": {"slotsBusy": 2 * 5 * MINUTES}}
    causes = causes.after(later, {}, NOW + 2 * INTERVAL)
    assert causes.waited == {"blue": {"slotsBusy": 30 * MINUTES, "olderJobs": 10 * MINUTES}}
    causes = causes.after({}, {}, NOW + 3 * INTERVAL)
    assert causes.after(later, {}, NOW + 9 * INTERVAL).waited == causes.waited


def test_a_pause_of_the_app_counts_for_fifteen_minutes_and_a_clock_that_went_back_for_none() -> None:
    jobs = by_key(job("a", 1))
    causes = WaitingCauses().after(jobs, {"a": "slotsBusy"}, NOW)
    assert causes.after(jobs, {}, NOW + timedelta(hours=9)).waited == {"blue": {"slotsBusy": 15 * MINUTES}}
    assert causes.after(jobs, {}, NOW - timedelta(hours=9)).waited == {"blue": {"slotsBusy": 0}}


def test_passes_are_due_after_five_minutes_and_take_the_jobs_explained_longest_ago() -> None:
    jobs = by_key(*(job(name, 1) for name in "abcd"))
    assert WaitingCauses().is_due(NOW)
    causes = WaitingCauses().after(jobs, {"a": "slotsBusy", "b": "slotsBusy"}, NOW)
    assert [one.key for one in causes.next_jobs(jobs, 3)] == ["c", "d", "a"]
    assert not causes.is_due(NOW + INTERVAL - timedelta(seconds=1))
    assert causes.is_due(NOW + INTERVAL)
    assert causes.is_due(NOW - timedelta(seconds=1))


def test_stored_causes_are_read_as_they_were_and_time_of_pools_that_are_gone_counts_for_none() -> None:
    jobs = by_key(job("a", 1), job("b", 2))
    causes = WaitingCauses().after(jobs, {"a": "slotsBusy"}, NOW).after(jobs, {}, NOW + INTERVAL)
    assert WaitingCauses.of_plain(causes.plain(), causes.plain_steps()) == causes
    assert causes.within({"blue": None}) == causes
    assert causes.within({}).waited == {NO_POOL: {"slotsBusy": 5 * MINUTES, "unknown": 10 * MINUTES}}
