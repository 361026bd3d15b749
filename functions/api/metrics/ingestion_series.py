"""Prometheus series of an account's log and telemetry ingestion: amounts and backlog.

Series of logs are gauges although most only rise, because housekeeping or a restored table may lower them. Totals of
telemetry are counters, which hosts add to after reading.
"""

from collections.abc import Callable, Iterator
from datetime import datetime

from functions.api.metrics.series import Counter, Gauge
from shared.domain.blobs.sweeps import IngestionReport, PartitionSweep, Totals
from shared.domain.telemetry.sessions.telemetry_totals import REASONS, TelemetryTotals

type _Sample = tuple[tuple[str, ...], float]


def _of_totals(name: str, meaning: str, value: Callable[[Totals], float | None]) -> Gauge[IngestionReport]:
    def samples(report: IngestionReport) -> Iterator[_Sample]:
        found = value(report.totals)
        if found is not None:
            yield (report.account,), found

    return Gauge(name, meaning, ("account",), samples)


def _of_sweep(name: str, meaning: str, value: Callable[[PartitionSweep], float | None]) -> Gauge[IngestionReport]:
    def samples(report: IngestionReport) -> Iterator[_Sample]:
        found = value(report.sweep) if report.sweep else None
        if found is not None:
            yield (report.account,), found

    return Gauge(name, meaning, ("account",), samples)


def _of_nodes(name: str, meaning: str, value: Callable[[TelemetryTotals], float]) -> Counter[IngestionReport]:
    """Returns a counter without samples until a telemetry blob of a node was found."""

    def samples(report: IngestionReport) -> Iterator[_Sample]:
        if report.telemetry:
            yield (report.account,), value(report.telemetry_totals)

    return Counter(name, meaning, ("account",), samples)


def _of_look(name: str, meaning: str, value: Callable[[PartitionSweep], float | None]) -> Gauge[IngestionReport]:
    def samples(report: IngestionReport) -> Iterator[_Sample]:
        found = value(report.telemetry) if report.telemetry else None
        if found is not None:
            yield (report.account,), found

    return Gauge(name, meaning, ("account",), samples)


def _blobs(report: IngestionReport) -> Iterator[tuple[tuple[str, ...], float]]:
    if sweep := report.telemetry:
        yield (report.account, "asleep"), sweep.up_to_date
        yield (report.account, "awake"), sweep.blobs - sweep.up_to_date


def _left_out(report: IngestionReport) -> Iterator[tuple[tuple[str, ...], float]]:
    if report.telemetry:
        yield from (((report.account, why), report.telemetry_totals.left_out.get(why, 0)) for why in REASONS)


def _timestamp(moment: datetime | None) -> float | None:
    return moment.timestamp() if moment else None


INGESTION_SERIES = (
    _of_totals("azbatch_collector_events", "Events that were taken in.", lambda totals: totals.stored),
    _of_totals("azbatch_collector_event_repeats", "Events that were delivered again.", lambda totals: totals.repeats),
    _of_totals("azbatch_collector_event_rejects", "Records that couldn't be read.", lambda totals: totals.refused),
    _of_totals("azbatch_collector_log_bytes", "Bytes of logs that were read.", lambda totals: totals.bytes),
    _of_totals(
        "azbatch_collector_last_event_timestamp_seconds",
        "When the latest event was logged.",
        lambda totals: _timestamp(totals.latest),
    ),
    _of_sweep("azbatch_collector_log_unread_bytes", "Bytes of logs not read yet.", lambda sweep: sweep.behind_bytes),
    _of_sweep(
        "azbatch_collector_log_swept_timestamp_seconds",
        "When logs were looked at last.",
        lambda sweep: _timestamp(sweep.at),
    ),
    _of_sweep("azbatch_collector_log_problems", "Blobs that can't be read.", lambda sweep: len(sweep.problems)),
    _of_nodes("azbatch_collector_telemetry_bytes", "Bytes of telemetry that were read.", lambda told: told.bytes),
    _of_nodes("azbatch_collector_telemetry_records", "Records of telemetry.", lambda told: told.records),
    _of_nodes("azbatch_collector_telemetry_samples", "Values that were taken in.", lambda told: told.samples),
    _of_nodes("azbatch_collector_telemetry_lost_bytes", "Bytes that can't be read.", lambda told: told.lost),
    _of_nodes("azbatch_collector_telemetry_rejects", "Units that couldn't be read.", lambda told: told.refused),
    Counter(
        "azbatch_collector_telemetry_left_out", "Records or values in no series.", ("account", "reason"), _left_out
    ),
    Gauge("azbatch_collector_telemetry_blobs", "Blobs of nodes.", ("account", "state"), _blobs),
    _of_look("azbatch_collector_telemetry_unread_bytes", "Bytes not read yet.", lambda sweep: sweep.behind_bytes),
    _of_look(
        "azbatch_collector_telemetry_last_write_timestamp_seconds",
        "When a node wrote last.",
        lambda sweep: _timestamp(sweep.latest),
    ),
    _of_look(
        "azbatch_collector_telemetry_unread_since_timestamp_seconds",
        "When the blob was written last that has waited longest with something unread.",
        lambda sweep: _timestamp(sweep.behind_since),
    ),
    _of_look(
        "azbatch_collector_telemetry_swept_timestamp_seconds",
        "When telemetry was looked at last.",
        lambda sweep: _timestamp(sweep.at),
    ),
    _of_look("azbatch_collector_telemetry_problems", "Blobs that can't be read.", lambda sweep: len(sweep.problems)),
)
