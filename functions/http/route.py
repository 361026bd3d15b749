"""The declaration of an API route, from which OpenAPI is generated."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from shared.domain.accounts.account_roles import Role


@dataclass(frozen=True, slots=True)
class Route:
    """The declaration of an API route.

    `statuses` are those of success, the usual one first. `refusals` are error statuses specific to this route. `role`
    is required of callers, None for a public route. `media` is the content type of answers other than JSON. `queue` is
    the target of `send`. With `cacheable`, an answer may be reused for `reuse_seconds`, until one of the tables in
    `depends_on_tables` (None: any) is written. Matches of `looks` in an answer are times and costs of polls and ages,
    which its ETag excludes.
    """

    name: str
    method: str
    path: str
    summary: str
    query: type[Any]
    body: type[Any] | None
    returns: Any
    statuses: tuple[int, ...]
    refusals: tuple[int, ...]
    role: Role | None
    media: str
    queue: str | None
    cacheable: bool
    depends_on_tables: Collection[str] | None
    reuse_seconds: float
    looks: re.Pattern[bytes] | None
