"""The job's pool is being deleted."""

from shared.domain.explain.evidence import Evidence, Found
from shared.domain.explain.texts import OWN_POOL_LOST


def deleting(e: Evidence) -> Found:
    facts = e.facts
    if facts is None or facts.state != "deleting" or e.pool_gone:
        return None
    return e.about_pool(
        "poolDeleting",
        e.lasting_pool_severity,
        title=f"The pool '{facts.id}' is being deleted",
        sentence="It gives up its nodes and starts no tasks any more.",
        advice=OWN_POOL_LOST if e.makes_pool else "Disable the job, give it another pool, and enable it again.",
        evidence={"nodes": facts.nodes},
        since=facts.state_transition_time,
    )
