"""Pools: current and stale resize errors, confirmations, verdicts."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.core.stamps import to_milliseconds
from shared.domain.jobs.snapshots import Source
from shared.domain.nodes.nodes import NodeSummary
from shared.domain.polling.pool_rounds import PoolRound, doubt_of, pool_verdict
from shared.domain.pools.pool_facts import PoolFacts, Size
from shared.domain.pools.pool_settings import Problem
from shared.domain.pools.pools import NodesSnapshot, Pool, PoolConfirmation, first_seen
from shared.domain.pools.resize_errors import MAX_STALE_ERRORS
from shared.domain.pools.resizes import Resize

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
QUOTA, STOPPED = Problem("AccountCoreQuotaReached", "No cores."), Problem("ResizeStopped", "Stopped.")
SUMMARY = NodeSummary((("idle", True, 2), ("running", False, 1)), slots=6, used=1, free=5, tasks=1)


def facts(*errors: Problem, ended: datetime | None = NOW, allocation: str = "steady") -> PoolFacts:
    return PoolFacts(
        "Pool", NOW - 60 * MINUTE, "active", NOW - 60 * MINUTE, "standard_d4s_v5",
        allocation_state=allocation, allocation_state_transition_time=ended, slots_per_node=2, resize_errors=errors,
    )  # fmt: skip


def listed(pool: Pool, at: datetime) -> Pool:
    return pool.listed(NodesSnapshot(at, at, "firstRead", SUMMARY, "digest"))


def errors_of(pool: Pool) -> list[tuple[str, bool]]:
    return [(error.code, error.is_reported) for error in pool.errors]


def test_an_error_is_current_while_the_same_attempt_has_it() -> None:
    pool = first_seen(facts(QUOTA), NOW)
    again = pool.seen(replace(facts(QUOTA), display_name="x"), NOW + MINUTE)
    assert errors_of(again) == [("AccountCoreQuotaReached", True)]
    assert (again.errors[0].first_seen, again.errors[0].ended_at) == (NOW, NOW)


def test_a_resize_does_not_end_with_another_one_that_ended_while_nobody_polled() -> None:
    pool = listed(first_seen(facts(allocation="resizing"), NOW), NOW)
    for minutes, expected in ((30, (Resize(to_milliseconds(NOW), to_milliseconds(NOW + 29 * MINUTE)),)), (31, ())):
        seen = pool.seen(facts(ended=NOW + 29 * MINUTE), NOW + minutes * MINUTE)
        assert seen.resizes == expected
    still = replace(pool.facts, dedicated=Size(1, 5))
    assert pool.seen(still, NOW + 90 * MINUTE).resizes == pool.resizes == (Resize(to_milliseconds(NOW)),)


def test_an_error_is_history_while_the_pool_lacks_no_nodes_of_known_targets() -> None:
    few = listed(first_seen(replace(facts(QUOTA), dedicated=Size(1, 2), spot=Size(0, 0)), NOW), NOW + MINUTE)
    assert [error.code for error in few.current_errors] == ["AccountCoreQuotaReached"]
    for name, dedicated, spot in (("enough", 2, 0), ("more", 3, 0), ("none wanted", 0, 0)):
        changed = replace(few.facts, dedicated=Size(dedicated, min(dedicated, 2)), spot=Size(spot, 0))
        full = listed(few.seen(changed, NOW + 2 * MINUTE), NOW + 3 * MINUTE)
        assert (name, full.current_errors, errors_of(full)) == (name, (), errors_of(few))
        assert full.sample
        assert full.sample.numbers.resize_errors == 0
    lost = few.seen(replace(few.facts, dedicated=Size(2, 2), spot=Size(0, 1)), NOW + 2 * MINUTE)
    assert lost.current_errors == lost.errors
    unknown = few.seen(replace(few.facts, dedicated=Size(2, None)), NOW + 2 * MINUTE)
    assert unknown.current_errors == unknown.errors


def with_nodes(pool: Pool, current: int, minutes: int, *, target: int = 2, ended: datetime = NOW) -> Pool:
    """Returns a pool after a list, so many minutes later, that still has the error; its nodes are read then, too."""
    shown = replace(facts(QUOTA, ended=ended), dedicated=Size(current, target), spot=Size(0, 0))
    at = NOW + minutes * MINUTE
    return listed(pool.seen(shown, at), at)


def test_an_error_stays_history_once_the_pool_had_its_nodes_until_another_resize_ends_with_it() -> None:
    few = with_nodes(first_seen(facts(), NOW), 1, 1)
    assert [error.code for error in few.current_errors] == ["AccountCoreQuotaReached"]
    lost = with_nodes(with_nodes(few, 2, 2), 1, 3)
    assert (lost.current_errors, errors_of(lost)) == ((), errors_of(few))
    again = with_nodes(lost, 1, 5, ended=NOW + 4 * MINUTE)
    assert errors_of(again) == [("AccountCoreQuotaReached", True), ("AccountCoreQuotaReached", False)]
    assert [error.last_seen for error in again.errors] == [None, NOW + 2 * MINUTE]
    assert (again.current_errors, again.errors[0].first_seen) == (again.errors[:1], NOW + 5 * MINUTE)
    resizing = lost.seen(facts(ended=NOW + 6 * MINUTE, allocation="resizing"), NOW + 6 * MINUTE)
    third = with_nodes(resizing, 1, 8, ended=NOW + 7 * MINUTE)
    assert [(error.first_seen, error.attempts) for error in third.errors] == [(NOW + 8 * MINUTE, 1), (NOW + MINUTE, 1)]
    assert third.current_errors == third.errors[:1]
    full = with_nodes(third, 2, 9, ended=NOW + 7 * MINUTE)
    assert with_nodes(full, 1, 10, ended=NOW + 7 * MINUTE).current_errors == ()
    full = with_nodes(first_seen(replace(facts(QUOTA), dedicated=Size(2, 2), spot=Size(0, 0)), NOW), 1, 1)
    assert full.current_errors == ()


def test_an_error_of_a_row_of_an_earlier_version_is_history_where_its_pool_had_its_nodes() -> None:
    full = with_nodes(first_seen(facts(), NOW), 2, 1)
    stored = replace(full, errors=tuple(replace(error, satisfied_at=None) for error in full.errors))
    assert (stored.current_errors, stored.last_seen(stored.errors[0])) == ((), NOW + MINUTE)
    lost = with_nodes(with_nodes(stored, 1, 2), 1, 3)
    assert (lost.current_errors, lost.last_seen(lost.errors[0])) == ((), NOW + MINUTE)


def test_an_error_of_the_past_was_last_seen_when_the_pool_first_had_its_nodes() -> None:
    few = with_nodes(first_seen(facts(), NOW), 1, 1)
    assert few.last_seen(few.errors[0]) == NOW + MINUTE
    later = with_nodes(few, 1, 5)
    assert later.last_seen(later.errors[0]) == NOW + 5 * MINUTE
    full = with_nodes(later, 2, 6)
    for pool in (full, with_nodes(full, 2, 9), with_nodes(full, 1, 9), with_nodes(with_nodes(full, 1, 9), 2, 11)):
        assert pool.last_seen(pool.errors[0]) == NOW + 6 * MINUTE
    gone = full.seen(facts(ended=NOW + 20 * MINUTE, allocation="resizing"), NOW + 20 * MINUTE)
    assert gone.last_seen(gone.errors[0]) == NOW + 6 * MINUTE


def test_an_error_that_is_gone_is_stale_since_it_was_last_seen() -> None:
    pool = listed(first_seen(facts(QUOTA), NOW), NOW + MINUTE)
    resizing = pool.seen(facts(ended=NOW + 2 * MINUTE, allocation="resizing"), NOW + 3 * MINUTE)
    assert errors_of(resizing) == [("AccountCoreQuotaReached", False)]
    assert resizing.errors[0].last_seen == NOW + MINUTE


def test_the_same_error_of_the_next_attempt_is_as_old_as_the_first() -> None:
    pool = first_seen(facts(QUOTA), NOW)
    again = pool.seen(facts(QUOTA, ended=NOW + 9 * MINUTE), NOW + 10 * MINUTE)
    assert errors_of(again) == [("AccountCoreQuotaReached", True)]
    resizing = again.seen(facts(ended=NOW + 15 * MINUTE, allocation="resizing"), NOW + 15 * MINUTE)
    assert errors_of(resizing) == [("AccountCoreQuotaReached", False)]
    third = resizing.seen(facts(QUOTA, STOPPED, ended=NOW + 29 * MINUTE), NOW + 30 * MINUTE)
    assert errors_of(third) == [("AccountCoreQuotaReached", True), ("ResizeStopped", True)]
    assert [(e.first_seen, e.attempts, e.ended_at) for e in third.errors] == [
        (NOW, 3, NOW + 29 * MINUTE),
        (NOW + 30 * MINUTE, 1, NOW + 29 * MINUTE),
    ]


def test_an_error_that_comes_back_after_an_attempt_without_it_is_young() -> None:
    pool = first_seen(facts(QUOTA), NOW)
    well = pool.seen(facts(ended=NOW + MINUTE), NOW + MINUTE)
    resizing = well.seen(facts(ended=NOW + 8 * MINUTE, allocation="resizing"), NOW + 8 * MINUTE)
    again = resizing.seen(facts(QUOTA, ended=NOW + 9 * MINUTE), NOW + 9 * MINUTE)
    assert errors_of(again) == [("AccountCoreQuotaReached", True), ("AccountCoreQuotaReached", False)]
    assert [(e.first_seen, e.attempts) for e in again.errors] == [(NOW + 9 * MINUTE, 1), (NOW, 1)]
    over = again.seen(facts(ended=NOW + 20 * MINUTE), NOW + 20 * MINUTE)
    assert [(e.first_seen, e.last_seen, e.attempts) for e in over.errors] == [(NOW, NOW + 9 * MINUTE, 2)]


def test_an_error_stored_before_attempts_were_counted_is_of_one() -> None:
    stored = msgspec.to_builtins(first_seen(facts(QUOTA), NOW))
    for error in stored["errors"]:
        del error["attempts"], error["retried_at"]
    pool = msgspec.convert(stored, Pool)
    assert pool == first_seen(facts(QUOTA), NOW)
    assert "attempts" not in repr(pool.errors)  # else its version, which confirmations name, would differ


def test_another_pool_under_the_same_id_has_no_past() -> None:
    pool = replace(listed(first_seen(facts(QUOTA), NOW), NOW), etag="etag")
    other = pool.seen(replace(facts(), creation_time=NOW), NOW + MINUTE)
    assert (other.errors, other.snapshot, other.etag) == ((), None, "etag")


class Listed(NamedTuple):
    """A list's data on the last resize."""

    at: datetime
    since: datetime
    goes_on: bool
    problems: frozenset[Problem]


def lasting(lists: list[Listed], problem: Problem) -> tuple[datetime, int]:
    """Returns the first time and the number of attempts of the last list's error, by going back list by list."""
    latest = lists[-1]
    first_seen_at, ends, retry = latest.at, {latest.since}, None
    for before in reversed(lists[:-1]):
        if before.goes_on and retry in {None, before.since}:
            retry = before.since
        elif problem in before.problems:
            first_seen_at, retry = before.at, None
            ends.add(before.since)
        else:
            break
    return first_seen_at, len(ends)


@given(
    st.lists(
        st.tuples(st.frozensets(st.sampled_from([QUOTA, STOPPED])), st.sampled_from(["steady", "resized", "resizing"])),
        max_size=40,
    )
)
def test_current_errors_are_those_of_the_last_list_and_stale_ones_are_few_and_different(
    steps: list[tuple[frozenset[Problem], str]],
) -> None:
    pool, lists = first_seen(facts(), NOW), [Listed(NOW, NOW, goes_on=False, problems=frozenset())]
    for problems, phase in steps:
        at, last = lists[-1].at + MINUTE, lists[-1]
        goes_on = phase == "resizing" or (phase == "steady" and last.goes_on)
        listed_problems = frozenset[Problem]() if goes_on else problems
        lists.append(Listed(at, last.since if phase == "steady" else at, goes_on, listed_problems))
        before = {error.code: error for error in pool.errors if error.is_reported}
        state = "resizing" if goes_on else "steady"
        pool = pool.seen(facts(*listed_problems, ended=lists[-1].since, allocation=state), at)
        current = {error.code: error for error in pool.errors if error.is_reported}
        stale = {error.code: error for error in reversed(pool.errors) if not error.is_reported}
        assert len(pool.errors) - len(current) <= len(stale) * (2 if goes_on else 1)
        for problem in (QUOTA, STOPPED):
            assert (problem.code in current) == (problem in listed_problems)
            if error := current.get(problem.code):
                assert error.ended_at == lists[-1].since
                assert (error.first_seen, error.attempts) == lasting(lists, problem)
            elif error := before.get(problem.code):
                assert stale[problem.code].ended_at == error.ended_at
                assert stale[problem.code].first_seen <= error.first_seen
                assert stale[problem.code].attempts >= error.attempts
        assert len(stale) <= MAX_STALE_ERRORS
        assert all(error.last_seen >= error.first_seen for error in pool.errors if error.last_seen)


def test_only_so_many_stale_errors_are_kept_the_latest_first() -> None:
    pool = first_seen(facts(), NOW)
    for number in range(MAX_STALE_ERRORS + 5):
        at = NOW + number * MINUTE
        pool = pool.seen(facts(Problem(f"Code{number:02}", ""), ended=at), at)
    stale = [error.code for error in pool.errors if not error.is_reported]
    assert stale == [f"Code{number:02}" for number in range(MAX_STALE_ERRORS + 3, 3, -1)]


def test_a_confirmation_speaks_of_the_pool_as_it_is_and_never_of_an_older_time() -> None:
    pool = listed(first_seen(facts(), NOW), NOW)
    later = PoolConfirmation(pool.version, NOW + MINUTE, NOW, "delta")
    assert pool.confirmed(later).as_of == NOW + MINUTE
    assert pool.confirmed(later).version == pool.version
    assert pool.confirmed(later).confirmation() == later
    assert pool.confirmed(replace(later, as_of=NOW - MINUTE)) == pool
    other = pool.seen(facts(QUOTA), NOW + MINUTE)
    assert other.version != pool.version
    assert other.confirmed(replace(later, as_of=NOW)) == other


def test_a_pool_written_over_a_later_confirmation_is_as_of_then_and_doubtful() -> None:
    pool = listed(first_seen(facts(), NOW), NOW)
    overtaken = pool.confirmed(PoolConfirmation("another", NOW + MINUTE, NOW, "delta"))
    assert (overtaken.as_of, overtaken.is_overtaken) == (NOW + MINUTE, True)
    confirmation = overtaken.confirmation()
    assert confirmation
    assert pool.confirmed(confirmation).is_overtaken


def test_a_confirmation_by_a_version_before_samples_still_holds() -> None:
    """Otherwise unchanged pools would be stale from an upgrade until the next round."""
    snapshot = NodesSnapshot(NOW, NOW, "firstRead", SUMMARY, "digest")
    pool = replace(first_seen(facts(QUOTA), NOW), snapshot=snapshot)
    named = repr((pool.facts, pool.errors, (snapshot.digest, snapshot.summary, snapshot.doubt)))
    before = blake2b(named.encode(), digest_size=8).hexdigest()
    assert pool.confirmed(PoolConfirmation(before, NOW + MINUTE, NOW, "delta")).as_of == NOW + MINUTE
    assert listed(pool, NOW + MINUTE).version != before


def test_the_version_depends_on_the_nodes() -> None:
    pool = listed(first_seen(facts(), NOW), NOW)
    assert pool.snapshot
    for changed in (
        replace(pool.snapshot, digest="other"),
        replace(pool.snapshot, doubt="moved"),
        replace(pool.snapshot, summary=replace(SUMMARY, used=2)),
    ):
        assert pool.listed(changed).version != pool.version
    assert pool.listed(replace(pool.snapshot, as_of=NOW + MINUTE, source="delta")).version == pool.version


def test_cores_are_those_of_the_size_and_busy_by_the_share_of_slots() -> None:
    pool = listed(first_seen(facts(), NOW), NOW)
    assert pool.cores
    assert (pool.cores.total, pool.cores.busy) == (12, 2.0)
    assert replace(pool, facts=replace(facts(), vm_size="standard_unheard")).cores is None
    assert pool.snapshot
    gone = (("deallocated", True, 5), ("preempted", False, 90))
    with_gone = replace(SUMMARY, counts=(*SUMMARY.counts, *gone), slots=196)
    again = pool.listed(replace(pool.snapshot, summary=with_gone))
    assert again.cores == pool.cores
    assert again.sample
    assert again.sample.numbers.cores == (12, 2.0)
    assert first_seen(facts(), NOW).cores is None


def test_all_nodes_are_listed_first_while_tasks_run_and_now_and_then() -> None:
    quiet = NodeSummary((("idle", True, 2),), slots=4, free=4)
    pool = first_seen(facts(), NOW)
    assert pool.wants_all_nodes(NOW, 15 * MINUTE)
    assert listed(pool, NOW).wants_all_nodes(NOW, 15 * MINUTE)
    still = pool.listed(NodesSnapshot(NOW, NOW, "firstRead", quiet, "digest"))
    assert not still.wants_all_nodes(NOW + 14 * MINUTE, 15 * MINUTE)
    assert still.wants_all_nodes(NOW + 15 * MINUTE, 15 * MINUTE)


def test_only_a_list_of_several_pages_needs_the_counts_to_agree_and_nothing_to_run() -> None:
    still = NodeSummary((("idle", True, 2), ("offline", False, 1)), slots=6, free=4)
    assert doubt_of(SUMMARY, (), pages=1) is None
    assert doubt_of(still, still.counts, pages=3) is None
    assert "may have changed in between" in (doubt_of(SUMMARY, SUMMARY.counts, pages=3) or "")
    barred_meanwhile = replace(still, counts=(("idle", True, 2), ("preempted", False, 1)))
    assert "may have changed in between" in (doubt_of(barred_meanwhile, barred_meanwhile.counts, pages=3) or "")
    assert "node counts differ" in (doubt_of(SUMMARY, (), pages=3) or "")
    assert "nothing is known to compare" in (doubt_of(SUMMARY, None, pages=3) or "")


@pytest.mark.parametrize(
    ("change", "level", "words"),
    [
        ({}, "exact", "all of its nodes were listed."),
        ({"source": "delta"}, "exact", "node counts agreed"),
        ({"doubt": "Nodes moved."}, "unverified", "Nodes moved."),
        ({"as_of": NOW - 5 * MINUTE}, "stale", "Not polled for 5 min."),
    ],
)
def test_the_verdict_says_how_sure_the_numbers_are(change: dict[str, Any], level: str, words: str) -> None:
    pool = listed(first_seen(facts(), NOW), NOW)
    assert pool.snapshot
    pool = pool.listed(replace(pool.snapshot, **change))
    verdict = pool_verdict(pool, failure=None, now=NOW + timedelta(seconds=20), interval=MINUTE)
    assert (verdict.level, verdict.as_of) == (level, pool.snapshot.as_of if pool.snapshot else None)
    assert words in verdict.reason


def test_the_verdict_on_a_pool_without_nodes_claims_no_list_of_nodes_and_no_counts() -> None:
    sources: tuple[Source, ...] = ("firstRead", "delta")
    for source in sources:
        pool = first_seen(facts(), NOW).listed(NodesSnapshot(NOW, NOW, source, NodeSummary(), "digest"))
        verdict = pool_verdict(pool, failure=None, now=NOW, interval=MINUTE)
        assert verdict.level == "exact"
        assert "the service's list of pools showed no nodes in it." in verdict.reason


def test_of_a_pool_that_is_resized_the_verdict_says_that_its_nodes_were_listed_even_if_there_are_none() -> None:
    growing = first_seen(facts(allocation="resizing"), NOW)
    growing = growing.listed(NodesSnapshot(NOW, NOW, "firstRead", NodeSummary(), "digest"))
    verdict = pool_verdict(growing, failure=None, now=NOW, interval=MINUTE)
    assert verdict.level == "exact"
    assert "all of its nodes were listed." in verdict.reason


def test_the_verdict_shows_failures_and_accounts_that_are_off() -> None:
    pool = first_seen(facts(), NOW)
    assert pool_verdict(pool, failure=None, now=NOW, interval=MINUTE).level == "catchingUp"
    assert pool_verdict(pool, failure="It broke.", now=NOW, interval=MINUTE).level == "stale"
    assert pool_verdict(pool, failure=None, now=NOW, interval=MINUTE, off_reason="Off.").reason == "Off."
    seen = listed(pool, NOW)
    assert pool_verdict(seen, failure="It broke.", now=NOW, interval=MINUTE).reason == "The last poll failed: It broke."
    assert pool_verdict(seen, failure="It broke.", now=NOW, interval=MINUTE, off_reason="Off.").reason == "Off."


def test_of_two_rounds_at_once_the_later_word_on_each_pool_stays() -> None:
    def said(version: str, minutes: int) -> PoolConfirmation:
        return PoolConfirmation(version, NOW + minutes * MINUTE, NOW, "delta")

    ours = PoolRound(NOW, confirmations={"a": said("1", 1), "b": said("1", 5)}, etag="old")
    stored = PoolRound(NOW, confirmations={"a": said("2", 3), "b": said("2", 3), "c": said("2", 3)}, etag="new")
    both = ours.merged(stored)
    assert {key: found.version for key, found in both.confirmations.items()} == {"a": "2", "b": "1", "c": "2"}
    assert both.etag == "new"


def test_of_two_rounds_at_once_the_later_one_names_the_problem() -> None:
    failed = PoolRound(NOW, as_of=NOW, reason="Throttled.", failures={"pool": "It broke."}, etag="old")
    well = PoolRound(NOW + MINUTE, as_of=NOW + MINUTE, etag="new")
    for ours, stored in ((failed, well), (well, failed)):
        both = ours.merged(stored)
        assert (both.as_of, both.problem, both.etag) == (NOW + MINUTE, None, stored.etag)


def test_a_failure_concerns_its_pool_and_one_of_the_round_those_that_it_did_not_reach() -> None:
    pool = listed(first_seen(facts(), NOW), NOW)
    assert PoolRound(NOW, as_of=NOW, failures={"pool": "Its own."}).failure_of(pool.key, pool.nodes_as_of) == "Its own."
    assert PoolRound(NOW, as_of=NOW, failures={"other": "Its own."}).failure_of(pool.key, pool.nodes_as_of) is None
    assert PoolRound(NOW, as_of=NOW, reason="Throttled.").failure_of(pool.key, pool.nodes_as_of) is None
    assert (
        PoolRound(NOW, as_of=NOW + MINUTE, reason="Throttled.").failure_of(pool.key, pool.nodes_as_of) == "Throttled."
    )
    assert PoolRound(NOW, as_of=None, reason="No list.").failure_of(pool.key, pool.nodes_as_of) == "No list."
    assert PoolRound(NOW, as_of=NOW, reason="Throttled.").failure_of(pool.key, None) == "Throttled."


def test_a_round_names_its_problem_in_a_sentence() -> None:
    assert PoolRound(NOW).problem is None
    assert PoolRound(NOW, reason="No list.", failures={"a": "x"}).problem == "No list."
    assert PoolRound(NOW, failures={"a": "x"}).problem == "1 pool couldn't be polled; its verdict says why."
    assert (
        PoolRound(NOW, failures={"a": "x", "b": "y"}).problem == "2 pools couldn't be polled; their verdicts say why."
    )
