"""Jobs whose changes are more than a round may read: rounds leave them alone until the queue has read these."""

from shared.domain.jobs.jobs import Job
from shared.errors import UnreadableError
from shared.stores.jobs.jobs import generation_partition
from shared.stores.jobs.read_plans import ReadPlanStore


async def is_behind(plans: ReadPlanStore, account_key: str, job: Job) -> bool:
    """True where a plan beside a job's leaves goes on with changes that its picture lacks.

    So it is where the plan can't be read: whoever gets the job's message begins anew. Raises StorageError.
    """
    if job.picture is None:
        return False
    try:
        plan = await plans.load(generation_partition(account_key, job.key, job.picture.generation))
    except UnreadableError:
        return True
    return plan is not None and plan.leads(job.picture.as_of)
