"""Days of a schedule's runs: from creation to end, read in few blocks."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.cost.run_costs import day_blocks, run_cost, run_days
from shared.domain.jobs.jobs import Job, JobFacts

_CREATED = datetime(1970, 1, 11, 23, tzinfo=UTC)
_NOW = datetime(1970, 1, 20, 5, tzinfo=UTC)


def _run(*, end: datetime | None = None, deleted: datetime | None = None) -> Job:
    facts = JobFacts("s:job-1", _CREATED, "completed", _CREATED, end_time=end)
    return Job(facts, None, deleted_at=deleted)


def test_a_run_has_the_days_from_its_creation_to_its_end_its_deletion_or_now() -> None:
    assert run_days(_run(end=_CREATED + timedelta(hours=2)), _NOW) == range(10, 12)
    assert run_days(_run(deleted=_CREATED + timedelta(days=3)), _NOW) == range(10, 14)
    assert run_days(_run(), _NOW) == range(10, 20)
    assert run_days(_run(end=_CREATED - timedelta(days=2)), _NOW) == range(10, 11)


def test_a_run_of_which_no_day_is_stored_has_no_cost() -> None:
    found = run_cost(_run(), range(10, 12), {}, "none")
    assert (found.cost, found.missing) == (None, 2)


@given(st.lists(st.builds(lambda first, days: range(first, first + days), st.integers(0, 300), st.integers(1, 20))))
def test_blocks_have_each_day_once_and_short_gaps_only(spans: list[range]) -> None:
    blocks = day_blocks(spans)
    read = [day for block in blocks for day in block]
    wanted = {day for span in spans for day in span}
    assert len(read) == len(set(read))
    assert wanted <= set(read)
    assert all(block.start in wanted and block.stop - 1 in wanted for block in blocks)
    assert all(first.stop + 7 < second.start for first, second in pairwise(blocks))
