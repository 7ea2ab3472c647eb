"""What can be set about an agent."""

from pydantic import BaseModel, ConfigDict, Field


class AgentSettings(BaseModel):
    """An agent's character and limits."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field("Nova", description="What people call the agent.")
    channel_id: str = Field("assistant", description="The agent's channel in every room.")
    system_prompt: str = Field(
        "You are {name}, a friendly voice assistant. Answer in one or two short spoken sentences, without lists or markup.",
        description="What the model is told about itself; {name} is replaced.",
    )
    apology: str = Field(
        "Sorry, something went wrong on my side. Could you say that again?",
        description="Said when the model fails before its first word; empty for silence.",
    )
    filler: str = Field(
        "One moment, please.", description="Said when a tool lasts and nothing was said of the answer yet; empty for silence."
    )
    filler_after_ms: int = Field(1_500, ge=0, description="How long after the answer was begun that is said.")
    window: int = Field(50, ge=1, le=200, description="How many events of the conversation the model reads at most.")
    compact_after: int = Field(
        0, ge=0, le=180, description="After how many messages its conversation goes on under a summary by the model; 0: never."
    )
    max_tokens: int | None = Field(None, ge=1, description="The longest answer, in the model's tokens.")
    temperature: float | None = Field(None, ge=0, le=2, description="How freely the model words its answers.")
    ask: bool = Field(True, description="Whether it may ask people something and go on; the answer comes back to it.")
    ask_and_wait: bool = Field(
        False, description="Whether it may also ask and wait for the answer: its turn goes no further until somebody answers."
    )
    max_tool_rounds: int = Field(5, ge=0, description="How often one answer may call tools before it has to speak.")
    max_tool_calls: int = Field(16, ge=1, le=100, description="How many tools one round may call; the rest are not run.")
    tool_timeout_ms: int = Field(30_000, ge=1, description="How long one tool may run.")
    max_jobs: int = Field(4, ge=1, le=100, description="How many background jobs may run at once in one room.")
