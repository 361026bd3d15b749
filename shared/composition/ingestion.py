"""Builds what needs storage of blobs: the ingestion of logs and telemetry, and the offers of the node agent."""

from shared.composition.parts import Parts
from shared.domain.blobs.blobs import UNREAD_TELEMETRY
from shared.domain.telemetry.records.labels import PathPattern
from shared.services.agent.agent_offers import AgentOffers
from shared.services.blobs.blob_intake import Intake
from shared.services.blobs.blob_reader import BlobReader
from shared.services.blobs.blob_sweep import BlobSweep
from shared.services.events.event_intake import EventIntake
from shared.services.ingestion import Ingestion
from shared.services.polling.polling import PollingService
from shared.services.queries.pool_queries import PoolQueries
from shared.services.telemetry.telemetry_intake import TelemetryIntake


def agent_of(parts: Parts, pools: PoolQueries) -> AgentOffers:
    """Returns the offers of the node agent; without configured storage no blob library is loaded."""
    settings = parts.settings
    if not settings.ingestion_enabled:
        return AgentOffers(pools, None, None, parts.clock)
    from shared.stores.blobs.agent_container import PACKAGED, AgentContainer

    container = AgentContainer.connect(
        settings.telemetry_container,
        connection_string=settings.telemetry_storage.connection_string,
        endpoint=settings.telemetry_storage.endpoint,
        credential=parts.credential,
    )
    return AgentOffers(pools, container, PACKAGED, parts.clock)


def ingestion_of(parts: Parts, polling: PollingService) -> Ingestion:
    """Returns the ingestion; without configured storage it has no sweeps, and no blob library is loaded."""
    settings = parts.settings
    if not settings.ingestion_enabled:
        return Ingestion({}, budget=settings.tick_budget)
    from shared.stores.blobs.blobs import BlobContainer

    stores, clock = parts.ingestion, parts.clock

    def reader(container: str, intake: Intake) -> BlobReader:
        blobs = BlobContainer.connect(
            container,
            connection_string=settings.telemetry_storage.connection_string,
            endpoint=settings.telemetry_storage.endpoint,
            credential=parts.credential,
        )
        return BlobReader(blobs, intake, stores, clock)

    logs = EventIntake(settings.accounts, stores.events, hint=polling.hint, clock=clock)
    pattern, kept = PathPattern(settings.telemetry_path), settings.telemetry_retention
    telemetry = TelemetryIntake(settings.accounts, pattern, stores, clock=clock, retention=kept)
    sweeps = {
        settings.resource_log_container: BlobSweep(
            reader(settings.resource_log_container, logs), retention=settings.event_retention
        ),
        settings.telemetry_container: BlobSweep(
            reader(settings.telemetry_container, telemetry), retention=kept, unread=UNREAD_TELEMETRY
        ),
    }
    return Ingestion(sweeps, budget=settings.tick_budget)
