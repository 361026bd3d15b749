"""Jobs with more changes than a round may read: rounds skip them until the queue has read the changes."""

from shared.domain.jobs.jobs import Job
from shared.errors import UnreadableError
from shared.stores.jobs.jobs import generation_partition
from shared.stores.jobs.read_plans import ReadPlanStore


async def is_behind(plans: ReadPlanStore, account_key: str, job: Job) -> bool:
    """Returns whether a job's plan covers changes that its snapshot lacks.

    An unreadable plan counts as well: the next process with the job's message starts again. Raises StorageError.
    """
    if job.snapshot is None:
        return False
    try:
        plan = await plans.load(generation_partition(account_key, job.key, job.snapshot.generation))
    except UnreadableError:
        return True
    return plan is not None and plan.leads(job.snapshot.as_of)
