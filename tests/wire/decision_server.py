"""Servers for typed questions on loopback, written from what OpenAI (decisions) and TypeSafe (System One) publish of theirs."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.wire.chat_server import _socket, chunk

Body = dict[str, Any]
Change = Callable[[Body], object]


def as_it_is(body: Body) -> object:
    return body


class DecisionServer:
    """Answers by the model's name; `change` may alter a good answer first. Keeps what it was sent."""

    def __init__(self) -> None:
        self.url = ""
        self.bodies: list[Body] = []
        self.headers: list[Mapping[str, str]] = []
        self.change: Change = as_it_is

    async def decide(self, request: Request) -> Response:
        return await self._serve(request, _decision)

    async def system_one(self, request: Request) -> Response:
        return await self._serve(request, _system_one)

    async def choose(self, request: Request) -> Response:
        """Chat completions of one token, with what else it might have been; by the model's name, without it or not at all."""
        body = await request.json()
        self.bodies.append(body)
        if body["model"] == "judging":
            return _judged(body)
        if body["model"] == "refused":
            return JSONResponse({"error": {"message": "bad key"}}, 401)
        if body["model"] == "strict" and body.get("logprobs"):
            return JSONResponse({"error": {"message": "logprobs are not supported here"}}, 400)
        if body.get("stream"):
            return Response(chunk({"content": '{"hush": true}'}) + chunk({}, "stop"), media_type="text/event-stream")
        tops = [("Yes", -0.2231), ("yes", -2.3026), ("No", -2.3026), ("Hm", -5.0)]
        top = [{"token": token, "bytes": None, "logprob": logprob} for token, logprob in tops]
        told: object = {"content": [{**top[0], "top_logprobs": top}], "refusal": None}
        told = {"telling": told, "silent": None, "empty": {"content": []}, "odd": {"content": "yes"}}.get(body["model"])
        choice = {"index": 0, "message": {"role": "assistant", "content": "Yes"}, "finish_reason": "length", "logprobs": told}
        choices = [] if body["model"] == "nothing" else [choice]
        return JSONResponse({"id": "c", "object": "chat.completion", "created": 1, "model": body["model"], "choices": choices})

    async def _serve(self, request: Request, answer: Callable[[Body], Body]) -> Response:
        body = await request.json()
        self.bodies.append(body)
        self.headers.append(dict(request.headers))
        told = f"{request.headers['authorization']} {body}"
        match body["model"]:
            case "refused":
                return JSONResponse({"error": {"message": f"bad key {told}", "type": "x", "code": "y"}, "detail": told}, 401)
            case "busy":
                return JSONResponse({"error": {"message": f"slow down {told}"}}, 429, {"retry-after": "0"})
            case "failing":
                return Response(f"stack trace {told}", 500)
            case "hanging":
                await asyncio.Event().wait()
            case "page":
                return Response(f"<p>{told}</p>", 200, media_type="text/html")
            case "no_json":
                return Response(f"{{ {told}", 200, media_type="application/json")
        return JSONResponse(self.change(answer(body)))


def _judged(body: Body) -> Response:
    """Yes, the highest level, or the first option: as one token with its log probabilities, or whole by the schema."""
    if not body.get("logprobs"):
        properties = body["response_format"]["json_schema"]["schema"]["properties"]
        whole = {name: kind["enum"][-1] if "enum" in kind else True for name, kind in properties.items()}
        return Response(chunk({"content": json.dumps(whole)}) + chunk({}, "stop"), media_type="text/event-stream")
    tokens = body["messages"][-1]["content"].rpartition("Answer with one of ")[2].split(", and nothing")[0].split(", ")
    best = "yes" if "yes" in tokens else tokens[-1]
    top = [{"token": token, "bytes": None, "logprob": -0.1 if token == best else -4.0} for token in tokens]
    told = {"content": [{**top[0], "top_logprobs": top}], "refusal": None}
    choice = {"index": 0, "message": {"role": "assistant", "content": best}, "finish_reason": "length", "logprobs": told}
    return JSONResponse({"id": "c", "object": "chat.completion", "created": 1, "model": body["model"], "choices": [choice]})


def _decision(body: Body) -> Body:
    usage = {
        "input_tokens": 9,
        "input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": 0},
        "output_tokens": 0,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 9,
    }
    return {"model": body["model"], "usage": usage, "answers": [_decided(question) for question in body["questions"]]}


def _decided(question: Body) -> Body:
    told = {"type": question["type"], "name": question.get("name")}
    match question["type"]:
        case "predicate":
            return {**told, "probability": 0.9}
        case "choice":
            values = [choice["value"] for choice in question["choices"]]
            chances = [{"value": value, "probability": 0.8 if value == values[0] else 0.2} for value in values]
            return {**told, "choice": values[0], "confidence": 0.8, "probabilities": chances}
    labels = [level["label"] for level in question["levels"]]
    shares = [{"label": label, "value": n, "probability": 0.5 if n else 0.0} for n, label in enumerate(labels)]
    return {**told, "score": 1.5, "confidence": 0.5, "probabilities": shares}


def _system_one(body: Body) -> Body:
    answers = {name: _told(question) for name, question in body["questions"].items()}
    return {"model": body["model"], "answers": answers, "usage": {"input_tokens": 9, "output_tokens": 1}}


def _told(question: Body) -> Body:
    criteria: Any = question.get("criteria")
    match question["type"]:
        case "noul":
            return {"type": "noul", "noul": 0.9}
        case "choice":
            options = list(criteria)
            chances = {option: 0.8 if option == options[0] else 0.2 for option in options}
            return {"type": "choice", "choice": options[0], "confidence": 0.8, "probabilities": chances}
    legend = {str(n): text for n, text in enumerate(criteria)}
    shares = {level: 0.5 if level != "0" else 0.0 for level in legend}
    return {"type": "score", "score": 1.5, "confidence": 0.5, "legend": legend, "probabilities": shares}


@asynccontextmanager
async def serving() -> AsyncIterator[DecisionServer]:
    """Both servers at one address, `url`; OpenAI's is under `/v1`."""
    server = DecisionServer()
    app = Starlette(
        routes=[
            Route("/v1/decisions", server.decide, methods=["POST"]),
            Route("/v1/chat/completions", server.choose, methods=["POST"]),
            Route("/v1/systemone", server.system_one, methods=["POST"]),
        ]
    )
    config = uvicorn.Config(app, log_level="critical", lifespan="off", timeout_graceful_shutdown=0)
    with _socket() as listener:
        server.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        runner = uvicorn.Server(config)
        task = asyncio.create_task(runner.serve(sockets=[listener]))
        try:
            yield server
        finally:
            runner.should_exit = True
            await task
