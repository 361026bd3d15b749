"""The same account without Get Task Counts, as for jobs of more than 200,000 tasks, so that it can't mask an error.

Changes that only Get Task Counts shows are left out, so deltas, first reads and long reads must be right alone.
"""

from typing import Any, ClassVar, override

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize

from shared.domain.jobs import jobs, reconciliation, verdicts
from shared.services.jobs import discovery
from shared.services.reading import comparison
from tests.services.mutants.delta_machine import SHORT, DeltaMachine


def compare_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes every job too large for the app to validate its counts."""
    for module in (comparison, discovery, jobs, reconciliation, verdicts):
        monkeypatch.setattr(module, "VALIDATED_TASKS", -1)


class UncomparedMachine(DeltaMachine):
    """A machine without late reports and deletions, and with more long reads. Needs `compare_nothing`."""

    level_at_rest = "unverified"
    report_late: ClassVar[Any] = None
    delete_task: ClassVar[Any] = None

    @initialize(page_size=st.sampled_from([1, 2, 5]), short_read=st.sampled_from([20_000, SHORT, SHORT, SHORT]))
    @override
    def begin(self, page_size: int, short_read: int) -> None:
        self.prepare(page_size, 0, short_read)
