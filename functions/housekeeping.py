"""The timer `housekeeping`."""

import azure.functions as func

from shared.errors import SettingsError
from shared.log import logger
from shared.runtime import Runtime

_LOG = logger(__name__)


def housekeeping_blueprint(runtime: Runtime) -> func.Blueprint:
    blueprint = func.Blueprint()

    @blueprint.function_name("housekeeping")
    @blueprint.timer_trigger(arg_name="timer", schedule=runtime.settings.housekeeping_schedule, use_monitor=True)
    async def housekeeping(timer: func.TimerRequest) -> None:  # noqa: ARG001 - the trigger's parameter
        """Deletes expired data and reads prices. A failure raises, the platform logs it, and the next run continues."""
        try:
            services = await runtime.services()
        except SettingsError as error:
            _LOG.error("Nothing is cleaned up: %s", error)
            return
        await services.housekeeping.run()

    return blueprint
