"""The callers that the host accepts: its own machine's names, and no changes by pages of other origins."""

import contextlib
import socket
from urllib.parse import urlsplit

import pytest
from azure.storage.blob import ContainerClient

from local.functions_host.http.callers import Callers
from tests.functions_host.running_host import RunningHost, StartHost

HOOK = "/runtime/webhooks/blobs?functionName=Host.Functions.seen"
OWN = [
    "localhost", "LOCALHOST", "localhost.", "localhost:7071", "LocalHost.:7071", "127.0.0.1", "127.0.0.1:80",
    "127.1.2.3:9", "[::1]", "[::1]:7071", "[0:0:0:0:0:0:0:1]:7071", "[::ffff:127.0.0.1]:7071",
]  # fmt: skip
FOREIGN = [
    "evil.example", "evil.example:7071", "localhost.evil.example", "127.0.0.1.evil.example", "evil-localhost",
    "localhost@evil.example", "evil.example@localhost", "localhost evil.example", "localhost,evil.example",
    "localhost/evil.example", "localhost:7071:80", "localhost:", "localhost:port", "localhost..", ".localhost",
    "127.0.0.1\u200b", "ⓛocalhost", "10.0.0.4", "0.0.0.1", "[::]", "[fe80::1]", "[::1", "::1", "128.0.0.1",
    "2130706433", "",
]  # fmt: skip


@pytest.mark.parametrize("host", OWN)
def test_names_of_this_machine_are_its_own_with_any_port_and_case(host: str) -> None:
    assert Callers().refusal("GET", [host], None) is None


@pytest.mark.parametrize("host", FOREIGN)
def test_a_request_for_any_other_name_is_refused(host: str) -> None:
    assert "answers only to names of this machine" in str(Callers().refusal("GET", [host], None))
    assert Callers().refusal("GET", ["localhost", host], None)


def test_a_request_without_a_host_is_refused() -> None:
    assert Callers().refusal("GET", [], None)


def test_an_address_that_somebody_chose_to_listen_on_is_its_own_too() -> None:
    assert Callers("192.168.1.5").refusal("GET", ["192.168.1.5:7071"], None) is None
    assert Callers("192.168.1.5").refusal("GET", ["192.168.1.6:7071"], None)
    assert Callers("0.0.0.0").refusal("GET", ["evil.example"], None)  # noqa: S104 - nothing listens here


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "post", "QUERY"])
@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "", "http://localhost:3000", "https://localhost:7071", "http://localhost"],
)
def test_a_page_of_another_origin_may_read_nothing_it_could_not_and_change_nothing(method: str, origin: str) -> None:
    assert "another origin" in str(Callers().refusal(method, ["localhost:7071"], origin))
    assert Callers().refusal("GET", ["localhost:7071"], origin) is None
    assert Callers().refusal(method, ["localhost:7071"], "http://LOCALHOST:7071") is None
    assert Callers().refusal(method, ["localhost:7071"], None) is None


def spoken(host: RunningHost, *lines: str) -> int:
    """Returns the status of a request of exactly these lines."""
    parts = urlsplit(host.url)
    with contextlib.closing(socket.create_connection((parts.hostname, parts.port), 10)) as connection:
        connection.sendall("\r\n".join([*lines, "Connection: close", "", ""]).encode())
        return int(connection.makefile("rb").readline().split()[1])


def test_the_host_answers_only_to_its_own_names_in_any_form_of_request(start_host: StartHost) -> None:
    host = start_host()
    netloc = urlsplit(host.url).netloc
    assert spoken(host, "GET /hello HTTP/1.1", f"Host: {netloc}") == 200
    assert spoken(host, "GET /hello HTTP/1.1", "Host: LOCALHOST.") == 200
    assert spoken(host, "GET /hello HTTP/1.1", "Host: rebound.evil.example") == 403
    assert spoken(host, "GET /admin/functions HTTP/1.1", "Host: rebound.evil.example") == 403
    assert spoken(host, "GET /nowhere HTTP/1.1", "Host: rebound.evil.example") == 403
    assert spoken(host, "GET http://evil.example/hello HTTP/1.1", f"Host: {netloc}") == 403
    assert spoken(host, "GET /hello HTTP/1.1", f"Host: {netloc}", "Host: evil.example") in {400, 403}
    assert spoken(host, "GET /hello HTTP/1.1", "Host: [::1") in {400, 403}
    assert spoken(host, "GET /hello HTTP/1.1") in {400, 403}


def test_a_page_of_another_origin_can_not_post_to_a_function(start_host: StartHost) -> None:
    host = start_host()
    assert host.call("POST", "/echo/a", headers={"Origin": "https://evil.example"}).status == 403
    assert host.call("PUT", "/thing", headers={"Origin": "null"}).status == 403
    assert host.call("POST", "/echo/a", headers={"Origin": host.url}).status == 200
    assert host.call("GET", "/hello", headers={"Origin": "https://evil.example"}).status == 200


def test_the_webhook_of_blob_events_asks_for_a_key_as_azure_does(
    start_host: StartHost, environment: dict[str, str]
) -> None:
    connection, name = environment["AzureWebJobsStorage"], environment["SAMPLE_BLOBS"]
    ContainerClient.from_connection_string(connection, name).create_container()
    closed = start_host()
    assert closed.call("POST", HOOK, body=b"[]").status == 401
    assert closed.call("POST", f"{HOOK}&code=", body=b"[]").status == 401
    host = start_host(LOCAL_SYSTEM_KEY="sk", LOCAL_FUNCTION_KEY="fk")
    assert [host.call(method, HOOK).status for method in ("GET", "POST", "DELETE")] == [401, 401, 401]
    assert host.call("POST", f"{HOOK}&code=fk", body=b"[]").status == 401
    assert host.call("POST", f"{HOOK}&code=sk", body=b"[]").status == 202
    assert host.call("POST", HOOK, headers={"x-functions-key": "sk"}, body=b"[]").status == 202
    assert host.call("GET", "/hello").status == 200
