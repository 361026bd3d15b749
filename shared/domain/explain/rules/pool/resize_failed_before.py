"""A resize failed earlier, but Batch doesn't report its error any more, or the pool has had its nodes since."""

from shared.domain.explain.evidence import Evidence, Found
from shared.domain.explain.pool_size import error_before_resize
from shared.domain.explain.texts import with_error

_REPORTED = "Batch reports it until the next resize, but the pool has had the nodes of its targets since."


def resize_failed_before(e: Evidence) -> Found:
    stale = e.pool.errors[0] if e.pool and e.pool.errors else None  # current errors come first
    if e.pool is None or stale is None or stale in e.pool.current_errors or not e.waiting_tasks:
        return None
    failed = error_before_resize(e.pool)
    if failed and failed.retried_at == stale.retried_at:  # reported with the running attempt
        return None
    return e.about_pool(
        "resizeFailedBefore",
        "info",
        title="An earlier resize failed",
        sentence=f"A resize of the pool '{e.pool.facts.id}' ended{with_error(stale)}. "
        + (_REPORTED if stale.is_reported else "Batch doesn't report it for the last attempt any more."),
        advice="Nothing is to be done about it now.",
        evidence={"code": stale.code, "message": stale.message, "lastSeen": e.pool.last_seen(stale)},
        since=stale.ended_at,
    )
