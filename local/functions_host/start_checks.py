"""Reports at start everything that Azure rejects or silently doesn't serve: one sentence per problem, all together."""

import re
from collections.abc import Iterable, Iterator, Mapping

from local.functions_host.app.errors import ConfigurationError
from local.functions_host.app.functions import BLOB, HTTP, QUEUE, TIMER, Binding, Function
from local.functions_host.app.settings import HostOptions, resolve
from local.functions_host.app.storage import HOST_CONNECTION, Service, find_connection
from local.functions_host.blobs.blob_paths import BlobPath
from local.functions_host.http.routes import Route
from local.functions_host.timers.schedule import parse_schedule
from local.functions_host.triggers import route_of

_RESERVED = {"admin", "runtime"}
_OUTPUTS = {"http", "queue"}
_BLOB_NAME = re.compile(r"\{\w+\}")
_QUEUE_NAME = re.compile(r"(?=.{3,63}$)[a-z0-9]+(-[a-z0-9]+)*")


def check_functions(
    functions: Mapping[str, Function],
    options: HostOptions,
    environment: Mapping[str, str],
    *,
    listening: bool = True,
) -> None:
    """Raises ConfigurationError naming each function that can't be served, with reasons.

    Without `listening`, storage is optional.
    """
    if not functions:
        raise ConfigurationError("The app has no functions.")
    problems = [
        f"Function '{function.name}': {problem}."
        for function in functions.values()
        for problem in _problems(function, options, environment, listening=listening)
    ]
    problems += _duplicates(functions.values(), options)
    if problems:
        raise ConfigurationError("\n".join(problems))


def _problems(
    function: Function, options: HostOptions, environment: Mapping[str, str], *, listening: bool
) -> Iterator[str]:
    kind = function.trigger.kind
    if kind == HTTP:
        yield from _route_problems(function, options)
    elif kind == TIMER:
        yield from _schedule_problems(function, environment)
    elif kind == QUEUE:
        yield from _queue_problems(function.trigger, environment)
    elif kind == BLOB:
        yield from _scan_problems(function, environment) if function.scans else _blob_problems(function.trigger)
    else:
        yield f"{kind} isn't served by this host yet"
    for binding in function.others:
        yield from _binding_problems(binding, environment)
    if listening:
        yield from _storage_problems(function, environment)


def _route_problems(function: Function, options: HostOptions) -> Iterator[str]:
    route = str(function.trigger.options.get("route") or "").strip("/")
    if not route:
        yield "an empty route doesn't work in Azure, which would serve it under the function's name; give it a route"
        return
    first = f"{options.route_prefix}/{route}".strip("/").split("/", maxsplit=1)[0].lower()
    if {first, route.split("/", maxsplit=1)[0].lower()} & _RESERVED:
        yield f"the route '{route}' lies under admin or runtime, which Azure keeps for itself"
    try:
        route_of(function, options.route_prefix)
    except (ValueError, re.PatternError) as error:
        yield f"the route '{route}' isn't valid: {error}"


def _schedule_problems(function: Function, environment: Mapping[str, str]) -> Iterator[str]:
    schedule = str(function.trigger.options.get("schedule") or "")
    try:
        parse_schedule(resolve(schedule, environment))
    except LookupError as error:
        yield f"its schedule '{schedule}' has no value: {error.args[0]}"
    except ValueError as error:
        yield f"its schedule isn't valid: {error}"


def _queue_problems(binding: Binding, environment: Mapping[str, str]) -> Iterator[str]:
    name = str(binding.options.get("queueName") or "")
    try:
        name = resolve(name, environment)
        if "{" not in name and not _QUEUE_NAME.fullmatch(name):
            yield f"'{name}' isn't a queue's name (3 to 63 of a-z, 0-9 and single hyphens)"
    except LookupError as error:
        yield f"its queue '{name}' has no name: {error.args[0]}"


def _blob_problems(binding: Binding) -> Iterator[str]:
    container, _, name = str(binding.options.get("path") or "").partition("/")
    if not _QUEUE_NAME.fullmatch(container) or not _BLOB_NAME.fullmatch(name):
        yield f"the path '{container}/{name}' isn't served by this host; it knows container/{{name}} only"


def _scan_problems(function: Function, environment: Mapping[str, str]) -> Iterator[str]:
    path = str(function.trigger.options.get("path") or "")
    try:
        BlobPath.parse(resolve(path, environment))
    except LookupError as error:
        yield f"its path '{path}' has no value: {error.args[0]}"
    except ValueError as error:
        yield str(error)


def _binding_problems(binding: Binding, environment: Mapping[str, str]) -> Iterator[str]:
    if binding.direction != "OUT":
        yield f"the input binding '{binding.kind}' isn't served by this host yet"
    elif binding.kind not in _OUTPUTS:
        yield f"the output binding '{binding.kind}' isn't served by this host yet"
    elif binding.kind == "queue":
        yield from _queue_problems(binding, environment)


def _storage_problems(function: Function, environment: Mapping[str, str]) -> Iterator[str]:
    """Timers need the host's own storage for locks and status, queues the account that they name."""
    required: list[tuple[str, Service]] = [(HOST_CONNECTION, "blob")] if function.trigger.kind == TIMER else []
    if function.trigger.kind == BLOB:  # its messages wait in a queue of the blobs' account
        required += [(function.trigger.connection, "blob"), (function.trigger.connection, "queue")]
    if function.scans:  # its messages wait in the host's own storage
        required += [(HOST_CONNECTION, "blob"), (HOST_CONNECTION, "queue")]
    queues = (one for one in (function.trigger, *function.others) if one.kind in (QUEUE, "queue"))
    for connection, service in dict.fromkeys([*required, *((one.connection, "queue") for one in queues)]):
        try:
            find_connection(environment, connection, service)
        except ConfigurationError as error:
            yield str(error)


def _duplicates(functions: Iterable[Function], options: HostOptions) -> list[str]:
    """Reports functions for the same requests: Azure rejects equal routes, ignoring parameter names."""
    seen: list[Route] = []
    problems: list[str] = []
    for function in functions:
        try:
            route = route_of(function, options.route_prefix) if function.trigger.kind == HTTP else None
        except (ValueError, re.PatternError):
            continue
        if route is None:
            continue
        problems += [_duplicate_problem(route, other) for other in seen if _overlaps(route, other)]
        seen.append(route)
    return problems


def _overlaps(one: Route, other: Route) -> bool:
    return one.shape == other.shape and (not one.methods or not other.methods or bool(one.methods & other.methods))


def _duplicate_problem(one: Route, other: Route) -> str:
    methods = ", ".join(sorted(one.methods & other.methods or one.methods or other.methods)) or "every method"
    return f"Functions '{other.function}' and '{one.function}' both serve {methods} of '{one.template}'."
