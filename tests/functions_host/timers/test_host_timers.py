import json
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any

import pytest
from azure.storage.blob import BlobClient, BlobLeaseClient, BlobServiceClient

from tests.functions_host.running_host import RunningHost, StartHost, until

EVERY_SECOND = "* * * * * *"
EVERY_MINUTE = "0 * * * * *"


@pytest.fixture
def hosts_blob(environment: dict[str, str]) -> Any:
    service = BlobServiceClient.from_connection_string(environment["AzureWebJobsStorage"])

    def blob(name: str) -> BlobClient:
        path = name.format(host=environment["AzureFunctionsWebHost__hostid"])
        return service.get_blob_client("azure-webjobs-hosts", path)

    return blob


class VirtualClock:
    """Serves /_emulator/clock like the emulator in stepped mode."""

    def __init__(self) -> None:
        self.time = datetime(2026, 11, 21, 7, 0, 30, tzinfo=UTC)
        self.answered = 0
        clock = self

        class Face(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                stamp = clock.time.strftime("%Y-%m-%dT%H:%M:%S.%f") + "0Z"
                body = json.dumps({"mode": "stepped", "time": stamp, "paused": False, "speed": 1, "epoch": 0}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                clock.answered += 1

            def log_message(self, *_: object) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Face)
        self.url = f"http://127.0.0.1:{self.server.server_port}/_emulator/clock"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def clock() -> Iterator[VirtualClock]:
    clock = VirtualClock()
    yield clock
    clock.server.shutdown()


def second_after_second(times: list[float]) -> bool:
    """Returns whether some run began a second after another at a whole second; a busy machine may delay some."""
    return any(0.8 < second - first < 1.2 and second % 1 < 0.3 for first, second in pairwise(times))


def test_a_timer_fires_on_its_schedule_and_a_sub_minute_one_is_not_remembered(
    start_host: StartHost, hosts_blob: Any
) -> None:
    host = start_host(SAMPLE_TICK=EVERY_SECOND)
    until(lambda: second_after_second([one["at"] for one in host.of("tick")]), 10)
    seconds = [int(one["at"]) for one in host.of("tick")]
    assert len(set(seconds)) == len(seconds)
    assert not any(one["past_due"] for one in host.of("tick"))
    assert not hosts_blob("timers/{host}/Host.Functions.tick/status").exists()
    assert hosts_blob("timers/{host}/Host.Functions.stubborn/status").exists()


def last_run(status: BlobClient) -> datetime:
    return datetime.fromisoformat(json.loads(status.download_blob().readall())["Last"])


def test_a_run_missed_while_no_host_ran_is_past_due(start_host: StartHost, hosts_blob: Any) -> None:
    start_host().stop()
    status = hosts_blob("timers/{host}/Host.Functions.minute/status")
    missed = datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(minutes=7)
    once_a_day = f"0 {missed.minute} {missed.hour} * * *"  # no other run is due while this test runs
    last = missed - timedelta(days=1)
    content = {"Last": last, "Next": missed, "LastUpdated": last}
    status.upload_blob(json.dumps({name: at.isoformat() for name, at in content.items()}), overwrite=True)
    host = start_host(SAMPLE_MINUTE=once_a_day)
    until(lambda: host.of("minute"), 25)  # a host that ends while it acquires a lease leaves that for its 15 seconds
    run = host.of("minute")[0]
    assert run["past_due"]
    assert run["status"]["Next"] == missed.isoformat().replace("+00:00", "Z")
    until(lambda: last_run(status) > last)
    host.stop()
    again = start_host(SAMPLE_MINUTE=once_a_day)
    time.sleep(0.5)
    assert again.of("minute") == []


def has_run_at(status: BlobClient, time: datetime) -> bool:
    return last_run(status) == time


def more_minutes(host: RunningHost, than: int) -> bool:
    return len(host.of("minute")) > than


def test_timers_follow_the_virtual_clock_one_run_for_each_step(
    start_host: StartHost, hosts_blob: Any, clock: VirtualClock
) -> None:
    status = hosts_blob("timers/{host}/Host.Functions.minute/status")
    host = start_host("--clock", clock.url, SAMPLE_MINUTE=EVERY_MINUTE)
    until(status.exists)  # its first run is planned
    assert host.of("minute") == []
    for step in (30, 60, 600):
        before = len(host.of("minute"))
        clock.time += timedelta(seconds=step)
        until(partial(more_minutes, host, before), 3)
        until(partial(has_run_at, status, clock.time))  # and has the next due time
        time.sleep(0.4)
        assert len(host.of("minute")) == before + 1
    clock.time -= timedelta(days=1)
    answered = clock.answered
    until(lambda: clock.answered > answered + 12)  # each of three timers asked, and asked again for its next plan
    clock.time += timedelta(seconds=60)
    until(lambda: len(host.of("minute")) == 4, 3)


def test_one_of_two_hosts_fires_and_the_other_takes_over(start_host: StartHost) -> None:
    first = start_host(SAMPLE_TICK=EVERY_SECOND)
    until(lambda: first.of("tick"))
    second = start_host(SAMPLE_TICK=EVERY_SECOND)
    until(lambda: "tick waits: another host runs it" in second.log)
    time.sleep(2.2)
    assert second.of("tick") == []
    first.stop()
    until(lambda: second.of("tick"), 4)


def test_a_lost_lease_stops_the_timer_until_it_is_back(start_host: StartHost, hosts_blob: Any) -> None:
    host = start_host(SAMPLE_TICK=EVERY_SECOND)
    until(lambda: host.of("tick"))
    lock = hosts_blob("locks/{host}/Host.Functions.tick.Listener")
    BlobLeaseClient(lock).break_lease(0)
    thief = lock.acquire_lease(15)
    until(lambda: "tick lost its lease" in host.log, 6)
    lost = len(host.of("tick"))
    time.sleep(1.5)
    assert len(host.of("tick")) <= lost + 1
    thief.release()
    until(lambda: "tick runs here now" in host.log, 5)
    back = len(host.of("tick"))
    until(lambda: len(host.of("tick")) > back, 3)


def test_a_stop_gives_the_leases_back(start_host: StartHost, hosts_blob: Any) -> None:
    host = start_host()
    lock = hosts_blob("locks/{host}/Host.Functions.tick.Listener")
    until(hosts_blob("timers/{host}/Host.Functions.tick/status").exists)  # written once the host has its lease
    until(lambda: lock.exists() and lock.get_blob_properties().lease.state == "leased")
    host.stop()
    assert lock.get_blob_properties().lease.state == "available"
