"""Prometheus series of an account's log and telemetry ingestion: amounts and backlog.

Series of logs are gauges although most only rise, because housekeeping or a restored table may lower them. Totals of
telemetry are counters, which hosts add to after reading; they have no samples until a telemetry blob was found.
"""

from prometheus_client.metrics_core import CounterMetricFamily

from functions.api.metrics.series import Family, Samples, Value, timestamp
from shared.domain.blobs.sweeps import IngestionReport, PartitionSweep
from shared.domain.telemetry.rollups.intake_counts import REASONS, TelemetryTotals

INGESTION_FAMILIES = (
    Family("azbatch_collector_events", "Ingested events."),
    Family("azbatch_collector_event_repeats", "Events that were delivered again."),
    Family("azbatch_collector_event_rejects", "Log records that couldn't be read."),
    Family("azbatch_collector_log_bytes", "Bytes of logs read."),
    Family("azbatch_collector_last_event_timestamp_seconds", "Time of the latest event."),
    Family("azbatch_collector_log_unread_bytes", "Bytes of logs not read yet."),
    Family("azbatch_collector_log_swept_timestamp_seconds", "Time of the last sweep over logs."),
    Family("azbatch_collector_log_problems", "Log blobs that can't be read."),
    Family("azbatch_collector_telemetry_bytes", "Bytes of telemetry read.", kind=CounterMetricFamily),
    Family("azbatch_collector_telemetry_records", "Records of telemetry read.", kind=CounterMetricFamily),
    Family("azbatch_collector_telemetry_samples", "Ingested values.", kind=CounterMetricFamily),
    Family("azbatch_collector_telemetry_lost_bytes", "Bytes that can't be read.", kind=CounterMetricFamily),
    Family("azbatch_collector_telemetry_rejects", "Units that couldn't be read.", kind=CounterMetricFamily),
    Family("azbatch_collector_telemetry_left_out", "Dropped records or values.", ("reason",), kind=CounterMetricFamily),
    Family("azbatch_collector_telemetry_blobs", "Telemetry blobs of nodes.", ("state",)),
    Family("azbatch_collector_telemetry_unread_bytes", "Bytes of telemetry not read yet."),
    Family("azbatch_collector_telemetry_last_write_timestamp_seconds", "Time of the latest write by a node."),
    Family(
        "azbatch_collector_telemetry_unread_since_timestamp_seconds",
        "Time of the last write to the blob that has had unread bytes for the longest time.",
    ),
    Family("azbatch_collector_telemetry_swept_timestamp_seconds", "Time of the last sweep over telemetry."),
    Family("azbatch_collector_telemetry_problems", "Telemetry blobs that can't be read."),
)


def ingestion_samples(report: IngestionReport) -> Samples:
    """Returns the samples of an account's ingestion."""
    logs, sweep = report.totals, report.sweep
    values: dict[str, Value] = {
        "azbatch_collector_events": logs.stored,
        "azbatch_collector_event_repeats": logs.repeats,
        "azbatch_collector_event_rejects": logs.refused,
        "azbatch_collector_log_bytes": logs.bytes,
        "azbatch_collector_last_event_timestamp_seconds": timestamp(logs.latest),
    }
    if sweep:
        values["azbatch_collector_log_unread_bytes"] = sweep.behind_bytes
        values["azbatch_collector_log_swept_timestamp_seconds"] = timestamp(sweep.at)
        values["azbatch_collector_log_problems"] = len(sweep.problems)
    if report.telemetry:
        values |= _telemetry_values(report.telemetry, report.telemetry_totals)
    return Samples((report.account,), values)


def _telemetry_values(sweep: PartitionSweep, totals: TelemetryTotals) -> dict[str, Value]:
    return {
        "azbatch_collector_telemetry_bytes": totals.bytes,
        "azbatch_collector_telemetry_records": totals.records,
        "azbatch_collector_telemetry_samples": totals.samples,
        "azbatch_collector_telemetry_lost_bytes": totals.lost,
        "azbatch_collector_telemetry_rejects": totals.refused,
        "azbatch_collector_telemetry_left_out": {why: totals.left_out.get(why, 0) for why in REASONS},
        "azbatch_collector_telemetry_blobs": {"asleep": sweep.up_to_date, "awake": sweep.blobs - sweep.up_to_date},
        "azbatch_collector_telemetry_unread_bytes": sweep.behind_bytes,
        "azbatch_collector_telemetry_last_write_timestamp_seconds": timestamp(sweep.latest),
        "azbatch_collector_telemetry_unread_since_timestamp_seconds": timestamp(sweep.behind_since),
        "azbatch_collector_telemetry_swept_timestamp_seconds": timestamp(sweep.at),
        "azbatch_collector_telemetry_problems": len(sweep.problems),
    }
