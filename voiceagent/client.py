"""A room followed from another program: its lines in order, and commands; needs a server's address and nothing of the engine."""

import asyncio
import json
import secrets
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from types import TracebackType
from typing import Final
from urllib.parse import quote, urlencode

import httpx2
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from voiceagent.errors import WebError
from voiceagent.values import JSON

SILENCE_S: Final = 30
"""Without a sign of life for so long a line is dead."""

_TRIES: Final = 8
_LONGEST_PAUSE_S: Final = 3.0
_LARGEST: Final = 16 * 1024 * 1024
_PASSING: Final = frozenset({429, 500, 502, 503, 504})
_BROKEN: Final = (ConnectionClosed, InvalidHandshake, OSError, TimeoutError)
"""What passes: the server is away, or the line to it broke."""


@dataclass(frozen=True, slots=True)
class Line:
    """One object of the feed. `seq` numbers durable lines; droppable ones and `stream.*` have none. `docs/events.md` lists the
    types and their data. `anew`, of `stream.ready`: the room's numbers began anew, what was known of it is gone."""

    type: str
    data: Mapping[str, JSON]
    seq: int | None = None
    time: str | None = None
    channel_id: str | None = None
    session_id: str | None = None
    generation_id: str | None = None
    responds_to: str | None = None
    anew: bool = False


@dataclass(frozen=True, slots=True)
class Ack:
    """A command's one answer: whether it was accepted, how far it has come, and if it was refused a code and why in words.

    `question`, of a question that was answered or dismissed, is how it stands now, also when somebody else was first."""

    id: str
    accepted: bool
    disposition: str
    duplicate: bool = False
    input_id: str | None = None
    generation_id: str | None = None
    question: Mapping[str, JSON] | None = None
    code: str | None = None
    message: str | None = None


class Client:
    """One room of a server; use it as `async with`, which raises WebError when the room may not be entered.

    `token` opens the room where the server asks for one. With `key` (22 to 64 letters, digits, `_` or `-`) one acts as the person
    who holds it.
    """

    def __init__(self, url: str, *, room: str, token: str | None = None, key: str | None = None) -> None:
        self.room = room
        self.seq = 0
        self.snapshot: Mapping[str, JSON] = {}
        self._base = f"{url.rstrip('/')}/v1/rooms/{quote(room, safe='')}/"
        self._headers = {"authorization": f"Bearer {token}"} if token else {}
        if key:
            self._headers["participant-key"] = key
        self._http = httpx2.AsyncClient(base_url=self._base, headers=self._headers)

    async def __aenter__(self) -> "Client":
        """Looks into the room: `snapshot` is how it stands, `seq` its newest line, behind which `events()` begins."""
        try:
            async with aclosing(self._lines(_Place())) as lines:
                async for line in lines:
                    if line.type == "stream.snapshot":
                        self.snapshot, self.seq = line.data, _number(line.data.get("seq"))
                        return self
        except _BROKEN as error:
            await self._http.aclose()
            raise WebError(f"room {self.room}: {self._base} does not answer: {error}") from error
        except BaseException:
            await self._http.aclose()
            raise
        await self._http.aclose()
        raise WebError(f"room {self.room}: the server ended the line before it told how the room stands")

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._http.aclose()

    async def events(self, after: int | None = None, **wishes: str) -> AsyncGenerator[Line, None]:
        """Lines behind number `after` (0: all that are kept; by default those since the client was opened), then as they come.

        It comes back by itself when the connection breaks, and gives each numbered line once. `wishes` are `types`, `generation`,
        `purpose` and `audience`. Ends when the token expires. Raises WebError when the server refuses for good.
        """
        place, failures = _Place(self.seq if after is None else after), 0
        while not place.ended:
            try:
                async with aclosing(self._lines(place, wishes)) as lines:
                    async for line in lines:
                        failures = 0
                        if line.type != "stream.alive":
                            yield line
            except _BROKEN:
                failures += 1
            if not place.ended:
                await asyncio.sleep(_pause_s(failures))

    async def submit(self, text: str, *, id: str | None = None) -> Ack:
        """Says something in the room, as the holder of the key or as its host."""
        return await self.command("input.submit", {"text": text}, id=id)

    async def steer(self, text: str, *, generation_id: str | None = None, id: str | None = None) -> Ack:
        """Adds to what an agent works on; with `generation_id` to that answer alone."""
        anchor: dict[str, JSON] = {} if generation_id is None else {"generation_id": generation_id}
        return await self.command("generation.steer", {"text": text, **anchor}, id=id)

    async def withdraw(self, input_id: str, *, id: str | None = None) -> Ack:
        """Takes back a message of one's own that no answer has taken in yet."""
        return await self.command("input.withdraw", {"input_id": input_id}, id=id)

    async def cancel(self, generation_id: str, *, id: str | None = None) -> Ack:
        """Stops an answer that is being made, or sounds."""
        return await self.command("generation.cancel", {"generation_id": generation_id}, id=id)

    async def answer(self, question_id: str, answer: str | int | Sequence[int], *, id: str | None = None) -> Ack:
        """Answers a question of the room: in words, or by the place of an option, from 0, or of several."""
        how: dict[str, JSON]
        match answer:
            case str():
                how = {"text": answer}
            case int():
                how = {"option": answer}
            case _:
                how = {"options": list(answer)}
        return await self.command("question.answer", {"question_id": question_id, **how}, id=id)

    async def dismiss(self, question_id: str, *, id: str | None = None) -> Ack:
        """Ends a question without an answer, of which its agent is told."""
        return await self.command("question.dismiss", {"question_id": question_id}, id=id)

    async def command(self, type: str, data: Mapping[str, JSON], *, id: str | None = None) -> Ack:
        """Gives a command; while no answer comes it is sent again under the same id, and done once.

        Raises WebError when the server does not answer for about 20 s, or what was sent is no command.
        """
        id = id or secrets.token_hex(16)
        for failures in range(1, _TRIES + 1):
            try:
                answer = await self._http.post("commands", json={"type": type, "id": id, "data": dict(data)})
            except httpx2.TransportError:
                answer = None
            if answer is not None and answer.status_code == httpx2.codes.OK:
                return _ack(id, answer.json())
            if answer is not None and answer.status_code not in _PASSING:
                raise WebError(f"{type} in room {self.room}: {_reason(answer.text, answer.status_code)}")
            await asyncio.sleep(_pause_s(failures))
        raise WebError(f"{type} in room {self.room}: the server does not answer; the same id sends it again safely: {id}")

    async def _lines(self, place: "_Place", wishes: Mapping[str, str] | None = None) -> AsyncGenerator[Line, None]:
        """One connection's lines. Raises what websockets raises when it breaks, WebError when it is refused for good."""
        address = f"{self._base.replace('http', 'ws', 1)}stream?{urlencode({**(wishes or {}), **place.query()})}"
        try:
            socket = await connect(address, additional_headers=self._headers, max_size=_LARGEST)
        except InvalidStatus as refused:
            if refused.response.status_code in _PASSING:
                raise
            said = (refused.response.body or b"").decode(errors="replace")
            raise WebError(f"room {self.room}: {_reason(said, refused.response.status_code)}") from refused
        async with socket:
            while (text := await _received(socket)) is not None:
                line = place.take(json.loads(text))
                if line is not None:
                    yield line


@dataclass(slots=True)
class _Place:
    """How far a reader has come."""

    last: int | None = None
    epoch: str = ""
    ended: bool = False

    def query(self) -> dict[str, str]:
        """What a reader asks for who goes on from here."""
        asked = {} if self.last is None else {"after": str(self.last)}
        return {**asked, "epoch": self.epoch} if self.epoch else asked

    def take(self, told: Mapping[str, JSON]) -> Line | None:
        """The line that an object is; None for one that came before."""
        line = _line(told)
        data = line.data
        if line.type == "stream.ready":
            after, known = _number(data.get("after")), self.last
            anew = known is not None and self.epoch != "" and after < known
            if known is None or anew:
                self.last = after
            self.epoch = str(data.get("epoch", ""))
            return _line(told, anew=anew)
        if line.type == "stream.gap":
            self.last = _number(data.get("to"))
        elif line.type == "stream.snapshot":
            self.last = max(self.last or 0, _number(data.get("seq")))
        elif line.type == "stream.closed":
            self.ended = data.get("reason") == "token_expired"
        if line.seq is not None:
            if self.last is not None and line.seq <= self.last:
                return None
            self.last = line.seq
        return line


async def _received(socket: ClientConnection) -> str | None:
    """The next text; None when the server has closed in good order. Raises TimeoutError for a line that is dead."""
    try:
        async with asyncio.timeout(SILENCE_S):
            return str(await socket.recv())
    except ConnectionClosed as closed:
        if closed.rcvd is None:
            raise
        return None


def _pause_s(failures: int) -> float:
    return min(_LONGEST_PAUSE_S, 0.1 * 2.0**failures)


def _line(told: Mapping[str, JSON], *, anew: bool = False) -> Line:
    seq, data = told.get("seq"), told.get("data")
    return Line(
        type=str(told.get("type")),
        data=data if isinstance(data, dict) else {},
        seq=seq if isinstance(seq, int) else None,
        time=_text(told.get("time")),
        channel_id=_text(told.get("channel_id")),
        session_id=_text(told.get("session_id")),
        generation_id=_text(told.get("generation_id")),
        responds_to=_text(told.get("responds_to")),
        anew=anew,
    )


def _ack(id: str, told: Mapping[str, JSON]) -> Ack:
    error, question = told.get("error"), told.get("question")
    problem = error if isinstance(error, dict) else {}
    return Ack(
        id=id,
        accepted=told.get("accepted") is True,
        disposition=str(told.get("disposition")),
        duplicate=told.get("duplicate") is True,
        input_id=_text(told.get("input_id")),
        generation_id=_text(told.get("generation_id")),
        question=question if isinstance(question, dict) else None,
        code=_text(problem.get("code")),
        message=_text(problem.get("message")),
    )


def _reason(said: str, status: int) -> str:
    """Why a request was refused, in the server's words."""
    try:
        told = json.loads(said)
    except ValueError:
        told = None
    return str(told["error"]) if isinstance(told, dict) and "error" in told else f"refused with status {status}"


def _text(value: JSON) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: JSON) -> int:
    return value if isinstance(value, int) else 0
