"""Blob triggers: Event Grid announces new blobs, which are then read in the same way as blobs found by a sweep.

A trigger fires once per blob, when it is created and mostly empty. The sweep in `tick` reads later appends, so nothing
is lost without an event subscription or after an undelivered event.
"""

import azure.functions as func

from shared.runtime import Runtime


def ingestion_blueprint(runtime: Runtime) -> func.Blueprint:
    """Returns the blob triggers; none without ingestion storage, as the platform refuses them without a connection."""
    blueprint = func.Blueprint()
    if not runtime.settings.ingestion_enabled:
        return blueprint

    @blueprint.function_name("batch_events")
    @blueprint.blob_trigger(
        arg_name="blob",
        path=f"{runtime.settings.resource_log_container}/{{name}}",
        connection="TELEMETRY_STORAGE",
        source=func.BlobSource.EVENT_GRID,
    )
    async def batch_events(blob: func.InputStream) -> None:
        """Reads new data of a Batch resource log. A failure raises, and the platform announces the blob again."""
        services = await runtime.services()
        await services.ingestion.announced(str(blob.name))

    @blueprint.function_name("node_telemetry")
    @blueprint.blob_trigger(
        arg_name="blob",
        path=f"{runtime.settings.telemetry_container}/{{name}}",
        connection="TELEMETRY_STORAGE",
        source=func.BlobSource.EVENT_GRID,
    )
    async def node_telemetry(blob: func.InputStream) -> None:
        """Reads new data of a node's telemetry blob. A failure raises, and the platform announces the blob again."""
        services = await runtime.services()
        await services.ingestion.announced(str(blob.name))

    return blueprint
