"""GPUs of the pool's nodes report errors of the hardware: tasks that use them fail or give wrong results."""

from shared.domain.core.amounts import amount
from shared.domain.events.batch_events import BatchEvent
from shared.domain.events.node_events import GPU_ECC, GPU_XID
from shared.domain.explain.evidence import Evidence, Found
from shared.domain.explain.node_events import note_on, reported
from shared.domain.findings.thresholds import HARDWARE_XIDS


def gpu_errors(e: Evidence) -> Found:
    """Returns the finding on nodes that take tasks and reported it within the last hour, since their last start."""
    reports = reported(e, GPU_XID, GPU_ECC, wants=_is_of_hardware)
    if not reports:
        return None
    number, total, first = len(reports), len(e.nodes), reports[0][0].id
    pool = e.facts.id if e.facts else e.job.pool_id
    return note_on(
        e,
        "nodeGpuErrors",
        reports,
        title=f"GPUs of {amount(number, 'node')} report errors",
        sentence=f"{number:,} of {amount(total, 'node')} of the pool reported errors of a GPU itself (Xid, or memory "
        "errors that couldn't be corrected) within the last hour. Tasks that use it may fail.",
        advice="Restart such a node, which resets its GPUs, and remove it from the pool if the errors come back: "
        f"az batch node reboot --pool-id {pool} --node-id {first}",
    )


def _is_of_hardware(event: BatchEvent) -> bool:
    """Returns whether the GPU is at fault: most Xid errors are those of programs, and corrected errors are harmless."""
    if event.kind == GPU_ECC:
        return event.properties.get("error_type") == "uncorrected"
    return event.properties.get("xid") in HARDWARE_XIDS
