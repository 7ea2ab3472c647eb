"""Settings of the whole program: TOML, then the environment on top, into frozen values that say where a mistake stands."""

import difflib
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from voiceagent.agent.settings import AgentSettings
from voiceagent.errors import ConfigError
from voiceagent.judgment.settings import JudgmentSettings
from voiceagent.languages import AUTO, LANGUAGES
from voiceagent.llm.settings import LanguageModelSettings
from voiceagent.room.settings import RoomSettings
from voiceagent.speech.settings import HearingSettings, SpeakingSettings, VoicesSettings, WakeSettings
from voiceagent.trace.settings import TelemetrySettings
from voiceagent.values import JSON
from voiceagent.voice.settings import VoiceSettings
from voiceagent.web.settings import WebSettings
from voiceagent.web.webhooks.settings import WebhookSettings

PREFIX = "VOICEAGENT_"
LANGUAGE = f"{PREFIX}LANGUAGE"

Place = tuple[str, ...]
Table = dict[str, JSON]


class SpeakerSection(BaseModel):
    """A microphone and a loudspeaker in a room: when it listens, and whom it knows there."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: str | None = Field(None, min_length=1, description="microphone, by a part of its name; else the machine's default")
    output: str | None = Field(None, min_length=1, description="loudspeaker, by a part of its name; else the machine's default")
    cancel_echo: bool = Field(True, description="whether the loudspeaker is taken out of what the microphone hears")
    room: str = Field("home", pattern=r"^[\w.-]{1,64}$", description="name of the room in which the agent sits there")
    wake: WakeSettings = Field(default_factory=WakeSettings)
    voices: VoicesSettings = Field(default_factory=VoicesSettings)


class Settings(BaseModel):
    """Everything that can be set, one section a layer; each section is described where its layer keeps it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    language: str = Field("en", description="language of the rooms, such as en, fr or es; auto: each person's own of these three")
    room: RoomSettings = Field(default_factory=RoomSettings)
    agent: AgentSettings = Field(default_factory=AgentSettings)
    judgment: JudgmentSettings = Field(default_factory=JudgmentSettings)
    llm: LanguageModelSettings = Field(default_factory=LanguageModelSettings)
    hearing: HearingSettings = Field(default_factory=HearingSettings)
    speaking: SpeakingSettings = Field(default_factory=SpeakingSettings)
    voice: VoiceSettings = Field(default_factory=VoiceSettings)
    speaker: SpeakerSection = Field(default_factory=SpeakerSection)
    web: WebSettings = Field(default_factory=WebSettings)
    webhooks: WebhookSettings = Field(default_factory=WebhookSettings)
    telemetry: TelemetrySettings = Field(default_factory=TelemetrySettings)

    @field_validator("language")
    @classmethod
    def _is_code(cls, value: str) -> str:
        if value != AUTO and not re.fullmatch("[a-z]{2,3}", value):
            raise ValueError(f"not a language: write a code such as en, fr or es, or {AUTO}")
        return value

    @model_validator(mode="before")
    @classmethod
    def _speak_it(cls, values: JSON) -> JSON:
        """What is not set otherwise follows the language."""
        if not isinstance(values, dict) or values.get("language", "en") == "en":
            return values
        filled = _of_language(str(values["language"]))
        _merge(filled, values)
        return filled


def _of_language(code: str) -> Table:
    """The settings that a language other than English brings with it."""
    known = LANGUAGES.get(code)
    speaking: Table = {"language": code, "fallback": f"espeak:{code}"}
    hearing: Table = {"language": code, "model": "base"}
    if code == AUTO:
        return {"hearing": hearing, "speaking": {"language": code}}
    if known is None:
        silent: Table = {"voice": {"greeting": ""}, "agent": {"filler": ""}}
        return {"hearing": hearing, "speaking": {**speaking, "voice": f"espeak:{code}"}, **silent}
    prompt = f"{AgentSettings().system_prompt} Answer in {known.name}."
    return {
        "hearing": hearing,
        "speaking": {**speaking, "voice": known.voice},
        "voice": {"greeting": known.greeting},
        "agent": {"system_prompt": prompt, "apology": known.apology, "filler": known.filler},
    }


def load(
    path: Path | None = None, environ: Mapping[str, str] | None = None, options: Mapping[str, JSON] | None = None
) -> Settings:
    """Reads settings from a TOML file (none: all defaults), from VOICEAGENT_SECTION__KEY, and from a command's options.

    The later ones win. `options` maps `section.key` to a value; None is no value. Raises ConfigError naming the file and
    line, or the variable, of an unknown key (with the nearest known one), of a value of the wrong type, and of a file that
    cannot be read.
    """
    sources: list[_Source] = [] if path is None else [_File.read(path)]
    sources.append(_Environment.read(os.environ if environ is None else environ))
    sources.append(_Options.read(options or {}))
    values: Table = {}
    for source in sources:
        for place in source.places():
            _refuse_unknown(place, source)
        _merge(values, source.values)
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise ConfigError(_explain(error, sources)) from None


@dataclass(frozen=True, slots=True)
class _File:
    """A TOML file: what it sets, and at which line."""

    path: Path
    text: str
    values: Table

    @classmethod
    def read(cls, path: Path) -> "_File":
        try:
            text = path.read_text(encoding="utf-8")
            return cls(path, text, tomllib.loads(text))
        except FileNotFoundError:
            raise ConfigError(f"there is no settings file {path}; config/browser.toml is one to start from") from None
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"cannot read the settings file {path}: {error}") from None
        except (ValueError, RecursionError) as error:  # also a number of too many digits, or brackets too deep
            raise ConfigError(f"{path} is not TOML: {error}") from None

    def places(self) -> Iterator[Place]:
        return _leaves(self.values, ())

    def where(self, place: Place) -> str:
        line = _line_of(self.text, place)
        return f"{self.path}:{line}" if line else str(self.path)


@dataclass(frozen=True, slots=True)
class _Environment:
    """The variables that name a setting: VOICEAGENT_, the section, two underscores, the key; and VOICEAGENT_LANGUAGE."""

    values: Table
    names: Mapping[Place, str]

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> "_Environment":
        values: Table = {}
        names: dict[Place, str] = {}
        for name in sorted(environ):
            if not name.startswith(PREFIX) or ("__" not in name and name != LANGUAGE):
                continue
            place = tuple(name.removeprefix(PREFIX).lower().split("__"))
            names[place] = name
            _merge(values, _nested(place, _typed(environ[name])))
        return cls(values, names)

    def places(self) -> Iterator[Place]:
        return iter(self.names)

    def where(self, place: Place) -> str:
        return next((name for known, name in self.names.items() if known[: len(place)] == place), "")


@dataclass(frozen=True, slots=True)
class _Options:
    """What was asked for on the command line."""

    values: Table

    @classmethod
    def read(cls, options: Mapping[str, JSON]) -> "_Options":
        values: Table = {}
        for name, value in options.items():
            if value is not None:
                _merge(values, _nested(tuple(name.split(".")), value))
        return cls(values)

    def places(self) -> Iterator[Place]:
        return _leaves(self.values, ())

    def where(self, place: Place) -> str:
        given = next((known for known in self.places() if known[: len(place)] == place), place)
        return f"option --{given[-1].replace('_', '-')}"


_Source = _File | _Environment | _Options


def _typed(text: str) -> JSON:
    """Lists and tables are written as in TOML; everything else stays text, which the setting's own type reads."""
    if text[:1] in ("[", "{"):
        try:
            parsed: JSON = tomllib.loads(f"value = {text}")["value"]
        except (ValueError, RecursionError):
            return text
        return parsed
    return text


def _nested(place: Place, value: JSON) -> Table:
    for part in reversed(place):
        value = {part: value}
    return value if isinstance(value, dict) else {}


def _merge(into: Table, values: Table) -> None:
    for key, value in values.items():
        present = into.get(key)
        if isinstance(present, dict) and isinstance(value, dict):
            _merge(present, value)
        else:
            into[key] = value


def _leaves(table: Table, above: Place) -> Iterator[Place]:
    for key, value in table.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, (*above, key))
        else:
            yield (*above, key)


def _refuse_unknown(place: Place, source: _Source) -> None:
    model: type[BaseModel] = Settings
    for depth, key in enumerate(place):
        if key not in model.model_fields:
            known = sorted(model.model_fields)
            raise ConfigError(_unknown(source.where(place[: depth + 1]), ".".join(place[: depth + 1]), key, known))
        annotation = model.model_fields[key].annotation
        if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
            return
        model = annotation


def _unknown(where: str, place: str, key: str, known: list[str]) -> str:
    near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    hint = f"did you mean `{near[0]}`?" if near else f"known here: {', '.join(known)}"
    return f"{where}: unknown setting `{place}`; {hint}"


def _explain(error: ValidationError, sources: Sequence[_Source]) -> str:
    lines = []
    for problem in error.errors(include_url=False, include_context=False):
        place = tuple(str(part) for part in problem["loc"])
        where = next((found for source in reversed(sources) if (found := _where(source, place))), "settings")
        told = problem["msg"].removeprefix("Value error, ")
        message = told[:1].lower() + told[1:]
        lines.append(f"{where}: `{'.'.join(place)}`: {message}")
    return "\n".join(lines)


def _where(source: _Source, place: Place) -> str:
    """Where the source sets `place` or what holds it; empty when it does not."""
    known = list(source.places())
    for length in range(len(place), 0, -1):
        if any(leaf[:length] == place[:length] for leaf in known):
            return source.where(place[:length])
    return ""


def _line_of(text: str, place: Place) -> int | None:
    """The line that sets a key, found by its table header; None for spellings that this does not know."""
    table: Place = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[\[?\s*([^\]]+?)\s*\]", line):
            table = tuple(part.strip().strip("\"'") for part in header[1].split("."))
            if table[: len(place)] == place:
                return number
        elif setting := re.match(r"\s*([\w.\"'-]+)\s*=", line):
            key = tuple(part.strip("\"'") for part in setting[1].split("."))
            if (*table, *key)[: len(place)] == place:
                return number
    return None
