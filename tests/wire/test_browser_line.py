"""The line itself, with a real Chromium at its other end: heard, played, cut, muted, left, rejoined."""

import asyncio
import contextlib
import logging
import time
from pathlib import Path

import numpy as np
import pytest
from playwright.async_api import Error

from tests.wire.browser import padded, read_wav, visiting
from tests.wire.door import Recorder, door, tone
from voiceagent.audio.frame import FRAME_SAMPLES, RATE, Samples

LOUD = 0.02
FAINT = 8
"""Opus keeps a sound that small in what was silence, of 32,768."""

log = logging.getLogger(__name__)


def report(what: str, **figures: float) -> None:
    """What was measured, for whoever reads the log (pytest -o log_cli=true --log-level=INFO)."""
    log.info("%s: %s", what, ", ".join(f"{name} {figure:.0f}" for name, figure in figures.items()))


def _envelope(samples: Samples) -> np.ndarray:
    whole = samples[: len(samples) // FRAME_SAMPLES * FRAME_SAMPLES].astype(float).reshape(-1, FRAME_SAMPLES)
    levels: np.ndarray = np.sqrt((whole**2).mean(axis=1))
    return levels


def _likeness(heard: np.ndarray, spoken: np.ndarray) -> float:
    """The best correlation of the spoken envelope with any stretch of what was heard."""
    best = 0.0
    for start in range(len(heard) - len(spoken) + 1):
        stretch = heard[start : start + len(spoken)]
        if stretch.std() > 0:
            best = max(best, float(np.corrcoef(stretch, spoken)[0, 1]))
    return best


async def _frames(recorder: Recorder, count: int) -> None:
    async with asyncio.timeout(20):
        await recorder.until(count)


async def test_the_microphone_is_heard_whole_at_20_ms_a_frame(shared_audio: Path, tmp_path: Path) -> None:
    recording = shared_audio / "tau2-order_status.wav"
    microphone = padded(recording, tmp_path / "microphone.wav")
    async with door() as (url, receiver, _), visiting(url, microphone) as visitor:
        await visitor.join()
        recorder = await receiver.next()
        await _frames(recorder, 250)
        elapsed = time.time() - recorder.began
        count = len(recorder.heard)
    samples, rate = read_wav(recording)
    assert rate == RATE
    assert recorder.at == [n * FRAME_SAMPLES for n in range(len(recorder.at))]
    assert count * 0.02 == pytest.approx(elapsed, abs=0.5)
    assert _likeness(_envelope(recorder.sound), _envelope(samples)) > 0.9


async def test_sound_is_heard_in_the_page_and_a_cut_silences_it_at_once(tmp_path: Path) -> None:
    async with door() as (url, receiver, _), visiting(url) as visitor:
        await visitor.join(microphone=False)
        recorder = await receiver.next()
        await visitor.listen()
        playing = asyncio.create_task(recorder.play(tone(10)))
        played_at = time.time() * 1000
        await visitor.until("level", LOUD)
        await asyncio.sleep(1)
        playing.cancel()
        cut_at = time.time() * 1000
        dropped = recorder.call.clear()
        await asyncio.sleep(1)
        again_at = time.time() * 1000
        await recorder.play(tone(0.5))
        await asyncio.sleep(0.5)
        heard = await visitor.heard()
    loud = heard.at[heard.level > LOUD]
    first, last, again = loud[0], loud[loud < again_at][-1], loud[loud > again_at][0]
    report("browser line", sound_ms=first - played_at, silent_after_cut_ms=last - cut_at, new_sound_ms=again - again_at)
    assert 0 <= dropped <= 3200
    assert last - cut_at < 150
    assert first - played_at < 400
    assert again - again_at < 250
    assert heard.between(first + 200, cut_at).min() > LOUD


async def test_nothing_is_sent_to_whom_nobody_speaks() -> None:
    async with door() as (url, receiver, _), visiting(url) as visitor:
        await visitor.join(microphone=False)
        recorder = await receiver.next()
        await _frames(recorder, 50)
        assert (await visitor.packets())[0] == 0
        await recorder.play(tone(0.4))
        await asyncio.sleep(0.5)
        first = await visitor.packets()
        await _frames(recorder, len(recorder.heard) + 50)
        assert await visitor.packets() == first
        assert 20 <= first[0] <= 28
        await recorder.play(np.zeros(RATE, dtype=np.int16))
        assert await visitor.packets() == first
        await recorder.play(tone(0.4))
        await asyncio.sleep(0.5)
        packets, lost = await visitor.packets()
    assert packets > first[0] + 19
    assert lost == 0


async def test_a_page_without_a_microphone_has_a_living_line() -> None:
    async with door() as (url, receiver, _), visiting(url) as visitor:
        await visitor.join(microphone=False)
        recorder = await receiver.next()
        await _frames(recorder, 100)
        assert not recorder.ended.is_set()
        assert not recorder.sound.any()
        assert len(recorder.heard) * 0.02 == pytest.approx(time.time() - recorder.began, abs=0.3)


async def test_a_muted_microphone_is_silence_and_the_room_is_told(tmp_path: Path, shared_audio: Path) -> None:
    microphone = padded(shared_audio / "tau2-order_status.wav", tmp_path / "microphone.wav", before_s=0.1)
    async with door() as (url, receiver, _), visiting(url, microphone) as visitor:
        await visitor.join()
        recorder = await receiver.next()
        await visitor.page.click("#mute")
        await visitor.page.wait_for_selector("#people li.muted")
        start = len(recorder.heard) + 10
        await _frames(recorder, start + 50)
        assert np.abs(np.concatenate(recorder.heard[start:])).max() <= FAINT
        assert not recorder.ended.is_set()


async def test_a_page_that_goes_away_ends_its_line() -> None:
    async with door() as (url, receiver, _), visiting(url) as visitor:
        await visitor.join(microphone=False)
        recorder = await receiver.next()
        await _frames(recorder, 5)
        closed_at = time.time()
        await visitor.page.close()
        async with asyncio.timeout(10):
            await recorder.ended.wait()
        report("browser line", ended_after_page_ms=1000 * (recorder.ended_at - closed_at))


async def test_leaving_ends_the_line_and_brings_the_first_page_back() -> None:
    async with door() as (url, receiver, engine), visiting(url) as visitor:
        await visitor.join(microphone=False)
        recorder = await receiver.next()
        await visitor.page.click("#leave")
        await visitor.page.wait_for_selector("#join:not([hidden])")
        async with asyncio.timeout(5):
            await recorder.ended.wait()
        assert [p.active for p in engine.context("lobby").participants] == [False]


async def test_a_reload_is_the_same_person_in_the_same_room() -> None:
    async with door() as (url, receiver, engine), visiting(url) as visitor:
        await visitor.join("Anna", "kitchen", microphone=False)
        first = await receiver.next()
        await visitor.page.reload()
        second = await receiver.next()
        await visitor.page.wait_for_selector("#talk:not([hidden])")
        assert second.room == first.room == "kitchen"
        assert second.participant.id == first.participant.id
        assert second.participant.display_name == "Anna"
        assert first.ended.is_set()
        await _frames(second, 10)
        assert [p.active for p in engine.context("kitchen").participants] == [True]


async def test_two_browsers_meet_under_names_that_are_only_text() -> None:
    evil = "<img src=x onerror=alert(1)>\u202e🦊"
    async with door() as (url, receiver, _), visiting(url) as one, visiting(url) as two:
        await one.join("Anna", microphone=False)
        await two.join(evil, microphone=False)
        await receiver.next()
        await receiver.next()
        await one.until("people", 2)
        names = await one.page.eval_on_selector_all("#people bdi", "found => found.map((name) => name.textContent)")
        assert names == ["Anna", "<img src=x onerror=alert(1)>🦊"]
        assert await one.page.query_selector("#people img, #transcript img") is None
        await two.page.fill("#text", "<b>hello</b> from here")
        await two.page.press("#text", "Enter")
        await one.page.wait_for_selector("#transcript .said .words .lit")
        assert await one.page.inner_text("#transcript .said .words") == "<b>hello</b> from here"


async def test_a_line_whose_browser_was_killed_is_over_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aioice.ice.CONSENT_INTERVAL", 0.2)
    async with door() as (url, receiver, _), visiting(url) as visitor:
        await visitor.join(microphone=False)
        recorder = await receiver.next()
        await _frames(recorder, 5)
        browser = visitor.page.context.browser
        assert browser is not None
        crashing = await browser.new_browser_cdp_session()
        with contextlib.suppress(Error):
            await crashing.send("Browser.crash")
        assert not recorder.ended.is_set()
        async with asyncio.timeout(10):
            await recorder.ended.wait()


async def test_a_microphone_may_be_opened_later(tmp_path: Path, shared_audio: Path) -> None:
    microphone = padded(shared_audio / "tau2-order_status.wav", tmp_path / "microphone.wav", before_s=0.5)
    async with door() as (url, receiver, _), visiting(url, microphone) as visitor:
        await visitor.join(microphone=False)
        recorder = await receiver.next()
        await _frames(recorder, 50)
        assert not recorder.sound.any()
        await visitor.page.click("#mute")
        await _frames(recorder, 200)
        assert _envelope(recorder.sound).max() > 500


async def test_by_keyboard_alone_and_at_360_pixels() -> None:
    async with door() as (url, receiver, _), visiting(url, viewport={"width": 360, "height": 640}) as visitor:
        page = visitor.page
        await page.goto(url)
        for key in ("A", "n", "n", "a", "Tab", "Tab", "Tab", "Enter"):
            await page.keyboard.press(key)
        recorder = await receiver.next()
        assert (recorder.participant.display_name, recorder.room) == ("Anna", "lobby")
        await page.wait_for_selector("#talk:not([hidden])")
        assert await page.evaluate("document.activeElement.id") == "text"
        await page.keyboard.type("hello")
        await page.keyboard.press("Enter")
        await visitor.until("shown", "#transcript .own .lit")
        assert await page.evaluate("document.documentElement.scrollWidth") == 360
        assert await page.evaluate("document.documentElement.scrollHeight") == 640
        for _ in range(2):
            await page.keyboard.press("Tab")
        assert await page.evaluate("document.activeElement.id") == "leave"
        await page.keyboard.press("Enter")
        await page.wait_for_selector("#join:not([hidden])")


async def test_the_page_comes_back_when_the_server_does() -> None:
    async with contextlib.AsyncExitStack() as browser:
        async with door() as (url, receiver, _):
            visitor = await browser.enter_async_context(visiting(url))
            await visitor.join(microphone=False)
            first = await receiver.next()
        assert first.ended.is_set()
        await visitor.until("shown", "#banner:not([hidden])")
        async with door(port=int(url.rsplit(":", 1)[1].strip("/"))) as (_, receiver, engine):
            second = await receiver.next()
            assert second.participant == first.participant
            await visitor.until("shown", "#banner[hidden]", 15_000)
            await visitor.until("people", 1)
            assert [person.active for person in engine.context("lobby").participants] == [True]
            await visitor.page.click("#leave")
