"""The queue of jobs whose reads take longer than a round may, and of accounts that didn't fit into a tick."""

import logging
from typing import List  # noqa: UP035 - the worker takes no other way of saying a list

import azure.functions as func
from msgspec import MsgspecError, Struct, json

from shared.domain.operations import JobMessage
from shared.errors import BatchscopeError, NotFoundError
from shared.runtime import Runtime

_LOG = logging.getLogger(__name__)
_STORAGE = "AzureWebJobsStorage"
_SHOWN = 500  # bytes of a message that the log tells


class _Named(Struct):
    account: str
    job: str | None = None


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
        """Notes a job whose message failed as often as host.json allows: the platform put it aside as poison.

        It takes any message and never fails: nobody would look after what it leaves, and rounds come back to the job.
        """
        body = message.get_body()
        _LOG.error("A message was put aside after it had failed several times: %r", body[:_SHOWN])
        given_up = _named(body)
        if given_up is None:
            _LOG.error("It names no job of an account; whatever it was about, rounds will find that again.")
            return
        try:
            services = await runtime.services()
            await services.polling.give_up(given_up)
        except BatchscopeError as error:
            _LOG.error("That it failed couldn't be noted: %s", error)

    return blueprint


def _named(body: bytes) -> JobMessage | None:
    """The account and job that a message names, whatever else it says."""
    try:
        said = json.decode(body, type=_Named)
    except (MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return JobMessage(said.account, said.job)
