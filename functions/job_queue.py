"""The queue of jobs whose reads take longer than a round may, and of accounts that didn't fit into a tick."""

from typing import List  # noqa: UP035 - the worker takes no other way of saying a list

import azure.functions as func

from shared.errors import BatchscopeError, NotFoundError
from shared.log import logger
from shared.runtime import Runtime

_LOG = logger(__name__)
_STORAGE = "AzureWebJobsStorage"
_SHOWN = 500  # bytes of a message that the log tells


def job_queue_blueprint(runtime: Runtime) -> func.Blueprint:
    blueprint = func.Blueprint()
    queue = runtime.settings.job_queue

    @blueprint.function_name("job_queued")
    @blueprint.queue_trigger(arg_name="message", queue_name=queue, connection=_STORAGE)
    @blueprint.queue_output(arg_name="more", queue_name=queue, connection=_STORAGE)
    async def job_queued(message: func.QueueMessage, more: func.Out[List[str]]) -> None:  # noqa: UP006
        """Carries on with a job or an account; one whose account isn't watched any more is dropped."""
        from functions.queue_messages import job_message, text_of

        queued = job_message(message.get_body())
        services = await runtime.services()
        try:
            left = [queued] if await services.polling.run_queued(queued) else []
            if left := left + services.polling.take_messages():
                more.set([text_of(message) for message in left])
        except NotFoundError as error:
            _LOG.warning("A job in the queue was dropped: %s", error)

    @blueprint.function_name("job_given_up")
    @blueprint.queue_trigger(arg_name="message", queue_name=f"{queue}-poison", connection=_STORAGE)
    async def job_given_up(message: func.QueueMessage) -> None:
        """Notes a job whose message failed as often as host.json allows: the platform put it aside as poison.

        It takes any message and never fails: nobody would look after what it leaves, and rounds come back to the job.
        """
        from functions.queue_messages import named_job

        body = message.get_body()
        _LOG.error("A message was put aside after it had failed several times: %r", body[:_SHOWN])
        given_up = named_job(body)
        if given_up is None:
            _LOG.error("It names no job of an account; whatever it was about, rounds will find that again.")
            return
        try:
            services = await runtime.services()
            await services.polling.give_up(given_up)
        except BatchscopeError as error:
            _LOG.error("That it failed couldn't be noted: %s", error)

    return blueprint
