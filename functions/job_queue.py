"""The queue of jobs whose reads take longer than a round may, and of accounts that didn't fit into a tick."""

import logging
from typing import List  # noqa: UP035 - the worker takes no other way of saying a list

import azure.functions as func
from msgspec import json

from shared.domain.operations import JobMessage
from shared.errors import NotFoundError
from shared.runtime import Runtime

_LOG = logging.getLogger(__name__)
_STORAGE = "AzureWebJobsStorage"


def job_queue_blueprint(runtime: Runtime) -> func.Blueprint:
    blueprint = func.Blueprint()
    queue = runtime.settings.job_queue

    @blueprint.function_name("job_queued")
    @blueprint.queue_trigger(arg_name="message", queue_name=queue, connection=_STORAGE)
    @blueprint.queue_output(arg_name="more", queue_name=queue, connection=_STORAGE)
    async def job_queued(message: func.QueueMessage, more: func.Out[List[str]]) -> None:  # noqa: UP006
        """Carries on with a job or an account; one whose account isn't watched any more is dropped."""
        queued = json.decode(message.get_body(), type=JobMessage)
        services = await runtime.services()
        try:
            left = [queued] if await services.polling.run_queued(queued) else []
            if left := left + services.polling.take_messages():
                more.set([json.encode(message).decode() for message in left])
        except NotFoundError as error:
            _LOG.warning("A job in the queue was dropped: %s", error)

    @blueprint.function_name("job_given_up")
    @blueprint.queue_trigger(arg_name="message", queue_name=f"{queue}-poison", connection=_STORAGE)
    async def job_given_up(message: func.QueueMessage) -> None:
        """Notes a job whose message failed as often as host.json allows: the platform put it aside as poison."""
        given_up = json.decode(message.get_body(), type=JobMessage)
        services = await runtime.services()
        try:
            await services.polling.give_up(given_up)
        except NotFoundError as error:
            _LOG.warning("A job in the queue was dropped: %s", error)

    return blueprint
