"""A chat-completions server written from OpenAI's published event shapes, on loopback, for the tests of the `openai` client."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route


def chunk(delta: dict[str, object] | None = None, finish: str | None = None, usage: dict[str, int] | None = None) -> str:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices, "usage": usage}
    return f"data: {json.dumps(body)}\n\n"


def call(index: int, arguments: str, name: str | None = None, id: str | None = None) -> str:
    piece = {"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return chunk({"tool_calls": [piece]})


CALLS = {
    "calling": (call(0, "", "look", "id0"), call(1, '{"b":', "find", "id1"), call(0, '{"a": 1}'), call(1, " 2}")),
    "calling_in_turn": (call(0, '{"a":', "look", "id0"), call(0, " 1}"), call(1, '{"b": 2}', "find", "id1")),
}


class ChatServer:
    """Answers by the model's name; keeps the bodies it was sent, and tells when a listener has left."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, object]] = []
        self.left = asyncio.Event()
        self.url = ""

    async def complete(self, request: Request) -> Response:
        body = await request.json()
        self.bodies.append(body)
        key = request.headers["authorization"]
        match body["model"]:
            case "refused":
                return JSONResponse({"error": {"message": f"bad key {key}", "type": "x", "code": "y"}}, 401)
            case "busy":
                return JSONResponse({"error": {"message": f"slow down {key}"}}, 429)
            case "unknown":
                return JSONResponse({"error": {"message": f"no such model; {body}"}}, 404)
            case "failing":
                return Response(f"stack trace {body} {key}", 500)
            case "hanging":
                await asyncio.Event().wait()
        return StreamingResponse(self._stream(body["model"]), media_type="text/event-stream")

    async def _stream(self, model: str) -> AsyncIterator[str]:
        yield chunk({"role": "assistant", "content": ""})
        match model:
            case "talking":
                yield chunk({"content": "Hello "})
                yield chunk({"content": "there."})
                yield chunk({}, "stop")
                yield chunk(usage={"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10})
                yield "data: [DONE]\n\n"
            case "calling" | "calling_in_turn":
                yield "".join(CALLS[model])
                yield chunk({}, "tool_calls")
                yield "data: [DONE]\n\n"
            case "breaking":
                yield chunk({"content": "Hello "})
                raise ConnectionResetError
            case "ending":
                yield chunk({"content": "Hello "})
            case "rubbish":
                yield "data: {secret prompt\n\n"
            case "failing_late":
                yield chunk({"content": "Hello "})
                yield f"data: {json.dumps({'error': {'message': 'secret prompt'}})}\n\n"
            case "stalling":
                yield chunk({"content": "Hello "})
                await asyncio.Event().wait()
            case "endless":
                try:
                    while True:
                        yield chunk({"content": "and "})
                        await asyncio.sleep(0.001)
                finally:
                    self.left.set()


@asynccontextmanager
async def serving() -> AsyncIterator[ChatServer]:
    """A running server; its address is `url`."""
    server = ChatServer()
    app = Starlette(routes=[Route("/v1/chat/completions", server.complete, methods=["POST"])])
    config = uvicorn.Config(app, log_level="critical", lifespan="off", timeout_graceful_shutdown=0)
    with _socket() as listener:
        server.url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        runner = uvicorn.Server(config)
        task = asyncio.create_task(runner.serve(sockets=[listener]))
        try:
            yield server
        finally:
            runner.should_exit = True
            await task


@contextlib.contextmanager
def _socket() -> Iterator[socket.socket]:
    listener = socket.create_server(("127.0.0.1", 0))
    try:
        yield listener
    finally:
        listener.close()
