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

    _add_trigger(blueprint, runtime, "batch_events", runtime.settings.resource_log_container)
    _add_trigger(blueprint, runtime, "node_telemetry", runtime.settings.telemetry_container)
    return blueprint


def _add_trigger(blueprint: func.Blueprint, runtime: Runtime, name: str, container: str) -> None:
    @blueprint.function_name(name)
    @blueprint.blob_trigger(
        arg_name="blob",
        path=f"{container}/{{name}}",
        connection="TELEMETRY_STORAGE",
        source=func.BlobSource.EVENT_GRID,
    )
    async def announced(blob: func.InputStream) -> None:
        """Reads new data of a resource log or telemetry blob. After a failure the platform announces it again."""
        services = await runtime.services()
        await services.ingestion.announced(str(blob.name))
