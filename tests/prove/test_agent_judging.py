"""The judge of the proof that agents lose nothing: each loss, repetition and wrong count is found."""

import gzip
import io

from local.prove.agent.judging.lives import KILLED, SECOND, ProcessLife, outside
from local.prove.agent.judging.losses import Bounds
from local.prove.agent.judging.sessions import SpooledUnit, StoredBlob
from local.prove.agent.judging.verdicts import NodeEvidence, NodeVerdict, judge_node

SESSION = "20261127T120000000Z-77-0a0a"
PATH = f"/account/telemetry/accounts/a/pools/p/nodes/n1/agent/{SESSION}"
BOUNDS = Bounds(interval=1.0, flush=5.0, slack=1.0)


def member(name: object, text: str) -> bytes:
    stored = io.BytesIO()
    with gzip.GzipFile(f"{SESSION}.{name}", "wb", fileobj=stored, mtime=0) as file:
        file.write(text.encode())
    return stored.getvalue()


OPENING = member("opening", "batchscope_agent contract=1i 1\n")


def unit(number: int, *, dropped: int = 0) -> bytes:
    """Returns a unit of one sample and the agent's own record, at its number in seconds."""
    counts = f"flushed_records={number * 2}i,dropped_units={dropped}i,dropped_records={dropped * 2}i"
    return member(number, f"mem free=1i {number * SECOND}\nbatchscope_agent {counts} {number * SECOND}\n")


def judged(stored: list[bytes], spooled: list[bytes], *lives: ProcessLife, sealed: bool = True) -> NodeVerdict:
    units = [SpooledUnit(SESSION, number, 2, content) for number, content in enumerate(spooled)]
    blob = StoredBlob(f"{PATH}.0.gz", OPENING + b"".join(stored), sealed)
    return judge_node(NodeEvidence("n1", units, [blob], lives), BOUNDS)


def test_units_that_are_all_stored_are_right() -> None:
    verdict = judged([unit(0), unit(1), unit(2)], [unit(0), unit(1), unit(2)])
    assert verdict.wrong == []
    assert (verdict.units, verdict.records, verdict.samples) == (3, 6, 3)


def test_a_unit_that_is_missing_is_wrong_unless_it_is_counted() -> None:
    spooled = [unit(0), unit(1), unit(2)]
    assert "1 units are missing (1), 0 are counted" in judged([unit(0), unit(2)], spooled).wrong[0]
    assert judged([unit(0), unit(2, dropped=1)], [unit(0), unit(1), unit(2, dropped=1)]).wrong == []


def test_a_unit_that_is_stored_and_counted_as_dropped_is_wrong() -> None:
    assert judged([unit(0), unit(1, dropped=1)], []).wrong


def test_a_unit_twice_or_out_of_order_is_wrong() -> None:
    assert "unit 1 is stored behind unit 1" in judged([unit(0), unit(1), unit(1)], []).wrong[0]
    assert "unit 0 is stored behind unit 1" in judged([unit(1), unit(0)], []).wrong[0]


def test_bytes_that_differ_are_cut_off_or_lack_an_opening_are_wrong() -> None:
    other = member(0, "mem free=2i 0\nbatchscope_agent flushed_records=0i 0\n")
    assert "other bytes" in judged([unit(0)], [other]).wrong[0]
    assert "cut off" in judged([unit(0)[:-4]], []).wrong[0]
    blob = StoredBlob(f"{PATH}.0.gz", unit(0), is_sealed=True)
    assert "opening" in judge_node(NodeEvidence("n1", [], [blob], []), BOUNDS).wrong[0]


def test_a_blob_that_stays_open_and_a_session_in_the_spool_are_wrong() -> None:
    assert "isn't sealed" in judged([unit(0)], [], sealed=False).wrong[0]
    left = judge_node(NodeEvidence("n1", [], [], [], left=[SESSION]), BOUNDS)
    assert "left in the spool" in left.wrong[0]


def test_a_killed_agent_may_lose_one_flush_interval_and_no_pause_counts() -> None:
    def life(ended: int, *paused: tuple[int, int]) -> ProcessLife:
        return ProcessLife("n1", "run", 77, 0, ended * SECOND, KILLED, paused=list(paused))

    stored = [unit(0), unit(1)]
    assert judged(stored, [], life(6)).losses == [5.0]
    assert judged(stored, [], life(6)).wrong == []
    assert "lost the last 7.0 s" in judged(stored, [], life(8)).wrong[0]
    assert judged(stored, [], life(8, (2 * SECOND, 5 * SECOND))).wrong == []


def test_samples_with_a_gap_are_wrong() -> None:
    late = member(1, f"mem free=1i {9 * SECOND}\n")
    assert "9.0 s between two samples" in judged([unit(0), late], []).wrong[0]


def test_lines_that_were_fed_must_be_there_but_for_the_last() -> None:
    life = ProcessLife("n1", "append", 77, 0, 9 * SECOND, KILLED, fed=[number * SECOND for number in range(8)])
    kept = [life.line(number) for number in range(5)]

    def wrong(lines: list[str]) -> list[str]:
        return judged([member(0, "".join(f"{line}\n" for line in lines))], [], life).wrong

    assert wrong(kept) == []
    assert "missing amid others" in wrong([kept[0], *kept[2:]])[0]
    assert "lost lines of 7.0 s" in wrong(kept[:2])[0]
    assert "more than once" in wrong([*kept, kept[0]])[0]
    assert "nobody fed" in wrong([*kept, "proof,life=x n=0i 1"])[0]


def test_windows_that_overlap_count_once() -> None:
    assert outside(0, 10, [(2, 5), (4, 6), (9, 20)]) == 5


def test_a_session_is_of_the_process_with_its_number_unless_another_is_known_to_have_it() -> None:
    others = [ProcessLife("n1", "run", 1, 0, 9 * SECOND, KILLED), ProcessLife("n1", "run", 2, 0, 9 * SECOND, KILLED)]
    others[1].session = SESSION
    verdict = judged([unit(0), unit(4)], [], ProcessLife("n1", "run", 77, 0, 9 * SECOND, KILLED), *others)
    assert verdict.losses == [5.0, 9.0, 5.0]


def test_a_kill_may_lose_units_in_memory_while_the_disk_takes_none() -> None:
    life = ProcessLife("n1", "run", 77, 0, 20 * SECOND, KILLED, in_memory=[(6 * SECOND, 20 * SECOND)])
    assert judged([unit(0), unit(1)], [], life).wrong == []
    life.in_memory = [(9 * SECOND, 20 * SECOND)]
    assert "lost the last 8.0 s" in judged([unit(0), unit(1)], [], life).wrong[0]


def test_restarts_of_a_machine_are_events_and_equal_records_are_one() -> None:
    long, short = 9 * SECOND, SECOND
    lives = [ProcessLife("n1", "run", 77, 0, ended, KILLED, boot=boot) for boot, ended in ((1, long), (2, short))]

    def wrong(*times: int) -> list[str]:
        text = "".join(f'batchscope_event,kind=reboot message="It was restarted." {time}\n' for time in times)
        blob = StoredBlob(f"{PATH}.0.gz", OPENING + member(0, text), is_sealed=True)
        found = judge_node(NodeEvidence("n1", [], [blob], lives, boots=2), BOUNDS).wrong
        return [sentence for sentence in found if "reboots" in sentence]

    assert wrong() == wrong(1) == wrong(1, 1) == []
    assert wrong(1, 2) == ["n1: 2 reboots reported of 1"]
    lives.append(ProcessLife("n1", "run", 78, 0, long, KILLED, boot=2))
    assert wrong() == ["n1: 0 reboots reported of 1"]
