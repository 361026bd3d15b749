"""The rule on tasks that keep the network busy rather than cores."""

from shared.domain.core.amounts import amount
from shared.domain.efficiency.evidence import THOUSAND, EfficiencyEvidence
from shared.domain.efficiency.texts import size_text
from shared.domain.findings.finding import Finding
from shared.domain.findings.thresholds import MIN_NETWORK_RATE

_MEBI = 1 << 20


def waits_for_network(e: EfficiencyEvidence) -> Finding | None:
    """Returns the finding on a job whose tasks mostly kept under 0.3 cores busy, while nodes moved 50 MiB/s or more.

    The agent measures the network by node, so other jobs on the same nodes count as well.
    """
    cores, nodes = e.enough("cores"), e.context.nodes
    if cores is None or nodes is None or nodes.network is None:
        return None
    busy = cores.quantile(50) / THOUSAND
    if not e.may_wait or nodes.network < MIN_NETWORK_RATE:
        return None
    return e.found(
        "waitsForNetwork",
        title="Tasks wait for the network",
        sentence=f"Half of {cores.count:,} runs kept at most {busy:.1f} cores busy on average, while"
        f" {amount(nodes.nodes, 'node')} received and sent {size_text(nodes.network)} a second each.",
        advice="Keep inputs that several tasks read on the node, and storage in the region of the pool; more tasks at"
        " once would share the same network.",
        evidence={"cores": round(busy, 2), "networkMiBPerSecond": round(nodes.network / _MEBI, 1)},
    )
