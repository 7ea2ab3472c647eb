"""Settings of hearing and speaking; reading them loads no engine."""

from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, model_validator

from voiceagent.fallback import Names, named

Patience = Literal["eager", "normal", "patient"]
WakePhrase = Literal["okay_nabu", "hey_jarvis", "hey_mycroft", "alexa"]


class HearingSettings(BaseModel):
    """How a line's sound becomes utterances and words."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    stt: Annotated[Names, AfterValidator(named("whisper", "livekit"))] = Field(
        ("whisper",),
        description="recognizer: whisper (with `model`), whisper:MODEL or livekit:PLUGIN; of several, the next steps in for one"
        " that fails",
    )
    vad: str = Field("silero", description="voice detector: silero or livekit:PLUGIN", pattern=r"^(silero|livekit:[\w.]+)$")
    options: dict[str, dict[str, JsonValue]] = Field(
        default_factory=dict, description="what each plugin is made with, by the plugin's name; keys come from the environment"
    )
    late_ms: int = Field(3000, ge=200, le=60_000, description="longest wait for words before the next recognizer is asked")
    model: str = Field("tiny.en", description="Whisper model: a name of the registry or of faster-whisper's hub")
    language: str = Field("en", description="language spoken, as a two-letter code; models ending in .en know English only")
    gate_mode: int = Field(2, ge=0, le=3, description="how readily the cheap gate calls a frame silence, 0 (rarely) to 3")
    threshold: float = Field(0.5, gt=0, lt=1, description="probability from which a frame begins speech")
    release: float = Field(0.35, gt=0, lt=1, description="probability below which a frame is silence once speech has begun")
    min_speech_ms: int = Field(120, ge=20, le=1000, description="voice shorter than this is no speech")
    decode_ms: int = Field(100, ge=60, le=2000, description="silence after which words are decoded ahead")
    pause_ms: int = Field(
        200, ge=60, le=2000, description="silence that may be the end: from here on it is judged, and answered ahead"
    )
    patience: Patience = Field("normal", description="how long a pause may last before it is taken for the end")
    smart_turn: bool = Field(True, description="judge by the sound, too, whether a speaker who has paused is done")
    min_wait_ms: int = Field(300, ge=100, le=3000, description="silence that ends what surely is finished, at least")
    end_silence_ms: int = Field(500, ge=100, le=3000, description="silence that ends an utterance of which nothing else is known")
    max_wait_ms: int = Field(2500, ge=100, le=3000, description="silence that ends an utterance, whatever it sounds like")
    pre_roll_ms: int = Field(300, ge=0, le=2000, description="sound kept from before the voice began")
    max_speech_ms: int = Field(30_000, ge=2000, le=120_000, description="longest utterance; what goes on becomes a new one")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.release > self.threshold:
            raise ValueError(f"release ({self.release}) must not be above threshold ({self.threshold})")
        waits = ("decode_ms", "pause_ms", "end_silence_ms", "max_wait_ms"), ("min_wait_ms", "max_wait_ms")
        for names in waits:
            for less, more in pairwise(names):
                if getattr(self, less) > getattr(self, more):
                    raise ValueError(f"{less} ({getattr(self, less)}) must not be above {more} ({getattr(self, more)})")
        return self


class SpeakingSettings(BaseModel):
    """How words become sound."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tts: Annotated[Names, AfterValidator(named("piper", "espeak", "livekit"))] = Field(
        ("piper",),
        description="voice: piper (the one that `voice` names), piper:VOICE, espeak:LANGUAGE or livekit:PLUGIN; of several, the"
        " next steps in for one that fails",
    )
    options: dict[str, dict[str, JsonValue]] = Field(
        default_factory=dict, description="what each plugin is made with, by the plugin's name; keys come from the environment"
    )
    late_ms: int = Field(
        3000, ge=200, le=60_000, description="longest wait for a sentence's first sound before the next is asked"
    )
    voice: str = Field(
        "en_US-joe-medium", description="Piper voice (a name of the registry or of Piper's own list), or espeak: and a language"
    )
    fallback: str = Field("", description="voice that speaks where the first one is not there; empty: that is an error")
    language: str = Field(
        "en", description="language that numbers, money and abbreviations are spelled in; auto: each sentence's"
    )
    speed: float = Field(1.0, ge=0.5, le=2.0, description="1.0 is the voice's own pace, 2.0 twice as fast")
    gain_db: float = Field(
        0.0, ge=-40, le=20, description="loudness added to the voice, in decibels, the same for every sentence"
    )
    first_sentence_words: int = Field(
        5, ge=1, le=50, description="an answer's first sentence may end at a clause border after this many words, to sound early"
    )
    max_sentence_chars: int = Field(
        300, ge=40, le=2000, description="longest sentence handed to the voice; longer is cut at a word"
    )


class WakeSettings(BaseModel):
    """A line that sleeps until its wake word is said."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    phrase: WakePhrase | None = Field(None, description="wake word; without one the line is always awake")
    pre_roll_ms: int = Field(400, ge=20, le=2_000, description="sound from before the word is noticed that goes on with the rest")
    follow_ms: int = Field(8_000, ge=1_000, le=120_000, description="silence of everybody after which the line sleeps again")
    longest_ms: int = Field(30_000, ge=2_000, le=600_000, description="talk that nobody answers after which it sleeps again")
    own_share: float = Field(
        0.4, gt=0, le=1, description="likeness from which on the agent itself has said the word, of what a person's call needs"
    )


class VoicesSettings(BaseModel):
    """Telling apart, by their voices, people who share a microphone."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    on: bool = Field(True, description="whether people on a shared microphone are told apart")
    file: Path | None = Field(None, description="where known people's prints lie; else voices.json among the user's data")
    model: str = Field("voice-encoder", description="what makes a voice comparable: a name of the registry")
    likeness: float = Field(0.47, gt=0, lt=1, description="how alike a voice must be to a known one to be that person")
    least_ms: int = Field(600, ge=200, le=10_000, description="voice in an utterance below which nobody new is made of it")
