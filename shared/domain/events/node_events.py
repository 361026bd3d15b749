"""Events of nodes, which the node agent reports, in the form of Batch's events.

Their kinds begin with `node.`, as OpenTelemetry names events by namespace; the rest is the agent's name of the kind.
"""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import msgspec

from shared.domain.core.keys import key_of
from shared.domain.events.batch_events import IDENTITY_BYTES, BatchEvent, text_of

PREFIX = "node."
MESSAGE = "message"
"""The property with the agent's sentence."""
LOG_RECORD = "log_record_uid"
"""The property that identifies the record of a log on which an event rests; OpenTelemetry's `log.record.uid`."""
OOM_KILL, DISK_FULL = "node.oom_kill", "node.disk_full"
GPU_XID, GPU_ECC = "node.gpu_xid", "node.gpu_ecc"
START_TASK_HANG = "node.start_task_hang"
SPOT_PREEMPTION, MAINTENANCE = "node.spot_preemption", "node.maintenance"
NODE_KINDS = (
    OOM_KILL, DISK_FULL, GPU_XID, GPU_ECC, "node.reboot", "node.clock_jump", "node.clock_slew", START_TASK_HANG,
    SPOT_PREEMPTION, MAINTENANCE,
)  # fmt: skip
"""The kinds that the node agent reports; unknown ones are stored and listed like these."""


def is_of_node(kind: str) -> bool:
    """Returns whether the node agent reports events of this kind."""
    return kind.startswith(PREFIX)


def node_event_identity(pool: str, node: str, kind: str, nanoseconds: int, fields: Mapping[str, Any]) -> bytes:
    """Returns the identity of an event within its account: equal wherever, and however often, the record is read.

    `fields` are those of the record, unchanged. Where they identify the record of a log, that alone makes the event: an
    agent that reads the log again may not know the task any more. Batch's events hash a list of three, so the two kinds
    never coincide.
    """
    record = text_of(fields, LOG_RECORD)
    parts = ["node", key_of(pool), key_of(node), kind, *([record] if record else [nanoseconds, fields])]
    return blake2b(msgspec.json.encode(parts, order="deterministic"), digest_size=IDENTITY_BYTES).digest()


def without_repeats(events: Sequence[BatchEvent]) -> list[BatchEvent]:
    """Returns the first event of each identity, as later ones may lack the task."""
    found: dict[bytes, BatchEvent] = {}
    for event in events:
        found.setdefault(event.identity, event)
    return list(found.values())


def node_sentence(event: BatchEvent) -> str:
    """Returns the agent's sentence, or one that names the kind where the agent gave none."""
    return text_of(event.properties, MESSAGE) or f"The agent of node '{event.node}' reported {event.kind}."
