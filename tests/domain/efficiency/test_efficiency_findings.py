"""Findings on the efficiency of jobs: planted wastes are named, sound jobs aren't."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import pytest

from shared.domain.efficiency.evidence import EfficiencyEvidence
from shared.domain.efficiency.findings import efficiency_findings
from shared.domain.efficiency.job_context import JobContext, NodeFigures
from shared.domain.efficiency.offers import GIB
from shared.domain.findings.finding import Finding, Scope
from shared.domain.telemetry.sessions.attempt_records import MeasuredAttempt
from tests.domain.efficiency.measured_jobs import evidence, run

A100 = "standard_nc24ads_a100_v4"


def some(number: int = 40, **use: float) -> list[MeasuredAttempt]:
    """Returns runs with that use, each by up to 10 % lower."""
    return [run(at, **{name: value * (1 - at % 11 / 100) for name, value in use.items()}) for at in range(number)]


def codes(found: Sequence[Finding]) -> list[str]:
    return [one.rule for one in found]


SOUND = {
    "full nodes": evidence(some(cores=3.8, memory=12.0)),
    "full slots": evidence(some(cores=0.95, memory=2.5), slots=4),
    "two slots a task": evidence(some(cores=1.9, memory=5.0), slots=4, required=2),
    "much memory on one core of two": evidence(some(cores=0.9, memory=12.0), size="standard_e2s_v5"),
    "little memory, and no smaller size": evidence(some(cores=3.9, memory=1.0), size="standard_f4s_v2"),
    "busy GPUs": evidence(some(cores=12.0, memory=90.0, gpus=0.9, gpu_memory=60.0), size=A100),
    "busy disks and cores": evidence(some(cores=3.5, memory=9.0, disk=200.0)),
    "two slots for each core, of tasks that wait": evidence(some(cores=0.4, memory=1.4), slots=8),
    "busy GPUs beside idle cores": evidence(some(cores=1.0, memory=9.0, gpus=0.9, gpu_memory=60.0), size=A100),
    "few runs": evidence(some(19, cores=0.9, memory=1.0)),
    "an unknown size": evidence(some(cores=0.9, memory=1.0), size="standard_x4_v9"),
}
WASTEFUL = {
    "oneBusyCore": evidence(some(cores=1.0, memory=3.0)),
    "memoryAboveNeed": evidence(some(cores=3.8, memory=2.0), size="standard_e4s_v5"),
    "memoryNearLimit": evidence(some(cores=3.8, memory=15.9)),
    "waitsForDisk": evidence(some(cores=0.2, memory=3.0, disk=90.0)),
    "idleGpus": evidence(some(cores=20.0, memory=90.0), size=A100),
    "slotsTooFew": evidence(some(cores=0.5, memory=2.0), size="standard_d8s_v5", slots=8),
    "slotsTooMany": evidence(some(cores=0.5, memory=1.7), slots=9),
    "otherSize": evidence(some(cores=1.6, memory=8.0)),
}


@pytest.mark.parametrize("name", SOUND)
def test_nothing_is_said_of_a_sound_job(name: str) -> None:
    assert codes(efficiency_findings(SOUND[name])) == []


@pytest.mark.parametrize("code", WASTEFUL)
def test_a_planted_waste_is_named_first(code: str) -> None:
    assert codes(efficiency_findings(WASTEFUL[code]))[0] == code


def only(e: EfficiencyEvidence) -> Finding:
    (found,) = efficiency_findings(e)
    return found


def test_one_busy_core_names_figures_slots_and_money() -> None:
    found = only(evidence([run(at, cores=1.0, memory=3.0) for at in range(40)], cost="840"))
    assert found.title == "Tasks keep at most one of 4 cores busy"
    assert found.sentence == ("95 % of 40 runs kept at most 1.0 cores busy on average, of 4 that their slots offer.")
    assert found.advice == (
        "Set taskSlotsPerNode of a new pool to 3: its nodes have room for 3 such tasks instead of 1, so the same work"
        " needs a third of the nodes."
    )
    assert found.amount == (Decimal(560), "money")
    assert found.evidence == {
        "cores": 1.0, "offeredCores": 4.0, "slotsPerNode": 1, "sufficientSlots": 3, "vmSize": "standard_d4s_v5",
        "measuredRuns": 40,
    }  # fmt: skip
    assert found.scope == Scope("job", "job")


def test_where_cores_are_busy_a_size_with_less_memory_is_named() -> None:
    found = only(evidence([run(at, cores=3.6, memory=2.0) for at in range(40)]))
    assert found.sentence == (
        "95 % of 40 runs used at most 2.0 GiB, and all at most 2.0 GiB, of the 16.0 GiB that their slots offer."
    )
    assert found.advice.startswith("A node of standard_d4ls_v5 has room for as many of these tasks")
    assert (found.amount, found.evidence["sufficientSize"]) == (None, "standard_d4ls_v5")


def test_another_size_names_money_where_both_prices_are_known_and_is_not_advised_where_it_costs_as_much() -> None:
    wasteful = [run(at, cores=3.6, memory=2.0) for at in range(40)]
    prices = {"standard_d4s_v5": "0.2", "standard_d4ls_v5": "0.15"}
    assert only(evidence(wasteful, hourly=prices)).amount == (Decimal(210), "money")
    assert only(evidence(wasteful, hourly={"standard_d4s_v5": "0.2"})).amount is None
    dear = {**prices, "standard_d4ls_v5": "0.2"}
    assert only(evidence(wasteful, hourly=dear)).evidence["sufficientSize"] == "standard_d4lds_v5"
    idle = [run(at, cores=1.0, memory=8.0) for at in range(40)]
    prices = {"standard_nc16as_t4_v3": "1.2", "standard_e2ds_v5": "0.12"}
    assert only(evidence(idle, size="standard_nc16as_t4_v3", hourly=prices)).amount == (Decimal(756), "money")


def test_small_sizes_are_in_mebibytes() -> None:
    found = only(evidence([run(at, cores=3.6, memory=0.25) for at in range(40)]))
    assert "used at most 256 MiB, and all at most 256 MiB, of the 16.0 GiB" in found.sentence


def test_more_slots_leave_room_for_the_highest_peak() -> None:
    uneven = [run(at, cores=0.5, memory=1.0) for at in range(99)]
    assert only(evidence(uneven)).evidence["sufficientSlots"] == 7
    assert only(evidence([*uneven, run(99, cores=0.5, memory=6.0)])).evidence["sufficientSlots"] == 2
    full = only(evidence([*uneven, run(99, cores=0.5, memory=15.0)]))
    assert (full.rule, full.evidence["sufficientSize"]) == ("oneBusyCore", "standard_e2s_v5")


def test_a_node_with_a_local_disk_is_replaced_by_one_with_a_local_disk() -> None:
    wasteful = [run(at, cores=3.6, memory=2.0) for at in range(40)]
    assert only(evidence(wasteful, size="standard_d4ds_v5")).evidence["sufficientSize"] == "standard_d4lds_v5"


def test_slots_are_multiples_of_those_that_a_task_requires() -> None:
    found = only(evidence(some(cores=0.5, memory=1.0), slots=4, required=2))
    assert (found.evidence["slotsPerNode"], found.evidence["sufficientSlots"]) == (4, 14)


def test_more_slots_than_batch_allows_are_not_advised() -> None:
    found = only(evidence(some(cores=1.0, memory=1.0), size="standard_d8s_v5", slots=8, required=8))
    assert found.advice.startswith(
        "Set taskSlotsPerNode of a new pool to 7, and requiredSlots of the tasks to 1: its nodes have room for 7 such"
    )
    assert found.evidence["sufficientSlots"] == 7


def test_slots_that_share_cores_are_advised_to_be_as_many_as_cores() -> None:
    found = only(evidence([run(at, cores=0.5, memory=1.7) for at in range(40)], slots=8))
    assert found.sentence == (
        "On average 40 runs used 100 % of the 0.50 cores that their slots offer: a node has 4 cores, and slots for"
        " 8 such tasks."
    )
    assert (found.evidence["slotsPerNode"], found.evidence["sufficientSlots"]) == (8, 4)
    greedy = only(evidence([run(at, cores=1.9, memory=3.0) for at in range(40)], slots=8, required=2))
    assert "190 % of the 1.00 cores" in greedy.sentence
    assert (greedy.evidence["slotsPerNode"], greedy.evidence["sufficientSlots"]) == (8, 4)
    assert codes(efficiency_findings(evidence(some(cores=1.2, memory=3.0), slots=4))) == []


def test_slots_that_leave_room_for_as_many_tasks_as_are_advised_are_not_named() -> None:
    """Three of eight slots are needed, so two tasks run on a node, with more cores than three slots offer."""
    for size, cores, memory in (("standard_d8s_v5", 3.9, 9.0), ("standard_d2s_v5", 0.74, 2.5)):
        runs = [run(at, cores=cores, memory=memory) for at in range(40)]
        assert codes(efficiency_findings(evidence(runs, size=size, slots=8, required=3))) == []


def test_long_runs_count_more_for_busy_cores_than_short_ones() -> None:
    short = [run(at, cores=0.5, memory=1.7, hours=0.01) for at in range(60)]
    long = [run(100 + at, cores=0.38, memory=1.7, hours=20.0) for at in range(20)]
    assert codes(efficiency_findings(evidence([*short, *long], slots=8))) == []
    assert codes(efficiency_findings(evidence(short, slots=8))) == ["slotsTooMany"]


def test_slots_smaller_than_a_core_that_are_busy_wait_for_nothing_else() -> None:
    busy = [run(at, cores=0.25, memory=0.7, disk=60.0) for at in range(40)]
    nodes = NodeFigures(2, network=300.0 * (1 << 20))
    found = efficiency_findings(evidence(busy, slots=16, context=JobContext(nodes=nodes)))
    assert codes(found) == ["slotsTooMany"]
    idle = [one._replace(cpu_time=(one.cpu_time or 0) // 4) for one in busy]
    assert codes(efficiency_findings(evidence(idle, slots=16))) == ["waitsForDisk"]


def test_no_node_saves_more_than_one_that_runs_all_tasks_of_the_job() -> None:
    found = only(evidence(some(20, cores=1.0, memory=1.0), size="standard_d64s_v5", tasks=20))
    assert (found.evidence["sufficientSlots"], found.amount) == (58, (Decimal(798), "money"))


def test_cores_of_slots_are_shown_with_two_decimals() -> None:
    found = only(evidence(some(cores=1.0, memory=5.0), slots=3, required=2))
    assert found.title == "Tasks keep at most one of 2.67 cores busy"


def test_room_for_half_as_many_tasks_again_is_named_though_no_resource_is_far_above_need() -> None:
    found = only(evidence([run(at, cores=0.5, memory=2.0) for at in range(40)], size="standard_d8s_v5", slots=8))
    assert found.sentence == (
        "95 % of 40 runs kept at most 0.5 of 1 cores busy on average, and none used more than 2.0 GiB of 4.0 GiB."
    )
    assert (found.evidence["sufficientSlots"], found.amount) == (12, (Decimal(280), "money"))


def test_a_smaller_size_has_the_same_gpus_where_these_are_busy() -> None:
    busy = [run(at, cores=1.0, memory=8.0, gpus=0.8, gpu_memory=9.0) for at in range(40)]
    assert only(evidence(busy, size="standard_nc16as_t4_v3")).evidence["sufficientSize"] == "standard_nc4as_t4_v3"
    idle = [run(at, cores=1.0, memory=8.0) for at in range(40)]
    assert "standard_e2ds_v5" in only(evidence(idle, size="standard_nc16as_t4_v3")).advice


def test_memory_near_the_limit_names_a_size_with_more_memory() -> None:
    found = only(evidence(some(cores=3.8, memory=15.9)))
    assert found.evidence["sufficientSize"] == "standard_e4s_v5"
    largest = some(cores=192.0, memory=1831.0)
    assert only(evidence(largest, size="standard_e192is_v6")).evidence["sufficientSize"] is None


@pytest.mark.parametrize(("memory", "fewer"), [(4.5, 3), (7.2, 2), (7.5, 1), (14.5, 1)])
def test_memory_near_the_limit_advises_as_many_tasks_as_a_node_has_memory_for(memory: float, fewer: int) -> None:
    found = only(evidence([run(at, cores=0.9, memory=memory) for at in range(40)], slots=4))
    assert f"Let a node run at most {fewer} of these tasks instead of 4" in found.advice


def test_where_a_node_has_memory_for_none_of_its_tasks_a_larger_size_is_advised() -> None:
    found = only(evidence([run(at, cores=0.9, memory=15.0) for at in range(40)], slots=4))
    assert found.advice.startswith(
        "Take a VM size with more memory for each vCPU; a node hasn't enough for one of them."
    )


def test_a_size_with_more_memory_has_a_local_disk_if_nodes_have_one() -> None:
    near = [run(at, cores=3.8, memory=15.9) for at in range(40)]
    assert only(evidence(near, size="standard_d4ds_v5")).evidence["sufficientSize"] == "standard_e4ds_v5"


@pytest.mark.parametrize(("tasks", "fewer"), [(1, "more memory for each vCPU"), (4, "run at most 3 of these tasks")])
def test_memory_near_the_limit_advises_fewer_tasks_or_another_size(tasks: int, fewer: str) -> None:
    found = only(evidence(some(cores=3.8 / tasks, memory=15.9 / tasks), slots=tasks))
    assert found.rule == "memoryNearLimit"
    assert fewer in found.advice


@pytest.mark.parametrize(
    ("size", "advice"),
    [
        (
            "standard_d4s_v5",
            "Nodes of standard_d4s_v5 have no local disk; standard_d4ds_v5 has one, and",
        ),
        ("standard_e104is_v5", "Nodes of standard_e104is_v5 have no local disk; standard_e104ids_v5 has one"),
        ("standard_d4ds_v5", "Keep what tasks read and write often on the node's local disk."),
    ],
)
def test_tasks_that_wait_for_disks_are_advised_a_local_one(size: str, advice: str) -> None:
    found = only(evidence([run(at, cores=0.2, memory=3.0, disk=90.0) for at in range(40)], size=size))
    assert found.sentence == (
        "Half of 40 runs kept at most 0.2 cores busy on average, while half read and wrote 90 MiB a second or more."
    )
    assert found.advice.startswith(advice)


def test_gpus_count_as_idle_by_the_mean_over_all_runs() -> None:
    unused = some(30, cores=20.0, memory=90.0)
    little = [run(100 + at, cores=20.0, memory=90.0, gpus=0.2, gpu_memory=4.0) for at in range(10)]
    found = only(evidence([*unused, *little], size=A100))
    assert found.sentence == (
        "10 of 40 runs held memory of a GPU; over the time of all runs they used 5 % of the 1 GPU that their slots"
        " offer."
    )
    busy = [one._replace(gpus=400) for one in little]
    assert codes(efficiency_findings(evidence([*unused, *busy], size=A100))) == []


def test_long_runs_that_use_gpus_count_more_than_short_ones_that_prepare_them() -> None:
    short = [run(at, cores=20.0, memory=90.0, hours=0.01) for at in range(60)]
    long = [run(100 + at, cores=20.0, memory=90.0, gpus=0.9, gpu_memory=60.0, hours=20.0) for at in range(3)]
    assert codes(efficiency_findings(evidence([*short, *long], size=A100))) == []
    nothing = [one._replace(duration=0) for one in short]
    assert codes(efficiency_findings(evidence(nothing, size=A100))) == []


def test_gpus_whose_driver_no_agent_asked_are_not_called_idle() -> None:
    unused = evidence([run(at, cores=20.0, memory=90.0) for at in range(40)], size=A100)
    asked, not_asked = NodeFigures(1, memory=2e11, gpus=0.0), NodeFigures(1, memory=2e11)
    for nodes, named in ((None, ["idleGpus"]), (asked, ["idleGpus"]), (not_asked, [])):
        assert codes(efficiency_findings(replace(unused, context=JobContext(nodes=nodes)))) == named


def test_nodes_of_an_unknown_size_are_judged_by_their_measured_memory_but_not_those_that_may_have_gpus() -> None:
    idle = [run(at, cores=0.9, memory=2.0) for at in range(40)]
    for size, named in (("standard_l8as_v4", ["oneBusyCore"]), ("standard_nv8_v9", [])):
        unknown = evidence(idle, size=size)
        assert codes(efficiency_findings(unknown)) == []
        node = unknown.offer.node.with_memory(62.0 * GIB)
        assert codes(efficiency_findings(replace(unknown, offer=replace(unknown.offer, node=node)))) == named


def test_few_runs_suffice_where_they_are_all_tasks_of_the_job() -> None:
    five = some(5, cores=1.0, memory=3.0)
    assert codes(efficiency_findings(evidence(five, tasks=5))) == ["oneBusyCore"]
    assert codes(efficiency_findings(evidence(five, tasks=6))) == []
    assert codes(efficiency_findings(evidence(five, tasks=None))) == []
    assert codes(efficiency_findings(evidence(five[:4], tasks=4))) == []


def test_without_a_price_no_money_is_named() -> None:
    assert only(evidence(some(cores=1.0, memory=3.0), cost=None)).amount is None
