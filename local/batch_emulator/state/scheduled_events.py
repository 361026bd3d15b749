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

    def add(self, kind: str, begins: int, resource: str) -> None:
        """Announces an event of one of KINDS to the VM of that name; it begins at a moment, in ticks."""
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
                "ResourceType": "VirtualMachine",
                "Resources": [resource],
            }
        )

    def document(self) -> Json:
        """Returns the document: VMs of a scale set see each other's events, also those of a VM that is gone."""
        return {"DocumentIncarnation": self.incarnation, "Events": self.events}
