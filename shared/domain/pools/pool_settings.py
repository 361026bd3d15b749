"""A pool's automatic behaviour: scaling by a formula, and the start task of its nodes."""

from dataclasses import dataclass, field
from datetime import datetime

from shared.domain.pools.machine_settings import StartTaskSettings


@dataclass(frozen=True, slots=True)
class Problem:
    """An error in the service's words."""

    code: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """An evaluation of an autoscale formula, with its results or error in the service's words."""

    at: datetime
    results: str | None = None
    error: Problem | None = None


@dataclass(frozen=True, slots=True)
class AutoScale:
    """A pool's autoscaling: the formula, its evaluation interval (ISO 8601), and its last evaluation."""

    formula: str | None = None
    interval: str | None = None
    evaluated_at: datetime | None = None
    results: str | None = None
    error: Problem | None = None

    @property
    def evaluation(self) -> Evaluation | None:
        """The last evaluation, None before the first."""
        return Evaluation(self.evaluated_at, self.results, self.error) if self.evaluated_at else None


@dataclass(frozen=True, slots=True)
class StartTask:
    """The start task of nodes, without secrets; `environment` has names, with masks in place of values.

    `settings` are None in rows of an earlier version.
    """

    command_line: str
    environment: tuple[tuple[str, str], ...] = ()
    waits_for_success: bool = True
    retries: int = 0
    settings: StartTaskSettings | None = field(default=None, repr=False)
