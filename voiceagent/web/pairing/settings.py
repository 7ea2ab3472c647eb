"""Settings of pairing with other hosts; reading them loads no client."""

from pydantic import BaseModel, ConfigDict, Field, field_validator

from voiceagent.web.pairing.address import checked


class PairingSettings(BaseModel):
    """How this host calls itself before others, where they reach it, and how patiently they are asked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str | None = Field(
        None, min_length=1, max_length=64, description="what other hosts call this one; without it, by its address"
    )
    address: str | None = Field(
        None, description="where paired hosts reach this one, such as https://talk.example.org; without it, host and port"
    )
    poll_ms: int = Field(3_000, ge=500, le=60_000, description="how often paired hosts are asked while an inbox is open")
    timeout_ms: int = Field(4_000, ge=100, le=30_000, description="longest time that a paired host may take for an answer")
    code_ms: int = Field(600_000, ge=10_000, le=3_600_000, description="how long a code for pairing is good")

    @field_validator("address")
    @classmethod
    def _is_address(cls, address: str | None) -> str | None:
        return None if address is None else checked(address)
