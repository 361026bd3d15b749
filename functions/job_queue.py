"""The queue of work that hosts share: long reads of jobs, accounts without a turn in a tick, and shards of blobs."""

from typing import List  # noqa: UP035 - the worker takes no other way of saying a list

import azure.functions as func

from shared.errors import BatchscopeError, NotFoundError
from shared.log import logger
from shared.runtime import Runtime

_LOG = logger(__name__)
_STORAGE = "AzureWebJobsStorage"
_SHOWN = 500  # bytes of a message that are logged


def job_queue_blueprint(runtime: Runtime) -> func.Blueprint:
    blueprint = func.Blueprint()
    queue = runtime.settings.job_queue

    @blueprint.function_name("job_queued")
    @blueprint.queue_trigger(arg_name="message", queue_name=queue, connection=_STORAGE)
    @blueprint.queue_output(arg_name="more", queue_name=queue, connection=_STORAGE)
    async def job_queued(message: func.QueueMessage, more: func.Out[List[str]]) -> None:  # noqa: UP006
        """Continues the poll of a job or an account, or reads a shard of blobs.

        Drops the message if its account is no longer watched.
        """
        from functions.queue_messages import queued_message, text_of
        from shared.domain.blobs.queued_shards import ShardMessage

        queued = queued_message(message.get_body())
        services = await runtime.services()
        if isinstance(queued, ShardMessage):
            await services.ingestion.read_shard(queued)
            return
        try:
            left = [queued] if await services.polling.run_queued(queued) else []
            await services.failures.follow()
            await services.condition_evaluations.refresh({queued.account, *services.polling.take_news()})
            if left := left + services.polling.take_messages():
                more.set([text_of(message) for message in left])
        except NotFoundError as error:
            _LOG.warning("A job in the queue was dropped: %s", error)

    @blueprint.function_name("job_given_up")
    @blueprint.queue_trigger(arg_name="message", queue_name=f"{queue}-poison", connection=_STORAGE)
    async def job_given_up(message: func.QueueMessage) -> None:
        """Records a job whose message exceeded the attempts of host.json and was moved to the poison queue.

        Accepts any message and never fails: nothing handles a second poison message, and later rounds poll the job
        again.
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
