"""There is room for all waiting tasks and no known obstacle, where no cause was found."""

from shared.domain.core.amounts import amount, are
from shared.domain.explain.competing_jobs import tasks_of
from shared.domain.explain.evidence import Evidence, Found
from shared.domain.explain.rules.slots.queue_position import in_line, is_sure
from shared.domain.explain.texts import wait


def slots_free(e: Evidence) -> Found:
    if not e.waiting_tasks or e.pool is None or e.pool.snapshot is None or not e.able or e.lacks_room is not False:
        return None
    if e.is_contested:
        return None
    line = in_line(e)
    return e.about_pool(
        "slotsFree",
        "info",
        title="Slots are free for its waiting tasks",
        sentence=f"{are(e.free, 'slot')} free in the pool '{e.pool.facts.id}', and nothing was found that keeps tasks "
        f"from starting there. {_others(e)}".rstrip(),
        advice="Batch mostly starts tasks within seconds; look again in a minute.",
        evidence={
            "freeSlots": e.free,
            "waitingTasks": e.waiting_tasks,
            "tasksAhead": line["tasksAhead"],
            "tasksOfSamePriority": line["tasksOfSamePriority"],
        },
    )


def _others(e: Evidence) -> str:
    """Returns a text on other jobs' tasks that may take the free slots."""
    if not is_sure(e):
        return "Whether waiting tasks of other jobs could take them first isn't known."
    tasks = tasks_of(e.ahead) + tasks_of(e.equal)
    if not tasks:
        return ""
    return f"{amount(tasks, 'task')} of other jobs of the same or a higher priority {wait(tasks)} for slots, too."
