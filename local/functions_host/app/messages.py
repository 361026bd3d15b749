"""The messages that azure_functions_runtime reads and builds, as plain dataclasses.

The runtime imports no protobuf: its host passes a module called `protos`, which is this one. Class and attribute names
are therefore those of the FunctionRpc protocol, restricted to those that the runtime uses.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import IntEnum
from typing import Any, ClassVar

type _Bytes = bytes
type _Int = int

_SameSite = IntEnum("_SameSite", [("None", 0), ("Lax", 1), ("Strict", 2), ("ExplicitNone", 3)])


class _OneOf:
    """Mimics protobuf's oneof: the first field that is set names the case."""

    __slots__ = ()
    _CASES: ClassVar[tuple[str, ...]] = ()

    def which_oneof(self, _group: str) -> str | None:
        return next((name for name in self._CASES if getattr(self, name) is not None), None)

    WhichOneof = which_oneof


@dataclass(frozen=True, slots=True)
class ModelBindingData:
    version: str
    source: str
    content_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class TypedData(_OneOf):
    """A value passed into or out of the worker."""

    string: str | None = None
    json: str | None = None
    bytes: _Bytes | None = None
    http: "RpcHttp | None" = None
    int: _Int | None = None
    double: float | None = None
    model_binding_data: ModelBindingData | None = None
    collection_bytes: None = None
    collection_string: None = None
    collection_sint64: None = None
    collection_model_binding_data: None = None

    _CASES: ClassVar[tuple[str, ...]] = ("http", "string", "bytes", "json", "int", "double", "model_binding_data")


@dataclass(frozen=True, slots=True)
class ParameterBinding(_OneOf):
    name: str = ""
    data: TypedData | None = None

    _CASES: ClassVar[tuple[str, ...]] = ("data",)


@dataclass(frozen=True, slots=True)
class Nullable:
    value: Any = None


NullableString = NullableBool = NullableDouble = NullableTimestamp = Nullable


@dataclass(frozen=True, slots=True)
class Timestamp:
    seconds: int = 0


@dataclass(frozen=True, slots=True)
class RpcHttpCookie:
    name: str = ""
    value: str = ""
    domain: Nullable | None = None
    path: Nullable | None = None
    expires: Nullable | None = None
    secure: Nullable | None = None
    http_only: Nullable | None = None
    same_site: int = 0
    max_age: Nullable | None = None

    SameSite: ClassVar[type[_SameSite]] = _SameSite


@dataclass(frozen=True, slots=True)
class RpcHttp:
    """An HTTP request, or a response (which uses only status_code, headers, body and cookies)."""

    method: str = ""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: TypedData = field(default_factory=TypedData)
    params: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    status_code: str = ""
    enable_content_negotiation: bool = False
    cookies: list[RpcHttpCookie] | None = None


@dataclass(frozen=True, slots=True)
class BindingInfo:
    type: str = ""
    data_type: int | None = None
    direction: int = 0

    undefined: ClassVar[int] = 0
    out: ClassVar[int] = 1
    inout: ClassVar[int] = 2


@dataclass(frozen=True, slots=True)
class RpcRetryOptions:
    max_retry_count: int
    retry_strategy: str
    delay_interval: timedelta | None = None
    minimum_interval: timedelta | None = None
    maximum_interval: timedelta | None = None


@dataclass(frozen=True, slots=True)
class RpcFunctionMetadata:
    name: str
    function_id: str
    directory: str
    script_file: str
    entry_point: str
    language: str
    bindings: dict[str, BindingInfo]
    raw_bindings: list[str]
    managed_dependency_enabled: bool
    is_proxy: bool
    retry_options: RpcRetryOptions | None
    properties: dict[str, str]


@dataclass(frozen=True, slots=True)
class RpcException:
    message: str = ""
    stack_trace: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class StatusResult:
    status: int
    exception: RpcException | None = None

    Failure: ClassVar[int] = 0
    Success: ClassVar[int] = 1


@dataclass(frozen=True, slots=True)
class WorkerMetadata:
    runtime_name: str
    runtime_version: str
    worker_version: str
    worker_bitness: str
    custom_properties: dict[str, str]


@dataclass(frozen=True, slots=True)
class WorkerInitResponse:
    capabilities: dict[str, str]
    worker_metadata: WorkerMetadata
    result: StatusResult


@dataclass(frozen=True, slots=True)
class FunctionMetadataResponse:
    use_default_metadata_indexing: bool
    function_metadata_results: list[RpcFunctionMetadata] | None
    result: StatusResult


@dataclass(frozen=True, slots=True)
class InvocationResponse:
    invocation_id: str
    result: StatusResult
    return_value: TypedData | None = None
    output_data: list[ParameterBinding] = field(default_factory=list)
