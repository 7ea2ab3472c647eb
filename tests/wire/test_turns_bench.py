"""The benchmark of turns on the real program: one recording is asked, answered, and timed at the person's ear."""

from pathlib import Path

from benchmarks.peers import hearing, ours
from benchmarks.peers.line import Line
from benchmarks.peers.plan import Clip, write_wav
from benchmarks.peers.system import Brain, Models
from benchmarks.peers.trials import Trials
from voiceagent import weights
from voiceagent.audio.decode import read_sound


async def test_a_turn_is_timed_at_the_ear(shared_audio: Path, default_models: None, tmp_path: Path) -> None:
    sound = read_sound(shared_audio / "tau2-order_status.wav").samples
    write_wav(tmp_path / "order.wav", sound)
    clip = Clip("order", str(tmp_path / "order.wav"), *hearing.speech_bounds(sound))
    brain, line = Brain("All right."), Line()
    models = Models(weights.path("whisper-tiny.en"), weights.path("en_US-joe-medium"))

    async with ours.loaded(models, brain, "default") as system, system.call(line) as talk:
        wait = await Trials(line, brain, talk, "All right.").ask(clip)
        await line.quiet(500)
        said = talk.said()

    assert wait.early == 0
    assert wait.wait_ms is not None
    assert 0 < wait.wait_ms < 8_000
    assert "order" in wait.heard.lower()
    assert said == ["All right."]
