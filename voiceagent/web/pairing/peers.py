"""What a paired host is answered: the questions that people there may see, and what becomes of their answers."""

import logging

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from voiceagent import clock
from voiceagent.errors import QuestionRefusedError, StoreError
from voiceagent.room.engine import RoomEngine
from voiceagent.room.pairings.pairing import Pairing
from voiceagent.room.questions.question import Asking, Question
from voiceagent.values import JSON
from voiceagent.web.body import read
from voiceagent.web.command import Ack, QuestionCommand, digest
from voiceagent.web.door import Door
from voiceagent.web.inbox.answering import Answering
from voiceagent.web.inbox.entries import Entries
from voiceagent.web.limits import Rate
from voiceagent.web.names import clean_name
from voiceagent.web.pairing.pairs import Pairs
from voiceagent.web.pairing.wire import Asked, Forwarded, Joining
from voiceagent.web.reach import Reach
from voiceagent.web.receipts import Receipts
from voiceagent.web.refusal import Refused
from voiceagent.web.standing import Standing

log = logging.getLogger(__name__)

TRIES_A_MINUTE = 30
"""Codes that are tried here, by everybody together."""

_NOT_STORED = "the questions cannot be read or kept now: try again later"


class PeerPages:
    """Answers other hosts. A token of rooms opens nothing here, and a paired host's key nothing else."""

    def __init__(self, door: Door, pairs: Pairs, engine: RoomEngine) -> None:
        self._door = door
        self._pairs = pairs
        self._desk = engine.questions
        self._entries = Entries(engine)
        self._answering = Answering(engine)
        self._receipts = Receipts()
        self._tries = Rate(TRIES_A_MINUTE)

    async def join(self, request: Request) -> Response:
        """POST: a host brings a code. Raises Refused."""
        self._tries.spend("", clock.now())
        joining = await read(request, Joining, self._door.settings.max_body_bytes)
        try:
            joined = await self._pairs.accept(joining)
        except StoreError as error:
            raise Refused(503, "the pairing cannot be kept now: try again later") from error
        return JSONResponse(joined.model_dump(), headers={"cache-control": "no-store"})

    async def questions(self, request: Request) -> Response:
        """GET: what is open, and what people have ended in the last day, without what is for this host's eyes alone."""
        try:
            pairing = await self._pairing(request)
            if pairing is None:
                return _unpaired()
            told: dict[str, JSON] = {"questions": await self._entries.listed(_reach(pairing))}
        except StoreError as error:
            raise Refused(503, _NOT_STORED) from error
        return JSONResponse(told, headers={"cache-control": "no-store"})

    async def command(self, request: Request) -> Response:
        """POST: what a person there did with a question here; 200 also when it was not taken. Raises Refused."""
        try:
            pairing = await self._pairing(request)
            if pairing is None:
                return _unpaired()
            forwarded = await read(request, Forwarded, self._door.settings.max_body_bytes)
            person = None if forwarded.person is None else clean_name(forwarded.person)
            ack = await self._done(_reach(pairing, person), forwarded.command, pairing.pairing_id)
        except StoreError as error:
            raise Refused(503, _NOT_STORED) from error
        return JSONResponse(ack.as_json())

    async def asked(self, request: Request) -> Response:
        """POST: an agent of the other host asks about a room here, or how its question stands. Raises Refused."""
        try:
            pairing = await self._pairing(request)
            if pairing is None:
                return _unpaired()
            if pairing.level != "prompt":
                raise Refused(403, "agents of your host may read here, and not ask")
            wanted = await read(request, Asked, self._door.settings.max_body_bytes)
            question = await self._desk.exchange.take_up(_question(wanted, pairing))
            if question.asked_from != pairing.pairing_id:
                raise Refused(409, "this id is another question's")
            told: dict[str, JSON] = {"question": await self._entries.of(question, _reach(pairing))}
        except QuestionRefusedError as error:
            raise Refused(409, str(error)) from error
        except StoreError as error:
            raise Refused(503, _NOT_STORED) from error
        return JSONResponse(told, headers={"cache-control": "no-store"})

    async def withdrawn(self, request: Request) -> Response:
        """DELETE: the agent that asked takes its question back. Raises Refused."""
        try:
            pairing = await self._pairing(request)
            if pairing is None:
                return _unpaired()
            question = await self._desk.get(str(request.path_params["question_id"]))
            if question is not None and question.asked_from == pairing.pairing_id:
                await self._desk.withdraw(question.question_id, question.asked_in, question.channel_id)
        except StoreError as error:
            raise Refused(503, _NOT_STORED) from error
        return Response(status_code=204)

    async def end(self, request: Request) -> Response:
        """DELETE: the other host is paired no longer."""
        try:
            pairing = await self._pairing(request)
            if pairing is None:
                return _unpaired()
            await self._pairs.ended(pairing)
        except StoreError as error:
            raise Refused(503, "that cannot be kept now: try again later") from error
        return Response(status_code=204)

    async def _done(self, reach: Reach, command: QuestionCommand, pairing_id: str) -> Ack:
        if command.data.host is not None:
            return Ack.refusal(command.id, "not_found", "a paired host answers what is kept here, and nothing further away")
        key = ("", pairing_id, command.id)
        return await self._receipts.once(key, digest(command), lambda: self._answering.do(reach, command))

    async def _pairing(self, request: Request) -> Pairing | None:
        scheme, _, shown = request.headers.get("authorization", "").partition(" ")
        return await self._pairs.opened_by(shown.strip()) if scheme.lower() == "bearer" else None


def _question(wanted: Asked, pairing: Pairing) -> Question:
    asking = Asking(
        wanted.question,
        tuple(wanted.options),
        wanted.recommendation,
        wanted.detail,
        wanted.urgency,
        speak=wanted.speak,
    )
    asker = f"{pairing.name}/{wanted.channel_id}"
    return Question(
        wanted.question_id,
        wanted.room,
        wanted.room,
        asker,
        wanted.generation_id,
        asking,
        clock.utc(),
        asked_from=pairing.pairing_id,
    )


def _reach(pairing: Pairing, person: str | None = None) -> Reach:
    return Reach(None, Standing(host=False), host=pairing.name, person=person)


def _unpaired() -> Response:
    return JSONResponse({"error": "this host is not paired with yours", "unpaired": True}, status_code=401)
