"""The job was deleted."""

from shared.domain.explain.evidence import Evidence, Found


def deleted(e: Evidence) -> Found:
    if not e.deleted:
        return None
    return e.about_job(
        "jobDeleted",
        e.lasting_severity,
        title="The job was deleted",
        sentence="Batch has no such job any more; its values are the last known ones.",
        advice="Create the job again if its tasks should run.",
    )
