"""All that is known of a route of the API, of which OpenAPI is made."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from shared.domain.accounts.account_roles import Role


@dataclass(frozen=True, slots=True)
class Route:
    """All that is known of a route.

    `statuses` are those of its answers when all is well, the usual one first; `refusals` those that only this route
    refuses with; `role` is what its callers need, None where anybody may call; `media` is the content type of answers
    that aren't JSON; `queue` is what `send` sends to; with `repeats` an answer may be given again for a second, until a
    table is written that it is `made_of` (None: any). What `looks` matches in an answer says when and how it was
    looked at: it is no part of the ETag.
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
    repeats: bool
    made_of: Collection[str] | None
    looks: re.Pattern[bytes] | None
