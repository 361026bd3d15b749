"""The rule on CPU time that the job's nodes or containers didn't get."""

from shared.domain.core.amounts import amount
from shared.domain.efficiency.evidence import EfficiencyEvidence
from shared.domain.efficiency.texts import percent_text
from shared.domain.findings.finding import Finding
from shared.domain.findings.thresholds import MIN_STOLEN


def stolen_time(e: EfficiencyEvidence) -> Finding | None:
    """Returns the finding on a job whose nodes lost 5 % of their CPU time to other machines or to limits."""
    nodes = e.context.nodes
    if nodes is None or e.enough("duration") is None:
        return None
    stolen, throttled = nodes.stolen or 0.0, nodes.throttled or 0.0
    if max(stolen, throttled) < MIN_STOLEN:
        return None
    is_stolen = stolen >= throttled
    cause = (
        f"the hosts of {amount(nodes.nodes, 'node')} gave {percent_text(stolen)} of their CPU time to other machines"
        if is_stolen
        else f"containers on {amount(nodes.nodes, 'node')} waited for {percent_text(throttled)} of the nodes' CPU time"
        " at their limits"
    )
    advice = (
        "Take a VM size that doesn't share its cores (not one of the B family), or create the pool anew, so that its"
        " nodes get other hosts."
        if is_stolen
        else "Raise the CPU limit of the tasks' containers (--cpus in containerRunOptions), or start fewer threads."
    )
    return e.found(
        "stolenTime",
        title="Nodes lose CPU time to their hosts" if is_stolen else "Containers wait for their CPU limit",
        sentence=f"While the job ran, {cause}.",
        advice=advice,
        evidence={"stolenShare": _share(nodes.stolen), "throttledShare": _share(nodes.throttled), "nodes": nodes.nodes},
    )


def _share(share: float | None) -> float | None:
    return None if share is None else round(share, 3)
