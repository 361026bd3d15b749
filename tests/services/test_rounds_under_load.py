"""Rounds that have more to do than time: every known job is asked all the same, and nothing keeps one from its end."""

from tests.services.process import INTERVAL
from tests.services.telling import polled_for_a_while
from tests.services.world import SECOND, START, World

BUDGET = 45 * SECOND


def test_known_jobs_are_asked_however_many_new_ones_there_are(world: World) -> None:
    """First reads of four pages, more of them than several rounds have time for."""
    world.service.page_size = 5
    known = [f"Known-{number}" for number in range(20)]
    for name in known:
        world.create(name, "a")
    polled_for_a_while(world)
    for number in range(60):
        world.create(f"New-{number:02}", *(f"task-{task:02}" for task in range(18)))
    process = world.processes[0]
    process.batch.latency = 1.5
    for _ in range(5):
        world.wait(61)
        world.run(process.rounds.run_if_due(INTERVAL, budget=BUDGET, from_queue=True))
        reports = world.reports()
        t0 = process.batch.list_date
        assert t0
        assert all((reports[name].verdict.checked_at or START) >= t0 for name in known)
    assert all(report.job.picture for report in reports.values())
