"""What a client has asked of its session, and what of that holds."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from voiceagent.llm.model import ToolSpec
from voiceagent.room.frozen import whole_text
from voiceagent.values import JSON
from voiceagent.web.realtime.asked import Mistake, checked
from voiceagent.web.realtime.sound import Format

MOST_TOOLS: Final = 128
_OLD_FORMATS: Final = {"pcm16": Format.PCM, "g711_ulaw": Format.PCMU, "g711_alaw": Format.PCMA}

Modality = Literal["text", "audio"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Sound(_Part):
    type: Format = Format.PCM
    rate: Literal[24_000, 8_000] | None = None


class _Turns(_Part):
    type: Literal["server_vad", "semantic_vad"] = "server_vad"
    create_response: bool | None = None


class _Input(_Part):
    format: _Sound | None = None
    transcription: dict[str, JsonValue] | None = None
    turn_detection: _Turns | None = None


class _Output(_Part):
    format: _Sound | None = None


class _Audio(_Part):
    input: _Input = _Input()
    output: _Output = _Output()


class _Tool(_Part):
    type: Annotated[str, Field(max_length=64)] = "function"
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")] = ""
    description: Annotated[str, Field(max_length=16_000)] | None = None
    parameters: dict[str, JsonValue] | None = None


class _Update(_Part):
    """Only what is present in an update changes. The names of the protocol's first version stand beside today's."""

    type: Literal["realtime"] = "realtime"
    instructions: Annotated[str, Field(max_length=100_000)] | None = None
    tools: Annotated[list[_Tool], Field(max_length=MOST_TOOLS)] | None = None
    tool_choice: str | dict[str, JsonValue] | None = None
    audio: _Audio | None = None
    output_modalities: list[Modality] | None = None
    modalities: list[Modality] | None = None
    max_output_tokens: Annotated[int, Field(ge=1)] | Literal["inf"] | None = None
    input_audio_format: Literal["pcm16", "g711_ulaw", "g711_alaw"] | None = None
    output_audio_format: Literal["pcm16", "g711_ulaw", "g711_alaw"] | None = None
    input_audio_transcription: dict[str, JsonValue] | None = None
    turn_detection: _Turns | None = None


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds. `turns` None: the client says itself when a message is over. `answers`: what is said is answered unasked."""

    instructions: str = ""
    tools: tuple[ToolSpec, ...] = ()
    use_tools: bool = True
    input: Format = Format.PCM
    output: Format = Format.PCM
    turns: Literal["server_vad", "semantic_vad"] | None = "server_vad"
    answers: bool = True
    transcripts: bool = True
    text_only: bool = False
    max_tokens: int | None = None

    def updated(self, session: JsonValue) -> "Terms":
        """The terms after an update. Raises Mistake; then nothing has changed."""
        asked = checked(_Update, session, "session")
        changes: dict[str, Any] = {}
        if asked.instructions is not None:
            changes["instructions"] = whole_text(asked.instructions)
        if asked.tools is not None:
            changes["tools"] = tuple(_spec(tool) for tool in asked.tools)
        if asked.tool_choice is not None:
            changes["use_tools"] = asked.tool_choice != "none"
        modalities = asked.output_modalities or asked.modalities
        if modalities:
            changes["text_only"] = "audio" not in modalities
        if asked.max_output_tokens is not None:
            changes["max_tokens"] = None if asked.max_output_tokens == "inf" else asked.max_output_tokens
        return replace(self, **changes, **_sound(asked), **_hearing(asked))

    def as_json(self, about: Mapping[str, JSON]) -> dict[str, JSON]:
        """The session as it is; `about` names it."""
        turns: JSON = None
        if self.turns is not None:
            turns = {"type": self.turns, "create_response": self.answers, "interrupt_response": True}
        return {
            "type": "realtime",
            "object": "realtime.session",
            **about,
            "instructions": self.instructions,
            "tools": [_shown(tool) for tool in self.tools],
            "tool_choice": "auto" if self.use_tools else "none",
            "output_modalities": ["text"] if self.text_only else ["audio"],
            "max_output_tokens": self.max_tokens or "inf",
            "tracing": None,
            "truncation": "auto",
            "audio": {
                "input": {
                    "format": format_json(self.input),
                    "transcription": {"model": "voiceagent"} if self.transcripts else None,
                    "noise_reduction": None,
                    "turn_detection": turns,
                },
                "output": {"format": format_json(self.output), "voice": "voiceagent", "speed": 1},
            },
        }


def format_json(format: Format) -> dict[str, JSON]:
    """A format as events show it."""
    return {"type": format.value, "rate": format.rate} if format is Format.PCM else {"type": format.value}


def _sound(asked: _Update) -> dict[str, Any]:
    audio = asked.audio or _Audio()
    ways = (("input", audio.input.format, asked.input_audio_format), ("output", audio.output.format, asked.output_audio_format))
    changes: dict[str, Any] = {}
    for name, new, old in ways:
        if new is not None and new.rate is not None and new.rate != new.type.rate:
            raise Mistake(f"{new.type} has {new.type.rate} samples a second here", param=f"session.audio.{name}.format.rate")
        if new is not None or old is not None:
            changes[name] = new.type if new is not None else _OLD_FORMATS[old or "pcm16"]
    return changes


def _hearing(asked: _Update) -> dict[str, Any]:
    given = asked.audio.input if asked.audio is not None else _Input()
    changes: dict[str, Any] = {}
    if "transcription" in given.model_fields_set:
        changes["transcripts"] = given.transcription is not None
    elif "input_audio_transcription" in asked.model_fields_set:
        changes["transcripts"] = asked.input_audio_transcription is not None
    holder = given if "turn_detection" in given.model_fields_set else asked
    if "turn_detection" in holder.model_fields_set:
        turns = holder.turn_detection
        changes["turns"] = turns.type if turns is not None else None
        changes["answers"] = turns is not None and turns.create_response is not False
    return changes


def _spec(tool: _Tool) -> ToolSpec:
    if tool.type != "function":
        raise Mistake(f"tools of the type {tool.type!r} cannot be called here, functions can", param="session.tools.type")
    if not tool.name:
        raise Mistake("a function has a name", "missing_required_parameter", "session.tools.name")
    return ToolSpec(tool.name, whole_text(tool.description or tool.name), tool.parameters or {"type": "object", "properties": {}})


def _shown(tool: ToolSpec) -> JSON:
    return {"type": "function", "name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
