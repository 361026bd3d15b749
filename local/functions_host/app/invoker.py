"""Runs a function to its end: the call within functionTimeout, its retries, and then its output bindings."""

import asyncio
import json
import logging
import random
import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from azure.core.exceptions import AzureError

from local.functions_host.app.errors import ConfigurationError, FunctionFailedError
from local.functions_host.app.functions import TIMER, Binding, Function
from local.functions_host.app.messages import RpcException, RpcRetryOptions, TypedData
from local.functions_host.app.settings import HostOptions, fill, resolve
from local.functions_host.app.storage import StorageClients
from local.functions_host.app.worker import Attempt, Result, Worker

_LOG = logging.getLogger("host.run")


class Invoker:
    def __init__(
        self, worker: Worker, options: HostOptions, storage: StorageClients, environment: Mapping[str, str]
    ) -> None:
        self._worker = worker
        self._limit = options.function_timeout
        self._storage = storage
        self._environment = environment

    async def run(
        self,
        function: Function,
        trigger: TypedData,
        *,
        metadata: Mapping[str, TypedData] | None = None,
        values: Mapping[str, str] | None = None,
    ) -> Result:
        """Returns the result.

        Raises FunctionFailedError, already logged, if the function, its timeout or an output failed.

        `values` fill output paths such as `{queueTrigger}`. Retry policies apply to timers only, as Azure honours them
        for no other trigger served here.
        """
        started = time.monotonic()
        retry = function.retry if function.trigger.kind == TIMER else None
        attempt = Attempt(max_retry_count=retry.max_retry_count if retry else 0)
        while True:
            try:
                result = await self._attempt(function, trigger, metadata or {}, attempt)
                break
            except FunctionFailedError as failure:
                _LOG.error("%s failed: %s", function.name, failure.report.stack_trace or failure.report.message)
                if retry is None or 0 <= retry.max_retry_count <= attempt.retry_count:
                    raise
                attempt = Attempt(attempt.retry_count + 1, retry.max_retry_count, failure.report)
                await asyncio.sleep(retry_delay(retry, attempt.retry_count).total_seconds())
        await self._write_outputs(function, result, values or {})
        level = logging.INFO if function.trigger.kind != "httpTrigger" else logging.DEBUG
        _LOG.log(level, "%s succeeded in %.0f ms", function.name, (time.monotonic() - started) * 1000)
        return result

    async def _attempt(
        self, function: Function, trigger: TypedData, metadata: Mapping[str, TypedData], attempt: Attempt
    ) -> Result:
        try:
            async with asyncio.timeout(self._limit.total_seconds() if self._limit else None):
                return await self._worker.invoke(function, trigger, metadata=metadata, attempt=attempt)
        except TimeoutError:
            report = RpcException(f"it ran past functionTimeout ({self._limit}), where Azure restarts the worker")
            raise FunctionFailedError(function.name, report) from None

    async def _write_outputs(self, function: Function, result: Result, values: Mapping[str, str]) -> None:
        for binding in function.outputs:
            value = result.outputs.get(binding.name) if binding.name != "$return" else result.return_value
            if value is None:
                continue
            try:
                await self._send(binding, value, values)
            except (AzureError, LookupError, ConfigurationError) as error:
                report = RpcException(f"its output {binding.name} couldn't be written: {error}")
                _LOG.error("%s failed: %s", function.name, report.message)
                raise FunctionFailedError(function.name, report) from error

    async def _send(self, binding: Binding, value: TypedData, values: Mapping[str, str]) -> None:
        queue = fill(resolve(binding.options["queueName"], self._environment), values)
        for text in queue_texts(value):
            await self._storage.send(queue, text, binding.connection)


def queue_texts(value: TypedData) -> list[str]:
    """Returns the messages of a queue output: one text, one QueueMessage, or a list of either."""
    if value.json is None:
        return [value.string if value.string is not None else (value.bytes or b"").decode()]
    content = json.loads(value.json)
    return [_message_text(item) for item in (content if isinstance(content, list) else [content])]


def _message_text(item: Any) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, dict) and "body" in item:
        return str(item["body"])
    return json.dumps(item)


def retry_delay(options: RpcRetryOptions, count: int) -> timedelta:
    """Returns the delay before retry `count` (from 1): fixed, or doubling within bounds, with 20 % jitter."""
    if options.delay_interval is not None:
        return options.delay_interval
    low = options.minimum_interval or timedelta()
    high = options.maximum_interval or low
    factor: int = 2 ** min(count - 1, 32)
    return min(high, low * factor * random.uniform(0.8, 1.2))
