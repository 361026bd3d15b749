"""The jobs of an account can't be polled, or weren't for a while: what is known of it gets older.

Rounds that fail are news. That none happens at all is looked for every quarter of an hour, as a look reads all that is
stored of the account.
"""

from collections.abc import Iterator

from shared.domain.conditions.evidence import AccountEvidence
from shared.domain.conditions.rule import Outcome
from shared.domain.findings.finding import Finding, Scope
from shared.domain.findings.thresholds import UNPOLLED_LOOK
from shared.domain.jobs.verdicts import stale_after, stale_reason

ACCOUNT_UNPOLLED = "accountUnpolled"


def unpolled(e: AccountEvidence) -> Iterator[Outcome]:
    last, name = e.last, e.account.id
    if e.watch.monitoring.off_reason or last is None or not last.was_run:
        return
    known = last.jobs_as_of or last.started_at
    why = stale_reason(last.reason, age=e.now - known, interval=e.watch.interval)
    if why is None:
        yield Outcome(None, known + max(stale_after(e.watch.interval), UNPOLLED_LOOK))
        return
    yield Outcome(
        Finding(
            rule=ACCOUNT_UNPOLLED,
            scope=Scope("account", name),
            severity="blocking",
            title=f"The account '{name}' isn't polled",
            sentence=f"{why} Everything that is shown of it is as of {known:%Y-%m-%d %H:%M:%S} UTC.",
            advice="If the reason names a role or a key, grant or correct it; else see whether the account answers (az"
            " batch account show) and whether the app's timer runs (its log, or `health`).",
            evidence={"asOf": known, "failedRounds": last.failed_rounds, "backoffUntil": last.backoff_until},
            since=known,
        )
    )
