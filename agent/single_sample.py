"""One sample of a node for a person to read: it sends nothing and leaves no file behind."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agent.collection import Collection
from agent.machine.clock import Clock
from agent.machine.machine import Machine
from agent.node_agent import session_facts
from agent.records.line_protocol import line_of, text_of
from agent.startup.session import startup_records


def single_sample(
    machine: Machine,
    clock: Clock,
    environment: Mapping[str, str],
    log: Callable[[str], None],
    *,
    imds: str,
    seconds: float = 1.0,
) -> str:
    """Returns the startup records and two samples, some seconds apart, as lines. It needs no settings of Batch."""
    begin = clock.now()
    collection = Collection(machine, clock, interval=seconds, folder="", imds=imds)
    try:
        lines = text_of(startup_records(machine, session_facts(collection, environment, begin), begin), begin)
        _sampled_lines(collection, clock, log)
        clock.sleep(seconds)
        return lines + _sampled_lines(collection, clock, log)
    finally:
        collection.close()


def _sampled_lines(collection: Collection, clock: Clock, log: Callable[[str], None]) -> str:
    """Returns a sample of all collectors as lines; one that fails costs only its remaining records."""
    now, lines = clock.now(), []
    for collector in collection.collectors:
        try:
            lines += [line_of(record, now) for record in collector.collect(now)]
        except Exception as error:
            log(f"The collector {collector.name} failed: {error}")
    return "".join(lines)
