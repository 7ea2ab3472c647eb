"""What can be set about when an agent speaks."""

from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

Policy = Literal["classifier", "always"]
ClassifierName = Literal["embedded", "lexical", "llm", "openai", "jev"]
ThinkerName = Literal["notes", "llm", "off"]

DEFAULT_POLICY: Final[Policy] = "always"
"""What holds where nobody chooses."""

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64)]


class JudgmentSettings(BaseModel):
    """Whether the agent speaks, offers or stays silent, who judges that, and what it thinks meanwhile."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    policy: Policy = Field(
        DEFAULT_POLICY,
        description="Classifier: each turn is judged, for rooms where people also talk together; always: every turn is answered.",
    )
    classifier: ClassifierName = Field(
        "embedded",
        description="Who judges: embedded (on this machine), lexical (by words alone), llm (the brain), openai or jev (a key).",
    )
    classifier_url: str = Field("", description="Address of your own server for the openai or jev classifier; it is sent no key.")
    agent_role: str = Field("", max_length=200, description="What the agent is for, as the classifier is told.")
    languages: dict[Name, str] = Field(
        default_factory=dict, description="For each language the agent answers in, a note to it in that language."
    )
    proactivity: float = Field(0.5, gt=0, le=1, description="How sure it must be to offer unasked; lower is more eager.")
    history: int = Field(6, ge=0, le=50, description="How many turns before the judged one are looked at.")
    answer_only: tuple[Name, ...] = Field((), description="Names of the only people who are answered; empty: everybody.")
    alone: float = Field(
        1.25,
        ge=0,
        le=3,
        description="Levels of directness added for what the only person there asks or tells the agent; 0 for none.",
    )
    carry_over: float = Field(
        0.0, ge=0, le=3, description="Levels of directness added for whoever the agent has just answered; 0 for none."
    )
    thinker: ThinkerName = Field(
        "notes", description="Who thinks while the agent listens: notes (looks things up; with the notes brain), llm, or off."
    )
    think_wait_ms: int = Field(1500, ge=0, le=30_000, description="How long a silent turn waits for what the agent thinks.")
    speak_timeout_ms: int = Field(2000, ge=1, le=60_000, description="How long a decision may take before the agent just speaks.")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if any(name.casefold() == "other" for name in self.languages):
            raise ValueError("a language cannot be called 'other': that is the answer for every language not listed")
        return self
