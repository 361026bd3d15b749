"""The judge of kept outputs: it reports each deviation, and the load that it judges is as it says."""

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from local.prove.exact.judging import ShownJob
from local.prove.outputs.failing_job import CAUSES, command_line, drawn_causes, number_of, task_id
from local.prove.outputs.judging import (
    Evidence,
    Limits,
    by_minute,
    first_examples,
    intervals,
    oldest,
    outburst,
    problems,
    round_moments,
    rounds_to_exact,
)
from local.prove.outputs.kept_outputs import LastLook, StoredOutput, chosen_tasks
from local.prove.outputs.observing import (
    Age,
    EmulatorLook,
    GroupLook,
    HostLook,
    Observations,
    emulator_look,
    group_usage,
)
from local.prove.outputs.report import Run, section, text

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
CODES = Counter({10: 900, 11: 100})
TEXT = {"text": "Killed", "reason": None, "message": None}
WHY = {"text": None, "reason": "EnoughKept", "message": "Outputs of 5 other tasks are kept."}
type Change = Callable[[Evidence], None]


def look(moment: float, failed: int, **changed: Any) -> EmulatorLook:
    """Returns a look at a run whose tasks fail from 300 to 350 s, with a round a minute."""
    counted = {"rounds": int(moment // 60), "file_requests": 0, "file_bytes": 0, "calls": int(moment)}
    return EmulatorLook(moment, NOW + timedelta(seconds=moment), failed, **{**counted, **changed})


def shown(failed: int, level: str = "exact") -> ShownJob:
    return ShownJob("failing", False, level, NOW, "", (0, 0, 0, failed, 0, failed, 1000))


def observations() -> Observations:
    """Returns what is seen of a run as it should be, with a look at everything each ten seconds."""
    moments = [10.0 * number for number in range(91)]
    failed = {moment: min(1000, max(0, int(20 * (moment - 300)))) for moment in moments}
    read = {moment: 200 * (moment > 360) for moment in moments}
    return Observations(
        ages=[Age(moment, "usual-0", 30 + moment % 60) for moment in moments],
        shown=[(moment, shown(1000 if moment >= 430 else 0)) for moment in moments],
        emulator=[
            look(moment, failed[moment], file_requests=read[moment], file_bytes=10_000 * read[moment])
            for moment in moments
        ],
        host=[HostLook(moment, moment / 4, 100 + moment) for moment in moments],
        groups=[GroupLook(moment, {10: int(moment > 370), 11: int(moment > 400)}, 0.2) for moment in moments],
    )


def evidence() -> Evidence:
    outputs = LastLook(
        [StoredOutput("failing", 1, "a", True), StoredOutput("failing", 2, "b", False)],
        Counter(CODES),
        others=3,
        texts=2,
    )
    outputs.reasons["EnoughKept"] = 8
    return Evidence(Limits(60, 60, 20_000_000, 3000), CODES, 4, observations(), outputs, [], [])


def test_a_run_as_it_should_be_has_no_problem_and_says_so() -> None:
    found = evidence()
    assert list(problems(found)) == []
    written = section(Run(NOW, 15.0, 6, 1.5, found))
    for row in (
        "| tasks that failed | 1,000 on 4 nodes, in 50 s |",
        "| most within a minute | 1,000 |",
        "| oldest counts after, bar 240 s | 80 s (usual-0) |",
        "| seconds between rounds before: median | 60 s, at most 60 s (4) |",
        "| **rounds until exact, bar 3** | **2** |",
        "| most of them in a minute, 240 by the setting | 200 |",
        "| **bytes of files read** | **2,000,000 of 20,000,000 a day** |",
        "| **groups with a kept output** | **2 of 2** |",
        "| first one after the last failure: median, bar 300 s | 45 s, at most 60 s (2) |",
        "| outputs kept | 1, and 1 that had nothing to keep |",
        "| outputs of other jobs | 3 |",
        "| nodes with a kept output | 1 of 4 |",
        "| reasons of tasks that weren't kept | EnoughKept: 8 |",
        "| cores that the host kept busy | before 0.25, while they fail 0.25, after 0.25 |",
        "| memory of the host | 100 MB at first, at most 1000 MB, 1000 MB at the end |",
        "All bars hold.",
    ):
        assert row in written
    assert "rounds until exact, bar 3" in text(Run(NOW, 15.0, 6, 1.5, found))


def slower(found: Evidence) -> None:
    late = [
        replace(each, failed=each.failed // 2 if each.moment < 420 else each.failed) for each in found.seen.emulator
    ]
    found.seen.emulator[:] = late


def grow(name: str, by: int) -> Change:
    """Returns a change: from 600 s on a counter is higher by so much."""

    def change(found: Evidence) -> None:
        found.seen.emulator[:] = [
            replace(each, **{name: getattr(each, name) + by * (each.moment >= 600)}) for each in found.seen.emulator
        ]

    return change


def spread(found: Evidence) -> None:
    """Lets requests for files grow by just more than the limit in three minutes, each with a batch too many."""
    found.seen.emulator[:] = [
        replace(each, file_requests=260 * min(3, max(0, int(each.moment - 360) // 60))) for each in found.seen.emulator
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (slower, "only 500 of 1,000 tasks failed within a minute"),
        (lambda found: found.seen.ages.append(Age(500.0, "usual-1", 241.0)), "after, counts of usual-1 were 241 s old"),
        (lambda found: found.seen.ages.append(Age(320.0, "failing", 250.0)), "while they fail, counts of failing"),
        (lambda found: found.seen.ages.clear(), "no job was looked at"),
        (lambda found: found.seen.shown.append((880.0, shown(999))), "were never right and exact"),
        (lambda found: found.seen.shown.append((880.0, shown(1000, "unverified"))), "were never right and exact"),
        (lambda found: found.seen.shown.__setitem__(slice(None), [(700.0, shown(1000))]), "only after 6 rounds right"),
        (grow("file_bytes", 20_000_000), "22,000,000 bytes were read of files, more than the 20,000,000 of a day"),
        (grow("file_requests", 273), "at 12:10 there were 273 requests for files, more than 272"),
        (spread, "780 requests for files in 3 minutes are more than 60 tasks a minute"),
        (grow("calls", 3000), "at 12:10 the host sent 3060 requests to Batch, more than 3000"),
        (lambda found: found.outputs.groups.update({10: 1}), "groups and their counts differ from the truth"),
        (
            lambda found: found.seen.groups.__setitem__(slice(None), [GroupLook(400.0, {10: 1, 11: 0}, 0.1)]),
            "1 of 2 groups have no example; their exit codes are [11]",
        ),
        (
            lambda found: found.seen.groups.__setitem__(slice(None), [GroupLook(651.0, {10: 1, 11: 1}, 0.1)]),
            "2 groups had their first example more than 300 s after the last failure",
        ),
        (lambda found: found.outputs.wrong.append("task-000001: wrong"), "task-000001: wrong"),
        (lambda found: found.outputs.reasons.clear(), "no kept output, or none that wasn't kept, was asked for"),
    ],
)
def test_each_deviation_is_a_problem(change: Change, said: str) -> None:
    found = evidence()
    change(found)
    some = list(problems(found))
    assert any(said in each for each in some), some
    assert f"- {some[0]}" in section(Run(NOW, 15.0, 6, 1.5, found))


def test_jobs_that_are_not_exact_at_the_end_and_defects_are_problems() -> None:
    found = replace(evidence(), unsettled=["usual-3: right, but stale"], defects=["host-1: it broke"])
    assert list(problems(found)) == [
        "usual-3: right, but stale",
        "1 defects in the host's log, the first: host-1: it broke",
    ]


def test_the_outburst_is_measured_from_the_last_look_without_a_failure_to_the_first_with_all() -> None:
    looks = [look(moment, failed) for moment, failed in ((0, 0), (5, 0), (20, 300), (65, 800), (90, 1000), (99, 1000))]
    found = outburst(looks)
    assert (found.began, found.ended, found.fastest) == (5, 90, 800)
    assert [found.phase(moment) for moment in (5, 6, 90, 91)] == ["before", *2 * ["while they fail"], "after"]


def test_rounds_are_counted_up_to_the_look_from_which_on_counts_are_exact() -> None:
    looks = [(40.0, shown(1000)), (70.0, shown(1000)), (90.0, shown(900)), (130.0, shown(1000)), (140.0, shown(1000))]
    assert rounds_to_exact(looks, 1000, 50.0, [30.0, 60.0, 120.0, 135.0]) == 2
    assert rounds_to_exact(looks[:1], 1000, 50.0, [60.0]) is None


def test_a_round_is_seen_where_its_counter_has_grown() -> None:
    looks = [look(float(at), 0, rounds=rounds) for at, rounds in ((0, 4), (1, 4), (2, 5), (60, 7))]
    assert round_moments(looks) == [2.0, 60.0, 60.0]
    burst = outburst([look(0.0, 0), look(10.0, 5), look(59.0, 5)])
    assert intervals([1.0, 2.0, 60.0], burst) == {"before": [], "while they fail": [1.0], "after": [58.0]}


def test_requests_belong_to_the_minute_of_the_clock_in_which_they_are_seen() -> None:
    looks = [look(moment, 0, file_requests=number) for moment, number in ((50, 7), (59, 9), (61, 30), (119, 31))]
    assert by_minute(looks, "file_requests") == {"12:00": 2, "12:01": 22}


def test_the_first_example_of_a_group_is_the_first_look_that_has_one() -> None:
    looks = [GroupLook(1.0, {10: 0, 99: 1}, 0.1), GroupLook(2.0, {10: 2}, 0.1), GroupLook(3.0, {10: 3}, 0.1)]
    assert first_examples(looks, [10, 11]) == {10: 2.0}


def test_the_oldest_counts_are_those_of_each_phase() -> None:
    burst = outburst([look(5.0, 0), look(10.0, 5)])
    found = oldest([Age(1.0, "a", 9.0), Age(6.0, "b", 7.0), Age(11.0, "c", 1.0), Age(12.0, "d", 2.0)], burst)
    assert [age.job for age in found.values() if age] == ["a", "b", "d"]


def test_answers_have_a_text_or_say_why() -> None:
    found = LastLook([], Counter())
    for answer, is_kept in (
        ({"id": "a", "exitCode": 10, "stderr": TEXT, "stdout": WHY}, True),
        ({"id": "b", "exitCode": 11, "stderr": TEXT, "stdout": TEXT}, False),
        ({"id": "c", "exitCode": None, "stderr": WHY, "stdout": WHY}, False),
        ({"id": "d", "exitCode": None, "stderr": WHY, "stdout": WHY}, True),
        ({"id": "e", "exitCode": None, "stderr": WHY, "stdout": {**WHY, "message": None}}, False),
    ):
        found.take(answer, 10, is_kept=is_kept)
    assert (found.texts, found.reasons) == (2, Counter(EnoughKept=2))
    assert [each.partition(":")[0] for each in found.wrong] == ["b", "d", "e"]


def test_a_kept_task_of_each_cause_and_some_others_are_asked_for() -> None:
    causes = [0] * 100 + [1] * 3
    chosen = chosen_tasks(causes, {4, 5, 6, 101}, seed=1)
    assert Counter((causes[task], task in {4, 5, 6, 101}) for task in chosen) == {
        (0, True): 1,
        (0, False): 5,
        (1, True): 1,
        (1, False): 2,
    }


def test_every_cause_occurs_and_the_last_ones_are_rare() -> None:
    counted = Counter(drawn_causes(100_000, 1))
    assert set(counted) == set(range(CAUSES))
    assert counted[0] > 40_000
    assert [counted[cause] for cause in range(CAUSES - 3, CAUSES)] == [3, 3, 3]
    assert drawn_causes(1000, 7) == drawn_causes(1000, 7) != drawn_causes(1000, 8)


def test_a_command_line_ends_with_the_code_of_its_cause_and_every_third_writes_much() -> None:
    lines = [command_line(number, 4, 61.25) for number in range(4)]
    assert all(line.endswith("sleep 61.2; emulate failure java-out-of-memory; exit 14'") for line in lines)
    assert [line.count("300KiB") for line in lines] == [2, 0, 0, 2]
    assert number_of(task_id(4711)) == 4711


def test_requests_of_the_host_and_for_files_are_added_up() -> None:
    counters = {
        "routes": {
            "GET /jobs": {"requests": 3, "items": 9},
            "GET /jobs/{jobId}/tasks/{taskId}/files/{filePath}": {"requests": 5, "items": 5, "bytes": 700},
            "HEAD /jobs/{jobId}/tasks/{taskId}/files/{filePath}": {"requests": 6, "items": 6},
        },
        "clients": {"host-1 azsdk": {"requests": 14}, "azsdk-python-batch": {"requests": 100}},
    }
    assert emulator_look(counters, 8, NOW, 1.0) == EmulatorLook(1.0, NOW, 8, 3, 11, 700, 14)


@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
def test_the_size_of_a_host_is_that_of_its_process_group() -> None:
    busy = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", busy], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as child:
        assert child.stdout
        child.stdout.readline()
        cpu, megabytes = group_usage(child.pid)
        child.communicate(b"\n")
    assert 0.25 <= cpu < 3
    assert megabytes > 4
    assert group_usage(child.pid) == (0.0, 0.0)
