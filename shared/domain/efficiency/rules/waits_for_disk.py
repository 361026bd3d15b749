"""The rule on tasks that keep disks busy rather than cores."""

from shared.domain.efficiency.evidence import THOUSAND, EfficiencyEvidence
from shared.domain.efficiency.offers import advised_nodes
from shared.domain.efficiency.texts import size_text
from shared.domain.findings.finding import Finding
from shared.domain.findings.thresholds import MIN_DISK_RATE

_MEBI = 1 << 20


def waits_for_disk(e: EfficiencyEvidence) -> Finding | None:
    """Returns the finding on a job where half of the tasks kept under 0.3 cores busy and moved 50 MiB/s or more."""
    cores, rate = e.enough("cores"), e.enough("diskRate")
    if cores is None or rate is None:
        return None
    busy, moved = cores.quantile(50) / THOUSAND, rate.quantile(50)
    if not e.may_wait or moved < MIN_DISK_RATE:
        return None
    return e.found(
        "waitsForDisk",
        title="Tasks wait for disks",
        sentence=f"Half of {cores.count:,} runs kept at most {busy:.1f} cores busy on average, while half read and"
        f" wrote {size_text(moved)} a second or more.",
        advice=f"{_disk_advice(e)}Read inputs once, in large blocks; more tasks at once would share the same disks.",
        evidence={"cores": round(busy, 2), "diskMiBPerSecond": round(moved / _MEBI, 1)},
    )


def _disk_advice(e: EfficiencyEvidence) -> str:
    """Returns which disk the tasks should use: a local one, of another VM size where theirs is known to have none."""
    node = e.offer.node
    if node.has_local_disk is None:
        return ""
    if node.has_local_disk:
        return "Keep what tasks read and write often on the node's local disk. "
    size = e.nearest(
        one for one in advised_nodes() if one.room == node.room and one.has_local_disk and one.replaces(node)
    )
    instead = f"; {size} has one, and the same cores and memory" if size else ""
    return f"Nodes of {node.vm_size} have no local disk{instead}. "
