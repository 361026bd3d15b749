"""Tasks require more slots than a node has, so that they wait forever."""

from shared.domain.explain.evidence import Evidence, Found


def all_oversized(e: Evidence) -> Found:
    """Returns the finding that no waiting task that was read fits on a node: more nodes or room wouldn't help."""
    return _oversized(e) if e.waiting and e.facts and e.waiting.least_slots > e.facts.slots_per_node else None


def some_oversized(e: Evidence) -> Found:
    """Returns the finding that only some tasks fit; causes for these come first."""
    return _oversized(e) if e.waiting and e.facts and e.waiting.least_slots <= e.facts.slots_per_node else None


def _oversized(e: Evidence) -> Found:
    if e.waiting is None or e.facts is None or e.waiting.most_slots <= e.facts.slots_per_node:
        return None
    has = e.facts.slots_per_node
    is_all = e.waiting.least_slots > has and e.waiting.looked >= e.waiting_tasks
    title = "Its tasks require" if is_all else "Some of its tasks require"
    return e.about_job(
        "taskNeedsMoreSlots",
        e.lasting_pool_severity if is_all else "limiting",
        title=f"{title} more slots than a node has",
        sentence=f"A waiting task requires {e.waiting.most_slots:,} slots; nodes of the pool '{e.facts.id}' have "
        f"{has:,}, so it fits nowhere.",
        advice="Move the job to a pool with more taskSlotsPerNode, or submit tasks that require fewer slots.",
        evidence={"requiredSlots": e.waiting.most_slots, "slotsPerNode": has, "lookedAt": e.waiting.looked},
    )
