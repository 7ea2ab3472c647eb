"""What the server says of itself: whether it lives, which brain speaks, and how to name a better one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from voiceagent.values import JSON


@dataclass(frozen=True, slots=True)
class Status:
    """`brain` is the language model in a few words, `advice` how to choose a better one, `models` what hears and speaks.

    `agent` is the name that its words are shown under.
    """

    version: str
    brain: str
    advice: str = ""
    models: Mapping[str, str] = field(default_factory=dict)
    agent: str = "Agent"

    def as_json(self, *, token_required: bool) -> dict[str, JSON]:
        """As the page reads it."""
        return {
            "version": self.version,
            "agent": self.agent,
            "brain": self.brain,
            "advice": self.advice,
            "models": dict(self.models),
            "token_required": token_required,
        }


class StatusPages:
    """Answers /healthz and /v1/status; `status` is asked each time, since a brain may change while the server runs."""

    def __init__(self, status: Callable[[], Status], *, token_required: bool) -> None:
        self._status = status
        self._token_required = token_required

    async def health(self, request: Request) -> Response:
        """GET: alive."""
        return JSONResponse({"ok": True})

    async def status(self, request: Request) -> Response:
        """GET: who speaks here."""
        return JSONResponse(self._status().as_json(token_required=self._token_required))
