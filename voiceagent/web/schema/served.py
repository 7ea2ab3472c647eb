"""The documents as a running server gives them."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from voiceagent.values import JSON
from voiceagent.web.schema.asyncapi import asyncapi
from voiceagent.web.schema.openapi import openapi


class Documents:
    """Answers /v1/openapi.json and /v1/asyncapi.json; each is made when it is first asked for."""

    def __init__(self, version: Callable[[], str]) -> None:
        self._version = version
        self._made: dict[str, dict[str, JSON]] = {}

    async def openapi(self, request: Request) -> Response:
        """GET: the HTTP door."""
        return JSONResponse(self._made.get("openapi") or self._made.setdefault("openapi", openapi(self._version())))

    async def asyncapi(self, request: Request) -> Response:
        """GET: a room's lines, and the WebSocket."""
        return JSONResponse(self._made.get("asyncapi") or self._made.setdefault("asyncapi", asyncapi(self._version())))
