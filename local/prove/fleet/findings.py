"""The results of the fleet proof, with verdict and report."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from local.prove.fleet.freshness import Freshness, percentile

CHANGING = 0.05  # share of the jobs that change per minute, at least
BOUND = 120.0  # seconds
_MIN, _MAX = 0.9, 1.02  # requests per job and round: rounds running at the begin and end of counting are cut
_ONE_QUERY = 1.02  # of job rows, per round
_NEVER = ("tasks written", "transactions", "jobhistory read", "jobhistory written", "jobs written")
_TASK_READS, _JOB_READS = 10, 6
"""Of a pass over an account's waiting jobs, at most: it explains five jobs, once every five minutes."""


@dataclass(slots=True)
class IdleFindings:
    """Counts without changes: rounds, requests for tasks or their counts, and operations by table."""

    accounts: int
    jobs: int
    rounds: int
    requests: int
    tables: Counter[str]

    @property
    def requests_a_poll(self) -> float:
        return self.requests / max(self.rounds * self.jobs, 1)

    def problems(self) -> Iterator[str]:
        if self.rounds < self.accounts:
            yield f"only {self.rounds} rounds of {self.accounts} accounts were counted while nothing changed"
        if not _MIN <= self.requests_a_poll <= _MAX:
            yield f"an unchanged job cost {self.requests_a_poll:.3f} requests a round, not one"
        for name in _NEVER:
            if self.tables[name]:
                yield f"while nothing changed there were operations: {name} {self.tables[name]}"
        if (read := self.tables["tasks read"]) > self.accounts * _TASK_READS:
            yield f"tasks were read {read} times, more than {_TASK_READS} by each account's pass over waiting jobs"
        if (read := self.tables["jobs read"]) > self.rounds * _ONE_QUERY + self.accounts * _JOB_READS:
            yield (
                f"job rows were read {read} times in {self.rounds} rounds, more than once each and"
                f" {_JOB_READS} by each account's pass over waiting jobs"
            )

    def summary(self) -> str:
        tables = ", ".join(
            f"{name} {number / max(self.rounds, 1):.2f}" for name, number in sorted(self.tables.items()) if number
        )
        return (
            f"{self.requests_a_poll:.3f} requests to Batch a job and round, {sum(self.tables[name] for name in _NEVER)}"
            f" operations that write tasks or a job's row or are on history; for a whole account and round, in"
            f" {self.rounds} rounds, with passes over waiting jobs: {tables}"
        )


@dataclass(slots=True)
class HostsFindings:
    """Observations with a number of hosts.

    `waits` are seconds until changes showed, `waiting` the age at the end of changes that didn't. `share` is the share
    of jobs that changed per minute.
    """

    hosts: int
    freshness: Freshness
    waits: Sequence[float]
    waiting: Sequence[float]
    share: float
    requests: Counter[str]
    load: float

    def problems(self) -> Iterator[str]:
        if self.share < CHANGING:
            yield f"with {self.hosts} hosts only {self.share:.2%} of the jobs changed a minute"
        if not self.waits or not self.freshness.ages:
            yield f"with {self.hosts} hosts nothing was seen"
        if self.freshness.worst >= BOUND:
            yield f"with {self.hosts} hosts a job wasn't asked about for {self.freshness.worst:.0f} s"
        if late := [wait for wait in (*self.waits, *self.waiting) if wait >= BOUND]:
            yield f"with {self.hosts} hosts {len(late)} changes didn't show for up to {max(late):.0f} s"

    def summary(self) -> str:
        fresh, longest = self.freshness, [max(some, default=0) for some in (self.waits, self.waiting)]
        return (
            f"{self.hosts} hosts: asked at most {fresh.worst:.0f} s ago (median {fresh.percentile(0.5):.0f} s) in"
            f" {len(fresh.ages):,} looks; {self.share:.2%} of the jobs changed a minute, {len(self.waits):,}"
            f" changes shown after at most {longest[0]:.0f} s (median {percentile(self.waits, 0.5):.0f} s),"
            f" {len(self.waiting)} not yet after {longest[1]:.0f} s; requests {_shares(self.requests)}"
        )

    def row(self) -> str:
        ages, as_of = self.freshness.ages, self.freshness.as_of_ages
        summary = [f"{percentile(of, at):.0f} s" for of in (self.waits, ages, as_of) for at in (1.0, 0.99, 0.5)]
        changes = f"{len(self.waits) + len(self.waiting):,} ({self.share:.2%})"
        return f"| {' | '.join([str(self.hosts), changes, *summary, _shares(self.requests), f'{self.load:.1f}'])} |"


@dataclass(slots=True)
class Findings:
    first_reads: float = 0.0
    quiet: IdleFindings | None = None
    watched: list[HostsFindings] = field(default_factory=list)

    def problems(self) -> list[str]:
        quiet = list(self.quiet.problems()) if self.quiet else ["nothing was counted while nothing changed"]
        seen = [problem for each in self.watched for problem in each.problems()]
        return quiet + (seen if self.watched else ["nothing was watched"])

    def lines(self) -> Iterator[str]:
        """Yields the results as Markdown."""
        spans = " | ".join(f"{name} at most | 99 % | median" for name in ("change shown after", "asked", "as of"))
        yield f"| hosts | changes | {spans} | requests by host | load |"
        yield "|---" * 13 + "|"
        yield from (each.row() for each in self.watched)
        yield ""
        yield "A change shows with the next poll of its job, whichever turn it is. A job that doesn't change is asked"
        yield "for changes and for counts in turns, and its `asOf` is the last question for changes that counts"
        yield "confirmed: so it may be three rounds old without anything being missing (ADR 7)."
        if self.quiet:
            yield f"While nothing changes: {self.quiet.summary()}."
        waiting = ", ".join(f"{len(each.waiting)} with {each.hosts} hosts" for each in self.watched)
        yield f"Changes that weren't shown yet when watching ended, judged by how long they had waited: {waiting}."
        hosts = ", ".join(str(each.hosts) for each in self.watched)
        problems = self.problems()
        yield f"With {hosts} hosts: " + (
            f"**NOT as it should be**: {'; '.join(problems)}."
            if problems
            else f"no change took {BOUND:.0f} s to show, and every job was asked about within that."
        )


def _shares(requests: Counter[str]) -> str:
    return ", ".join(f"{name}: {number:,}" for name, number in sorted(requests.items())) or "none"
