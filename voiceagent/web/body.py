"""Request bodies: read up to a bound, then checked whole against a model."""

import asyncio
from typing import Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.requests import ClientDisconnect, Request

from voiceagent.web.refusal import Refused

DISCARDED: Final = 16 * 1024 * 1024
SLOW_S: Final = 10

M = TypeVar("M", bound="Body")


class Body(BaseModel):
    """A request body: JSON with exactly these fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


async def read(request: Request, model: type[M], limit: int) -> M:
    """The checked body. Raises Refused: 413 beyond `limit` bytes, 415 when it is no JSON, 400 when it does not fit the model."""
    try:
        return model.model_validate_json(await read_json(request, limit))
    except ValidationError as error:
        raise Refused(400, told(error)) from error


async def read_json(request: Request, limit: int) -> bytes:
    """The body as it was sent. Raises Refused: 413 beyond `limit` bytes, 415 when it does not call itself JSON."""
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        raise Refused(415, "send JSON, with content-type: application/json")
    return await _bytes(request, limit)


def told(error: ValidationError) -> str:
    """What does not fit and where, in a sentence that repeats nothing of what was sent but names of fields."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part)[:40] for part in first["loc"]) or "body"
    return f"{place}: {first['msg']}"


async def _bytes(request: Request, limit: int) -> bytes:
    """The body, never more of it in memory than `limit`.

    What is too large is let go by unread, up to DISCARDED bytes: a client that still sends while the connection closes would
    see it broken, and not the answer that says why.
    """
    kept, size = bytearray(), 0
    try:
        async with asyncio.timeout(SLOW_S):
            async for chunk in request.stream():
                size += len(chunk)
                if size <= limit:
                    kept += chunk
                elif size > DISCARDED:
                    break
    except ClientDisconnect as error:
        raise Refused(400, "the body broke off") from error
    except TimeoutError as error:
        raise Refused(408, f"the body did not come within {SLOW_S} s") from error
    if size > limit:
        raise Refused(413, f"the body is larger than {limit} bytes")
    return bytes(kept)
