"""URLs of a Batch account's jobs and tasks with their queries: quoted ids, filters in OData."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal
from urllib.parse import quote, urlencode

from shared.domain.core.stamps import format_stamp
from shared.domain.reads.id_ranges import IdRange
from shared.stores.batch.batch_rows import TASK_FIELDS

API_VERSION = "2025-06-01"
PAGE = 1000
_STATES = {"live": "state ne 'completed'", "preparing": "state eq 'preparing'"}

type StateFilter = Literal["live", "preparing"]


def tasks_url(job_id: str, changed_since: datetime | None, state: StateFilter | None, ids: IdRange) -> str:
    conditions = [
        f"stateTransitionTime ge {literal(changed_since)}" if changed_since else None,
        _STATES[state] if state else None,
        f"id ge {_quoted(ids.low)}" if ids.low is not None else None,
        f"id lt {_quoted(ids.high)}" if ids.high is not None else None,
    ]
    return f"{job_url(job_id)}/tasks?{query_of(TASK_FIELDS, ' and '.join(filter(None, conditions)))}"


def job_url(job_id: str) -> str:
    return f"/jobs/{quote(job_id, safe='')}"


def task_url(job_id: str, task_id: str) -> str:
    return f"{job_url(job_id)}/tasks/{quote(task_id, safe='')}"


def query_of(
    fields: Sequence[str],
    condition: str | None = None,
    *,
    page: bool = True,
    version: str = API_VERSION,
    **further: str,
) -> str:
    """Returns the query for some properties (none: all) of a filtered list, or of one resource.

    `page` False: for one resource, or for a list whose page size the service chooses.
    """
    query = {
        "api-version": version,
        "maxresults": str(PAGE) if page else "",
        "$select": ",".join(fields),
        "$filter": condition,
        **further,
    }
    return urlencode({name: text for name, text in query.items() if text}, quote_via=quote)


def literal(moment: datetime) -> str:
    return f"DateTime'{format_stamp(moment)}'"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
