"""How runs stretch on other nodes, by a table."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.efficiency.offers import GIB, SlotOffer, node_offer
from shared.domain.efficiency.replay.durations import Stretch, UsedCores, lacking_gpus, lacking_memory, stretch_of
from shared.domain.efficiency.replay.interruption_rates import interruption_rate, rate_among
from shared.domain.efficiency.replay.workloads import InterruptionRate
from shared.domain.nodes.interruptions import InterruptionCount, Interruptions
from shared.domain.pools.vm_sizes import vcpus_of
from shared.domain.usage.usage_ledger import HOUR, UsageKind


def offer(size: str, slots: int) -> SlotOffer:
    return SlotOffer(node_offer(size, vcpus_of(size)), slots, 1)


def stretch(cores: float | None, was: SlotOffer, will: SlotOffer, threads: float | None = None) -> Stretch:
    return stretch_of(UsedCores(cores, threads, 24), was, will)


@pytest.mark.parametrize(
    ("cores", "size", "slots", "factor"),
    [
        (None, "standard_d8s_v5", 8, 1.0),
        (0.0, "standard_d2s_v5", 8, 1.0),
        (1.0, "standard_d4s_v5", 4, 1.0),
        (1.0, "standard_d4s_v5", 8, 2.0),
        (3.8, "standard_d4s_v5", 4, 3.8),
        (1.0, "standard_d8s_v5", 8, 1.0),
        (3.8, "standard_d8s_v5", 1, 1.0),
        (3.8, "standard_d2s_v5", 1, 1.9),
        (1.0, "standard_d2s_v5", 4, 2.0),
    ],
)
def test_runs_stretch_where_they_need_more_vcpus_than_there_are(
    cores: float | None, size: str, slots: int, factor: float
) -> None:
    found = stretch(cores, offer("standard_d4s_v5", 1), offer(size, slots))
    assert found.factor == pytest.approx(factor)
    assert found.assumption.endswith(".")


def test_with_fewer_vcpus_runs_take_longer_without_a_jump() -> None:
    was, will = offer("standard_d4s_v5", 4), offer("standard_d2s_v5", 4)
    for cores in (0.79, 0.81, 0.92, 0.94):
        found = stretch(cores, was, will)
        assert found.factor == pytest.approx(2 * cores)
        assert found.bounds == ()


@pytest.mark.parametrize(("size", "slots"), [("standard_d8s_v5", 4), ("standard_d16s_v5", 4), ("standard_d4s_v5", 2)])
def test_runs_that_may_use_more_vcpus_are_no_faster_but_their_spread_is(size: str, slots: int) -> None:
    was, will = offer("standard_d4s_v5", 4), offer(size, slots)
    found = stretch(0.95, was, will)
    gets = (will.node.cores or 0) / will.tasks
    assert found.factor == 1.0
    assert found.bounds == pytest.approx((1 / gets,))
    assert found.assumption == (
        f"Runs kept 0.95 vCPUs busy where a full node has 1 for each, by 24 measured runs: with {gets:.2g} they take as"
        " long as they did. Whether they can use more isn't known, as their threads weren't measured: the spread"
        f" includes that they take {1 / gets:.2f} to 1.00 times as long."
    )
    single = stretch(0.95, was, will, threads=1)
    assert (single.factor, single.bounds) == (1.0, ())
    assert single.assumption.endswith(f"with {gets:.2g} they take as long as they did.")
    assert stretch(0.92, was, will).bounds == ()  # they had more than they used
    assert stretch(3.8, was, will).factor == 1.0  # nodes weren't full


@pytest.mark.parametrize(
    ("threads", "factor", "bounds"),
    [
        (2, 1.0, (0.5,)),  # one may be a shell that waits
        (3, 0.5, (1 / 3, 1.0)),
        (4, 1 / 3, (0.25, 1.0)),  # it may begin more on a larger node
        (40, 0.25, (1.0,)),
    ],
)
def test_runs_use_as_many_more_vcpus_as_they_have_threads(
    threads: int, factor: float, bounds: tuple[float, ...]
) -> None:
    found = stretch(1.0, offer("standard_d4s_v5", 4), offer("standard_d16s_v5", 4), threads)
    assert found.factor == pytest.approx(factor)
    assert found.bounds == pytest.approx(bounds)
    assert found.assumption.endswith("times as long.")


def test_runs_that_used_more_than_their_share_get_faster_only_beyond_that() -> None:
    was, will = offer("standard_d2s_v5", 4), offer("standard_d2s_v5", 2)
    assert stretch(1.0, was, will, threads=1)[::2] == (1.0, ())  # one thread kept a whole vCPU busy
    some = stretch(0.8, was, will, threads=1)
    assert some.factor == 1.0
    assert some.bounds == pytest.approx((0.8,))
    reason = "as nodes weren't full and runs may have had more than their share: the spread"
    assert f"isn't known, {reason}" in some.assumption
    several = stretch(1.5, was, offer("standard_d4s_v5", 1), threads=8)
    assert several.factor == 1.0
    assert several.bounds == pytest.approx((0.375,))
    assert reason in several.assumption
    assert stretch(1.5, was, will, threads=8)[::2] == (1.0, ())


def test_one_thread_is_not_said_to_be_one_of_several() -> None:
    found = stretch(0.5, offer("standard_d2s_v5", 4), offer("standard_d2s_v5", 2), threads=1)
    assert found[::2] == (0.5, (1.0,))
    assert "isn't known, as their one thread may also wait: the spread" in found.assumption


@pytest.mark.parametrize("busy", [0.9, 1.0, 1.4])
@pytest.mark.parametrize("slots", [1, 2, 4])
@pytest.mark.parametrize("size", ["standard_d2s_v5", "standard_d4s_v5", "standard_d8s_v5"])
@pytest.mark.parametrize("other", ["standard_d2s_v5", "standard_d4s_v5", "standard_d8s_v5"])
def test_runs_stretch_as_tasks_do_that_share_a_node_evenly(busy: float, slots: int, size: str, other: str) -> None:
    was, will = offer(size, slots), offer(other, slots)
    had, gets = (max(busy * slots / (one.node.cores or 1), 1.0) for one in (was, will))
    seen, truth = busy / had, gets / had
    found = stretch(seen, was, will)
    every = (found.factor, *found.bounds)
    assert min(every) - 1e-9 <= truth <= max(every) + 1e-9
    if had <= 1 or gets >= had:
        assert found.factor == pytest.approx(truth)


@given(st.floats(0, 16), st.none() | st.integers(1, 64), st.integers(1, 16), st.integers(1, 16))
def test_stretches_are_positive_and_those_of_the_same_offer_are_none(
    cores: float, threads: int | None, slots: int, other: int
) -> None:
    was = offer("standard_d4s_v5", slots)
    assert stretch(cores, was, was, threads)[::2] == (1.0, ())
    for size in ("standard_d2s_v5", "standard_d16s_v5"):
        found = stretch(cores, was, offer(size, other), threads)
        assert all(0 < factor < 1000 for factor in (found.factor, *found.bounds))


def test_too_few_measured_runs_are_named() -> None:
    found = stretch_of(UsedCores(runs=3), offer("standard_d4s_v5", 1), offer("standard_d4s_v5", 8))
    sentence = "A run takes as long as it did: its use of CPUs wasn't measured in enough runs, only in 3."
    assert found == (1.0, sentence, ())


def test_runs_that_lacked_vcpus_before_stretch_only_by_what_they_lack_more() -> None:
    found = stretch(0.6, offer("standard_d4s_v5", 8), offer("standard_d4s_v5", 16))
    assert found.factor == pytest.approx(2.0)  # 4.8 vCPUs were needed of 4, and 9.6 are
    assert "need 9.6 of its 4 vCPUs, so they take 2.00 times as long" in found.assumption
    assert stretch(0.6, offer("standard_d4s_v5", 8), offer("standard_d4s_v5", 8)).factor == 1.0


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
    found = stretch(cores, offer("standard_d4s_v5", 8), offer(size, slots))
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
