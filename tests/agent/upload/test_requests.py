"""Requests: proxies, waits, tokens, and errors that hold no secrets."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from agent.upload.append_blob import AppendBlobs, StorageError
from agent.upload.backoff import Backoff, asked_wait
from agent.upload.credentials import CredentialError, ManagedIdentity, SasCredential
from agent.upload.http_client import MAX_TIMEOUTS, HttpClient, NoAnswerError
from agent.upload.proxies import proxy_of
from tests.agent.upload.append_service import Answer, AppendService, served
from tests.agent.upload.rig import SAS, Agent, SteppedClock


@dataclass
class Answers:
    """A service that gives the same answer to all requests."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    asked: list[str] = field(default_factory=list)

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        self.asked.append(f"{method} {path} {headers.get('metadata', '')}".strip())
        return self.status, self.headers, self.body or body[:0]


def token(seconds: object) -> bytes:
    return json.dumps({"access_token": "secret-token", "expires_in": seconds}).encode()


@pytest.mark.parametrize(
    ("identity", "named"),
    [("", ""), ("11-22", "&client_id=11-22"), ("/subscriptions/x", "&msi_res_id=%2Fsubscriptions%2Fx")],
)
def test_a_token_is_asked_for_once_until_five_minutes_before_its_end(identity: str, named: str) -> None:
    service, clock = Answers(body=token("3600")), SteppedClock()
    with served(service) as address:
        credential = ManagedIdentity(address, identity, clock)
        assert credential.headers() == {"Authorization": "Bearer secret-token"}
        clock.passed += 3299
        credential.headers()
        assert len(service.asked) == 1
        clock.passed += 1
        credential.headers()
        credential.renew()
        credential.headers()
    path = f"/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https%3A%2F%2Fstorage.azure.com%2F{named}"
    assert service.asked == [f"GET {path} true"] * 3


@pytest.mark.parametrize(
    ("answers", "sentence", "asked"),
    [
        (Answers(429, {"retry-after": "7"}), "asks again", 7.0),
        (Answers(410), "asks again", 70.0),
        (Answers(404), "asks again", None),
        (Answers(503), "asks again", None),
        (Answers(400), "no such managed identity", None),
        (Answers(200, body=b"{}"), "makes sense", None),
        (Answers(200, body=b"no json"), "makes sense", None),
    ],
)
def test_without_a_token_there_is_a_sentence_and_a_wait(answers: Answers, sentence: str, asked: float | None) -> None:
    with served(answers) as address, pytest.raises(CredentialError, match=sentence) as caught:
        ManagedIdentity(address, "", SteppedClock()).headers()
    assert caught.value.asked == asked


def test_a_token_that_storage_refuses_is_asked_for_anew() -> None:
    service = Answers(401, {"x-ms-request-id": "1"})
    tokens = Answers(body=token(3600))
    with served(service) as address, served(tokens) as imds:
        clock = SteppedClock()
        blobs = AppendBlobs(address, ManagedIdentity(imds, "", clock), HttpClient({}), clock)
        for _ in range(2):
            with pytest.raises(StorageError):
                blobs.properties("a")
    assert len(tokens.asked) == 2


def test_a_service_that_asks_for_a_wait_is_left_alone_for_it(tmp_path: Path) -> None:
    service = AppendService()
    service.faults.append("refuse 503")
    with served(service) as address:
        agent = Agent(tmp_path, address)
        agent.spool.put(b"m v=1i 1\n")
        assert agent.sender.step() == 0.0
        assert agent.sender.step() == pytest.approx(2.1)
        agent.sender.hurry()
        assert agent.sender.step() == pytest.approx(2.1)
        assert len(service.requests) == 1
        agent.send_all()
    assert agent.sender.fields()["send_failures"] == 1
    assert agent.sender.fields()["sent_units"] == 1


def test_a_wait_that_is_asked_for_with_the_refusal_of_a_single_unit_stands_even_at_the_end(tmp_path: Path) -> None:
    service = AppendService()
    service.faults.append("refuse 400, retry-after")
    with served(service) as address:
        agent = Agent(tmp_path, address)
        agent.spool.put(b"m v=1i 1\n")
        agent.step()
        agent.sender.hurry()
        asked = len(service.requests)
        assert agent.sender.step() == pytest.approx(2.1)
        assert len(service.requests) == asked


def test_waits_double_up_to_a_limit_and_begin_anew_after_a_success() -> None:
    backoff = Backoff(lambda: 1.0)
    assert [backoff.failed(None) for _ in range(4)] == [1.0, 2.0, 4.0, 8.0]
    assert [backoff.failed(None) for _ in range(20)][-1] == 300.0
    assert backoff.failed(1e9) == pytest.approx(3960.0)
    backoff.succeeded()
    assert backoff.failed(None) == 1.0


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({}, None),
        ({"retry-after": "12"}, 12.0),
        ({"x-ms-retry-after-ms": "1500", "retry-after": "12"}, 1.5),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, 90.0),
        ({"retry-after": "soon"}, None),
    ],
)
def test_the_wait_that_an_answer_asks_for(headers: dict[str, str], wait: float | None) -> None:
    assert asked_wait(headers, 10.0) == wait


@pytest.mark.parametrize(
    ("url", "proxied"),
    [
        ("https://logs.example/c", True),
        ("http://logs.example/c", False),
        ("https://127.0.0.1/c", False),
        ("https://localhost/c", False),
        ("https://a.internal.example/c", False),
        ("https://notinternal.example/c", True),
        ("https://10.1.2.3/c", False),
        ("https://11.1.2.3/c", True),
        ("https://only.example:8443/c", False),
        ("https://only.example/c", True),
    ],
)
def test_a_proxy_is_used_except_for_the_exempt(url: str, *, proxied: bool) -> None:
    settings = {"HTTPS_PROXY": "http://u:p@proxy:8080", "NO_PROXY": ".internal.example, 10.0.0.0/8,only.example:8443"}
    found = proxy_of(urlsplit(url), settings)
    assert (found and (found.host, found.port, found.headers)) == (
        ("proxy", 8080, {"Proxy-Authorization": "Basic dTpw"}) if proxied else None
    )


def test_plain_http_goes_whole_through_a_proxy_and_https_by_a_tunnel() -> None:
    proxy = Answers(502)
    with served(proxy) as address:
        client = HttpClient({"http_proxy": address, "https_proxy": address})
        assert client.request("GET", "http://logs.example/c?x=1", {}).status == 502
        with pytest.raises(NoAnswerError, match=r"^logs\.example doesn't answer"):
            client.request("GET", "https://logs.example/c?sig=secret", {})
    assert proxy.asked == ["GET http://logs.example/c?x=1", "CONNECT logs.example:443"]


def test_no_error_holds_a_signature_or_token() -> None:
    service = Answers(403, {"x-ms-request-id": "1", "x-ms-error-code": "AuthenticationFailed"})
    with served(service) as address:
        clients = [AppendBlobs(f"{address}/c", SasCredential(f"?{SAS}"), HttpClient({}), SteppedClock())]
        clients.append(AppendBlobs("http://127.0.0.1:1/c", SasCredential(SAS), HttpClient({}), SteppedClock()))
        clients.append(AppendBlobs("http://127.0.0.1:1/c", SasCredential(f"{SAS} \n"), HttpClient({}), SteppedClock()))
        sentences = []
        for client in clients:
            with pytest.raises(StorageError) as caught:
                client.append("a", 0, b"x")
            sentences.append(str(caught.value))
            assert caught.value.__cause__ is None
    assert not any("sig" in sentence.replace("signature", "") for sentence in sentences)
    assert "HTTP 403 AuthenticationFailed" in sentences[0]


def test_an_answer_that_is_not_storages_is_no_success() -> None:
    with served(Answers(201, body=b"<html>Log in</html>")) as address:
        blobs = AppendBlobs(address, SasCredential(SAS), HttpClient({}), SteppedClock())
        with pytest.raises(StorageError, match="as no storage does"):
            blobs.append("a", 0, b"x")


HEAD = b"HTTP/1.1 200 OK\r\nx-ms-request-id: 1\r\ncontent-length: 1234\r\n\r\n"


@pytest.mark.parametrize("left", range(1, len(HEAD)))
def test_an_answer_whose_head_is_cut_off_is_none(left: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(HEAD[:left])

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(NoAnswerError, match="doesn't answer"):
            HttpClient({}).request("HEAD", f"http://127.0.0.1:{server.getsockname()[1]}/a", {})
        thread.join()


def test_an_answer_that_trickles_in_has_an_end() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection, contextlib.suppress(OSError):
                connection.recv(1 << 16)
                connection.sendall(b"HTTP/1.1 200 OK\r\n")
                for number in range(600):
                    connection.sendall(b"x-%d: 1\r\n" % number if number < 20 else b"x")
                    time.sleep(0.05)

        thread = threading.Thread(target=serve)
        thread.start()
        begin = time.monotonic()
        with pytest.raises(NoAnswerError, match="doesn't answer"):
            HttpClient({}, timeout=0.2).request("GET", f"http://127.0.0.1:{server.getsockname()[1]}/a", {})
        assert 0.2 * MAX_TIMEOUTS <= time.monotonic() - begin < 20
        thread.join()
