"""Requests and responses of operations, independent of the web framework."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import orjson

from local.batch_emulator.contents.content import Content
from local.batch_emulator.core.collation import fold
from local.batch_emulator.core.errors import invalid_body, invalid_property, not_found
from local.batch_emulator.core.settings import EmulatorSettings
from local.batch_emulator.core.stamps import etag, http_date
from local.batch_emulator.entities import Account, Job, Json, Node, Pool, Task
from local.batch_emulator.protocol.conditions import check_conditions
from local.batch_emulator.protocol.older_names import from_version
from local.batch_emulator.protocol.property_types import typed_body
from local.batch_emulator.simulation.simulation import SimulatedAccount
from local.batch_emulator.state.change_log import NumberedEntity

_ID = re.compile(r"[A-Za-z0-9_\-]{1,64}")
_READS = ("GET", "HEAD")


@dataclass(frozen=True)
class Request:
    """A request; names in `query` and `headers` are lower case, `url` is the service's address in the request."""

    method: str
    url: str
    path: str
    ids: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    raw: bytes
    simulation: SimulatedAccount
    settings: EmulatorSettings

    @property
    def account(self) -> Account:
        return self.simulation.account

    @property
    def version(self) -> str:
        return self.query["api-version"]

    @property
    def now(self) -> int:
        return self.simulation.context.now

    @cached_property
    def body(self) -> Json:
        """The JSON object of the body, with current names and without nulls. Raises BatchError."""
        try:
            body = orjson.loads(self.raw or b"{}")
        except orjson.JSONDecodeError as error:
            raise invalid_body(str(error)) from None
        if not isinstance(body, dict):
            raise invalid_body("it is not an object")
        return typed_body(from_version(body, self.version))

    def job(self) -> Job:
        return require_found(self.account.jobs.get(fold(self.ids["jobId"])), "Job")

    def task(self) -> tuple[Job, Task]:
        job = self.job()
        return job, require_found(job.tasks.get(fold(self.ids["taskId"])), "Task")

    def pool(self) -> Pool:
        return require_found(self.account.pools.get(fold(self.ids["poolId"])), "Pool")

    def node(self) -> Node:
        return require_found(self.pool().nodes.get(fold(self.ids["nodeId"])), "Node")

    def mark_changed(self, entity: NumberedEntity, owner: NumberedEntity) -> None:
        """Marks an entity as changed by the operation itself."""
        self.simulation.context.mark_changed(entity, owner)

    def check(self, modified: int) -> None:
        """Checks the conditional headers. Raises BatchError."""
        check_conditions(self.headers, modified, is_read=self.method in _READS)


@dataclass(frozen=True, slots=True)
class Response:
    """A response; `items` counts its entities, for the counters; `content` is a file's, instead of a body."""

    status: int
    body: Json | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    items: int = 0
    content: Content | None = None


def entity_response(request: Request, kind: str, body: Json, modified: int | None = None) -> Response:
    """Returns a response with one entity; an ETag is also in the headers."""
    payload = {"odata.metadata": f"{request.url}/$metadata#{kind}/@Element", **body}
    return Response(200, payload, etag_headers(modified) if modified is not None else {}, items=1)


def write_response(request: Request, status: int, path: str, modified: int) -> Response:
    """Returns the response to an accepted write."""
    address = f"{request.url}/{path}"
    created = {"Location": address} if status == 201 else {}  # noqa: PLR2004 - Created
    return Response(status, None, {**etag_headers(modified), "DataServiceId": address, **created})


def validate_id(value: object) -> str:
    """Returns a valid id. Raises BatchError for any other value."""
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise invalid_property("id", value, "An id has 1 to 64 letters, digits, hyphens and underscores.")
    return value


def etag_headers(modified: int) -> dict[str, str]:
    """Returns the headers of an entity with an ETag."""
    return {"ETag": etag(modified), "Last-Modified": http_date(modified)}


def require_found[E](entity: E | None, kind: str) -> E:
    """Returns the entity. Raises BatchError (404) for None."""
    if entity is None:
        raise not_found(kind)
    return entity


def nested(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Returns an object inside a body, empty if absent. Raises BatchError."""
    value = body.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise invalid_property(name, value, "It is an object.")
    return value
