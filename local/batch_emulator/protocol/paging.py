"""Lists: `maxresults`, `$select`, and next links that continue after an id, despite changes in between.

A page may be short or empty and still have a next link, as in the service; settings control how often.
"""

import base64
import binascii
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice
from typing import Any
from urllib.parse import quote, urlencode

import orjson

from local.batch_emulator.core.collation import ORDERS, Key, order_name
from local.batch_emulator.core.errors import invalid_query, out_of_range
from local.batch_emulator.entities import Json
from local.batch_emulator.filtering.filters import Predicate
from local.batch_emulator.protocol.older_names import select_in_version
from local.batch_emulator.protocol.requests import Request, Response

type Renderer = Callable[[Any], Any]
type Renderers = Mapping[str, Renderer]
_MAX_RESULTS = 1000
_MAX_DIGITS = 9


@dataclass(frozen=True, slots=True)
class ListPosition:
    """A position in a list: after an id (None: at its start), in the list's initial order, after a number of pages."""

    order: str
    after: str | None = None
    pages: int = 0

    @property
    def key(self) -> Key:
        return ORDERS[self.order]

    def to_token(self) -> str:
        return base64.urlsafe_b64encode(orjson.dumps([self.pages, self.after, self.order])).decode().rstrip("=")


def position_of(request: Request) -> ListPosition:
    """Returns the requested position. Raises BatchError."""
    token = request.query.get("$skiptoken")
    if token is None:
        return ListPosition(order_name(request.settings))
    try:
        match orjson.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))):
            case [int() as pages, (str() | None) as after, str() as order] if order in ORDERS:
                return ListPosition(order, after, pages)
    except (binascii.Error, ValueError):
        pass
    raise invalid_query("$skiptoken", token, "it is not one of this service's")


def page(
    request: Request,
    kind: str,
    entities: Iterator[Any],
    matches: Predicate,
    renderers: Renderers,
    *,
    max_results: int = _MAX_RESULTS,
) -> Response:
    """Returns one page of the matching `entities`, which are in list order and begin at the requested position."""
    position, size = position_of(request), min(page_size(request, max_results), request.settings.pageSize)
    number, renderers_of_page = position.pages + 1, select_renderers(request, renderers)
    every = request.settings.emptyPageEvery
    if every and number % every == 0:
        entities_of_page, has_more = [], True
    else:
        entities_of_page = list(islice(filter(matches, entities), size + 1))
        entities_of_page, has_more = entities_of_page[:size], len(entities_of_page) > size
    body: Json = {
        "odata.metadata": f"{request.url}/$metadata#{kind}",
        "value": [render_entity(entity, renderers_of_page) for entity in entities_of_page],
    }
    if has_more:
        body["odata.nextLink"] = _link(
            request,
            ListPosition(position.order, entities_of_page[-1].id if entities_of_page else position.after, number),
        )
    return Response(200, body, items=len(entities_of_page))


def sorted_from_position(request: Request, entities: Mapping[str, Any]) -> Iterator[Any]:
    """Returns small collections in list order, from the position on. Large ones keep their own order."""
    position = position_of(request)
    key, after = position.key, position.after
    ordered = sorted(entities.values(), key=lambda entity: key(entity.id))
    return iter([each for each in ordered if after is None or key(each.id) > key(after)])


def first_sorted(request: Request, entities: Iterable[Any], matches: Predicate) -> Iterator[Any]:
    """Returns as many entities as a page needs from a large, unordered, computed collection."""
    position = position_of(request)
    key, after = position.key, position.after
    behind = (each for each in entities if matches(each) and (after is None or key(each.id) > key(after)))
    return iter(nsmallest(page_size(request) + 1, behind, key=lambda entity: key(entity.id)))


def page_size(request: Request, max_results: int = _MAX_RESULTS) -> int:
    """Returns the requested page size, `max_results` by default. Raises BatchError."""
    text = request.query.get("maxresults", str(max_results))
    if not (text.isascii() and text.lstrip("-").isdecimal()):
        raise invalid_query("maxresults", text, "it is not a number")
    if len(text) > _MAX_DIGITS or not 1 <= int(text) <= max_results:
        raise out_of_range("maxresults", text, 1, max_results)
    return int(text)


def select_renderers(request: Request, renderers: Renderers) -> Renderers:
    """Returns the properties that `$select` names. Raises BatchError.

    `$expand=stats` adds nothing: statistics are rolled up now and then, and may be absent (documented).
    """
    expand = request.query.get("$expand")
    if expand not in (None, "", "stats"):
        raise invalid_query("$expand", str(expand), "only stats can be expanded")
    text = request.query.get("$select")
    if not text:
        return renderers
    names = [name.strip() for name in select_in_version(text, request.version).split(",")]
    for name in names:
        if name not in renderers:
            raise invalid_query("$select", text, f"'{name}' is not a property at the top level")
    return {name: renderers[name] for name in names}


def render_entity(entity: Any, renderers: Renderers) -> Json:
    return {name: value for name, render in renderers.items() if (value := render(entity)) is not None}


def _link(request: Request, position: ListPosition) -> str:
    parameters = {name: value for name, value in request.query.items() if name != "$skiptoken"}
    query = urlencode({**parameters, "$skiptoken": position.to_token()}, quote_via=quote, safe="$")
    return f"{request.url}{request.path}?{query}"
