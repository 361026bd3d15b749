import asyncio
import base64
import json
import re
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from azure.core.exceptions import ResourceNotFoundError
from azure.storage.queue import QueueClient, QueueMessage, QueueServiceClient
from azure.storage.queue.aio import QueueClient as AsyncQueueClient

from local.functions_host.app.errors import FunctionFailedError
from local.functions_host.app.in_flight_tasks import InFlightTasks
from local.functions_host.app.invoker import queue_texts, retry_delay
from local.functions_host.app.messages import RpcException, RpcRetryOptions, TypedData
from local.functions_host.app.settings import QueueOptions
from local.functions_host.blobs.blob_events import message_values
from local.functions_host.queues.queues import QueueListener, decode
from tests.functions_host.running_host import StartHost, until


@pytest.fixture
def queue(environment: dict[str, str]) -> QueueClient:
    service = QueueServiceClient.from_connection_string(environment["AzureWebJobsStorage"])
    return service.get_queue_client(environment["SAMPLE_QUEUE"])


def put(queue: QueueClient, text: str) -> None:
    queue.send_message(base64.b64encode(text.encode()).decode())


def waiting(queue: QueueClient) -> int:
    return queue.get_queue_properties().approximate_message_count or 0


def poison_of(queue: QueueClient, environment: dict[str, str]) -> list[str]:
    client = QueueClient.from_connection_string(environment["AzureWebJobsStorage"], f"{queue.queue_name}-poison")
    try:
        return [message.content for message in client.peek_messages(32)]
    except ResourceNotFoundError:
        return []


def test_a_message_runs_the_function_once_and_is_deleted(start_host: StartHost, queue: QueueClient) -> None:
    host = start_host()
    answer = host.call("POST", "/send", body=json.dumps(["one", "two"]).encode())
    assert (answer.status, answer.text) == (200, "sent")
    until(lambda: len(host.of("work ends")) == 2)
    assert sorted(one["text"] for one in host.of("work ends")) == ["one", "two"]
    assert [one["dequeue_count"] for one in host.of("work begins")] == [1, 1]
    until(lambda: waiting(queue) == 0)
    assert "sample: working on one" in host.log


def test_a_message_that_fails_too_often_becomes_poison(
    start_host: StartHost, queue: QueueClient, environment: dict[str, str]
) -> None:
    host = start_host()
    until(lambda: _exists(queue))
    put(queue, "fail")
    poison = until(lambda: poison_of(queue, environment))
    assert [base64.b64decode(text) for text in poison] == [b"fail"]
    assert [one["dequeue_count"] for one in host.of("work begins")] == [1, 2]
    until(lambda: waiting(queue) == 0)  # it is deleted only after it is in the poison queue


def test_invalid_base64_goes_to_poison_untried(
    start_host: StartHost, queue: QueueClient, environment: dict[str, str]
) -> None:
    host = start_host()
    until(lambda: _exists(queue))
    queue.send_message("not base64!")
    assert until(lambda: poison_of(queue, environment)) == ["not base64!"]
    assert host.of("work begins") == []


def test_admin_gives_a_queue_function_its_input_as_a_message(start_host: StartHost) -> None:
    host = start_host()
    assert host.call("POST", "/admin/functions/work", body=b'{"input":"by hand"}').status == 202
    until(lambda: [one for one in host.of("work ends") if one["text"] == "by hand"])


def test_a_stop_lets_a_message_be_finished(start_host: StartHost, queue: QueueClient) -> None:
    host = start_host()
    host.call("POST", "/send", body=b'["sleep 1.5"]')
    until(lambda: host.of("work begins"))
    host.child.send_signal(signal.SIGTERM)
    assert host.child.wait(10) == 0
    assert host.of("work ends")
    assert waiting(queue) == 0


def test_a_message_cut_off_by_a_stop_is_there_for_the_next_host(start_host: StartHost, queue: QueueClient) -> None:
    first = start_host(AzureFunctionsJobHost__functionTimeout="-1")
    first.call("POST", "/send", body=b'["sleep 20"]')
    until(lambda: first.of("work begins"))
    code, seconds = first.stop()
    assert code == 0
    assert seconds < 5
    until(lambda: queue.peek_messages(1))  # returned to the queue without a delay
    second = start_host()
    until(lambda: second.of("work begins"), 3)


class Relay:
    """A port in front of storage that can be cut."""

    def __init__(self, target: int) -> None:
        self._target, self._open = target, True
        self._pairs: list[socket.socket] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        self._open = False
        for one in self._pairs:
            _shut(one)

    def mend(self) -> None:
        self._open = True

    def _accept(self) -> None:
        while True:
            near, _ = self._server.accept()
            if not self._open:
                near.close()
                continue
            far = socket.create_connection(("127.0.0.1", self._target))
            self._pairs += [near, far]
            for ends in ((near, far), (far, near)):
                threading.Thread(target=_pump, args=ends, daemon=True).start()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while chunk := source.recv(65536):
            sink.sendall(chunk)
    except OSError:
        pass
    _shut(source)
    _shut(sink)


def _shut(one: socket.socket) -> None:
    """Closes a connection immediately, also while another thread reads from it; `close` alone waits for that read."""
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()


def test_a_storage_outage_is_logged_once_and_survived(
    start_host: StartHost, azurite: Any, environment: dict[str, str]
) -> None:
    relay = Relay(azurite.queue_port)
    through = azurite.connection_string.replace(f":{azurite.queue_port}/", f":{relay.port}/")
    host = start_host(AzureWebJobsStorage=through)
    assert host.call("POST", "/send", body=b'["before"]').status == 200
    until(lambda: host.of("work ends"))
    relay.cut()
    until(lambda: "doesn't answer, trying on" in host.log, seconds=30)
    assert host.call("POST", "/send", body=b'["lost"]').status == 500
    relay.mend()
    assert host.call("POST", "/send", body=b'["after"]').status == 200
    until(lambda: [one for one in host.of("work ends") if one["text"] == "after"])
    queues = re.findall(r"the queue (\S+) doesn't answer, trying on", host.log)  # blob triggers have a queue, too
    assert len(queues) == len(set(queues))
    until(lambda: host.log.count("answers again") == len(queues))


@pytest.fixture
def storage_queue(queue: QueueClient) -> Iterator[QueueClient]:
    queue.create_queue()
    yield queue
    queue.delete_queue()


async def attend(
    connection: str, name: str, work: Any, until_done: asyncio.Event, *, poison: bool = True, claim_seconds: int = 1
) -> None:
    async with (
        AsyncQueueClient.from_connection_string(connection, name) as queue,
        AsyncQueueClient.from_connection_string(connection, f"{name}-poison") as aside,
    ):
        in_flight, stopping = InFlightTasks(), asyncio.Event()
        listener = QueueListener(
            queue,
            aside if poison else None,
            work,
            options=QueueOptions(max_dequeue_count=1 if not poison else 5, max_polling_interval=timedelta(seconds=0.2)),
            in_flight=in_flight,
            lease_duration=timedelta(seconds=claim_seconds),
        )
        task = asyncio.create_task(listener.listen(stopping))
        await asyncio.wait_for(until_done.wait(), 10)
        stopping.set()
        await task
        await in_flight.drain(2)


async def test_a_claim_is_renewed_while_the_function_runs(
    storage_queue: QueueClient, environment: dict[str, str]
) -> None:
    runs: list[int | None] = []
    done = asyncio.Event()

    async def work(message: QueueMessage, _text: str) -> None:
        runs.append(message.dequeue_count)
        await asyncio.sleep(5)
        done.set()

    put(storage_queue, "long")
    await attend(environment["AzureWebJobsStorage"], environment["SAMPLE_QUEUE"], work, done, claim_seconds=4)
    assert runs == [1]
    assert waiting(storage_queue) == 0


async def test_a_message_that_another_took_is_neither_renewed_nor_deleted(
    storage_queue: QueueClient, environment: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    done = asyncio.Event()

    async def work(message: QueueMessage, _text: str) -> None:
        storage_queue.update_message(message.id, message.pop_receipt, visibility_timeout=60)
        await asyncio.sleep(1.5)
        done.set()

    put(storage_queue, "stolen")
    await attend(environment["AzureWebJobsStorage"], environment["SAMPLE_QUEUE"], work, done)
    assert waiting(storage_queue) == 1
    assert caplog.text.count("isn't ours any more") == 1


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"BlobName": 5}'])
async def test_a_message_that_nobody_understands_becomes_poison_at_once(
    storage_queue: QueueClient, environment: dict[str, str], text: str
) -> None:
    done = asyncio.Event()

    async def work(_: QueueMessage, text: str) -> None:
        message_values(text, "BlobName")
        done.set()

    put(storage_queue, text)
    put(storage_queue, '{"BlobName": "a"}')
    await attend(environment["AzureWebJobsStorage"], environment["SAMPLE_QUEUE"], work, done)
    assert waiting(storage_queue) == 0
    assert base64.b64encode(text.encode()).decode() in poison_of(storage_queue, environment)


async def test_a_failed_poison_message_stays_in_its_queue(
    storage_queue: QueueClient, environment: dict[str, str]
) -> None:
    seen: list[int | None] = []
    done = asyncio.Event()

    async def work(message: QueueMessage, _text: str) -> None:
        seen.append(message.dequeue_count)
        if len(seen) == 1:
            raise FunctionFailedError("work", RpcException("first try"))
        done.set()

    put(storage_queue, "again")
    await attend(environment["AzureWebJobsStorage"], environment["SAMPLE_QUEUE"], work, done, poison=False)
    assert seen == [1, 2]
    assert poison_of(storage_queue, environment) == []


def test_a_failed_message_comes_back_after_the_visibility_timeout(start_host: StartHost, queue: QueueClient) -> None:
    host = start_host(AzureFunctionsJobHost__extensions__queues__visibilityTimeout="00:00:03")
    until(lambda: _exists(queue))
    put(queue, "fail")
    first, second = until(lambda: begun if len(begun := host.of("work begins")) == 2 else None)
    assert second["dequeue_count"] == 2
    assert second["at"] - first["at"] >= 3


def test_message_texts_are_decoded_as_host_json_says() -> None:
    assert decode("aGk=", base64_encoded=True) == "hi"
    assert decode("aGk=", base64_encoded=False) == "aGk="
    assert decode("hi", base64_encoded=True) is None
    assert decode("/w==", base64_encoded=True) is None
    assert decode("é", base64_encoded=True) is None


def test_retries_wait_for_a_fixed_or_a_growing_time() -> None:
    fixed = RpcRetryOptions(3, "fixed_delay", delay_interval=timedelta(seconds=4))
    assert [retry_delay(fixed, count) for count in (1, 5)] == [timedelta(seconds=4)] * 2
    low, high = timedelta(seconds=1), timedelta(seconds=10)
    growing = RpcRetryOptions(9, "exponential_backoff", minimum_interval=low, maximum_interval=high)
    waits = [retry_delay(growing, count).total_seconds() for count in (1, 2, 3, 9)]
    assert waits == [pytest.approx(expected, rel=0.21) for expected in (1, 2, 4, 10)]


def test_outputs_become_one_message_or_several() -> None:
    assert queue_texts(TypedData(string='["x"]')) == ['["x"]']
    assert queue_texts(TypedData(bytes=b"x")) == ["x"]
    assert queue_texts(TypedData(json='["a", {"id": null, "body": "b"}, {"c": 1}]')) == ["a", "b", '{"c": 1}']
    assert queue_texts(TypedData(json='{"id": null, "body": "b"}')) == ["b"]


def _exists(queue: QueueClient) -> bool:
    try:
        queue.get_queue_properties()
    except ResourceNotFoundError:
        return False
    return True
