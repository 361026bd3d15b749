"""The app and its dashboard know the kinds of events that the agent reports."""

import re

from agent.events import clock_jumps, ecc_growth, full_disks, oom_kills, reboots, scheduled_events, start_task_hangs
from agent.events.event import event
from agent.events.xid_errors import KIND as GPU_XID
from local.dev.system.checkout import HERE
from shared.domain.events.event_sentences import ALL_KINDS
from shared.domain.events.node_events import NODE_KINDS, PREFIX
from shared.domain.telemetry.records.metrics import Metric
from shared.domain.telemetry.sessions.event_records import is_event


def test_each_kind_of_the_agent_is_one_that_the_app_lists() -> None:
    kinds = {oom_kills.KIND, full_disks.KIND, GPU_XID, ecc_growth.KIND, reboots.KIND, start_task_hangs.KIND}
    kinds |= {clock_jumps.JUMP, clock_jumps.SLEW, scheduled_events.SPOT, scheduled_events.MAINTENANCE}
    assert {f"{PREFIX}{kind}" for kind in kinds} == set(NODE_KINDS)
    record = event("reboot", "It was restarted.")
    assert is_event(Metric(record.measurement, dict(record.tags), dict(record.fields), 1))


def test_the_dashboard_offers_all_known_kinds() -> None:
    text = (HERE.root / "web/src/events/model.ts").read_text(encoding="utf-8")
    listed = re.findall(r'^ {2}"([\w.]+)",$', text.partition("EVENT_KINDS")[2].partition("]")[0], re.MULTILINE)
    assert listed == [*ALL_KINDS]
