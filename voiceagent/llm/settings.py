"""Which brain answers, and how it is reached; reading this loads no engine."""

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, model_validator

from voiceagent.fallback import Names, named


class LanguageModelSettings(BaseModel):
    """The `[llm]` table. Times are whole milliseconds; the key is never a setting, only its variable's name is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    brain: Annotated[Names, AfterValidator(named("notes", "openai", "gguf", "echo", "canned", "livekit"))] = ("notes",)
    """notes, openai, gguf, echo, canned or livekit:PLUGIN; of several, the next steps in for one that fails."""
    options: dict[str, dict[str, JsonValue]] = Field(default_factory=dict)
    """What each plugin is made with, by the plugin's name; keys come from the environment."""
    late_ms: int = Field(default=5_000, ge=200, le=60_000)
    """Longest wait for the first word before the next brain is asked."""
    url: str = "https://api.openai.com/v1"
    """Base of an OpenAI-compatible server, such as `http://localhost:11434/v1` (Ollama)."""
    model: str = "gpt-4o-mini"
    """The model's name at that server; for `gguf`, unused."""
    api_key_env: str = "OPENAI_API_KEY"
    """The environment variable with the key. Servers that need none accept its absence."""
    notes: Path = Path("config/notes.md")
    gguf: Path | None = None
    canned: Path | None = None
    temperature: float | None = Field(default=None, ge=0.0, le=2.0)
    max_tokens: int | None = Field(default=400, ge=1, le=100_000)
    connect_ms: int = Field(default=5_000, ge=1)
    first_token_ms: int = Field(default=15_000, ge=1)
    between_ms: int = Field(default=15_000, ge=1)
    context_tokens: int = Field(default=4096, ge=256)
    """The window of a GGUF model."""
    threads: int = Field(default=2, ge=1)
    """Threads of a GGUF model."""

    @model_validator(mode="after")
    def _has_its_file(self) -> "LanguageModelSettings":
        if "gguf" in self.brain and self.gguf is None:
            raise ValueError("brain = 'gguf' needs gguf = 'path/of/a/model.gguf'")
        if "canned" in self.brain and self.canned is None:
            raise ValueError("brain = 'canned' needs canned = 'path/of/answers.jsonl'")
        return self
