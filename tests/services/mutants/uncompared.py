"""The same account where Get Task Counts means nothing, as for jobs of more than 200,000 tasks: it can't mask an error.

What it alone could show is left out, so deltas, first reads and long reads have to be right by themselves.
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
    """For the app, every job is too large for its counts to be validated."""
    for module in (comparison, discovery, jobs, reconciliation, verdicts):
        monkeypatch.setattr(module, "VALIDATED_TASKS", -1)


class UncomparedMachine(DeltaMachine):
    """Without late reports and deletions, and with more long reads. Needs `compare_nothing`."""

    level_at_rest = "unverified"
    report_late: ClassVar[Any] = None
    delete_task: ClassVar[Any] = None

    @initialize(page_size=st.sampled_from([1, 2, 5]), short_read=st.sampled_from([20_000, SHORT, SHORT, SHORT]))
    @override
    def begin(self, page_size: int, short_read: int) -> None:
        self.prepare(page_size, 0, short_read)
