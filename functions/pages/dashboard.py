"""The function `dashboard`: serves the page, its files, and every request that no other function answers.

Azure's host matches path and method together and answers 404 without a body where no function matches. This function
takes every method and names the error: a method that a route doesn't support, or a route that doesn't exist.
"""

import azure.functions as func


def dashboard_blueprint() -> func.Blueprint:
    blueprint = func.Blueprint()

    @blueprint.function_name("dashboard")
    @blueprint.route(route="{*path}", auth_level=func.AuthLevel.ANONYMOUS)
    async def dashboard(req: func.HttpRequest) -> func.HttpResponse:
        """Serves the dashboard, and explains errors in other requests."""
        from functions.pages.web import answer

        return await answer(req, req.route_params.get("path") or "")

    return blueprint
