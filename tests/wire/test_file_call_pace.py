"""A recording as a caller in real time: never early, and late once is not late for good."""

import time

import numpy as np

from voiceagent import clock
from voiceagent.transport.file import FileCall


async def test_frames_come_at_the_pace_of_sound() -> None:
    call = FileCall("c1", np.zeros(6_400, dtype=np.int16), tail_ms=0)
    opened, late = clock.now(), []
    async for frame in call.frames():
        late.append(clock.now() - opened - (frame.at // 16 + 20))
        if frame.at == 640:
            time.sleep(0.05)  # noqa: ASYNC251 - the loop itself is held up
    assert len(late) == 20
    assert min(late) >= -1  # clocks are rounded to whole milliseconds
    assert min(late[8:]) <= 20
