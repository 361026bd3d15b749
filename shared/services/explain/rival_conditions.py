"""Requests the causes that hold other jobs' waiting tasks: permanently held tasks don't compete for slots.

Requests the dependencies, for jobs that use them, and the results of preparation for jobs without running tasks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from shared.domain.dependencies.dependencies import Dependencies
from shared.domain.reports.reports import JobReport
from shared.domain.tasks.tasks import TaskCounts
from shared.errors import BatchscopeError, BatchThrottledError
from shared.services.explain.dependency_reader import DependencyReader
from shared.services.tasks.task_queries import TaskQueries
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_evidence import BatchEvidence

ENOUGH_LOOKS = 3
_MAX_FAILED = 3
_LEFT = "whether the waiting tasks of other jobs could start isn't known"


@dataclass(frozen=True, slots=True)
class RivalCondition:
    """The causes that hold a job's tasks; `is_prepared` is False if preparation failed on every node where it ended."""

    dependencies: Dependencies | None = None
    is_prepared: bool = True

    @property
    def is_held(self) -> bool:
        """Returns whether no waiting task could start."""
        found = self.dependencies
        return not self.is_prepared or (found is not None and (found.all_held or found.seem_all_held))


class RivalConditions(NamedTuple):
    """Results by job key, the keys of jobs whose requests failed, and sentences on unknown facts."""

    found: dict[str, RivalCondition]
    failed: frozenset[str]
    unknown: tuple[str, ...]


class AskingOfRivals:
    """Requests about other jobs; `found` and `failed` are keyed by job, and answers stay when a later request fails.

    It asks about the first ENOUGH_LOOKS of `rivals`, then about more until one of those that answered could start a
    task or _MAX_FAILED requests have failed.
    """

    def __init__(self, source: BatchAccount, tasks: TaskQueries, rivals: Sequence[JobReport]) -> None:
        self._evidence = BatchEvidence(source)
        self._dependencies = DependencyReader(self._evidence, tasks)
        self._rivals = rivals
        self.found: dict[str, RivalCondition] = {}
        self.failed: set[str] = set()
        self.unknown: tuple[str, ...] = ()

    @property
    def left(self) -> str:
        return _LEFT

    async def ask(self) -> None:
        """Raises BatchThrottledError when requests must stop."""
        for number, report in enumerate(self._rivals):
            if number >= ENOUGH_LOOKS and not all(look.is_held for look in self.found.values()):
                return
            if len(self.failed) == _MAX_FAILED:
                self.add_problem(f"No more jobs were looked at after {_MAX_FAILED} failures, so {_LEFT}")
                return
            try:
                self.found[report.job.key] = await self._look_at(report)
            except BatchThrottledError:
                raise
            except BatchscopeError as error:
                self.failed.add(report.job.key)
                self.add_problem(
                    f"Whether the waiting tasks of '{report.job.facts.id}' could start isn't known: {error}"
                )

    async def _look_at(self, report: JobReport) -> RivalCondition:
        facts, counts = report.job.facts, report.job.picture.counts if report.job.picture else TaskCounts()
        dependencies, is_prepared = None, True
        if facts.rules and facts.rules.uses_task_dependencies:
            dependencies = (await self._dependencies.read(report)).dependencies
        if not counts.running and (await self._evidence.fetch_job(facts.id)).awaits_preparation:
            found, _ = await self._evidence.fetch_preparation(facts.id)
            is_prepared = bool(found.succeeded) or not found.failed_nodes
        return RivalCondition(dependencies, is_prepared)

    def add_problem(self, sentence: str) -> None:
        self.unknown = (*self.unknown, f"{sentence.rstrip('.')}.")
