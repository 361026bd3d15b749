import csv
import io
import json
from datetime import UTC, datetime

import pytest

from functions.api.jobs.job_models import JudgedPage, VerdictAnswer
from functions.http.answers import Answer
from functions.http.csv_table import csv_reply
from functions.http.handling import Page


class Counts(Answer):
    active: int
    total: int


class Entry(Answer):
    id: str
    display_name: str | None
    exit_code: int | None
    seen_at: datetime | None
    deleted: bool
    task_counts: Counts | None


class Seen(Answer):
    id: str
    seconds_in_state: float
    as_of: datetime | None


AT = datetime(2026, 11, 21, 7, tzinfo=UTC)


def entry(name: str = "a", *, full: bool = False) -> Entry:
    return Entry(
        id=name,
        display_name=None,
        exit_code=-9 if full else None,
        seen_at=AT if full else None,
        deleted=full,
        task_counts=Counts(active=1, total=2) if full else None,
    )


def rows(*entries: Entry) -> list[list[str]]:
    return list(csv.reader(io.StringIO(csv_reply(Page(value=entries), Entry).value)))


def test_every_property_has_a_column_even_where_there_are_no_entries() -> None:
    assert rows() == [["id", "displayName", "exitCode", "seenAt", "deleted", "taskCounts.active", "taskCounts.total"]]


def test_entries_are_rows_and_missing_values_are_empty() -> None:
    assert rows(entry(), entry("b", full=True))[1:] == [
        ["a", "", "", "", "false", "", ""],
        ["b", "", "-9", "2026-11-21T07:00:00Z", "true", "1", "2"],
    ]


@pytest.mark.parametrize("name", ["=1+1", "+cmd", "-1", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("http://x")'])
def test_text_that_a_spreadsheet_would_run_is_guarded(name: str) -> None:
    assert rows(entry(name))[1][0] == f"'{name}"


@pytest.mark.parametrize("name", ["a,b", 'say "hi"', "two\nlines", "größe", "a=b"])
def test_odd_text_survives(name: str) -> None:
    assert rows(entry(name))[1][0] == name


def test_the_next_page_is_in_a_header() -> None:
    reply = csv_reply(Page(value=[], next_link="https://x/y?continuation=a"), Entry)
    assert reply.headers == {"Link": '<https://x/y?continuation=a>; rel="next"'}
    assert csv_reply(Page(value=[]), Entry).headers == {}


def test_ages_and_as_of_times_do_not_change_the_content_for_a_weak_etag() -> None:
    def content(*entries: Seen) -> bytes | None:
        return csv_reply(Page(value=entries, count=1), Seen).content

    first = content(Seen(id="a", seconds_in_state=1.0, as_of=AT))
    assert content(Seen(id="a", seconds_in_state=2.0, as_of=None)) == first
    assert content(Seen(id="b", seconds_in_state=1.0, as_of=AT)) != first
    assert csv_reply(Page(value=[Seen(id="a", seconds_in_state=1.0, as_of=AT)], count=2), Seen).content != first


def test_a_verdict_fits_into_a_header_regardless_of_its_reason() -> None:
    verdict = VerdictAnswer(as_of=AT, source="none", level="stale", reason="größe\r\nX: y" * 100, checked_at=None)
    headers = csv_reply(JudgedPage(value=[], as_of=AT, verdict=verdict), Entry).headers
    header = headers["Batchscope-Verdict"]
    assert header.isascii()
    assert header.isprintable()
    assert json.loads(header)["reason"] == verdict.reason[:500]
    assert headers["Batchscope-As-Of"] == "2026-11-21T07:00:00Z"
