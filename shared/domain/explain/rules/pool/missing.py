"""The job's pool doesn't exist, or the job has none."""

from shared.domain.explain.evidence import ENDING, Evidence, Found
from shared.domain.explain.texts import OWN_POOL_LOST


def missing(e: Evidence) -> Found:
    """Returns the finding only where Batch reported it: a pool that is merely unknown may be new."""
    if not e.pool_gone or e.job.state in ENDING or e.deleted:
        return None
    name = e.job.pool_id
    if not name:
        return e.about_job(
            "poolMissing",
            e.lasting_pool_severity,
            title="The job has no pool",
            sentence="Batch names no pool for the job: its tasks have nowhere to run.",
            advice=OWN_POOL_LOST if e.makes_pool else "Disable the job, give it a pool and enable it again.",
            evidence={"poolId": None},
        )
    other = "Create the pool under this id, or disable the job, give it another pool and enable it again."
    return e.about_pool(
        "poolMissing",
        e.lasting_pool_severity,
        title=f"There is no pool '{name}'",
        sentence=f"The job names the pool '{name}', which doesn't exist: its tasks have nowhere to run.",
        advice=OWN_POOL_LOST if e.makes_pool else other,
    )
