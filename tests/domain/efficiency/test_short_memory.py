"""Findings on jobs whose memory is short: advice of different rules goes together."""

import pytest

from shared.domain.efficiency.findings import efficiency_findings
from shared.domain.efficiency.offers import GIB, node_offer
from shared.domain.telemetry.sessions.attempt_records import MeasuredAttempt
from tests.domain.efficiency.measured_jobs import evidence, run


def _runs(*, cores: float, memory: float) -> list[MeasuredAttempt]:
    return [run(number, cores=cores, memory=memory) for number in range(40)]


@pytest.mark.parametrize("size", ["standard_d4s_v5", "standard_d16s_v5"])
def test_no_smaller_size_is_advised_where_memory_is_near_the_limit(size: str) -> None:
    memory = 0.95 * (node_offer(size, None).memory or 0) / GIB
    rules = [one.rule for one in efficiency_findings(evidence(_runs(cores=1.0, memory=memory), size=size))]
    assert rules == ["memoryNearLimit"]


@pytest.mark.parametrize(("cores", "memory", "sufficient"), [(0.5, 1.95, 4), (0.5, 5.0, 2)])
def test_tasks_that_share_cores_and_lack_memory_get_one_number_of_slots(
    cores: float, memory: float, sufficient: int
) -> None:
    many, near = efficiency_findings(evidence(_runs(cores=cores, memory=memory), slots=8))
    assert (many.rule, near.rule) == ("slotsTooMany", "memoryNearLimit")
    assert many.evidence["sufficientSlots"] == sufficient
    assert "Let a node run at most" in near.advice
