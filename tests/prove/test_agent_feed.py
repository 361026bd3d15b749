"""The comparison of the app's feed with the events in blobs: a missing, a repeated and a foreign event are found."""

import gzip
import io

from local.prove.agent.judging.event_feed import Event, judge_feed, listed_events, written_events
from local.prove.agent.judging.sessions import StoredBlob

PATH = "/account/telemetry/accounts/a/pools/p/nodes/n1/agent/20261127T120000000Z-77-0a0a.0.gz"
LINES = (
    "mem free=1i 1795694400000000000\n"
    'batchscope_event,kind=reboot message="The node was restarted, 5 s ago.",down_seconds=5.0 1795694400123456789\n'
    'batchscope_event,job_id=j,kind=oom_kill,task_id=t message="a kind=none 7",pid=5i 1795694401000000000\n'
)
REBOOT = Event("n1", "node.reboot", 1795694400123456)
KILL = Event("n1", "node.oom_kill", 1795694401000000)


def blob() -> StoredBlob:
    stored = io.BytesIO()
    with gzip.GzipFile("20261127T120000000Z-77-0a0a.0", "wb", fileobj=stored, mtime=0) as file:
        file.write(LINES.encode())
    return StoredBlob(PATH, stored.getvalue(), is_sealed=True)


def test_events_are_read_from_records_and_from_the_apps_list() -> None:
    assert written_events([blob()]) == [REBOOT, KILL]
    page = [
        {"nodeId": "n1", "kind": "node.reboot", "time": "2026-11-26T12:00:00.123456Z"},
        {"nodeId": "n1", "kind": "TaskStartEvent", "time": "2026-11-26T12:00:00Z"},
    ]
    assert listed_events(page) == [REBOOT]


def test_each_event_must_be_in_the_feed_once() -> None:
    assert judge_feed([REBOOT, KILL], [KILL, REBOOT]) == []
    assert judge_feed([REBOOT, KILL], [KILL]) == ["n1: node.reboot isn't in the feed"]
    assert judge_feed([REBOOT], [REBOOT, REBOOT]) == ["n1: node.reboot is 2 times in the feed"]
    assert judge_feed([REBOOT], [REBOOT, KILL]) == ["n1: node.oom_kill is in the feed, but no agent wrote it"]
