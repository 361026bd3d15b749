"""All known facts about a node that doesn't report."""

from dataclasses import dataclass
from datetime import datetime

from shared.domain.core.stamps import from_milliseconds
from shared.domain.findings.finding import Finding, Scope, Value
from shared.domain.nodes.nodes import Node


@dataclass(frozen=True, slots=True)
class ReportEvidence:
    """A silent node.

    `seen` is its last minute with data, None without any. `blob` and `unread` are an arrived blob of the node without
    series, and the reason, both empty where there is none. `starts_agent`: the pool's start task names the agent.
    `first_start` is when the first of the nodes that report began their start task, None where none reports.
    """

    node: Node
    seen: datetime | None = None
    blob: str = ""
    unread: str = ""
    starts_agent: bool = False
    first_start: datetime | None = None

    @property
    def start(self) -> datetime | None:
        """Returns when the node's start task last began, else when it booted."""
        stamp = (self.node.start.start if self.node.start else 0) or self.node.booted
        return from_milliseconds(stamp) if stamp else None

    def finding(self, rule: str, title: str, sentence: str, advice: str, **evidence: Value) -> Finding:
        scope, found = Scope("node", self.node.id), {"state": self.node.state, **evidence}
        return Finding(rule, scope, "info", title, sentence, advice, found, since=self.seen)
