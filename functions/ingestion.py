"""Blob triggers: Event Grid tells of new blobs, which are read like those that a sweep finds.

A trigger tells of a blob once, when it is made and mostly empty. What it grows by later the sweep in `tick` finds; so
nothing is lost where no event subscription is set up, or an event isn't delivered.
"""

import azure.functions as func

from shared.runtime import Runtime


def ingestion_blueprint(runtime: Runtime) -> func.Blueprint:
    """No functions where no storage is configured: the platform would refuse triggers without a connection."""
    blueprint = func.Blueprint()
    if not runtime.settings.takes_in:
        return blueprint

    @blueprint.function_name("batch_events")
    @blueprint.blob_trigger(
        arg_name="blob",
        path=f"{runtime.settings.resource_log_container}/{{name}}",
        connection="TELEMETRY_STORAGE",
        source=func.BlobSource.EVENT_GRID,
    )
    async def batch_events(blob: func.InputStream) -> None:
        """Reads a resource log of Batch on. A failure raises: the platform announces the blob again."""
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
        """Reads what a node has written. A failure raises: the platform announces the blob again."""
        services = await runtime.services()
        await services.ingestion.announced(str(blob.name))

    return blueprint
