"""What the proof of the upgrade finds wrong with the efficiency of measured jobs."""

from typing import Any

from local.prove.upgrade.measured_jobs import MeasuredJobs

JOB = "/accounts/demo/jobs/measured-2"


def measured() -> MeasuredJobs:
    return MeasuredJobs(("http://127.0.0.1:1", "demo", "key"), "", ["measured-2"])


def answer(path: str) -> Any:
    """Returns what a host answers about efficiency."""
    return {"runs": 24, "cost": 1.5} if path.endswith("measured-2/efficiency") else {"value": [], "savings": []}


def test_efficiency_that_stays_as_it_was_is_right() -> None:
    jobs = measured()
    before = jobs.answers(answer) | {JOB: {"efficiency": {"measuredRuns": 24}, "state": "active"}}
    assert list(jobs.changed(before, before | {JOB: {"efficiency": {"measuredRuns": 24}, "state": "completed"}})) == []


def test_each_answer_that_changed_is_named_with_its_fields() -> None:
    jobs = measured()
    before = jobs.answers(answer) | {JOB: {"efficiency": {"measuredRuns": 24}}}
    after = {path: {**one, "runs": 12} for path, one in before.items()} | {JOB: {"efficiency": None}}
    of_account, of_job, row = sorted(jobs.changed(before, after), key=lambda one: (JOB in one, one))
    assert of_account.startswith("/accounts/demo/efficiency?from=")
    assert row == f"{JOB}: all was {{'measuredRuns': 24}}, is None"
    assert of_job == f"{JOB}/efficiency: runs was {{'runs': 24, 'cost': 1.5}}, is {{'runs': 12, 'cost': 1.5}}"


def test_a_job_that_was_measured_later_is_not_compared() -> None:
    jobs = measured()
    before = jobs.answers(answer) | {JOB: {"efficiency": None}}
    jobs.ids.append("measured-4")
    assert list(jobs.changed(before, before | jobs.answers(answer))) == []
