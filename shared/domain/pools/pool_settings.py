"""What a pool was told to do by itself: grow and shrink by a formula, start its nodes with a task."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Problem:
    """An error in the service's words."""

    code: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """An evaluation of an autoscale formula, with what came out or went wrong, in the service's words."""

    at: datetime
    results: str | None = None
    error: Problem | None = None


@dataclass(frozen=True, slots=True)
class AutoScale:
    """A pool's autoscaling: the formula, how often it is evaluated (ISO 8601), and its last evaluation."""

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
    """What nodes run before anything else, without secrets; `environment` is of names and marks in place of values."""

    command_line: str
    environment: tuple[tuple[str, str], ...] = ()
    waits_for_success: bool = True
    retries: int = 0
