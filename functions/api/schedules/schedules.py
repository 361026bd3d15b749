"""GET accounts/{account}/jobschedules, …/{schedule}: from storage, never from Batch."""

from operator import attrgetter
from typing import Literal

from functions.api.jobs.jobs import Format, Key, PageSize
from functions.api.schedules.schedule_models import ScheduleAnswer, ScheduleLine, schedule_answer, schedule_line
from functions.http.answers import unreadable_answers
from functions.http.csv_table import csv_reply
from functions.http.handling import Page, Query, RouteRequest, RouteResponse, Routes
from functions.http.lists import page_by_key
from shared.domain.core.keys import key_of
from shared.domain.reports.schedule_reports import ScheduleReport

_KEY = attrgetter("schedule.key")
ScheduleState = Literal["active", "completed", "disabled", "terminating", "deleting"]


class SchedulesQuery(Query):
    """Filters of the list of job schedules; deleted ones are excluded by default."""

    state: tuple[ScheduleState, ...] = ()
    prefix: Key = ""
    include_deleted: bool = False
    format: Format = "json"
    maxpagesize: PageSize = 100
    continuation: Key = ""

    def wants(self, report: ScheduleReport) -> bool:
        """Returns whether a schedule passes all filters; ids are compared without case, as in Batch."""
        schedule = report.schedule
        return (
            (self.include_deleted or not schedule.deleted)
            and (not self.state or schedule.facts.state in self.state)
            and schedule.key.startswith(key_of(self.prefix))
        )


def add_schedules(routes: Routes) -> None:
    @routes.route(
        "GET", "accounts/{account}/jobschedules", query=SchedulesQuery, returns=Page[ScheduleLine], repeats=True
    )
    async def list_job_schedules(call: RouteRequest[SchedulesQuery, None]) -> Page[ScheduleLine] | RouteResponse:
        """Lists an account's job schedules by id, with their runs, missed runs and tasks."""
        services = await call.services()
        listed = await services.schedules.listed_schedules(call.path["account"])
        found = [report for report in listed.reports if call.query.wants(report)]
        cut = page_by_key(found, _KEY, after=call.query.continuation, size=call.query.maxpagesize)
        page = Page(
            value=[schedule_line(report) for report in cut.shown],
            next_link=call.next_link(cut.continuation),
            count=cut.count,
            unreadable=unreadable_answers(listed.unreadable),
        )
        return csv_reply(page, ScheduleLine) if call.query.format == "csv" else page

    @routes.route("GET", "accounts/{account}/jobschedules/{schedule}", returns=ScheduleAnswer, repeats=True)
    async def get_job_schedule(call: RouteRequest[Query, None]) -> ScheduleAnswer:
        """Returns one job schedule with its job specification and its latest jobs."""
        services = await call.services()
        return schedule_answer(await services.schedules.schedule(call.path["account"], call.path["schedule"]))
