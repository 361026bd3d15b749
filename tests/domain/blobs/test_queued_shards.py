"""Shards in the queue: to whom they belong, and until when."""

from datetime import UTC, datetime, timedelta

from shared.domain.blobs.blobs import SeenBlob
from shared.domain.blobs.queued_shards import LASTS, MAX_BLOBS, QueuedShard, UnreadBlob

NOW = datetime(2026, 8, 6, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
BLOB = UnreadBlob(SeenBlob("blob", NOW, NOW, 1, "etag"), None)


def test_a_shard_keeps_its_message_when_its_blobs_are_listed_anew() -> None:
    waiting = QueuedShard(7, NOW).with_blobs([BLOB], NOW)
    assert waiting.until == NOW + LASTS
    again = waiting.with_blobs([BLOB, BLOB], NOW + SECOND)
    assert (again.until, list(again.blobs)) == (waiting.until, [BLOB, BLOB])


def test_a_shard_whose_message_is_overdue_gets_another() -> None:
    waiting = QueuedShard(7, NOW).with_blobs([BLOB], NOW)
    assert not waiting.is_waiting(waiting.until)
    assert waiting.with_blobs([BLOB], waiting.until).until == waiting.until + LASTS


def test_a_shard_belongs_to_its_reader_until_its_mark_ends() -> None:
    read = QueuedShard(7, NOW).with_blobs([BLOB], NOW).claimed(NOW + SECOND)
    assert not read.is_waiting(NOW + SECOND)
    assert read.is_left_alone(NOW + LASTS)
    assert not read.is_left_alone(NOW + LASTS + SECOND)


def test_a_mark_further_in_the_future_than_any_can_be_does_not_count() -> None:
    waiting = QueuedShard(7, NOW + 2 * LASTS)
    assert not waiting.is_waiting(NOW)
    assert not waiting.claimed(NOW + 2 * LASTS).is_left_alone(NOW)


def test_a_shard_holds_a_bounded_number_of_blobs() -> None:
    assert len(QueuedShard(7, NOW).with_blobs([BLOB] * (MAX_BLOBS + 1), NOW).blobs) == MAX_BLOBS
