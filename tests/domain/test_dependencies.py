"""What holds waiting tasks, against a brute force over sets."""

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.dependencies import MOST_KEYS, Standing, WaitingTask, dependencies_of, wanted_keys
from shared.domain.exit_conditions import ExitConditions, ExitRange
from tests.domain.profiles import load_profile

load_profile()
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


def names(task: WaitingTask) -> set[str]:
    return {name.lower() for name in task.ids} | {str(n) for start, end in task.ranges for n in range(start, end + 1)}


@given(
    tasks=TASKS,
    standings=st.fixed_dictionaries({name.lower(): st.sampled_from(STANDINGS) for name in NAMES}),
    whole=st.booleans(),
)
def test_what_holds_tasks_is_what_sets_say(
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
    assert (len(keys), "1" in keys, str(MOST_KEYS + 1) in keys) == (MOST_KEYS, True, False)
    found = dependencies_of([task], dict.fromkeys(keys, "satisfied"), whole=True)
    assert (found.held, found.unsure, found.all_held) == (0, 1, False)


def test_a_failure_beyond_what_was_looked_at_is_not_claimed() -> None:
    task = WaitingTask("t", ("first",), ((1, 1000),))
    standings: dict[str, Standing] = dict.fromkeys(wanted_keys([task]), "satisfied")
    standings["first"] = "running"
    found = dependencies_of([task], standings, whole=True)
    assert (found.held, found.lost, [blocker.id for blocker in found.blockers]) == (1, 0, ["first"])


def test_exit_conditions_say_whether_a_failure_satisfies() -> None:
    conditions = ExitConditions(
        codes={3: "satisfy", 4: None},
        ranges=(ExitRange(3, 5, "block"), ExitRange(7, 9, "satisfy")),
        pre_processing_error="satisfy",
        file_upload_error="block",
        default="satisfy",
    )
    told = {code: conditions.failure_satisfies(code) for code in (3, 4, 5, 7, 9, 10)}
    assert told == {3: True, 4: False, 5: False, 7: True, 9: True, 10: True}
    assert conditions.failure_satisfies(None, "ResourceContainerNotFound")
    assert not conditions.failure_satisfies(0, "FileUploadAccessDenied")
    assert not ExitConditions().failure_satisfies(1)
    assert ExitConditions(default="satisfy").failure_satisfies(None)


def test_an_exit_code_that_is_listed_goes_before_an_error_in_uploading_files() -> None:
    conditions = ExitConditions(
        codes={3: "satisfy", 4: "block"}, ranges=(ExitRange(7, 9, "satisfy"),), file_upload_error="block"
    )
    told = {code: conditions.failure_satisfies(code, "FileUploadContainerNotFound") for code in (3, 4, 8, 0, None)}
    assert told == {3: True, 4: False, 8: True, 0: False, None: False}
    lenient = ExitConditions(codes={4: "block"}, ranges=(ExitRange(7, 9, "block"),), file_upload_error="satisfy")
    told = {code: lenient.failure_satisfies(code, "FileUploadContainerNotFound") for code in (4, 8, 0, 5, None)}
    assert told == {4: False, 8: False, 0: True, 5: True, None: True}
