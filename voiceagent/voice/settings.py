"""Settings of calls: when talk cuts the agent, what it greets with, what a hang-up leaves unsaid."""

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class InterruptionStrategy(StrEnum):
    """What a person's speech does to a reply that is sounding."""

    IMMEDIATE = "immediate"
    CONFIRMED = "confirmed"
    SEMANTIC = "semantic"
    DISABLED = "disabled"


class BargeInSettings(BaseModel):
    """When speech cuts what sounds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    strategy: InterruptionStrategy = Field(
        InterruptionStrategy.CONFIRMED,
        description="immediate cuts at the first sign of a voice; confirmed lowers and pauses what sounds, and cuts once words "
        "or a lasting voice want the turn; semantic leaves that to the words, for one second at most; disabled never cuts",
    )
    duck_after_ms: int = Field(60, ge=20, le=1_000, description="voice after which what sounds is lowered")
    duck_db: float = Field(18.0, ge=0, le=60, description="how much it is lowered, in decibels")
    pause_after_ms: int = Field(
        160, ge=0, le=250, description="how long it sounds on so, while the voice goes on, before it pauses; after a gap 250 ms"
    )
    words_within_ms: int = Field(
        1_500, ge=300, le=2_000, description="it comes back when so long after it was lowered no words are known"
    )
    sustained_ms: int = Field(
        1_000, ge=0, le=5_000, description="voice without words after which confirmed cuts; a long mm-hm has 700 ms of it"
    )
    min_speech_ms: int = Field(
        300,
        ge=0,
        le=5_000,
        description="voice, pauses not counted, from which on what is said takes the place of an answer that nobody has heard",
    )
    allow_during_first_ms: int = Field(0, ge=0, le=60_000, description="a reply is not cut before this much of it has been heard")
    detector_timeout_ms: int = Field(
        300, ge=20, le=2_000, description="how long a detector of the host's own may think; then words and sound decide"
    )
    backchannels: tuple[str, ...] | None = Field(
        None, description="phrases that are said over the agent without wanting the turn, in place of the shipped ones"
    )
    stop_words: tuple[str, ...] | None = Field(
        None, description="phrases that stop the agent however short they are, in place of the shipped ones"
    )


class VoiceSettings(BaseModel):
    """How calls run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    barge_in: BargeInSettings = BargeInSettings()
    think_ahead: bool = Field(
        True,
        description="begin the answer while it is not sure yet that a person has finished; where they go on, what was begun is "
        "thrown away, unheard, which costs at most one request to the model a turn",
    )
    keep_partial_transcript: bool = Field(True, description="record in the room what a cut reply had been saying, and how long")
    held_segments: int = Field(8, ge=1, le=64, description="utterances kept while a reply that cannot be cut sounds")
    partial_every_ms: int = Field(500, ge=100, le=5_000, description="shortest time between two guesses at unfinished speech")
    recognizer_timeout_ms: int = Field(
        10_000, ge=100, le=60_000, description="longest wait for the words of up to 10 s of speech; for longer in proportion"
    )
    greeting: str = Field(
        "Hello, how can I help?", max_length=1_000, description="said when a room's first call comes; empty: nothing is said"
    )
    goodbye_on_hang_up: Literal["drop", "finish"] = Field(
        "drop", description="what is still unsaid when a room's last call ends: dropped, or finished first"
    )
    goodbye_max_ms: int = Field(30_000, ge=0, le=600_000, description="longest time that finishing may take")
    ahead_ms: int = Field(10_000, ge=1_000, le=60_000, description="sound of a reply made ahead of the listener, at most")
