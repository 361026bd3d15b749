"""GET accounts/{account}/ingestion, …/rejects: the state of log and telemetry ingestion."""

from datetime import datetime

from functions.api.endpoints import ACCOUNT
from functions.http.answers import Answer
from functions.http.csv_table import csv_reply
from functions.http.handling import Page, Query, RouteRequest, RouteResponse, Routes
from functions.http.parameters import Format, Key, PageSize
from shared.domain.blobs.rejects import Reject
from shared.domain.blobs.sweeps import IngestionReport, PartitionSweep
from shared.domain.telemetry.rollups.intake_counts import REASONS, TelemetryTotals


class TelemetryLeftOutAnswer(Answer):
    """Dropped telemetry by reason, named as for a node; `unknown` counts all unknown measurements together."""

    unknown: int
    unread_fields: int
    without_time: int
    out_of_window: int
    of_too_many_nodes: int
    of_too_many_tasks: int
    beyond_limit: int
    late: int
    no_numbers: int


class TelemetryIntakeAnswer(Answer):
    """The last sweep of node telemetry: the same fields as for logs, and the results of ingestion.

    `asleepBlobs` blobs were unchanged; `latestWrite` is the latest write to any blob. `records` and `bytes` were read
    since `countedSince` (null before the first); `samples` is the number of values in series. `lostBytes` are further
    bytes behind damaged streams, which can't be read, the latest as of `lostAt`. A host that dies may lose counts, so
    these numbers are lower bounds.
    """

    swept_at: datetime
    blobs: int
    asleep_blobs: int
    latest_write: datetime | None
    behind_blobs: int
    behind_bytes: int
    behind_since: datetime | None
    problems: list[str]
    counted_since: datetime | None
    bytes: int
    records: int
    samples: int
    refused: int
    lost_bytes: int
    lost_at: datetime | None
    left_out: TelemetryLeftOutAnswer


class IngestionAnswer(Answer):
    """The state of an account's log and telemetry ingestion.

    `sweptAt` is the time of the last sweep over the logs, `blobs` their number. At most `behindBytes` in `behindBlobs`
    were unread then, since `behindSince` at the earliest. Of the `records` (`bytes` in all) read so far, `events` were
    new, `repeats` had been delivered before, and `refused` couldn't be read. `latestEvent` is the time of the latest
    event. `telemetry` is null until a telemetry blob of a node was found.
    """

    account: str
    container: str | None
    swept_at: datetime | None
    blobs: int
    behind_blobs: int
    behind_bytes: int
    behind_since: datetime | None
    records: int
    bytes: int
    events: int
    repeats: int
    refused: int
    latest_event: datetime | None
    problems: list[str]
    telemetry: TelemetryIntakeAnswer | None


class RejectAnswer(Answer):
    """A record that couldn't be read: blob, offset, position of the fault in bytes, reason, and its start.

    In a compressed unit, the position counts bytes of the decompressed text, as the reason states.
    """

    blob: str
    offset: int
    position: int
    reason: str
    sample: str
    noted_at: datetime


class RejectsQuery(Query):
    """Paging of rejects."""

    format: Format = "json"
    maxpagesize: PageSize = 100
    continuation: Key = ""


def add_ingestion(routes: Routes) -> None:
    @routes.route("GET", f"{ACCOUNT}/ingestion", returns=IngestionAnswer)
    async def get_ingestion(call: RouteRequest[Query, None]) -> IngestionAnswer:
        """Returns how far an account's logs and telemetry have been read, and the results."""
        services = await call.services()
        return _ingestion(await services.events.ingestion(call.path["account"]))

    @routes.route("GET", f"{ACCOUNT}/rejects", query=RejectsQuery, returns=Page[RejectAnswer])
    async def list_rejects(call: RouteRequest[RejectsQuery, None]) -> Page[RejectAnswer] | RouteResponse:
        """Lists log and telemetry records that couldn't be read, newest blobs first, at most 100 per blob."""
        services, query = await call.services(), call.query
        found = await services.events.rejects(
            call.path["account"], after=query.continuation, most=query.maxpagesize + 1
        )
        shown = found[: query.maxpagesize]
        link = call.next_link(shown[-1].key if len(found) > len(shown) else None)
        page = Page(value=[_reject(reject) for reject in shown], next_link=link)
        return csv_reply(page, RejectAnswer) if query.format == "csv" else page


def _ingestion(report: IngestionReport) -> IngestionAnswer:
    sweep, totals = report.sweep, report.totals
    return IngestionAnswer.of(
        totals,
        account=report.account,
        container=report.container,
        swept_at=sweep.at if sweep else None,
        blobs=sweep.blobs if sweep else 0,
        behind_blobs=sweep.behind_blobs if sweep else 0,
        behind_bytes=sweep.behind_bytes if sweep else 0,
        behind_since=sweep.behind_since if sweep else None,
        records=totals.units,
        events=totals.stored,
        latest_event=totals.latest,
        problems=list(sweep.problems) if sweep else [],
        telemetry=_telemetry(report.telemetry, report.telemetry_totals) if report.telemetry else None,
    )


def _telemetry(sweep: PartitionSweep, totals: TelemetryTotals) -> TelemetryIntakeAnswer:
    return TelemetryIntakeAnswer.of(
        sweep,
        swept_at=sweep.at,
        asleep_blobs=sweep.up_to_date,
        latest_write=sweep.latest,
        counted_since=totals.since,
        bytes=totals.bytes,
        records=totals.records,
        samples=totals.samples,
        refused=totals.refused,
        lost_bytes=totals.lost,
        lost_at=totals.lost_at,
        left_out=TelemetryLeftOutAnswer(**{reason: totals.left_out.get(reason, 0) for reason in REASONS}),
    )


def _reject(reject: Reject) -> RejectAnswer:
    sample = reject.refusal.sample.decode(errors="replace")
    return RejectAnswer.of(reject.refusal, blob=reject.blob, sample=sample, noted_at=reject.at)
