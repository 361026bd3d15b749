"""How runs stretch on other nodes, by a table."""

import pytest

from shared.domain.efficiency.offers import GIB, SlotOffer, node_offer
from shared.domain.efficiency.replay.durations import lacking_gpus, lacking_memory, stretch_of
from shared.domain.efficiency.replay.interruption_rates import interruption_rate, rate_among
from shared.domain.efficiency.replay.workloads import InterruptionRate
from shared.domain.nodes.interruptions import InterruptionCount, Interruptions
from shared.domain.pools.vm_sizes import vcpus_of
from shared.domain.usage.usage_ledger import HOUR, UsageKind


def offer(size: str, slots: int) -> SlotOffer:
    return SlotOffer(node_offer(size, vcpus_of(size)), slots, 1)


@pytest.mark.parametrize(
    ("cores", "size", "slots", "factor"),
    [
        (None, "standard_d8s_v5", 8, 1.0),
        (1.0, "standard_d4s_v5", 4, 1.0),
        (1.0, "standard_d4s_v5", 8, 2.0),
        (3.8, "standard_d4s_v5", 4, 3.8),
        (1.0, "standard_d8s_v5", 8, 1.0),
        (3.8, "standard_d8s_v5", 1, 0.5),
        (3.8, "standard_d2s_v5", 1, 2.0),
        (1.0, "standard_d2s_v5", 4, 2.0),
    ],
)
def test_runs_stretch_where_they_need_more_vcpus_than_there_are(
    cores: float | None, size: str, slots: int, factor: float
) -> None:
    found = stretch_of(cores, offer("standard_d4s_v5", 1), offer(size, slots))
    assert found.factor == pytest.approx(factor)
    assert found.assumption.endswith(".")


def test_runs_that_lacked_vcpus_before_stretch_only_by_what_they_lack_more() -> None:
    found = stretch_of(0.6, offer("standard_d4s_v5", 8), offer("standard_d4s_v5", 16))
    assert found.factor == pytest.approx(2.0)  # 4.8 vCPUs were needed of 4, and 9.6 are
    assert "need 9.6 of its 4 vCPUs, so they take 2.00 times as long" in found.assumption
    assert stretch_of(0.6, offer("standard_d4s_v5", 8), offer("standard_d4s_v5", 8)).factor == 1.0


@pytest.mark.parametrize(
    ("cores", "size", "slots", "factor"),
    [
        (0.5, "standard_d4s_v5", 4, 0.5),
        (0.5, "standard_d4s_v5", 6, 0.75),
        (0.5, "standard_d4s_v5", 1, 0.5),
        (0.5, "standard_d8s_v5", 4, 0.5),
        (0.42, "standard_d4s_v5", 4, 1.0),
        (0.5, "standard_d4s_v5", 16, 2.0),
    ],
)
def test_runs_that_shared_vcpus_take_less_time_with_whole_ones(
    cores: float, size: str, slots: int, factor: float
) -> None:
    found = stretch_of(cores, offer("standard_d4s_v5", 8), offer(size, slots))
    assert found.factor == pytest.approx(factor)
    assert found.assumption.endswith(".")


def test_memory_that_may_be_lacking_is_named() -> None:
    assert lacking_memory(4.0 * GIB, offer("standard_d4s_v5", 4)) is None
    assert lacking_memory(None, offer("standard_d4s_v5", 4)) is None
    assert "memory of standard_d4s_v5" in str(lacking_memory(5.0 * GIB, offer("standard_d4s_v5", 4)))


def test_gpus_that_another_size_lacks_are_named() -> None:
    was = offer("standard_nc8as_t4_v3", 1)
    assert lacking_gpus(0.5, was, offer("standard_nc8as_t4_v3", 2)) is None
    assert lacking_gpus(0.5, was, offer("standard_nc16as_t4_v3", 1)) is None
    assert lacking_gpus(None, was, offer("standard_d8s_v5", 1)) is None
    assert "standard_d8s_v5 offers none" in str(lacking_gpus(0.5, was, offer("standard_d8s_v5", 1)))
    assert "offers 0.5 GPUs to a task" in str(lacking_gpus(0.5, was, offer("standard_nc16as_t4_v3", 2)))


def test_the_rate_of_interruptions_is_that_of_spot_nodes_with_a_machine() -> None:
    hours = {
        100: {
            UsageKind("running", False, "a"): 3 * HOUR,
            UsageKind("idle", False, "a"): HOUR,
            UsageKind("preempted", False, "a"): HOUR // 2,
            UsageKind("running", True, "a"): 9 * HOUR,
        }
    }
    tally = InterruptionCount(100 * HOUR, Interruptions(total=2))
    assert interruption_rate(hours, tally, 100 * HOUR, 101 * HOUR) == (2, 4, HOUR // 4)
    assert interruption_rate(hours, None, 0, 0).per_hour == 0


def test_dedicated_nodes_beside_spot_nodes_are_not_interrupted() -> None:
    seen = InterruptionRate(6, 12.0, 1000)
    assert rate_among(seen, 3, 3) == seen
    assert rate_among(seen, 1, 4).per_hour == seen.per_hour / 4
    assert rate_among(seen, 0, 4) == InterruptionRate()
