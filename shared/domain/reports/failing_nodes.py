"""Nodes of a pool on which tasks of jobs fail, as stored with the jobs: those of jobs that ran lately."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from shared.domain.core.keys import key_of
from shared.domain.findings.thresholds import FAILING_NODES_SINCE
from shared.domain.jobs.jobs import COMPLETED, Job, JobFacts
from shared.domain.nodes.failing_nodes import FailingNodes


class FailingNodesOfJob(NamedTuple):
    """A job with failing nodes, and how many of its tasks have failed by now."""

    facts: JobFacts
    failed: int
    found: FailingNodes

    def is_shown(self, now: datetime) -> bool:
        """Returns whether the job is active or ended lately, and the nodes were determined lately enough."""
        ran_lately = self.facts.state != COMPLETED or now - self.facts.state_transition_time < FAILING_NODES_SINCE
        return ran_lately and self.found.holds(self.failed, now)


def failing_nodes_of_jobs(jobs: Iterable[Job]) -> tuple[FailingNodesOfJob, ...]:
    """Returns the failing nodes of jobs that aren't deleted."""
    return tuple(
        FailingNodesOfJob(job.facts, job.snapshot.counts.failed, job.failing_nodes)
        for job in jobs
        if job.failing_nodes and job.snapshot and not job.deleted
    )


def on_pool(jobs: Iterable[FailingNodesOfJob], pool_key: str, now: datetime) -> Iterator[FailingNodesOfJob]:
    """Yields the jobs to show at a pool `now`, with their failing nodes of that pool alone."""
    for job in jobs:
        nodes = tuple(one for one in job.found.nodes if key_of(one.place[0]) == pool_key)
        if nodes and job.is_shown(now):
            yield job._replace(found=job.found._replace(nodes=nodes))
