"""Events of conditions, which Batchscope finds itself, in the form of Batch's events: one began to fire, or ended.

Their kinds begin with `condition.`, as OpenTelemetry names events by namespace.
"""

from datetime import datetime
from hashlib import blake2b
from typing import Any

import msgspec

from shared.domain.events.batch_events import IDENTITY_BYTES, BatchEvent, Json, text_of

FIRING, RESOLVED = "condition.firing", "condition.resolved"
CONDITION_KINDS = (FIRING, RESOLVED)
TITLE, SENTENCE = "title", "sentence"
"""The properties with the condition's sentences."""


def condition_event(kind: str, at: datetime, scope: tuple[str, str, str], key: Any, properties: Json) -> BatchEvent:
    """Returns the event of a condition of a kind of resource, with the ids of its pool and its own.

    Its identity follows from `key`, kind and time alone, so that the same change, found again, is the same event.
    """
    resource, pool, name = scope
    parts = ["condition", kind, key, int(at.timestamp() * 1000)]
    return BatchEvent(
        at=at,
        kind=kind,
        job=name if resource == "job" else None,
        task=None,
        pool=name if resource == "pool" else pool or None,
        node=name if resource == "node" else None,
        properties=properties,
        identity=blake2b(msgspec.json.encode(parts, order="deterministic"), digest_size=IDENTITY_BYTES).digest(),
    )


def condition_sentence(event: BatchEvent) -> str:
    title, sentence = text_of(event.properties, TITLE) or event.kind, text_of(event.properties, SENTENCE) or ""
    return f"{title}: {sentence}" if event.kind == FIRING else f"No longer: {title}."
