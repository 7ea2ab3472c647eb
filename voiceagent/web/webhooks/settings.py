"""Settings of webhooks; reading them loads no client."""

import ipaddress
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

TYPES = ("generation.finished", "generation.failed", "question.*", "job.*")
"""What a back office asks for as a rule."""

LineType = Annotated[str, StringConstraints(pattern=r"^[a-z_]+(\.[a-z_]+)*(\.\*)?$", max_length=128)]


class Webhook(BaseModel):
    """One server that is told of rooms."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[a-z0-9_-]{1,64}$", description="under which what it has been told of is remembered")
    url: str = Field(max_length=2000, description="where lines are posted; https, or http on this machine")
    secret_env: str = Field(min_length=1, description="the environment variable that holds its secret: whsec_ and base64")
    types: tuple[LineType, ...] = Field(TYPES, description="which lines; a family is written speech.*, and none means all")
    audience: Literal["all", "host"] = Field("all", description="host: also what is kept from participants")

    @model_validator(mode="after")
    def _safe(self) -> Self:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.fragment:
            raise ValueError(f"webhook {self.name}: url is no address of a server; write https://host/path, without a password")
        if parts.scheme == "http" and not _is_loopback(parts.hostname):
            raise ValueError(f"webhook {self.name}: what people say would go over the network unsealed: use https")
        return self


class WebhookSettings(BaseModel):
    """Which servers are told of rooms, and how patiently."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    hooks: tuple[Webhook, ...] = Field((), max_length=20, description="the servers")
    timeout_ms: int = Field(10_000, ge=100, le=60_000, description="longest time that one of them may take for a line")
    at_once: int = Field(4, ge=1, le=32, description="rooms that one of them is told of at the same time")
    longest_wait_ms: int = Field(
        900_000, ge=1_000, le=86_400_000, description="longest wait before one that fails is tried again; the first is a second"
    )

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        names = [hook.name for hook in self.hooks]
        if len(names) != len(set(names)):
            raise ValueError("two webhooks have the same name: what they were told of could not be told apart")
        return self


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
