from hypothesis import given
from hypothesis import strategies as st

from shared.domain.core.call_window import CallWindow

GAPS = st.lists(st.integers(0, 90), max_size=60)


@given(limit=st.integers(1, 8), gaps=GAPS)
def test_a_client_that_waits_keeps_the_limit_in_any_minute(limit: int, gaps: list[int]) -> None:
    window, now = CallWindow(limit), 1000.0
    sent: list[float] = []
    for gap in gaps:
        now += gap
        if wait := window.wait(now):
            assert len([at for at in sent if now - at < 60]) == limit, "there was room"
            now += wait
        window.note(now)
        sent.append(now)
    assert all(later - earlier >= 60 for earlier, later in zip(sent, sent[limit:], strict=False))
