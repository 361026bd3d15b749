"""Nothing is known against the node, and nothing of it arrived."""

from shared.domain.agent.rules.evidence import ReportEvidence
from shared.domain.findings.finding import Finding


def nothing_arrived(e: ReportEvidence) -> Finding | None:
    return e.finding(
        "nothingArrived",
        "Nothing of the node arrived",
        "Its start task names the agent, and no blob of the node is in storage. The node lacks the right to write, "
        "can't reach storage, has no Python from 3.8 on, or started before the start task named the agent.",
        "Read stderr.txt of the start task, where the agent says why it can't start, and agent.log in the agent's "
        "folder (batchscope-agent in the node's shared folder or in /var/lib), where it says why storage refuses. The "
        "identity needs the role of telemetryWriters for the pool's folder. Reboot a node that started earlier.",
    )
