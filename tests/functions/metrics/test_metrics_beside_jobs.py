"""The exposition text of known rounds, pools, schedules and ingestion: object in, literal text out."""

from dataclasses import replace
from datetime import date

import msgspec
import pytest

from functions.api.metrics import utilization_series
from functions.api.metrics.cost_series import ACCOUNT_COST_FAMILIES
from functions.api.metrics.metrics import render, render_nodes
from functions.api.metrics.pool_series import pool_samples
from shared.domain.cost.cost_groups import WASTED
from shared.domain.retirements.announcements import announcements
from tests.functions.metrics.test_metrics_page import BESIDE
from tests.functions.support.seen_metrics import COSTS, NOW, POOL, UTILIZED, job

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
azbatch_account_cost_today{account="demo",currency="USD"} 0.6
azbatch_account_wasted_cost_today{account="demo",currency="USD"} 0.3
azbatch_account_unpriced_node_seconds{account="demo"} 7.0
azbatch_account_cost_as_of_timestamp_seconds{account="demo"} 1.79524614e+09
azbatch_budget_amount{account="demo",budget="render",currency="USD"} 50.0
azbatch_budget_amount{account="demo",budget="old",currency="EUR"} 70.0
azbatch_budget_spent{account="demo",budget="render",currency="USD"} 12.25
azbatch_conditions{account="demo",rule="jobStuck",state="firing"} 2.0
azbatch_conditions{account="demo",rule="jobStuck",state="pending"} 0.0
azbatch_quota_limit{account="demo",family="",quota="dedicatedCores"} 100.0
azbatch_quota_limit{account="demo",family="standarddsv5family",quota="familyCores"} 32.0
azbatch_quota_used{account="demo",family="",quota="dedicatedCores"} 24.0
azbatch_quota_used{account="demo",family="standarddsv5family",quota="familyCores"} 16.0
azbatch_quota_used{account="demo",family="",quota="spotCores"} 4.0
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
azbatch_pool_tasks_started_total{account="demo",pool="render"} 39.0
azbatch_pool_tasks_completed_total{account="demo",pool="render"} 30.0
azbatch_pool_tasks_failed_total{account="demo",pool="render"} 2.0
azbatch_pool_task_retries_total{account="demo",pool="render"} 5.0
azbatch_pool_waiting_task_seconds_total{account="demo",cause="slotsBusy",pool="render"} 64.5
azbatch_pool_flapping_nodes{account="demo",pool="render"} 3.0
azbatch_retirement_days{account="demo",pool="render",retirement="ubuntu-22.04"} 221.0
azbatch_pool_startup_seconds{OWN_IMAGE,phase="allocation",pool="render",quantile="0.5",vm_size="standard_d4s_v5"} 10.0
azbatch_pool_startup_seconds{OWN_IMAGE,phase="allocation",pool="render",quantile="0.95",vm_size="standard_d4s_v5"} 10.0
azbatch_pool_startup_seconds{OWN_IMAGE,phase="boot",pool="render",quantile="0.5",vm_size="standard_d4s_v5"} 40.0
azbatch_pool_startup_seconds{OWN_IMAGE,phase="boot",pool="render",quantile="0.95",vm_size="standard_d4s_v5"} 40.0
azbatch_pool_startup_seconds{OWN_IMAGE,phase="setup",pool="render",quantile="0.5",vm_size="standard_d4s_v5"} 5.0
azbatch_pool_startup_seconds{OWN_IMAGE,phase="setup",pool="render",quantile="0.95",vm_size="standard_d4s_v5"} 5.0
azbatch_pool_startup_seconds{OWN_IMAGE,phase="startTask",pool="render",quantile="0.5",vm_size="standard_d4s_v5"} 30.0
azbatch_pool_startup_seconds{OWN_IMAGE,phase="startTask",pool="render",quantile="0.95",vm_size="standard_d4s_v5"} 30.0
azbatch_pool_startup_seconds{OWN_IMAGE,phase="wait",pool="render",quantile="0.5",vm_size="standard_d4s_v5"} 5.0
azbatch_pool_startup_seconds{OWN_IMAGE,phase="wait",pool="render",quantile="0.95",vm_size="standard_d4s_v5"} 5.0
azbatch_pool_startup_seconds{OWN_IMAGE,phase="preparation",pool="render",quantile="0.5",vm_size="standard_d4s_v5"} 10.0
azbatch_pool_startup_seconds{OWN_IMAGE,phase="preparation",pool="render",quantile="0.95",vm_size="standard_d4s_v5"} 10.0
azbatch_pool_startup_seconds{OWN_IMAGE,phase="overhead",pool="render",quantile="0.5",vm_size="standard_d4s_v5"} 95.0
azbatch_pool_startup_seconds{OWN_IMAGE,phase="overhead",pool="render",quantile="0.95",vm_size="standard_d4s_v5"} 95.0
azbatch_pool_startup_seconds{OWN_IMAGE,phase="total",pool="render",quantile="0.5",vm_size="standard_d4s_v5"} 100.0
azbatch_pool_startup_seconds{OWN_IMAGE,phase="total",pool="render",quantile="0.95",vm_size="standard_d4s_v5"} 100.0
azbatch_pool_startup_nodes{OWN_IMAGE,phase="allocation",pool="render",vm_size="standard_d4s_v5"} 1.0
azbatch_pool_startup_nodes{OWN_IMAGE,phase="boot",pool="render",vm_size="standard_d4s_v5"} 1.0
azbatch_pool_startup_nodes{OWN_IMAGE,phase="setup",pool="render",vm_size="standard_d4s_v5"} 1.0
azbatch_pool_startup_nodes{OWN_IMAGE,phase="startTask",pool="render",vm_size="standard_d4s_v5"} 1.0
azbatch_pool_startup_nodes{OWN_IMAGE,phase="wait",pool="render",vm_size="standard_d4s_v5"} 1.0
azbatch_pool_startup_nodes{OWN_IMAGE,phase="preparation",pool="render",vm_size="standard_d4s_v5"} 1.0
azbatch_pool_startup_nodes{OWN_IMAGE,phase="overhead",pool="render",vm_size="standard_d4s_v5"} 1.0
azbatch_pool_startup_nodes{OWN_IMAGE,phase="total",pool="render",vm_size="standard_d4s_v5"} 1.0
azbatch_pool_as_of_timestamp_seconds{account="demo",pool="render"} 1.7952462e+09
azbatch_pool_exact{account="demo",pool="render"} 1.0
azbatch_pool_cost_today{account="demo",class="failed",currency="USD",pool="render"} 0.1
azbatch_pool_cost_today{account="demo",class="idle",currency="USD",pool="render"} 0.2
azbatch_pool_cost_today{account="demo",class="succeeded",currency="USD",pool="render"} 0.3
azbatch_pool_unpriced_node_seconds{account="demo",pool="render"} 7.0
azbatch_pool_reporting_nodes{account="demo",pool="render"} 3.0
azbatch_pool_silent_nodes{account="demo",pool="render"} 1.0
azbatch_pool_cpu_utilization_ratio{account="demo",pool="render",statistic="mean"} 0.25
azbatch_pool_cpu_utilization_ratio{account="demo",pool="render",statistic="p95"} 0.5
azbatch_pool_cpu_utilization_ratio{account="demo",pool="render",statistic="max"} 0.75
azbatch_pool_memory_utilization_ratio{account="demo",pool="render",statistic="mean"} 1.25
azbatch_pool_memory_utilization_ratio{account="demo",pool="render",statistic="p95"} 1.5
azbatch_pool_memory_utilization_ratio{account="demo",pool="render",statistic="max"} 1.75
azbatch_pool_disk_utilization_ratio{account="demo",pool="render",statistic="mean"} 2.25
azbatch_pool_disk_utilization_ratio{account="demo",pool="render",statistic="p95"} 2.5
azbatch_pool_disk_utilization_ratio{account="demo",pool="render",statistic="max"} 2.75
azbatch_pool_filesystem_utilization_ratio{account="demo",pool="render",statistic="mean"} 3.25
azbatch_pool_filesystem_utilization_ratio{account="demo",pool="render",statistic="p95"} 3.5
azbatch_pool_filesystem_utilization_ratio{account="demo",pool="render",statistic="max"} 3.75
azbatch_pool_network_bytes_per_second{account="demo",direction="receive",pool="render",statistic="mean"} 4.25
azbatch_pool_network_bytes_per_second{account="demo",direction="receive",pool="render",statistic="p95"} 4.5
azbatch_pool_network_bytes_per_second{account="demo",direction="receive",pool="render",statistic="max"} 4.75
azbatch_pool_network_bytes_per_second{account="demo",direction="transmit",pool="render",statistic="mean"} 5.25
azbatch_pool_network_bytes_per_second{account="demo",direction="transmit",pool="render",statistic="p95"} 5.5
azbatch_pool_network_bytes_per_second{account="demo",direction="transmit",pool="render",statistic="max"} 5.75
azbatch_pool_gpu_utilization_ratio{account="demo",pool="render",statistic="mean"} 6.25
azbatch_pool_gpu_utilization_ratio{account="demo",pool="render",statistic="p95"} 6.5
azbatch_pool_gpu_utilization_ratio{account="demo",pool="render",statistic="max"} 6.75
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
    assert samples == EXPECTED.replace("OWN_IMAGE", 'account="demo",image="own"').splitlines()


def test_of_several_days_of_one_announcement_the_earliest_is_a_pools_sample() -> None:
    one = next(one for one in announcements() if one.id == "vm-sizes-d-to-dsv2")
    days = [date(2027, 6, 1), date(2027, 3, 1), date(2027, 9, 1)]
    announced = [msgspec.structs.replace(one, when={"vmSize": ["*"]}, last_day=day) for day in days]
    found = pool_samples(replace(POOL, announced=announced)).values["azbatch_retirement_days"]
    assert found == {"vm-sizes-d-to-dsv2": (days[1] - POOL.now.date()).days}


def test_nodes_of_a_pool_have_a_text_of_their_own_with_a_maximum(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [line for line in render_nodes([UTILIZED]).splitlines() if not line.startswith("#")]
    assert len(lines) == 7 * 2 + 1
    assert 'azbatch_node_cpu_utilization_ratio{account="demo",node="n2",pool="render"} 0.75' in lines
    traffic = 'azbatch_node_network_bytes_per_second{account="demo",direction="transmit",node="n1",pool="render"} 5.25'
    assert traffic in lines
    assert lines[-1] == 'azbatch_pool_left_out_nodes{account="demo",pool="render"} 0.0'
    monkeypatch.setattr(utilization_series, "MAX_NODES", 1)
    lines = [line for line in render_nodes([UTILIZED]).splitlines() if not line.startswith("#")]
    assert not any('node="n2"' in line for line in lines)
    assert lines[-1] == 'azbatch_pool_left_out_nodes{account="demo",pool="render"} 1.0'


def test_a_job_has_costs_of_today_while_it_has_series_and_held_slots() -> None:
    costs = [line for line in render([], [job(), job("quiet")], NOW, costs=COSTS).splitlines() if "job_" in line]
    assert [line for line in costs if "cost_today{" in line] == [
        'azbatch_job_cost_today{account="demo",currency="USD",job="render"} 0.6',
        'azbatch_job_wasted_cost_today{account="demo",currency="USD",job="render"} 0.3',
    ]
    assert "azbatch_job_cost_today{" not in render([], [job("quiet")], NOW, costs=COSTS)


def test_a_metric_without_values_has_no_samples() -> None:
    found = replace(UTILIZED, statistics=[None] * 7, by_node=[{}] * 7)
    text = render([], [], NOW, utilization=[found])
    assert "azbatch_pool_reporting_nodes{" in text
    assert "azbatch_pool_cpu_utilization_ratio{" not in text


WORDS_OF_WASTE = {
    "failed": "failed, ",
    "retried": "retried",
    "interrupted": "interrupted runs",
    "idle": "idle nodes",
    "idleSlots": "and slots",
    "startTaskFailed": "failed start tasks",
    "unusable": "unusable nodes",
}


def test_the_help_of_wasted_cost_names_every_class_that_counts_as_waste() -> None:
    family = next(one for one in ACCOUNT_COST_FAMILIES if one.name == "azbatch_account_wasted_cost_today")
    assert WORDS_OF_WASTE.keys() == WASTED
    assert [name for name, words in WORDS_OF_WASTE.items() if words not in family.meaning] == []
