"""The sum over a group of processes, on single cases; random ones stand in test_process_trees.py."""

import pytest

from agent.tasks.cumulative_counter import NOBODY, UNKNOWN, CumulativeCounter, EndedProcess


def test_a_child_that_is_waited_for_counts_once() -> None:
    counter = CumulativeCounter()
    assert counter.update({1: (5, 0), 2: (30, 0)}) == 35
    assert counter.update({1: (5 + 32, 32)}, [EndedProcess(2, 1)]) == 37
    assert not counter.is_uncertain


def test_a_child_that_nobody_waits_for_keeps_its_last_time() -> None:
    counter = CumulativeCounter()
    counter.update({1: (5, 0), 2: (30, 0)})
    assert counter.update({1: (6, 0)}, [EndedProcess(2, 1)]) == 36
    assert counter.is_uncertain


def test_a_child_that_ends_while_processes_are_read_is_claimed_by_its_waiter_in_the_next_sample() -> None:
    counter = CumulativeCounter()
    counter.update({1: (5, 0), 2: (30, 0)})
    assert counter.update({1: (5, 0)}, [EndedProcess(2, 1)]) == 35
    assert counter.update({1: (5 + 33, 33)}) == 38


def test_the_claim_goes_over_to_whoever_waits_for_the_waiter() -> None:
    counter = CumulativeCounter()
    counter.update({1: (0, 0), 2: (5, 0), 3: (30, 0)})
    counter.update({1: (0, 0), 2: (5, 0)}, [EndedProcess(3, 2)])
    assert counter.update({1: (38, 38)}, [EndedProcess(2, 1)]) == 38


def test_a_claim_lives_for_one_sample() -> None:
    counter = CumulativeCounter()
    counter.update({1: (5, 0), 2: (30, 0)})
    counter.update({1: (5, 0)}, [EndedProcess(2, 1)])
    counter.update({1: (5, 0)})
    assert counter.update({1: (5 + 8, 8)}) == 43


@pytest.mark.parametrize("waiter", [NOBODY, UNKNOWN])
def test_a_process_without_a_waiter_in_the_group_is_retained(waiter: int) -> None:
    counter = CumulativeCounter()
    counter.update({1: (5, 0), 2: (30, 0)})
    assert counter.update({1: (5, 0)}, [EndedProcess(2, waiter)]) == 35


def test_a_subtree_that_ended_is_found_with_its_living_ancestor() -> None:
    counter = CumulativeCounter()
    counter.update({1: (0, 0), 2: (10, 0), 3: (20, 0)})
    assert counter.update({1: (31, 31)}, [EndedProcess(2, 1), EndedProcess(3, UNKNOWN)]) == 31


def test_exit_accounting_replaces_the_last_reading() -> None:
    counter = CumulativeCounter()
    counter.update({1: (5, 0), 2: (30, 0)})
    assert counter.update({1: (5, 0)}, [EndedProcess(2, NOBODY, 47), EndedProcess(9, NOBODY, 3)]) == 55


def test_children_of_other_tasks_dont_count() -> None:
    counter = CumulativeCounter()
    counter.update({1: (5, 0)})
    assert counter.update({1: (105, 100)}, foreign={1: 98}) == 7


def test_rounding_errors_of_a_waiter_dont_add_up() -> None:
    counter, waited = CumulativeCounter(rounding=10), 0
    counter.update({1: (0, 0)})
    for turn in range(1, 21):
        waited = 5 * turn // 10 * 10
        counter.update({1: (waited, waited)}, [EndedProcess(100 + turn, 1, 5)])
    assert counter.total == 100


def test_a_garbled_reading_never_makes_the_sum_fall() -> None:
    counter = CumulativeCounter()
    counter.update({1: (50, 20)})
    assert counter.update({1: (0, 0)}) == 50
