"""The blockers of waiting tasks, against brute force over sets."""

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.dependencies.dependencies import (
    MAX_KEYS,
    Standing,
    WaitingTask,
    dependencies_of,
    is_depended_on,
    wanted_keys,
)
from shared.domain.dependencies.exit_conditions import ExitCode, ExitCodeRange, ExitConditions, ExitOptions

NAMES = ("a", "B", "c", "3", "4", "5", "6")
STANDINGS: tuple[Standing, ...] = ("satisfied", "waiting", "running", "failed", "missing", "unknown")
TASKS = st.lists(
    st.builds(
        WaitingTask,
        st.uuids().map(str),
        st.lists(st.sampled_from(NAMES), max_size=3).map(tuple),
        st.lists(st.sampled_from([(3, 4), (5, 5), (4, 6)]), max_size=2).map(tuple),
    ),
    max_size=12,
)

SATISFY, BLOCK = ExitOptions("Satisfy"), ExitOptions("block")


def names(task: WaitingTask) -> set[str]:
    return {name.lower() for name in task.ids} | {str(n) for start, end in task.ranges for n in range(start, end + 1)}


@given(
    tasks=TASKS,
    standings=st.fixed_dictionaries({name.lower(): st.sampled_from(STANDINGS) for name in NAMES}),
    whole=st.booleans(),
)
def test_blockers_agree_with_plain_sets(
    tasks: list[WaitingTask], standings: dict[str, Standing], *, whole: bool
) -> None:
    found = dependencies_of(tasks, standings, whole=whole)
    open_ = [{standings[name] for name in names(task)} - {"satisfied"} for task in tasks]
    assert (found.looked, found.whole) == (len(tasks), whole)
    assert found.lost == sum("failed" in each for each in open_)
    assert found.astray == sum("missing" in each and "failed" not in each for each in open_)
    assert found.held == sum(bool(each - {"unknown"}) for each in open_)
    assert found.unsure == sum(each == {"unknown"} for each in open_)
    assert found.all_held == (whole and bool(tasks) and found.held == len(tasks))
    has_root = any(each & {"failed", "missing", "running"} for each in open_)
    assert (found.all_held or found.seem_all_held) == (found.all_held or (all(open_) and has_root))
    assert not (found.all_held and found.seem_all_held)
    holds = {name: sum(name in names(task) for task in tasks) for name in standings}
    for blocker in found.blockers:
        assert blocker.standing == standings[blocker.key] not in {"satisfied", "unknown"}
        assert blocker.holds == holds[blocker.key] > 0
    place = {"failed": 0, "missing": 1, "running": 1, "waiting": 2}
    worst = [(place[blocker.standing], -blocker.holds) for blocker in found.blockers]
    assert worst == sorted(worst)
    shut = [name for name, n in holds.items() if n and standings[name] not in {"satisfied", "unknown"}]
    assert len(found.blockers) == min(len(shut), 5)


def test_a_range_of_millions_is_looked_at_as_far_as_the_bound_and_unsure_beyond() -> None:
    task = WaitingTask("t", (), ((1, 50_000_000),))
    keys = wanted_keys([task])
    assert (len(keys), "1" in keys, str(MAX_KEYS + 1) in keys) == (MAX_KEYS, True, False)
    found = dependencies_of([task], dict.fromkeys(keys, "satisfied"), whole=True)
    assert (found.held, found.unsure, found.all_held) == (0, 1, False)


def test_a_failure_beyond_the_checked_ids_is_not_claimed() -> None:
    task = WaitingTask("t", ("first",), ((1, 1000),))
    standings: dict[str, Standing] = dict.fromkeys(wanted_keys([task]), "satisfied")
    standings["first"] = "running"
    found = dependencies_of([task], standings, whole=True)
    assert (found.held, found.lost, [blocker.id for blocker in found.blockers]) == (1, 0, ["first"])


def conditions_of(
    codes: dict[int, ExitOptions], ranges: dict[tuple[int, int], ExitOptions], **others: ExitOptions
) -> ExitConditions:
    return ExitConditions(
        [ExitCode(code, options) for code, options in codes.items()],
        [ExitCodeRange(start, end, options) for (start, end), options in ranges.items()],
        **others,
    )


def test_exit_conditions_say_whether_a_failure_satisfies() -> None:
    conditions = conditions_of(
        {3: SATISFY, 4: ExitOptions()},
        {(3, 5): BLOCK, (7, 9): SATISFY},
        pre_processing_error=SATISFY,
        file_upload_error=BLOCK,
        default=SATISFY,
    )
    satisfies = {code: conditions.failure_satisfies(code) for code in (3, 4, 5, 7, 9, 10)}
    assert satisfies == {3: True, 4: False, 5: False, 7: True, 9: True, 10: True}
    assert conditions.failure_satisfies(None, "ResourceContainerNotFound")
    assert not conditions.failure_satisfies(0, "FileUploadAccessDenied")
    assert not ExitConditions().failure_satisfies(1)
    assert ExitConditions(default=SATISFY).failure_satisfies(None)


def test_an_exit_code_that_is_listed_goes_before_an_error_in_uploading_files() -> None:
    conditions = conditions_of({3: SATISFY, 4: BLOCK}, {(7, 9): SATISFY}, file_upload_error=BLOCK)
    satisfies = {code: conditions.failure_satisfies(code, "FileUploadContainerNotFound") for code in (3, 4, 8, 0, None)}
    assert satisfies == {3: True, 4: False, 8: True, 0: False, None: False}
    lenient = conditions_of({4: BLOCK}, {(7, 9): BLOCK}, file_upload_error=SATISFY)
    satisfies = {code: lenient.failure_satisfies(code, "FileUploadContainerNotFound") for code in (4, 8, 0, 5, None)}
    assert satisfies == {4: False, 8: False, 0: True, 5: True, None: True}


def chain(*links: tuple[str, tuple[str, ...]]) -> list[WaitingTask]:
    return [WaitingTask(name, on) for name, on in links]


def test_a_long_cycle_is_found_with_the_tasks_behind_it() -> None:
    tasks = [WaitingTask("before", ("1",)), WaitingTask("free", ("done",))]
    tasks += [WaitingTask(str(number), (), ((number % 7 + 1, number % 7 + 1),)) for number in range(1, 8)]
    standings: dict[str, Standing] = {"done": "satisfied", **{str(number): "waiting" for number in range(1, 8)}}
    found = dependencies_of(tasks, standings, whole=True)
    assert (found.circular, found.held, found.lost) == (8, 8, 0)
    assert found.cycle == ("1", "2", "3", "4", "5", "6", "7", "1")
    assert not found.all_held


def test_a_task_that_waits_for_itself_is_a_cycle_and_a_line_of_tasks_is_none() -> None:
    alone = dependencies_of(chain(("a", ("A",))), {"a": "waiting"}, whole=True)
    assert (alone.circular, alone.cycle, alone.all_held) == (1, ("A", "A"), True)
    line = chain(("a", ()), ("b", ("a",)), ("c", ("b", "a")))
    found = dependencies_of(line, {"a": "waiting", "b": "waiting"}, whole=True)
    assert (found.circular, found.cycle, found.held) == (0, (), 2)


def test_a_task_behind_a_failure_waits_for_good_too() -> None:
    tasks = chain(("b", ("a",)), ("c", ("b",)), ("d", ("c",)), ("e", ("gone",)), ("f", ("e", "running")))
    standings: dict[str, Standing] = {
        "a": "failed", "b": "waiting", "c": "waiting", "e": "waiting", "gone": "missing", "running": "running",
    }  # fmt: skip
    found = dependencies_of(tasks, standings, whole=True)
    assert (found.lost, found.astray, found.circular, found.endless) == (3, 2, 0, 5)


def test_a_failure_that_a_cycle_waits_for_holds_it_as_well() -> None:
    tasks = chain(("a", ("b", "x")), ("b", ("a",)))
    found = dependencies_of(tasks, {"a": "waiting", "b": "waiting", "x": "failed"}, whole=True)
    assert (found.lost, found.circular) == (2, 0)
    assert found.cycle == ("a", "b", "a")


def test_a_blocker_is_found_in_a_range_behind_unknown_ids() -> None:
    """Known blockers count: a failed task, or the task itself within its own range."""
    merge = WaitingTask("merge", (), ((1, 5000),))
    standings: dict[str, Standing] = dict.fromkeys(wanted_keys([merge]), "satisfied")
    assert dependencies_of([merge], standings, whole=True).unsure == 1
    failed = dependencies_of([merge], {**standings, "4000": "failed", "5001": "failed", "04000": "failed"}, whole=True)
    assert (failed.lost, failed.unsure, failed.all_held) == (1, 0, True)
    assert [(blocker.id, blocker.holds) for blocker in failed.blockers] == [("4000", 1)]
    itself = WaitingTask("4000", (), ((1, 5000),))
    found = dependencies_of([itself], {**standings, "4000": "waiting"}, whole=True)
    assert (found.circular, found.cycle, found.all_held) == (1, ("4000", "4000"), True)


def test_a_cycle_is_found_behind_unknown_ids() -> None:
    tasks = chain(("a", ("new", "b")), ("b", ("newer", "a")))
    found = dependencies_of(tasks, {"a": "waiting", "b": "waiting"}, whole=True)
    assert (found.circular, found.cycle, found.unsure) == (2, ("a", "b", "a"), 0)


def test_numbers_within_ranges_are_depended_on() -> None:
    tasks = [WaitingTask("merge", ("x",), ((1, 5), (7, 9)))]
    assert [key for key in ("0", "1", "5", "6", "8", "08", "x", "²", "-1") if is_depended_on(key, tasks)] == [
        "1", "5", "8",
    ]  # fmt: skip
