"""Settings of what is measured; reading them loads no exporter."""

from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator


class TelemetrySettings(BaseModel):
    """Where spans and figures go; both need the extra telemetry."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    otlp: str | None = Field(
        None, description="OpenTelemetry collector that is sent a trace of each turn over HTTP, such as http://localhost:4318"
    )
    metrics: bool = Field(False, description="figures for Prometheus at /metrics")

    @field_validator("otlp")
    @classmethod
    def _is_an_address(cls, otlp: str | None) -> str | None:
        if otlp is None:
            return None
        parts = urlsplit(otlp)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise ValueError("a collector's address is scheme, host and port, such as http://localhost:4318")
        return otlp
