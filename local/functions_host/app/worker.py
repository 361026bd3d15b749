"""Drives azure_functions_runtime, the library that runs Python apps inside Azure's own worker.

The library keeps its state in module globals, so a process can run only one app: starting the same folder again reuses
its index, starting another one is an error. Async functions run in the caller's event loop, as in Azure.
"""

import contextvars
import importlib
import logging
import sys
import uuid
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

from local.functions_host.app import messages
from local.functions_host.app.errors import ConfigurationError, FunctionFailedError
from local.functions_host.app.functions import Function
from local.functions_host.app.messages import ParameterBinding, RpcException, TypedData

_runtime: Any = importlib.import_module("azure_functions_runtime")  # untyped; its interface is five coroutines
_MAX_TRACE_LINES = 12

invocation_id: contextvars.ContextVar[str | None] = _runtime.invocation_id_cv


@dataclass(frozen=True, slots=True)
class Attempt:
    """The value of `context.retry_context` in a function."""

    retry_count: int = 0
    max_retry_count: int = 0
    exception: RpcException = field(default_factory=RpcException)


@dataclass(frozen=True, slots=True)
class Result:
    return_value: TypedData | None
    outputs: Mapping[str, TypedData]


class Worker:
    """One indexed app. `functions` is by name, in the order of the app's registration."""

    _running: ClassVar[Path | None] = None

    def __init__(self, app_dir: Path) -> None:
        self.app_dir = app_dir.resolve()
        self.functions: dict[str, Function] = {}

    async def start(self) -> None:
        """Imports and indexes the app; raises ConfigurationError with the worker's message if that fails."""
        if not (self.app_dir / "function_app.py").exists():
            raise ConfigurationError(f"There is no function_app.py in {self.app_dir}.")
        _runtime.start_threadpool_executor()
        if Worker._running is None:
            await self._index()
            Worker._running = self.app_dir
        if Worker._running != self.app_dir:
            raise ConfigurationError(
                f"This process already runs the app in {Worker._running}; one process runs one app."
            )
        response = await _runtime.functions_metadata_request(SimpleNamespace(request=None))
        found = response.function_metadata_results or ()
        self.functions = {metadata.name: Function.parse(metadata) for metadata in found}

    async def _index(self) -> None:
        sys.path.insert(0, str(self.app_dir))
        request = SimpleNamespace(capabilities={}, function_app_directory=str(self.app_dir))
        with _MutedLogger("azure.functions"):  # it also logs the failure, with all of sys.path
            response = await _runtime.worker_init_request(
                SimpleNamespace(
                    request=SimpleNamespace(worker_init_request=request),
                    properties={"host": "127.0.0.1", "protos": messages},
                ),
            )
        if response.result.status != messages.StatusResult.Success:
            raise ConfigurationError(_import_failure(self.app_dir, response.result.exception))
        if "HttpUri" in response.capabilities:
            raise ConfigurationError(
                "The app streams HTTP (azurefunctions-extensions-http-*): not served by this host yet."
            )

    async def invoke(
        self,
        function: Function,
        trigger: TypedData,
        *,
        metadata: Mapping[str, TypedData] | None = None,
        attempt: Attempt | None = None,
    ) -> Result:
        """Runs a function once; raises FunctionFailedError if it raised."""
        identity = str(uuid.uuid4())
        token = invocation_id.set(identity)
        try:
            response = await _runtime.invocation_request(_request(identity, function, trigger, metadata, attempt))
        finally:
            invocation_id.reset(token)
        if response.result.status != messages.StatusResult.Success:
            raise FunctionFailedError(function.name, response.result.exception)
        return Result(response.return_value, {output.name: output.data for output in response.output_data})

    def stop(self) -> None:
        """Shuts down the thread pool of synchronous functions without waiting for running ones."""
        executor: ThreadPoolExecutor | None = _runtime.get_threadpool_executor()
        if executor:
            executor.shutdown(wait=False, cancel_futures=True)


def _request(
    identity: str,
    function: Function,
    trigger: TypedData,
    metadata: Mapping[str, TypedData] | None,
    attempt: Attempt | None,
) -> SimpleNamespace:
    digits = identity.replace("-", "")
    invocation = SimpleNamespace(
        invocation_id=identity,
        function_id=function.id,
        input_data=[ParameterBinding(name=function.trigger.name, data=trigger)],
        trigger_metadata=metadata or {},
        trace_context=SimpleNamespace(trace_parent=f"00-{digits}-{digits[-16:]}-01", trace_state="", attributes={}),
        retry_context=attempt or Attempt(),
    )
    return SimpleNamespace(request=SimpleNamespace(invocation_request=invocation), properties=None)


def _import_failure(app_dir: Path, report: RpcException) -> str:
    first, *_ = report.message.splitlines() or [""]
    sentence = f"The app in {app_dir} can't be loaded: {first.partition('. Cannot find module.')[0]}"
    lines = [line for line in report.stack_trace.splitlines() if "Current sys.path" not in line]
    return "\n".join([sentence, *(f"  {line}" for line in lines[-_MAX_TRACE_LINES:])])


class _MutedLogger:
    """Silences one logger within a block."""

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(name)
        self._level = self._logger.level

    def __enter__(self) -> None:
        self._logger.setLevel(logging.CRITICAL + 1)

    def __exit__(self, *_: object) -> None:
        self._logger.setLevel(self._level)
