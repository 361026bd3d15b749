"""What rules of conditions see of an account: what is stored of it, with the verdicts, as of one moment."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from shared.domain.accounts.accounts import Account
from shared.domain.polling.rounds import Round
from shared.domain.reports.reports import JobReport, MonitoringReport, PoolReport
from shared.domain.reports.schedule_reports import ScheduleReport


@dataclass(frozen=True, slots=True)
class AccountEvidence:
    """An account with its resources as stored `now`; `last` is its last round over jobs, None before the first."""

    now: datetime
    account: Account
    watch: MonitoringReport
    last: Round | None = None
    jobs: Sequence[JobReport] = ()
    pools: Sequence[PoolReport] = ()
    schedules: Sequence[ScheduleReport] = ()
