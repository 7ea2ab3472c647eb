"""Settings of Web Push; reading them loads no cryptography."""

import base64
import binascii
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

KEY_BYTES = 32


class PushSettings(BaseModel):
    """Whether urgent questions are pushed, and what a notification may show."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: SecretStr | None = Field(None, description="private key by which push services know this server: voiceagent keys --push")
    subject: str = Field("", description="whom push services may write to, such as mailto:ops@example.org; needed with a key")
    text: bool = Field(False, description="whether a notification shows the question, which a lock screen shows to everybody")
    file: Path | None = Field(None, description="where devices are kept that asked to be notified; without it, in memory")
    services: tuple[str, ...] = Field(
        ("fcm.googleapis.com", "*.push.services.mozilla.com", "*.notify.windows.com", "*.push.apple.com"),
        description="hosts of push services that may be posted to",
    )

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.key is None:
            return self
        try:
            raw = base64.urlsafe_b64decode(self.key.get_secret_value() + "==")
        except (binascii.Error, ValueError):
            raw = b""
        if len(raw) != KEY_BYTES:
            raise ValueError("key is no key for Web Push: voiceagent keys --push makes one")
        if not self.subject.startswith(("mailto:", "https://")):
            raise ValueError("subject is missing: push services want an address, such as mailto:ops@example.org")
        return self
