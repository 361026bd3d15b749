"""IMDS behind a loopback server of the test: good answers, errors, garbage, slow and huge ones."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from agent.machine.clock import Clock
from agent.startup.imds import Imds, ImdsError
from agent.startup.imds_facts import imds_facts, is_spot, resource_name

DOCUMENT = {
    "compute": {
        "vmSize": "Standard_D2s_v3", "location": "westeurope", "zone": "", "priority": "Spot", "offer": "ubuntu-hpc",
        "sku": "2204", "name": "pool_3", "customData": "c2VjcmV0", "userData": "c2VjcmV0", "tags": "secret:x",
        "publicKeys": [{"keyData": "ssh-rsa AAAA"}], "osProfile": {"adminUsername": "root"}, "vmId": ["no text"],
    }
}  # fmt: skip


class PatientClock(Clock):
    def __init__(self) -> None:
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


@dataclass
class Service:
    """A service that gives prepared answers in turn, the last one again and again."""

    answers: list[tuple[int, bytes]]
    requests: list[tuple[str, str]] = field(default_factory=list)
    pauses: threading.Event = field(default_factory=threading.Event)
    address: str = ""


@pytest.fixture
def service() -> Iterator[Service]:
    served = Service([])

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.requests.append((self.path, self.headers.get("Metadata", "")))
            status, body = served.answers.pop(0) if len(served.answers) > 1 else served.answers[0]
            if not status:
                served.pauses.wait(5)
                return
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    served.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield served
    served.pauses.set()
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_instance_is_asked_for_with_the_header_and_past_any_proxy(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    service.answers = [(200, json.dumps(DOCUMENT).encode())]
    assert Imds(service.address, Clock()).instance() == DOCUMENT
    assert service.requests == [("/metadata/instance?api-version=2021-02-01&format=json", "true")]


def test_scheduled_events_are_asked_for_once(service: Service) -> None:
    service.answers = [(200, b'{"Events": []}')]
    assert Imds(service.address, Clock()).scheduled_events() == {"Events": []}
    assert service.requests == [("/metadata/scheduledevents?api-version=2020-07-01", "true")]


@pytest.mark.parametrize("status", [410, 429, 500, 503])
def test_passing_errors_are_retried_after_growing_pauses(service: Service, status: int) -> None:
    service.answers = [(status, b""), (status, b""), (200, b"{}")]
    clock = PatientClock()
    assert Imds(service.address, clock).instance() == {}
    assert clock.slept == [1.0, 2.0]


def test_three_failures_are_enough(service: Service) -> None:
    service.answers = [(429, b"")]
    with pytest.raises(ImdsError, match="status 429"):
        Imds(service.address, PatientClock()).instance()
    assert len(service.requests) == 3


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ((404, b"no"), "status 404"),
        ((200, b"<html>"), "no JSON"),
        ((200, b"[" * 100_000), "no JSON"),
        ((200, b"[]"), "no JSON object"),
        ((200, b" " * (2 << 20)), "can't be reached: ValueError"),
        ((0, b""), "can't be reached"),
    ],
)
def test_lasting_errors_garbage_huge_and_slow_answers_end_at_once(
    service: Service, answer: tuple[int, bytes], sentence: str
) -> None:
    service.answers = [answer]
    with pytest.raises(ImdsError, match=sentence):
        Imds(service.address, PatientClock(), timeout=0.3).instance()
    assert len(service.requests) == 1


def test_without_a_service_there_is_one_sentence() -> None:
    with pytest.raises(ImdsError, match="can't be reached"):
        Imds("http://127.0.0.1:1", PatientClock()).instance()


def test_only_listed_facts_are_let_in() -> None:
    (found,) = imds_facts(DOCUMENT)
    assert found.measurement == "imds_metadata"
    assert found.fields == {
        "vm_size": "Standard_D2s_v3", "vm_location": "westeurope", "vm_priority": "Spot",
        "vm_image_offer": "ubuntu-hpc", "vm_image_sku": "2204",
    }  # fmt: skip
    assert found.tags == {"vm_monitor_collection": "once"}


def test_priority_and_name_are_read_from_the_document() -> None:
    assert (is_spot(DOCUMENT), resource_name(DOCUMENT)) == (True, "pool_3")
    assert (is_spot({"compute": {"priority": "Regular"}}), resource_name({"compute": []})) == (False, "")
    assert list(imds_facts({"compute": "x"})) == []
