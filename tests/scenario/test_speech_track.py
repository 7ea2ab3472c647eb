"""What leaves for a browser around a cut: its timestamps, and that no stage holds anything of the cut answer."""

import asyncio

import numpy as np

from voiceagent import clock
from voiceagent.audio.frame import FRAME_MS, FRAME_SAMPLES, RATE, AudioFrame, Samples
from voiceagent.transport.opus import RTP_TICKS, OpusDecoder
from voiceagent.transport.outbox import TAIL_FRAMES
from voiceagent.transport.spurt import Spurts
from voiceagent.transport.track import SpeechTrack

CUT = 25


def _speech(pitch: int, frames: int) -> list[Samples]:
    times = np.arange(frames * FRAME_SAMPLES) / RATE
    sound = sum(np.sin(2 * np.pi * pitch * n * times) / n for n in range(1, 10))
    return list(np.asarray(6000 * sound, dtype=np.int16).reshape(frames, FRAME_SAMPLES))


async def _send(track: SpeechTrack, sent: list[tuple[int, int, bytes]]) -> None:
    while True:
        packet = await track.recv()
        sent.append((clock.now(), int(packet.pts or 0), bytes(packet)))


async def _say(track: SpeechTrack, frames: list[Samples]) -> None:
    start = clock.now()
    for index, frame in enumerate(frames):
        track.play(AudioFrame(frame))
        await clock.sleep_until(start + (index + 1) * FRAME_MS)


async def test_after_a_cut_timestamps_go_on_old_sound_is_gone_and_the_next_answer_leaves_at_once() -> None:
    track = SpeechTrack(Spurts())
    sent: list[tuple[int, int, bytes]] = []
    sending = asyncio.create_task(_send(track, sent))
    began = clock.now()
    await _say(track, _speech(150, CUT))
    for frame in _speech(150, 5):
        track.play(AudioFrame(frame))
    cut_at = clock.now()
    assert track.clear() >= 5 * FRAME_SAMPLES
    assert track.queued == 0
    left = len(sent)
    await clock.sleep_until(cut_at + 1000)
    tail = len(sent) - left
    assert tail <= TAIL_FRAMES + 1
    again = clock.now()
    before = len(sent)
    await _say(track, _speech(300, 10))
    await clock.sleep_until(again + 600)
    sending.cancel()
    stamps = [stamp for _, stamp, _ in sent]
    assert stamps == sorted(set(stamps))
    assert sent[before][0] - again <= 2 * FRAME_MS
    assert sent[before][1] // RTP_TICKS * FRAME_MS >= again - began - FRAME_MS
    decoder = OpusDecoder()
    heard = [decoder.decode(packet) for _, _, packet in sent]
    assert np.abs(heard[left + tail - 1]).max() < 200


async def test_an_answer_after_a_cut_is_the_very_packets_of_a_fresh_line() -> None:
    """Neither the outbox nor the encoder holds anything of what was cut before the tail of silence."""
    used, fresh = SpeechTrack(Spurts()), SpeechTrack(Spurts())
    first: list[tuple[int, int, bytes]] = []
    second: list[tuple[int, int, bytes]] = []
    tasks = [asyncio.create_task(_send(used, first)), asyncio.create_task(_send(fresh, second))]
    await _say(used, _speech(150, CUT))
    used.clear()
    await used.drained()
    before = len(first)
    answer = _speech(220, 12)
    await asyncio.gather(_say(used, answer), _say(fresh, answer))
    await asyncio.gather(used.drained(), fresh.drained())
    for task in tasks:
        task.cancel()
    assert [packet for _, _, packet in first[before:]] == [packet for _, _, packet in second]
