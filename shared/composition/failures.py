"""Builds what follows on failures: keeping outputs, and determining failing nodes."""

from datetime import timedelta

from shared.composition.parts import Parts
from shared.domain.outputs.output_limits import OutputLimits
from shared.services.accounts.registry import Registry
from shared.services.failures import FailureFollowUp
from shared.services.files.failed_run_finder import FailedRunFinder
from shared.services.files.output_keeper import OutputKeeper
from shared.services.files.run_keeper import RunKeeper
from shared.services.jobs.job_records import JobRecords
from shared.services.polling.polling import PollingService
from shared.services.tasks.failing_node_digests import FailingNodeDigests
from shared.services.tasks.leaf_reader import LeafReader
from shared.settings import Settings


def output_limits_of(settings: Settings) -> OutputLimits:
    """Returns the limits of keeping outputs; where nobody may read files none are kept."""
    days = {"": timedelta()} if settings.file_readers == "nobody" else settings.output_days
    return OutputLimits(
        days, settings.output_bytes_a_day, settings.output_tasks_a_minute, settings.output_tasks_of_each
    )


def failures_of(
    parts: Parts, polling: PollingService, registry: Registry, records: JobRecords, leaves: LeafReader
) -> FailureFollowUp:
    """Returns the follow-up of failures that the polling sees."""
    stores, limits = parts.stores, output_limits_of(parts.settings)
    finder, runs = FailedRunFinder(leaves, limits), RunKeeper(stores.outputs, limits)
    sources = {source.account.id: source for source in parts.sources}
    keeper = OutputKeeper(sources, registry, stores.rounds, finder, stores.outputs, limits, runs)
    return FailureFollowUp(polling, keeper, FailingNodeDigests(registry, leaves, stores.jobs, records))
