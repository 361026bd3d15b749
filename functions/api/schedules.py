"""GET accounts/{account}/jobschedules, …/{schedule}: from storage, never from Batch."""

from typing import Literal

from msgspec import UNSET, UnsetType

from functions.answers import unreadable_answers
from functions.api.jobs import Format, Key, PageSize
from functions.api.schedule_models import ScheduleAnswer, ScheduleLine, schedule_answer, schedule_line
from functions.csv_table import csv_reply
from functions.http import Call, Page, Query, Reply, Routes
from shared.domain.keys import key_of
from shared.domain.schedule_reports import ScheduleReport

ScheduleState = Literal["active", "completed", "disabled", "terminating", "deleting"]


class SchedulesQuery(Query):
    """Filters of the list of job schedules; deleted ones are left out unless asked for."""

    state: ScheduleState | UnsetType = UNSET
    prefix: Key = ""
    include_deleted: bool = False
    format: Format = "json"
    maxpagesize: PageSize = 100
    continuation: Key = ""

    def wants(self, report: ScheduleReport) -> bool:
        """True for a schedule that every filter lets through; ids are compared as Batch does, without case."""
        schedule = report.schedule
        return (
            (self.include_deleted or not schedule.deleted)
            and (self.state is UNSET or schedule.facts.state == self.state)
            and schedule.key.startswith(key_of(self.prefix))
            and schedule.key > self.continuation
        )


def add_schedules(routes: Routes) -> None:
    @routes.route(
        "GET", "accounts/{account}/jobschedules", query=SchedulesQuery, returns=Page[ScheduleLine], repeats=True
    )
    async def list_job_schedules(call: Call[SchedulesQuery, None]) -> Page[ScheduleLine] | Reply:
        """Job schedules of an account with their runs, those that were missed, and their tasks, by id."""
        services = await call.services()
        listed = await services.schedules.listed_schedules(call.path["account"])
        found = [report for report in listed.reports if call.query.wants(report)]
        shown = found[: call.query.maxpagesize]
        link = call.next_link(shown[-1].schedule.key) if len(found) > len(shown) else None
        missing = unreadable_answers(listed.unreadable)
        page = Page(value=[schedule_line(report) for report in shown], next_link=link, unreadable=missing)
        return csv_reply(page, ScheduleLine) if call.query.format == "csv" else page

    @routes.route("GET", "accounts/{account}/jobschedules/{schedule}", returns=ScheduleAnswer, repeats=True)
    async def get_job_schedule(call: Call[Query, None]) -> ScheduleAnswer:
        """One job schedule, with what its jobs are to be like and the latest of them."""
        services = await call.services()
        return schedule_answer(await services.schedules.schedule(call.path["account"], call.path["schedule"]))
