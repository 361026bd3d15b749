import random
import string
import uuid
import zlib
from array import array
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain import columns
from shared.domain.keys import key_of
from shared.domain.leaves import FORMAT, Leaf, UnreadableLeafError
from shared.domain.tasks import Task
from tests.domain.task_strategies import counted, distinct, tasks

many_tasks = st.lists(tasks, max_size=20)


@given(many_tasks)
def test_any_tasks_survive_packing(many: list[Task]) -> None:
    rows = distinct(many)
    leaf = Leaf.unpack(Leaf(rows).pack())
    assert list(leaf) == rows
    assert leaf.keys == [key_of(task.id) for task in rows]
    assert leaf.counts() == counted(rows)


@given(many_tasks, many_tasks)
def test_an_unpacked_leaf_folds_like_the_one_that_was_packed(before: list[Task], seen: list[Task]) -> None:
    rows = distinct(before)
    packed, kept = Leaf.unpack(Leaf(rows).pack()), Leaf(rows)
    assert packed.fold(seen) == kept.fold(seen)
    assert list(packed) == list(kept)


@given(st.lists(many_tasks, max_size=5))
def test_folding_reads_one_after_another_is_what_a_dictionary_would_hold(reads: list[list[Task]]) -> None:
    leaf, model = Leaf(), dict[str, Task]()
    for read in reads:
        after = model | {task.id.lower(): task for task in read}
        assert leaf.fold(read) == (after != model)
        model = after
        assert list(leaf) == [model[name] for name in sorted(model)]
        assert leaf.counts() == counted(model.values())


def test_what_was_seen_later_wins_whatever_its_stamps_say() -> None:
    leaf = Leaf([Task("render-1", 2, transition=5_000)])
    assert leaf.fold([Task("render-1", 3, 1, transition=4_000)])
    assert leaf.row(0) == Task("render-1", 3, 1, transition=4_000)


def test_of_a_task_seen_twice_in_one_read_the_one_received_later_wins() -> None:
    leaf = Leaf()
    leaf.fold([Task("render-1", 3, 1, transition=9), Task("Render-1", 0, transition=7)])
    assert list(leaf) == [Task("Render-1", 0, transition=7)]


def test_folding_what_is_known_moves_nothing() -> None:
    rows = [Task("a", 1), Task("b", 3, 2, exit_code=None, failure=("userError", "FailureExitCode"))]
    assert not Leaf(rows).fold(rows)


@given(many_tasks, st.integers(1, 8))
def test_splitting_keeps_order_and_loses_nothing(many: list[Task], limit: int) -> None:
    leaf = Leaf(distinct(many))
    parts = leaf.split(limit)
    assert [task for part in parts for task in part] == list(leaf)
    assert all(len(part) <= limit for part in parts)
    assert len(parts) == 1 or all(len(part) for part in parts)
    assert sum((part.counts() for part in parts[1:]), parts[0].counts()) == leaf.counts()


def test_a_split_leaves_room_to_grow() -> None:
    leaf = Leaf([Task(f"task-{number:06}", 0) for number in range(101)])
    assert [len(part) for part in leaf.split(100)] == [75, 26]


def test_pairs_that_no_task_has_any_more_leave_the_stored_form() -> None:
    leaf = Leaf([Task("a", 2, node=("pool", "node-0"))])
    for number in range(500):
        leaf.fold([Task("a", 2, node=("pool", f"node-{number}-{uuid.UUID(int=number)}"))])
    assert len(leaf.pack()) < 250


def body_of(stored: bytes) -> bytes:
    return zlib.decompress(stored[5:])


def stored_form(body: bytes, *, count: int = 3, kind: int = FORMAT) -> bytes:
    return bytes([kind]) + count.to_bytes(4, "little") + zlib.compress(body)


THREE = Leaf([Task("a", 0), Task("b", 2, node=("p", "n")), Task("c", 3, 1, 5, 4, 5, 6, 7)])
COLUMNS = list(columns.parts(body_of(THREE.pack())))
NUMBERS = columns.pack_numbers(array("q", [1, 2, 3]))


def with_column(place: int, column: bytes) -> bytes:
    return stored_form(columns.join([*COLUMNS[:place], column, *COLUMNS[place + 1 :]]))


DAMAGES: dict[str, bytes] = {
    "nothing": b"",
    "half a header": THREE.pack()[:3],
    "a header alone": THREE.pack()[:5],
    "a newer format": stored_form(body_of(THREE.pack()), kind=FORMAT + 1),
    "no stream": THREE.pack()[:5] + b"not zlib at all",
    "a stream cut short": THREE.pack()[:-3],
    "something after the stream": THREE.pack() + b"x",
    "another checksum": THREE.pack()[:-1] + bytes([THREE.pack()[-1] ^ 1]),
    "one task too many": stored_form(body_of(THREE.pack()), count=2),
    "one task too few": stored_form(body_of(THREE.pack()), count=4),
    "no task": stored_form(body_of(THREE.pack()), count=0),
    "an empty body": stored_form(b""),
    "a body cut short": stored_form(body_of(THREE.pack())[:-2]),
    "a column missing": stored_form(columns.join(COLUMNS[:-1])),
    "a column too many": stored_form(columns.join([*COLUMNS, b""])),
    "ids that are no text": with_column(0, b"\xff\n\xff\n\xff"),
    "ids out of order": with_column(0, b"b\na\nc"),
    "an id twice": with_column(0, b"a\na\nc"),
    "a state that there is not": with_column(1, bytes([0, 2, 9])),
    "a result that there is not": with_column(2, bytes([0, 0, 3])),
    "states too short": with_column(1, bytes([0, 2])),
    "an unknown kind of number": with_column(3, b"!" + NUMBERS[1:]),
    "numbers that are letters": with_column(3, b"w" + bytes(12)),
    "numbers that are fractions": with_column(3, b"d" + bytes(24)),
    "numbers that are no whole number of bytes": with_column(3, b"h" + bytes(7)),
    "too few numbers": with_column(4, columns.pack_numbers(array("q", [1, 2]))),
    "too few differences": with_column(5, columns.pack_numbers(array("q", [1, 2]))),
    "too few exit codes": with_column(7, columns.pack_numbers(array("q", [1, 2]))),
    "steps that leave 64 bits": with_column(3, columns.pack_numbers(array("q", [2**63 - 1, 1, 1]))),
    "no numbers at all": with_column(9, b""),
    "pairs that are no JSON": with_column(11, columns.join([b"[[", NUMBERS])),
    "pairs that are no pairs": with_column(11, columns.join([b'[["a"]]', columns.pack_numbers(array("q", [0, 0, 0]))])),
    "pairs of numbers": with_column(11, columns.join([b"[[1,2]]", columns.pack_numbers(array("q", [0, 0, 0]))])),
    "pairs in no list": with_column(11, columns.join([b"7", columns.pack_numbers(array("q", [0, 0, 0]))])),
    "a pair that there is not": with_column(12, columns.join([b'[["",""]]', NUMBERS])),
    "a pair before the first": with_column(
        12, columns.join([b'[["",""]]', columns.pack_numbers(array("q", [0, 0, -1]))])
    ),
    "pairs without numbers": with_column(12, columns.join([b'[["",""]]'])),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_leaf_is_refused_in_one_way(damage: str) -> None:
    with pytest.raises(UnreadableLeafError):
        Leaf.unpack(DAMAGES[damage])


def refused_or_read(stored: bytes) -> None:
    """A leaf either says that it can't be read, or is whole: every row can be had and counted."""
    try:
        leaf = Leaf.unpack(stored)
    except UnreadableLeafError:
        return
    assert counted(leaf) == leaf.counts()


@given(many_tasks, st.data())
def test_one_wrong_byte_never_passes_for_other_tasks(many: list[Task], choice: st.DataObject) -> None:
    rows = distinct(many)
    stored = bytearray(Leaf(rows).pack())
    place = choice.draw(st.integers(0, len(stored) - 1))
    stored[place] ^= choice.draw(st.integers(1, 255))
    with suppress(UnreadableLeafError):
        assert list(Leaf.unpack(bytes(stored))) == rows


@given(st.binary(max_size=60))
def test_any_bytes_are_refused_in_one_way(stored: bytes) -> None:
    refused_or_read(stored)


@given(st.binary(max_size=60), st.integers(0, 4))
def test_any_body_is_refused_in_one_way(body: bytes, count: int) -> None:
    refused_or_read(stored_form(body, count=count))


@given(st.integers(0, len(COLUMNS) - 1), st.binary(max_size=40))
def test_any_column_is_refused_in_one_way(place: int, column: bytes) -> None:
    refused_or_read(with_column(place, column))


def numbered(number: int, dice: random.Random) -> str:
    return f"task-{number:06}"


def guid(number: int, dice: random.Random) -> str:
    return str(uuid.UUID(int=dice.getrandbits(128), version=4))


def realistic(name: Callable[[int, random.Random], str], size: int = 4096) -> list[Task]:
    """Tasks added by the hundred, run in waves on 200 nodes of four slots; most are over, one in fifty failed."""
    dice = random.Random(7)  # noqa: S311
    rows = []
    for number in range(size):
        creation = 1_790_000_000_000 + number // 100 * 850 + dice.randrange(10)
        start = creation + 60_000 + number // 800 * 95_000 + dice.randrange(5_000)
        end = start + 90_000 + dice.randrange(10_000)
        node = ("render-pool", f"tvmps_{number % 200:064x}_d")
        failed = dice.random() < 0.02
        failure = ("userError", "FailureExitCode") if failed else ("", "")
        if number > size * 0.97:
            rows.append(Task(name(number, dice), 0, 0, creation, creation))
        elif number > size * 0.9:
            rows.append(Task(name(number, dice), 2, 0, start, creation, start, node=node))
        else:
            result = 2 if failed else 1
            rows.append(
                Task(name(number, dice), 3, result, end, creation, start, end, int(failed), failure, 0, 0, 1, node)
            )
    return distinct(rows)


@pytest.mark.parametrize(("name", "limit"), [(numbered, 14), (guid, 34)])
def test_a_task_costs_few_bytes(name: Callable[[int, random.Random], str], limit: int) -> None:
    rows = realistic(name)
    assert len(Leaf(rows).pack()) <= limit * len(rows)


def test_a_full_leaf_of_the_longest_ids_fits_one_entity() -> None:
    dice = random.Random(3)  # noqa: S311
    names = ["".join(dice.choices(string.ascii_letters + string.digits, k=64)) for _ in range(4096)]
    rows = [Task(name, 2, node=("p" * 64, name[::-1] + str(at))) for at, name in enumerate(names)]
    assert len(Leaf(distinct(rows)).pack()) * 4 // 3 < 1024 * 1024
