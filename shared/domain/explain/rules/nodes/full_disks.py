"""Disks of the pool's nodes are full or soon will be: tasks fail there, and the nodes become unusable."""

from shared.domain.core.amounts import amount
from shared.domain.events.node_events import DISK_FULL
from shared.domain.explain.evidence import Evidence, Found
from shared.domain.explain.node_events import note_on, reported


def full_disks(e: Evidence) -> Found:
    """Returns the finding on nodes that take tasks and reported it within the last hour."""
    reports = [(node, event) for node, event in reported(e, DISK_FULL) if not node.errors]
    if not reports:
        return None
    number, total = len(reports), len(e.nodes)
    return note_on(
        e,
        "nodeDisksFull",
        reports,
        title=f"Disks of {amount(number, 'node')} are full, or will be soon",
        sentence=f"{number:,} of {amount(total, 'node')} of the pool reported it within the last hour. Tasks that "
        "write there fail, and a node whose disk is full becomes unusable.",
        advice="See which files fill the disk on such a node. Let tasks keep their files for a shorter time "
        "(retentionTime), or take a VM size with a larger disk.",
    )
