"""A request that is not served: its status and a sentence that says what to change."""

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.websockets import WebSocket

from voiceagent.errors import WebError


class Refused(WebError):
    """Becomes an answer with this status and `{"error": message}`."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


async def answer_refused(request: Request, error: Exception) -> JSONResponse:
    """The answer to a refused request; a body left unread closes the connection."""
    status = error.status if isinstance(error, Refused) else 500
    headers = {"connection": "close"} if status == 413 else None
    return JSONResponse({"error": str(error)}, status_code=status, headers=headers)


async def deny(socket: WebSocket, refused: Refused) -> None:
    """Answers a WebSocket that is not opened: with the status and the sentence where the server can, else by closing it."""
    if "websocket.http.response" in socket.scope.get("extensions", {}):
        await socket.send_denial_response(JSONResponse({"error": str(refused)}, status_code=refused.status))
    else:
        await socket.close(1008, str(refused)[:120])
