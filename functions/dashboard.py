"""The function `dashboard`: the page, and its files, and every request that no other function answers.

Azure's host looks for a function by path and method at once, and says 404 without a body where there is none. So this
one takes every method, and says what is wrong: a method that a route doesn't take, or a route that isn't there.
"""

import azure.functions as func


def dashboard_blueprint() -> func.Blueprint:
    blueprint = func.Blueprint()

    @blueprint.function_name("dashboard")
    @blueprint.route(route="{*path}", auth_level=func.AuthLevel.ANONYMOUS)
    async def dashboard(req: func.HttpRequest) -> func.HttpResponse:
        """The dashboard, and what is wrong with other requests."""
        from functions.web import answer

        return await answer(req, req.route_params.get("path") or "")

    return blueprint
