"""The list of functions that the host prints when it is ready, in the form of `func start`."""

from collections.abc import Iterator

from local.functions_host.app.functions import HTTP
from local.functions_host.host import FunctionApp


def listing(app: FunctionApp, base: str) -> str:
    return "\n".join(["", "Functions:", "", *_lines(app, base), ""])


def _lines(app: FunctionApp, base: str) -> Iterator[str]:
    routes = {route.function: route for route in app.http.table.routes}
    for function in sorted(app.worker.functions.values(), key=lambda one: (one.trigger.kind != HTTP, one.name)):
        if route := routes.get(function.name):
            methods = f"[{','.join(sorted(route.methods))}] " if route.methods else ""
            yield f"        {function.name}: {methods}{base}/{route.template}"
        else:
            yield f"        {function.name}: {function.trigger.kind}"
