import random
import string
import uuid
import zlib
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.core.keys import key_of
from shared.domain.leaves.leaves import FORMAT, MAX_BYTES, Leaf, UnreadableLeafError
from shared.domain.packing.columns import IntegerColumn
from shared.domain.packing.compression import deflated
from shared.domain.packing.id_column import Ids
from shared.domain.tasks.tasks import Task
from tests.domain.leaves.present_format import PRESENT_FORMAT_STORED, PRESENT_FORMAT_TASKS
from tests.domain.support.task_strategies import counted, distinct, tasks
from tests.profiles import half_as_many

many_tasks = st.lists(tasks, max_size=20)


@half_as_many()
@given(many_tasks)
def test_any_tasks_survive_packing(many: list[Task]) -> None:
    rows = distinct(many)
    leaf = Leaf.unpack(Leaf(rows).pack())
    assert list(leaf) == rows
    assert leaf.keys == [key_of(task.id) for task in rows]
    assert leaf.counts() == counted(rows)


@half_as_many()
@given(many_tasks, many_tasks)
def test_an_unpacked_leaf_folds_like_the_one_that_was_packed(before: list[Task], seen: list[Task]) -> None:
    rows = distinct(before)
    packed, kept = Leaf.unpack(Leaf(rows).pack()), Leaf(rows)
    assert packed.fold(seen) == kept.fold(seen)
    assert list(packed) == list(kept)


@half_as_many()
@given(st.lists(many_tasks, max_size=5))
def test_folding_reads_one_after_another_agrees_with_a_dictionary(reads: list[list[Task]]) -> None:
    leaf, model = Leaf(), dict[str, Task]()
    for read in reads:
        after = model | {task.id.lower(): task for task in read}
        assert leaf.fold(read) == (after != model)
        model = after
        assert list(leaf) == [model[name] for name in sorted(model)]
        assert leaf.counts() == counted(model.values())


def test_the_later_read_wins_regardless_of_stamps() -> None:
    leaf = Leaf([Task("render-1", 2, transition=5_000)])
    assert leaf.fold([Task("render-1", 3, 1, transition=4_000)])
    assert leaf.row(0) == Task("render-1", 3, 1, transition=4_000)


def test_of_a_task_seen_twice_in_one_read_the_one_received_later_wins() -> None:
    leaf = Leaf()
    leaf.fold([Task("render-1", 3, 1, transition=9), Task("Render-1", 0, transition=7)])
    assert list(leaf) == [Task("Render-1", 0, transition=7)]


def test_folding_known_tasks_moves_nothing() -> None:
    rows = [Task("a", 1), Task("b", 3, 2, exit_code=None, failure=("userError", "FailureExitCode"))]
    assert not Leaf(rows).fold(rows)


@half_as_many()
@given(many_tasks, many_tasks, st.integers(1, 8))
def test_splitting_keeps_order_and_loses_nothing(many: list[Task], more: list[Task], limit: int) -> None:
    leaf = Leaf(distinct(many))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shared.domain.leaves.leaves._RUN", 1)
        leaf.fold(more)
    parts = leaf.split(limit)
    assert [task for part in parts for task in part] == list(leaf)
    assert all(len(part) <= limit for part in parts)
    assert len(parts) == 1 or all(len(part) >= max(1, limit // 4) for part in parts)
    assert sum((part.counts() for part in parts[1:]), parts[0].counts()) == leaf.counts()


def test_tasks_that_come_behind_a_full_leaf_in_falling_order_do_not_each_begin_another() -> None:
    leaf, split_off = Leaf(Task(f"a-{number:03}", 0, transition=1, creation=1) for number in range(100)), list[Leaf]()
    for number in range(200, 0, -1):
        leaf.fold([Task(f"b-{number:03}", 0, transition=1, creation=1)])
        leaf, *behind = leaf.split(100)
        split_off += behind
    assert min(map(len, split_off)) >= 25


@pytest.mark.parametrize(
    ("before", "new", "behind", "parts"),
    [
        (40, 30, 40, [70, 40]),
        (40, 250, 60, [100, 100, 90, 60]),
        (40, 161, 60, [100, 76, 25, 60]),
        (0, 90, 90, [90, 90]),
        (40, 90, 20, [100, 50]),
        (80, 30, 24, [100, 34]),
        (10, 10, 95, [57, 58]),
        (40, 1, 60, [50, 51]),
        (100, 1, 0, [76, 25]),
    ],
)
def test_a_leaf_that_grew_in_one_place_ends_there(
    before: int, new: int, behind: int, parts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.domain.leaves.leaves._RUN", 10)
    named = {"a": before, "b": new, "c": behind}
    tasks = {letter: [Task(f"{letter}-{number:03}", 0, transition=1, creation=1) for number in range(count)]
             for letter, count in named.items()}  # fmt: skip
    leaf = Leaf([*tasks["a"], *tasks["c"]])
    assert leaf.fold(tasks["b"])
    found = leaf.split(100)
    assert [len(part) for part in found] == parts
    assert [task for part in found for task in part] == [*tasks["a"], *tasks["b"], *tasks["c"]]
    assert [part.pack() for part in found] == [Leaf(list(part)).pack() for part in found]


def test_a_split_leaves_room_to_grow_on_all_sides() -> None:
    leaf = Leaf([Task(f"task-{number:06}", 0) for number in range(101)])
    assert [len(part) for part in leaf.split(100)] == [50, 51]


@half_as_many()
@given(many_tasks, st.integers(1, 8))
def test_parts_of_a_split_leaf_are_packed_like_new_leaves(many: list[Task], limit: int) -> None:
    for part in Leaf.unpack(Leaf(distinct(many)).pack()).split(limit):
        assert list(Leaf.unpack(part.pack())) == list(part)
        assert len(part.pack()) <= len(Leaf(list(part)).pack()) + 32  # words are in another order


def test_a_leaf_whose_words_are_long_is_split_by_its_bytes() -> None:
    dice = random.Random(5)  # noqa: S311
    codes = ["".join(dice.choices(string.ascii_letters, k=1000)) for _ in range(1200)]
    rows = [Task(f"task-{at:06}", 3, 2, failure=("userError", code)) for at, code in enumerate(codes)]
    parts = Leaf(rows).split()
    assert [task for part in parts for task in part] == rows
    assert len(parts) > 1
    assert all(len(part.pack()) <= MAX_BYTES for part in parts)


def test_folding_one_task_packs_only_the_columns_that_moved() -> None:
    rows = realistic(numbered)
    leaf = Leaf.unpack(Leaf(rows).pack())
    before = leaf._columns.pack()
    assert leaf.fold([rows[7]._replace(retries=9)])
    moved = [name for name, was, now in zip(Task._fields, before, leaf._columns.pack(), strict=True) if now != was]
    assert moved == ["retries"]


@half_as_many()
@given(many_tasks, many_tasks)
def test_a_folded_leaf_is_packed_like_a_new_one(before: list[Task], seen: list[Task]) -> None:
    leaf = Leaf.unpack(Leaf(distinct(before)).pack())
    leaf.fold(seen)
    assert list(Leaf.unpack(leaf.pack())) == distinct([*before, *seen])
    assert len(leaf.pack()) <= len(Leaf(distinct([*before, *seen])).pack()) + 64  # words are in another order


@given(guids=st.lists(st.uuids(), min_size=1, max_size=20, unique=True), upper=st.booleans())
def test_guids_take_sixteen_bytes_and_come_back_as_they_were_written(*, guids: list[uuid.UUID], upper: bool) -> None:
    names = sorted(str(each).upper() if upper else str(each) for each in guids)
    packed = Ids(names).pack()
    assert list(Ids.unpack(packed, len(names))[0]) == names
    assert (len(packed) == 16 * len(names) + 1) is not upper or not any(map(str.isalpha, "".join(names)))


def test_every_column_is_stored_as_it_always_was() -> None:
    assert Leaf(PRESENT_FORMAT_TASKS).pack() == PRESENT_FORMAT_STORED
    assert list(Leaf.unpack(PRESENT_FORMAT_STORED)) == PRESENT_FORMAT_TASKS
    guids = [f"00000000-0000-4000-8000-{number:012}" for number in range(2)]
    assert Ids(guids).pack().hex() == "67" + "00000000000040008000000000000000" + "00000000000040008000000000000001"


def test_pairs_that_no_task_has_any_more_leave_the_stored_form() -> None:
    leaf = Leaf([Task("a", 2, node=("pool", "node-0"))])
    for number in range(500):
        leaf.fold([Task("a", 2, node=("pool", f"node-{number}-{uuid.UUID(int=number)}"))])
    assert len(leaf.pack()) < 250


def stored_form(body: bytes, *, count: int = 3, kind: int = FORMAT) -> bytes:
    return bytes([kind]) + count.to_bytes(4, "little") + zlib.crc32(body).to_bytes(4, "little") + body


def joined(columns: list[bytes]) -> bytes:
    return b"".join(len(column).to_bytes(4, "little") + column for column in columns)


THREE = Leaf([Task("a", 0), Task("b", 2, node=("p", "n")), Task("c", 3, 1, 5, 4, 5, 6, 7)])
STORED = THREE.pack()
BODY = STORED[9:]
COLUMNS = THREE._columns.pack()
IDS, STATES, RESULTS, TRANSITIONS, CREATIONS, STARTS, ENDS, EXITS, FAILURES, RETRIES, REQUEUES, SLOTS, NODES = range(13)
ZEROS = IntegerColumn("i", [0, 0, 0]).pack()


def with_column(place: int, column: bytes) -> bytes:
    return stored_form(joined([*COLUMNS[:place], column, *COLUMNS[place + 1 :]]))


def words(json: bytes, numbers: bytes) -> bytes:
    packed = deflated(json)
    return len(packed).to_bytes(4, "little") + packed + numbers


DAMAGES: dict[str, bytes] = {
    "nothing": b"",
    "half a header": STORED[:3],
    "a header alone": STORED[:9],
    "a newer format": stored_form(BODY, kind=FORMAT + 1),
    "no format": stored_form(BODY, kind=0),
    "no columns": STORED[:9] + b"not columns at all",
    "a body cut short": STORED[:-3],
    "something after the body": STORED + b"x",
    "another checksum": STORED[:5] + bytes([STORED[5] ^ 1]) + STORED[6:],
    "one task too many": stored_form(BODY, count=2),
    "one task too few": stored_form(BODY, count=4),
    "no task": stored_form(BODY, count=0),
    "an empty body": stored_form(b""),
    "a last column cut short": stored_form(BODY[:-2]),
    "a column missing": stored_form(joined(COLUMNS[:-1])),
    "a column too many": stored_form(joined([*COLUMNS, b""])),
    "ids that are no text": with_column(IDS, b"r\xff\n\xff\n\xff\n"),
    "ids out of order": with_column(IDS, b"rb\na\nc\n"),
    "an id twice": with_column(IDS, b"ra\na\nc\n"),
    "an id too many": with_column(IDS, b"ra\nb\nc\nd\n"),
    "an id without its end": with_column(IDS, b"ra\nb\nc"),
    "ids packed in no known way": with_column(IDS, b"qa\nb\nc\n"),
    "half a GUID": with_column(IDS, b"g" + bytes(47)),
    "GUIDs twice": with_column(IDS, b"g" + bytes(48)),
    "a stream cut short": with_column(IDS, deflated(b"a\n" * 99)[:-1]),
    "something after a stream": with_column(IDS, deflated(b"a\n" * 99) + b"x"),
    "a state that there is not": with_column(STATES, IntegerColumn("B", [0, 2, 9]).pack()),
    "a result that there is not": with_column(RESULTS, IntegerColumn("B", [0, 0, 3]).pack()),
    "states too short": with_column(STATES, IntegerColumn("B", [0, 2]).pack()),
    "numbers too wide": with_column(STATES, IntegerColumn("q", [1 << 40, 2, 3]).pack()),
    "too few numbers": with_column(TRANSITIONS, IntegerColumn("q", [1, 2]).pack()),
    "too many numbers": with_column(TRANSITIONS, IntegerColumn("q", [1, 2, 3, 4]).pack()),
    "numbers cut short": with_column(TRANSITIONS, COLUMNS[TRANSITIONS][:-1]),
    "numbers without their steady bytes": with_column(CREATIONS, b"\x00"),
    "no numbers at all": with_column(STARTS, b""),
    "words that are no JSON": with_column(FAILURES, words(b"[[", ZEROS)),
    "words in no list": with_column(FAILURES, words(b"7", ZEROS)),
    "pairs that are no pairs": with_column(FAILURES, words(b'[["a"]]', ZEROS)),
    "pairs of numbers": with_column(FAILURES, words(b"[[1,2]]", ZEROS)),
    "exit codes that are words": with_column(EXITS, words(b'["x"]', ZEROS)),
    "exit codes that are fractions": with_column(EXITS, words(b"[1.5]", ZEROS)),
    "a word that there is not": with_column(NODES, words(b'[["",""]]', IntegerColumn("i", [0, 1, 0]).pack())),
    "a word before the first": with_column(NODES, words(b'[["",""]]', IntegerColumn("i", [0, 0, -1]).pack())),
    "a word twice": with_column(RETRIES, words(b"[0,0]", ZEROS)),
    "words without numbers": with_column(NODES, words(b'[["",""]]', b"")),
    "words cut short": with_column(NODES, b"\xff\x00\x00\x00r[]"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_leaf_is_refused_in_one_way(damage: str) -> None:
    with pytest.raises(UnreadableLeafError):
        Leaf.unpack(DAMAGES[damage])


def refused_or_read(stored: bytes) -> None:
    """Asserts that a leaf is either unreadable or whole: every row can be read and counted."""
    try:
        leaf = Leaf.unpack(stored)
    except UnreadableLeafError:
        return
    assert counted(leaf) == leaf.counts()


@half_as_many()
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
    """Returns tasks added by the hundred, run in waves on 200 nodes of four slots; most are completed, 2 % failed."""
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
