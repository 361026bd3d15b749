"""Announced events of the node that this machine plays, as the instance metadata service shows them."""

from dataclasses import dataclass, field
from uuid import uuid4

from local.batch_emulator.core.stamps import http_date
from local.batch_emulator.entities import Json

KINDS = ("Freeze", "Preempt", "Reboot", "Redeploy", "Terminate")


@dataclass(slots=True)
class ScheduledEvents:
    """The events, and the number of their version."""

    events: list[Json] = field(default_factory=list)
    incarnation: int = 1

    def add(self, kind: str, begins: int) -> None:
        """Announces an event of one of KINDS that begins at a moment, in ticks."""
        self.incarnation += 1
        self.events.append(
            {
                "EventId": str(uuid4()).upper(),
                "EventType": kind,
                "EventStatus": "Scheduled",
                "NotBefore": http_date(begins),
                "Description": "",
                "EventSource": "Platform",
                "DurationInSeconds": -1,
            }
        )

    def document(self, resource: str) -> Json:
        """Returns the document for a VM of that name."""
        shown = {"ResourceType": "VirtualMachine", "Resources": [resource]}
        return {"DocumentIncarnation": self.incarnation, "Events": [{**event, **shown} for event in self.events]}
