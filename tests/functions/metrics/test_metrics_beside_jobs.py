"""The exposition text of known rounds, pools, schedules and ingestion: object in, literal text out."""

from functions.api.metrics.metrics import render
from tests.functions.metrics.test_metrics_page import BESIDE
from tests.functions.support.seen_metrics import NOW

EXPECTED = """\
azbatch_collector_pools_up{account="demo"} 1.0
azbatch_collector_pools_calls{account="demo"} 3.0
azbatch_collector_events{account="demo"} 9.0
azbatch_collector_event_repeats{account="demo"} 2.0
azbatch_collector_event_rejects{account="demo"} 1.0
azbatch_collector_log_bytes{account="demo"} 9000.0
azbatch_collector_last_event_timestamp_seconds{account="demo"} 1.79524614e+09
azbatch_collector_log_unread_bytes{account="demo"} 70.0
azbatch_collector_log_swept_timestamp_seconds{account="demo"} 1.7952462e+09
azbatch_collector_log_problems{account="demo"} 1.0
azbatch_collector_telemetry_bytes_total{account="demo"} 8000.0
azbatch_collector_telemetry_records_total{account="demo"} 30.0
azbatch_collector_telemetry_samples_total{account="demo"} 40.0
azbatch_collector_telemetry_lost_bytes_total{account="demo"} 0.0
azbatch_collector_telemetry_rejects_total{account="demo"} 2.0
azbatch_collector_telemetry_left_out_total{account="demo",reason="unknown"} 3.0
azbatch_collector_telemetry_left_out_total{account="demo",reason="unread_fields"} 0.0
azbatch_collector_telemetry_left_out_total{account="demo",reason="without_time"} 0.0
azbatch_collector_telemetry_left_out_total{account="demo",reason="out_of_window"} 0.0
azbatch_collector_telemetry_left_out_total{account="demo",reason="of_too_many_nodes"} 0.0
azbatch_collector_telemetry_left_out_total{account="demo",reason="of_too_many_tasks"} 0.0
azbatch_collector_telemetry_left_out_total{account="demo",reason="beyond_limit"} 0.0
azbatch_collector_telemetry_left_out_total{account="demo",reason="late"} 1.0
azbatch_collector_telemetry_left_out_total{account="demo",reason="no_numbers"} 0.0
azbatch_collector_telemetry_blobs{account="demo",state="asleep"} 4.0
azbatch_collector_telemetry_blobs{account="demo",state="awake"} 3.0
azbatch_collector_telemetry_unread_bytes{account="demo"} 5.0
azbatch_collector_telemetry_last_write_timestamp_seconds{account="demo"} 1.7952462e+09
azbatch_collector_telemetry_unread_since_timestamp_seconds{account="demo"} 1.79524614e+09
azbatch_collector_telemetry_swept_timestamp_seconds{account="demo"} 1.7952462e+09
azbatch_collector_telemetry_problems{account="demo"} 0.0
azbatch_pool_nodes{account="demo",dedicated="true",pool="render",state="running"} 2.0
azbatch_pool_target_nodes{account="demo",dedicated="true",pool="render"} 3.0
azbatch_pool_target_nodes{account="demo",dedicated="false",pool="render"} 0.0
azbatch_pool_slots{account="demo",pool="render"} 8.0
azbatch_pool_used_slots{account="demo",pool="render"} 6.0
azbatch_pool_cores{account="demo",pool="render"} 8.0
azbatch_pool_busy_cores{account="demo",pool="render"} 24.0
azbatch_pool_resize_errors{account="demo",pool="render"} 0.0
azbatch_pool_autoscale_error{account="demo",pool="render"} 1.0
azbatch_pool_interruptions_total{account="demo",pool="render"} 7.0
azbatch_pool_unexplained_restarts_total{account="demo",pool="render"} 2.0
azbatch_pool_flapping_nodes{account="demo",pool="render"} 3.0
azbatch_pool_as_of_timestamp_seconds{account="demo",pool="render"} 1.7952462e+09
azbatch_pool_exact{account="demo",pool="render"} 1.0
azbatch_collector_schedules_up{account="demo"} 1.0
azbatch_collector_schedules_calls{account="demo"} 1.0
azbatch_schedules{account="demo",state="active"} 1.0
azbatch_schedule_runs{account="demo",schedule="nightly"} 1.0
azbatch_schedule_missed_runs{account="demo",schedule="nightly"} 1.0
azbatch_schedule_active_jobs{account="demo",schedule="nightly"} 1.0
azbatch_schedule_running_tasks{account="demo",schedule="nightly"} 8.0
azbatch_schedule_next_run_timestamp_seconds{account="demo",schedule="nightly"} 1.79524626e+09
azbatch_schedule_last_run_timestamp_seconds{account="demo",schedule="nightly"} 1.7952462e+09
azbatch_schedule_as_of_timestamp_seconds{account="demo",schedule="nightly"} 1.7952462e+09
"""


def test_rounds_pools_schedules_and_ingestion_become_these_samples_and_no_others() -> None:
    text = render([], [], NOW, **BESIDE)  # type: ignore[arg-type]
    samples = [line for line in text.splitlines() if not line.startswith("#") and "_created{" not in line]
    assert samples == EXPECTED.splitlines()
