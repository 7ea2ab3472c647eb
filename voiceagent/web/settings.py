"""Settings of the door for browsers; reading them loads no web framework."""

import ipaddress
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

from voiceagent.web.pairing.settings import PairingSettings
from voiceagent.web.push.settings import PushSettings


class WebSettings(BaseModel):
    """Where the server listens, who may come in, and how much of anything they may use."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = Field(
        "127.0.0.1", min_length=1, description="address to listen on; anything but loopback needs a secret and TLS or a proxy"
    )
    port: int = Field(8080, ge=0, le=65_535, description="port to listen on; 0 lets the system choose")
    token_secret: SecretStr | None = Field(
        None, description="signs room tokens (at least 32 characters); once set, every room needs one"
    )
    tls_cert: Path | None = Field(None, description="certificate chain in PEM, to serve HTTPS")
    tls_key: Path | None = Field(None, description="the certificate's private key in PEM")
    trusted_proxy: tuple[str, ...] = Field(
        (), description="addresses of proxies that end TLS and whose X-Forwarded headers are believed"
    )
    allowed_origins: tuple[str, ...] = Field(
        (), description="other origins whose pages may use this server, such as https://talk.example.org"
    )
    max_rooms: int = Field(50, ge=1, le=100_000, description="rooms open at once")
    max_people: int = Field(8, ge=1, le=1000, description="browsers in one room at once")
    max_lines: int = Field(12, ge=1, le=1000, description="browsers in all rooms at once; one core carries about 13")
    max_streams: int = Field(200, ge=1, le=100_000, description="event streams and WebSockets open at once")
    max_body_bytes: int = Field(65_536, ge=4096, le=1_048_576, description="largest request body")
    max_text_chars: int = Field(4000, ge=1, le=16_000, description="longest typed message")
    offers_per_minute: int = Field(30, ge=1, description="joins of one client a minute")
    messages_per_minute: int = Field(60, ge=1, description="typed messages of one client a minute")
    requests_per_minute: int = Field(600, ge=10, description="requests of any kind of one client a minute")
    push: PushSettings = Field(PushSettings(), description="notifications of urgent questions")
    pairing: PairingSettings = Field(PairingSettings(), description="hosts whose questions are listed here, and that list ours")

    @field_validator("allowed_origins")
    @classmethod
    def _are_origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        for origin in origins:
            parts = urlsplit(origin)
            if parts.scheme not in ("http", "https") or not parts.hostname or parts.path or parts.query:
                raise ValueError(f"{origin!r} is no origin: write scheme and host only, such as https://talk.example.org")
        return origins

    @model_validator(mode="after")
    def _safe(self) -> Self:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ValueError("tls_cert and tls_key belong together: name both or neither")
        if self.token_secret is not None and len(self.token_secret.get_secret_value()) < 32:
            raise ValueError("token_secret is too short: use at least 32 random characters")
        if self.loopback and not self.trusted_proxy:
            return self
        if self.token_secret is None:
            raise ValueError(
                f"{self._where} can be reached from outside: set token_secret, so that only holders of a room token come in"
            )
        if self.tls_cert is None and not self.trusted_proxy:
            raise ValueError(
                f"{self._where} can be reached from outside: set tls_cert and tls_key, or name the proxy that ends TLS in "
                "trusted_proxy; browsers give no microphone to plain http"
            )
        return self

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the server directly."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def url(self) -> str:
        """Where the page is, as a person would type it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls_cert else 'http'}://{host}:{self.port}/"

    @property
    def _where(self) -> str:
        return f"host {self.host!r}" if not self.loopback else f"the proxy {self.trusted_proxy[0]!r}"
