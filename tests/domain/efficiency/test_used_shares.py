"""What runs used of what their slots offer, in sums that add up, and a day's sums of many jobs."""

import orjson

from shared.domain.efficiency.day_use import MAX_JOBS, Advice, DayUse, JobUse, latest_advice
from shared.domain.efficiency.offers import GIB, SlotOffer, node_offer
from shared.domain.efficiency.task_groups import GroupKey, TaskGroup, plain_groups
from shared.domain.efficiency.used_shares import UsedShare, UsedShares, job_efficiency, used_shares
from shared.domain.jobs.job_efficiency import JobEfficiency
from tests.domain.efficiency.measured_jobs import HOUR, run

SIZE = "standard_d4s_v5"
OFFER = SlotOffer(node_offer(SIZE, 4), 2, 1)
ADVICE = Advice("oneBusyCore", SIZE, 0.5, "title", "advice")


def test_shares_are_weighted_by_the_time_of_runs() -> None:
    short = run(1, cores=2.0, memory=8.0)
    long = run(2, cores=0.5, memory=2.0)._replace(duration=3 * HOUR, cpu_time=3 * HOUR // 2)
    found = used_shares({SIZE: TaskGroup.of([short, long])}, {SIZE: OFFER})
    assert found.cpu == UsedShare(3600 * (2000 + 3 * 500), 3600 * 4 * 2000)
    assert (found.runs, found.cpu.share, found.memory.share, found.gpu.share) == (2, 0.4375, 0.4375, None)


def test_shares_add_up_and_runs_of_unknown_offer_count_only_as_runs() -> None:
    some = used_shares({SIZE: TaskGroup.of([run(1)]), "unknown": TaskGroup.of([run(2), run(3)])}, {SIZE: OFFER})
    other = used_shares({SIZE: TaskGroup.of([run(4)])}, {SIZE: OFFER})
    whole = used_shares({SIZE: TaskGroup.of([run(1), run(4)])}, {SIZE: OFFER})
    assert UsedShares.summed([some, other]) == whole._replace(runs=4)


def test_a_gpu_that_no_run_touched_was_offered_and_not_used() -> None:
    size = "standard_nc24ads_a100_v4"
    offer = SlotOffer(node_offer(size, 24), 1, 1)
    found = used_shares({size: TaskGroup.of([run(1), run(2, gpus=0.5)])}, {size: offer}, {size})
    assert found.gpu.share == 0.25
    assert used_shares({size: TaskGroup.of([run(1)])}, {size: offer}, {size}).gpu.share == 0


def test_the_share_of_gpus_of_which_no_figure_was_taken_is_unknown() -> None:
    size = "standard_nc4as_t4_v3"
    runs, offers = {size: TaskGroup.of([run(at) for at in range(30)])}, {size: SlotOffer(node_offer(size, 4), 1, 1)}
    assert used_shares(runs, offers).gpu.share is None
    assert job_efficiency(runs, offers, 5, lambda number: number >= 20).gpu is None
    assert job_efficiency(runs, offers, 5, lambda number: number >= 20, gpu_sizes={size}).gpu == 0


def test_what_records_claim_beyond_sense_can_still_be_stored() -> None:
    most = (1 << 53) - 1
    claimed = [
        run(at)._replace(duration=duration, cpu_time=2 * most, memory_peak=most, disk_bytes=2 * most, gpus=most)
        for duration in (1, HOUR * 24 * 365 * 50)
        for at in range(500)
    ]
    group = TaskGroup.of(claimed)
    orjson.dumps(plain_groups({GroupKey("task-", SIZE): group}))
    size = "standard_nc24ads_a100_v4"
    found = used_shares({size: group}, {size: SlotOffer(node_offer(size, 24), 1, 1)}, {size})
    orjson.dumps(DayUse({"a": JobUse("A", UsedShares.summed([found] * 100))}).plain())


def test_of_too_few_runs_only_their_number_is_kept() -> None:
    found = UsedShares(7, UsedShare(1, 4), UsedShare(GIB, 2 * GIB))
    assert found.of_job(5, enough=False) == JobEfficiency(7, 5)
    assert found.of_job(5, enough=True) == JobEfficiency(7, 5, 0.25, 0.5, None)
    assert JobEfficiency.of_plain(found.of_job(5, enough=True).plain()) == JobEfficiency(7, 5, 0.25, 0.5, None)


def test_a_resource_that_few_of_many_runs_measured_has_no_share() -> None:
    some = [run(at)._replace(memory_peak=None) for at in range(30)]
    whole = job_efficiency({SIZE: TaskGroup.of([*some, run(30)])}, {SIZE: OFFER}, 5, lambda runs: runs >= 20)
    assert whole == JobEfficiency(31, 5, 0.5, None, None)
    sizes = {SIZE: TaskGroup.of([run(0)]), "unknown": TaskGroup.of(some)}
    assert job_efficiency(sizes, {SIZE: OFFER}, 5, lambda runs: runs >= 20) == JobEfficiency(31, 5)


def test_a_day_changes_only_where_a_job_does_and_survives_storage() -> None:
    day = DayUse({"a": JobUse("A", UsedShares(1), (ADVICE,))}, "etag")
    assert day.with_jobs({"a": JobUse("A", UsedShares(1), (ADVICE,))}) is day
    changed = day.with_jobs({"b": JobUse("B", UsedShares(2, UsedShare(1, 2)))})
    assert DayUse.of_plain(changed.plain(), "etag") == changed


def test_a_day_keeps_the_jobs_with_the_longest_runs() -> None:
    jobs = {f"{at:05}": JobUse("", UsedShares(1, UsedShare(0, at))) for at in range(MAX_JOBS + 5)}
    assert min(DayUse().with_jobs(jobs).jobs) == "00005"


def test_the_advice_of_the_last_day_with_use_of_a_job_stands_also_where_there_is_none() -> None:
    before = DayUse({key: JobUse(key.upper(), UsedShares(), (ADVICE,)) for key in "abc"})
    after = DayUse({"a": JobUse("A", UsedShares(), (ADVICE._replace(share=0.25),)), "b": JobUse("B", UsedShares())})
    assert latest_advice([before, after]) == {"a": (ADVICE._replace(share=0.25),), "c": (ADVICE,)}
