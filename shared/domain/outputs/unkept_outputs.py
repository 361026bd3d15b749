"""Why an output isn't kept: codes, which are stored or follow from what is, and their sentences."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.domain.core.stamps import from_milliseconds, to_milliseconds
from shared.domain.files.files import WHY_NO_FILES
from shared.domain.outputs.failed_runs import MAX_OF_JOB, MAX_TRIED, FailedRun
from shared.domain.outputs.failed_starts import MAX_OF_POOL, are_enough_kept
from shared.domain.outputs.kept_outputs import OLDEST, JobOutputs
from shared.domain.outputs.output_limits import MAX_TRIES, OutputRate, SpentOutputs
from shared.domain.tasks.tasks import FAILURE, Task

NO_TEXT, RAN_AGAIN, UNREAD = "NotText", "RanAgain", "ReadFailed"
_WHY = {
    "NotFailed": "Only outputs of failed tasks are kept.",
    "NeverRan": "The task failed before it ran on a node, so it has no output.",
    "NotKeptHere": "Outputs of this pool's tasks aren't kept, by the setting OUTPUT_DAYS.",
    "EnoughKept": "Enough outputs of other tasks with this failure are kept, and enough on this node were read, by the "
    "setting OUTPUT_TASKS_OF_EACH.",
    "JobBound": f"Outputs of {MAX_OF_JOB} tasks of this job are kept, or of {MAX_TRIED} were read; no job has more.",
    "PoolBound": f"Outputs of {MAX_OF_POOL} start tasks of this pool that failed on that day are kept, or enough of "
    "this node, by the setting OUTPUT_TASKS_OF_EACH.",
    "MonitoringOff": "Monitoring of the account is off, and so is the keeping of outputs.",
    "PollFailed": "It hasn't been read so far, as the account's last poll failed or Batch asked to be left alone.",
    "BudgetSpent": "What may be read of nodes today (OUTPUT_MB_PER_DAY) is spent.",
    "NotYet": "It hasn't been read so far: tasks take turns, at most OUTPUT_TASKS_PER_MINUTE of them, for a day after "
    "the failure. The log says if Batch refuses it.",
    "Gone": "It was deleted or is past its time, or it wasn't read within a day of the failure.",
    NO_TEXT: "It is no text, so its secrets can't be masked.",
    RAN_AGAIN: "The task ran again before its output was read, so the files were those of another run.",
    UNREAD: f"Each of {MAX_TRIES} reads failed: the node didn't answer in time, or Batch answered with an error.",
}
_GONE = {"FileNotFound": "the task has no such file", "NodeNotReady": "the node didn't answer"}
_LONG = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class KeepingConditions:
    """On what it depends now whether an output is kept.

    `kept_for` is for how long outputs of its pool are, `each` how many of each failure group and node. `has_polls` is
    False where the account's last poll failed or the service requests back-off.
    """

    now: datetime
    kept_for: timedelta
    spent: SpentOutputs
    each: int
    rate: OutputRate
    is_watched: bool = True
    has_polls: bool = True

    @property
    def oldest(self) -> int:
        """The earliest end of a run that is still kept, in milliseconds since 1970."""
        return to_milliseconds(self.now - OLDEST)

    @property
    def is_spent(self) -> bool:
        """Whether the day's budget is spent; one that is spent for the minute only isn't."""
        return not self.spent.room(self.rate) and self.spent.tasks < self.rate.tasks_a_minute

    @property
    def reasons(self) -> dict[str, bool]:
        """The codes that hold for all runs of an account, and whether they apply."""
        return {
            "MonitoringOff": not self.is_watched,
            "PollFailed": not self.has_polls,
            "BudgetSpent": self.is_spent,
            "NotYet": True,
        }


def why_unkept(code: str, run: FailedRun, asked_at: datetime) -> str:
    """Returns the sentence for a stored code."""
    if code in _WHY:
        return _WHY[code]
    after = max(timedelta(), asked_at - from_milliseconds(run.ended))
    late = f"{after // timedelta(seconds=1)} s" if after < _LONG else f"{after // timedelta(minutes=1)} min"
    return f"There was nothing to keep {late} after the failure: {_GONE.get(code) or WHY_NO_FILES[code]} ({code})."


def why_without_row(task: Task, kept: JobOutputs, conditions: KeepingConditions) -> str:
    """Returns the code of why nothing is stored of a task."""
    run = FailedRun.of(task)
    reasons = {
        "NotFailed": task.result != FAILURE,
        "NeverRan": not task.node[1],
        "NotKeptHere": not conditions.kept_for,
        "EnoughKept": min(kept.by_group[run.group], kept.by_node[run.node]) >= conditions.each,
        "JobBound": not kept.room,
        "Gone": run.ended < max(kept.mark.since, conditions.oldest),
    } | conditions.reasons
    return next(code for code, applies in reasons.items() if applies)


def why_start_without_row(run: FailedRun, kept: JobOutputs, conditions: KeepingConditions) -> str:
    """Returns the code of why nothing is stored of a failed start task; `kept` are the outputs of its pool."""
    reasons = {
        "NotKeptHere": not conditions.kept_for,
        "Gone": run.ended < max(kept.mark.after, conditions.oldest),
        "PoolBound": are_enough_kept(run, kept, conditions.each),
    } | conditions.reasons
    return next(code for code, applies in reasons.items() if applies)


def sentence_of(code: str) -> str:
    """Returns the sentence for a code of `why_without_row`."""
    return _WHY[code]
