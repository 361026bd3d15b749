"""The timer `tick` and the trigger for the queue of polls on demand."""

import asyncio
from datetime import timedelta
from typing import List  # noqa: UP035 - the worker takes no other way of saying a list

import azure.functions as func

from shared.errors import NotFoundError, SettingsError
from shared.log import logger
from shared.runtime import Runtime

_LOG = logger(__name__)
HEARTBEAT = "A tick ended well."  # an alert rule of infra/modules/alerts.bicep looks for it


def polling_blueprint(runtime: Runtime) -> func.Blueprint:
    blueprint = func.Blueprint()

    @blueprint.function_name("tick")
    @blueprint.timer_trigger(arg_name="timer", schedule=runtime.settings.tick_schedule, use_monitor=True)
    @blueprint.queue_output(arg_name="jobs", queue_name=runtime.settings.job_queue, connection="AzureWebJobsStorage")
    async def tick(timer: func.TimerRequest, jobs: func.Out[List[str]]) -> None:  # noqa: UP006
        """Polls every account that is due, sweeps blobs for new data, and uploads the node agent's file.

        Then it keeps what failed tasks and start tasks wrote last, determines on which nodes tasks fail, reads the
        dependencies of waiting tasks, and explains some of the jobs that wait.

        A failure raises, the platform logs it, and the next tick tries again.
        """
        if timer.past_due:
            _LOG.info("This tick comes late.")
        try:
            services = await runtime.services()
        except SettingsError as error:
            _LOG.error("Nothing is polled: %s", error)
            return
        sweep = asyncio.create_task(services.ingestion.sweep())
        upload = asyncio.create_task(services.agent.upload())
        began, budget = asyncio.get_running_loop().time(), runtime.settings.tick_budget
        turn = runtime.settings.poll_interval / 4
        try:
            await services.polling.tick()
            spent = timedelta(seconds=asyncio.get_running_loop().time() - began)
            await services.failures.follow(min(budget, turn) - spent)
        finally:
            await sweep
            await upload
        from functions.queue_messages import text_of

        messages = [text_of(message) for message in services.polling.take_messages()]
        if messages := messages + [text_of(message) for message in services.ingestion.take_messages()]:
            jobs.set(messages)
        await services.dependencies.refresh(services.polling.take_dependents())
        spent = timedelta(seconds=asyncio.get_running_loop().time() - began)
        await services.waiting_jobs.run(turn=turn, budget=budget - spent)
        await services.condition_evaluations.refresh(services.polling.take_news())
        _LOG.info(HEARTBEAT)

    @blueprint.function_name("poll_requested")
    @blueprint.queue_trigger(
        arg_name="message", queue_name=runtime.settings.poll_queue, connection="AzureWebJobsStorage"
    )
    @blueprint.queue_output(arg_name="jobs", queue_name=runtime.settings.job_queue, connection="AzureWebJobsStorage")
    async def poll_requested(message: func.QueueMessage, jobs: func.Out[List[str]]) -> None:  # noqa: UP006
        """Runs a poll on demand; drops it if its account or record no longer exists, as a retry can't succeed."""
        from functions.queue_messages import poll_message, text_of

        request = poll_message(message.get_body())
        services = await runtime.services()
        try:
            await services.polling.run(request.account, request.poll)
        except NotFoundError as error:
            _LOG.warning("A poll on demand was dropped: %s", error)
        await services.failures.follow()
        await services.condition_evaluations.refresh(services.polling.take_news())
        if messages := services.polling.take_messages():
            jobs.set([text_of(message) for message in messages])

    return blueprint
