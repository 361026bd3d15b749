"""Nodes of a pool flap, or its spot nodes are interrupted often."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from shared.domain.conditions.evidence import AccountEvidence
from shared.domain.conditions.rule import Outcome
from shared.domain.core.amounts import amount, are
from shared.domain.core.stamps import from_milliseconds, to_milliseconds
from shared.domain.findings.finding import Amount, Finding, Scope
from shared.domain.findings.thresholds import INTERRUPTED_WITHIN, MAX_INTERRUPTED_SHARE
from shared.domain.nodes.interruptions import SPAN

NODES_FLAPPING, SPOT_INTERRUPTED = "nodesFlapping", "spotNodesInterrupted"


def flapping(e: AccountEvidence) -> Iterator[Outcome]:
    for report in e.pools:
        snapshot, name = report.pool.snapshot, report.pool.facts.id
        number = snapshot.flapping_nodes(e.now) if snapshot else 0
        if snapshot and number:
            ends = (until for until, _ in snapshot.flapping if until > to_milliseconds(e.now))
            finding = Finding(
                rule=NODES_FLAPPING,
                scope=Scope("pool", name),
                severity="limiting",
                title=f"{amount(number, 'node')} of '{name}' {'flaps' if number == 1 else 'flap'}",
                sentence=f"{are(number, 'node')} in a bad state again and again.",
                advice="See the records of these nodes on the pool's page; replace those that don't become steady.",
                evidence={"flappingNodes": number, "nodes": snapshot.summary.total, "asOf": report.verdict.as_of},
                amount=Amount(number, "nodes"),
            )
            yield Outcome(finding, from_milliseconds(min(ends)))


def interrupted(e: AccountEvidence) -> Iterator[Outcome]:
    """Yields pools whose spot nodes were interrupted often within the last hour."""
    for report in e.pools:
        snapshot, facts = report.pool.snapshot, report.pool.facts
        spot = max(facts.spot.target or 0, facts.spot.current)
        tally = snapshot.tally.interruptions if snapshot and snapshot.tally else None
        number = tally.within(INTERRUPTED_WITHIN, to_milliseconds(e.now)) if tally else 0
        if tally and spot and number >= max(MAX_INTERRUPTED_SHARE * spot, 2):
            finding = Finding(
                rule=SPOT_INTERRUPTED,
                scope=Scope("pool", facts.id),
                severity="limiting",
                title=f"Spot nodes of '{facts.id}' are interrupted often",
                sentence=f"{amount(number, 'interruption')} of {amount(spot, 'spot node')} within an hour.",
                advice="Other VM sizes, regions or times may have more spot capacity. Dedicated nodes stay.",
                evidence={"interruptions": number, "spotNodes": spot, "asOf": report.verdict.as_of},
                amount=Amount(number, "nodes"),
            )
            yield Outcome(finding, _next(tally.recent, e.now))


def _next(recent: tuple[tuple[int, int], ...], now: datetime) -> datetime:
    """Returns when the oldest span of the last hour leaves it."""
    first = (to_milliseconds(now) - INTERRUPTED_WITHIN // timedelta(milliseconds=1)) // SPAN
    oldest = min(span for span, _ in recent if span >= first)
    return from_milliseconds((oldest + 1) * SPAN) + INTERRUPTED_WITHIN
