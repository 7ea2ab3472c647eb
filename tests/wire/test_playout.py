"""How late a page plays what it is sent: said by a real Chromium, believed within bounds."""

import asyncio
import json

import pytest

from tests.wire.browser import visiting
from tests.wire.door import door, tone
from voiceagent.audio.frame import to_ms
from voiceagent.transport.webrtc import BEHIND_MS, MOST_BEHIND_MS, WebRtcCall


async def test_a_page_says_how_late_it_plays() -> None:
    async with door() as (url, receiver, _), visiting(url) as visitor, asyncio.timeout(40):
        async with visitor.page.expect_response("**/playout", timeout=30_000) as told:
            await visitor.join(microphone=False)
            recorder = await receiver.next()
            call = recorder.call
            assert isinstance(call, WebRtcCall)
            assert to_ms(call.behind) == BEHIND_MS
            playing = asyncio.create_task(recorder.play(tone(20)))
            response = await told.value
        playing.cancel()
        assert response.status == 204
        said = json.loads(response.request.post_data or "{}")["ms"]
        assert 5 <= said <= MOST_BEHIND_MS
        assert to_ms(call.behind) == said


@pytest.mark.parametrize(("said", "believed"), [(-5, 0), (0, 0), (120, 120), (9_000, MOST_BEHIND_MS)])
async def test_a_page_is_believed_within_bounds(said: int, believed: int) -> None:
    call = WebRtcCall("late")
    call.plays_late(said)
    assert to_ms(call.behind) == believed
    await call.close()
