"""Azure announced that it takes spot nodes of the pool back: their tasks run again elsewhere."""

from shared.domain.core.amounts import amount
from shared.domain.events.node_events import SPOT_PREEMPTION
from shared.domain.explain.evidence import Evidence, Found
from shared.domain.explain.node_events import note_on, reported
from shared.domain.findings.thresholds import SPOT_NOTICE_HOLDS


def spot_notices(e: Evidence) -> Found:
    """Returns the finding on spot nodes with a recent notice that are still there; later they are `preempted`."""
    reports = [(node, event) for node, event in reported(e, SPOT_PREEMPTION, within=SPOT_NOTICE_HOLDS)
               if not node.dedicated]  # fmt: skip
    if not reports:
        return None
    number, total = len(reports), len(e.nodes)
    return note_on(
        e,
        "nodesToBePreempted",
        reports,
        title=f"Azure takes back {amount(number, 'node')}",
        sentence=f"Azure announced that it takes back {number:,} of {amount(total, 'node')} of the pool. Batch puts "
        "tasks that run there back into the queue.",
        advice="Nothing has to be done: Batch replaces spot nodes when there is capacity again. Where that often "
        "interrupts tasks, use dedicated nodes, or another VM size or region.",
    )
