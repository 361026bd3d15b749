"""Reads of outputs that failed, by a time limit or an error, and when each is tried again."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from shared.domain.outputs.failed_runs import FailedRun
from shared.domain.outputs.output_limits import MAX_TRIES

_FIRST_WAIT = timedelta(minutes=1)  # twice as long after each further try: half an hour in all
_MAX_RUNS = 10_000

type _Key = tuple[str, str, str, int]


@dataclass(frozen=True, slots=True)
class FailedReads:
    """This process's failed reads of runs, by the keys of the account and of its outputs."""

    _tries: dict[_Key, tuple[int, datetime]] = field(default_factory=dict)

    def note(self, account_key: str, key: str, run: FailedRun, now: datetime) -> bool:
        """Notes a failed read; returns whether there will be another one."""
        if len(self._tries) > _MAX_RUNS:
            self._tries.clear()
        name = _key_of(account_key, key, run)
        number = self._tries.get(name, (0, now))[0] + 1
        self._tries[name] = number, now + _FIRST_WAIT * 2 ** (number - 1)
        return number < MAX_TRIES

    def forget(self, account_key: str, key: str, run: FailedRun) -> None:
        """Forgets a run that was read."""
        self._tries.pop(_key_of(account_key, key, run), None)

    def split(
        self, account_key: str, key: str, runs: list[FailedRun], now: datetime
    ) -> tuple[list[FailedRun], list[FailedRun]]:
        """Returns the runs to read now, those with failed reads behind the others, and those to read later."""
        found = [(self._tries.get(_key_of(account_key, key, run), (0, now)), run) for run in runs]
        ready = sorted(((number, at) for at, ((number, until), _) in enumerate(found) if until <= now))
        return [runs[at] for _, at in ready], [run for (_, until), run in found if until > now]


def _key_of(account_key: str, key: str, run: FailedRun) -> _Key:
    return account_key, key, run.task, run.ended
