"""A job that ran on nodes of two VM sizes: each has its own money, and both what is known of the job."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from shared.domain.cost.priced_days import CostLine
from shared.domain.cost.usage_days import NodeKind
from shared.domain.efficiency.day_use import Advice
from shared.domain.efficiency.findings import efficiency_findings
from shared.domain.efficiency.job_context import JobContext, Kills, NodeFigures
from shared.domain.efficiency.offers import SlotOffer, node_offer
from shared.domain.efficiency.task_groups import groups_of
from shared.domain.findings.finding import Finding
from shared.domain.jobs.jobs import Job, JobFacts
from shared.domain.jobs.verdicts import Verdict
from shared.domain.pools.vm_sizes import vcpus_of
from shared.domain.reports.reports import JobReport
from shared.domain.telemetry.sessions.attempt_records import MeasuredAttempt
from shared.services.efficiency.account_savings import SavingsTally, best_savings
from shared.services.efficiency.efficiency_reports import EfficiencyReport
from tests.domain.efficiency.measured_jobs import HOUR, run
from tests.services.worlds.process import ACCOUNT

NOW = datetime(2026, 11, 21, 7, tzinfo=UTC)
JOB = JobReport(ACCOUNT, Job(JobFacts("render", NOW, "active", NOW)), Verdict(NOW, "fullRead", "exact", "."))
SMALL, LARGE = "standard_d4s_v5", "standard_d16s_v5"
HOURLY = {SMALL: Decimal("0.2"), LARGE: Decimal("0.8")}
LITTLE = {"cores": 0.9, "memory": 2.0}


def some(size: str, number: int, **use: float) -> list[MeasuredAttempt]:
    first = vcpus_of(size) or 0
    return [run(1000 * first + at, **use)._replace(vm_size=size) for at in range(number)]


def report_of(runs: Iterable[MeasuredAttempt], amounts: dict[str, str]) -> EfficiencyReport:
    groups = groups_of(runs)
    offers = {key.vm_size: SlotOffer(node_offer(key.vm_size, vcpus_of(key.vm_size)), 1, 1) for key in groups}
    money = {size: Decimal(amount) for size, amount in amounts.items()}
    return EfficiencyReport(JOB, groups, NOW, "USD", sum(money.values(), Decimal(0)), money, offers)


def findings(report: EfficiencyReport, context: JobContext) -> dict[str, Sequence[Finding]]:
    """Returns the findings on each VM size."""
    return {one.offer.node.vm_size: efficiency_findings(one) for one in report.evidence(HOURLY, context)}


def codes(report: EfficiencyReport, context: JobContext) -> dict[str, list[str]]:
    return {size: [one.rule for one in found] for size, found in findings(report, context).items()}


def test_each_size_has_the_money_of_its_own_nodes() -> None:
    both = [*some(SMALL, 40, **LITTLE), *some(LARGE, 40, cores=14.0, memory=40.0)]
    report = report_of(both, {SMALL: "8", LARGE: "32", "": "1"})
    assert {one.offer.node.vm_size: one.cost for one in report.evidence({}, JobContext())} == {
        SMALL: Decimal(8), LARGE: Decimal(32),
    }  # fmt: skip
    alone = report_of(some(SMALL, 40), {SMALL: "8", LARGE: "32", "": "1"})
    assert [one.cost for one in alone.evidence({}, JobContext())] == [Decimal(9)]
    assert [one.cost for one in report_of(some(SMALL, 40), {LARGE: "32"}).evidence({}, JobContext())] == [None]


def test_advice_saves_its_share_of_the_money_of_its_size() -> None:
    tally = SavingsTally(names={"render": "render"})
    for size, money in ((SMALL, 8), (LARGE, 32)):
        kind = NodeKind(size, dedicated=True)
        tally.cells.add(CostLine("pool", "render", kind, "succeeded", 40 * HOUR, Decimal(money)))
    (saving,) = best_savings(tally, {"render": [Advice("oneBusyCore", SMALL, 0.75, "title", "advice")]}, [])
    assert (saving.cost, saving.own_amount, saving.amount) == (Decimal(8), Decimal(6), Decimal(6))
    assert (
        best_savings(tally, {"render": [Advice("oneBusyCore", "standard_d2s_v5", 0.75, "title", "advice")]}, []) == []
    )


def test_kills_keep_every_size_from_more_tasks_and_are_named_once() -> None:
    report = report_of([*some(SMALL, 40, **LITTLE), *some(LARGE, 30, **LITTLE)], {})
    assert codes(report, JobContext()) == {SMALL: ["oneBusyCore"], LARGE: ["oneBusyCore"]}
    assert codes(report, JobContext(kills=Kills(3))) == {SMALL: ["memoryNearLimit"], LARGE: []}
    near = report_of([*some(SMALL, 40, **LITTLE), *some(LARGE, 30, cores=14.0, memory=63.5)], {})
    (one,) = findings(near, JobContext(kills=Kills(3)))[LARGE]
    assert (one.title, one.evidence["killedTasks"]) == ("Tasks use nearly all of their memory", None)


def test_a_busy_network_keeps_every_size_from_more_tasks_and_is_named_once() -> None:
    idle = {"cores": 0.1, "memory": 2.0}
    report = report_of([*some(SMALL, 40, **idle), *some(LARGE, 30, **idle)], {})
    nodes = NodeFigures(3, stolen=0.2, network=200.0 * (1 << 20))
    assert codes(report, JobContext(nodes=nodes)) == {SMALL: ["waitsForNetwork", "stolenTime"], LARGE: []}


@pytest.mark.parametrize(("gpus", "named"), [(None, []), (0.4, ["idleGpus"])])
def test_gpus_of_a_second_size_are_idle_only_where_nodes_reported_figures_of_gpus(
    gpus: float | None, named: list[str]
) -> None:
    first, second = "standard_nc8as_t4_v3", "standard_nc4as_t4_v3"
    used = some(first, 60, cores=7.0, memory=40.0, gpus=0.9, gpu_memory=5.0)
    report = report_of([*used, *some(second, 40, cores=3.0, memory=20.0)], {})
    assert codes(report, JobContext(nodes=NodeFigures(3, stolen=0.0, gpus=gpus))) == {first: [], second: named}


def test_of_shares_those_of_more_time_of_vcpus_come_first() -> None:
    report = report_of([*some(SMALL, 40, **LITTLE), *some(LARGE, 30, **LITTLE)], {SMALL: "1", LARGE: "1"})
    small, large = (found[0] for found in findings(report, JobContext()).values())
    assert report.share_of_time(large) > report.share_of_time(small) > 0
