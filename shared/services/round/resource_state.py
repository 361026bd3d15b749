"""The state that running rounds over jobs, pools and schedules share: how a round, and work on its parts, may fail."""

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, NamedTuple, Self

from shared.errors import BatchscopeError, BatchThrottledError
from shared.log import logger

_LOG = logger(__name__)


@dataclass(frozen=True, slots=True)
class RoundRules:
    """Settings of rounds.

    `overlap` is how much of the past a list of changes repeats, `full_list_interval` the maximum age of a full list.
    `horizon` is the maximum age of the completion of a new job or schedule. `poll_interval` is that of accounts
    without their own.
    """

    overlap: timedelta
    full_list_interval: timedelta
    horizon: timedelta
    poll_interval: timedelta = timedelta(minutes=1)


class ResourceRoundResult(NamedTuple):
    """The result of a poll beside the round over jobs: the back-off requested by the service, and the problem.

    `has_news`: rows were written with changes, or a part of it failed.
    """

    throttled: BatchThrottledError | None = None
    problem: str | None = None
    has_news: bool = False


@dataclass(slots=True, kw_only=True)
class ResourceRoundState:
    """The failures of single resources by key, the back-off that the service requested, and why the round ended early.

    A failing resource doesn't affect others. Throttling ends the round, as it concerns the whole account. `has_written`
    is set with the first row that is written as its resource changed.
    """

    failures: dict[str, str] = field(default_factory=dict)
    throttled: BatchThrottledError | None = None
    reason: str | None = None
    has_written: bool = False

    def fail(self, error: BatchscopeError) -> None:
        """Records an error that concerns all resources not reached so far."""
        self.reason = str(error)
        self.throttled = error if isinstance(error, BatchThrottledError) else self.throttled

    async def run(self, what: str, *steps: Callable[[Self], Awaitable[None]]) -> bool:
        """Runs a round in steps, and records why it ended early; False then.

        `what` names its resources and account in the log, whose lines an alert matches (infra/modules/alerts.bicep).
        """
        try:
            for step in steps:
                await step(self)
        except BatchscopeError as error:
            self.fail(error)
            _LOG.warning("A round %s failed: %s", what, error)
        except Exception as error:  # a defect must show in verdicts, and leave other rounds alone
            self.reason = f"{type(error).__name__}: {error}"
            _LOG.exception("A round %s broke", what)
        else:
            return True
        return False

    async def attempt(self, key: str, what: str, work: Coroutine[Any, Any, None]) -> bool:
        """Runs work on one resource and records its failure; False where the service throttled, so it is still to do.

        `what` names the resource in the log.
        """
        try:
            await work
        except BatchThrottledError as error:
            self.fail(error)
            return False
        except BatchscopeError as error:
            self.failures[key] = str(error)
            _LOG.warning("The poll of %s failed: %s", what, error)
        except Exception as error:  # a defect in one resource mustn't stop the polls of others
            self.failures[key] = f"{type(error).__name__}: {error}"
            _LOG.exception("The poll of %s broke", what)
        return True

    def result(self, name: str, problem: str | None) -> ResourceRoundResult:
        """Returns the result of a round over the resources `name`."""
        has_news = self.has_written or bool(self.failures or self.reason)
        return ResourceRoundResult(self.throttled, f"{name}: {problem}" if problem else None, has_news)
