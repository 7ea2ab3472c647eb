"""The inbox over HTTP: the list, the live stream, answers to it, and how the rooms stand."""

import logging

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from voiceagent.errors import StoreError
from voiceagent.room.engine import RoomEngine
from voiceagent.values import JSON
from voiceagent.web.body import read_json
from voiceagent.web.command import Ack, AnswerQuestion, DismissQuestion, QuestionCommand, digest, parsed
from voiceagent.web.door import Door
from voiceagent.web.inbox.answering import Answering
from voiceagent.web.inbox.board import Board
from voiceagent.web.inbox.follower import Follower
from voiceagent.web.pairing.hosts import PairedHosts
from voiceagent.web.reach import Reach
from voiceagent.web.readers import Readers
from voiceagent.web.receipts import Receipts
from voiceagent.web.refusal import Refused
from voiceagent.web.stream import send_events

log = logging.getLogger(__name__)

_NOT_STORED = "the questions cannot be read or kept now: try again later"


class InboxPages:
    """Answers requests for the inbox. No room is opened by any of them."""

    def __init__(self, door: Door, readers: Readers, engine: RoomEngine, paired: PairedHosts | None = None) -> None:
        self._door = door
        self._readers = readers
        self._board = Board(engine, paired)
        self._answering = Answering(engine)
        self._receipts = Receipts()

    async def listed(self, request: Request) -> Response:
        """GET: every question that the sender may see. Raises Refused."""
        try:
            return _fresh(await self._board.snapshot(self._door.reach(request)))
        except StoreError as error:
            raise Refused(503, _NOT_STORED) from error

    async def overview(self, request: Request) -> Response:
        """GET: how the rooms stand that the sender may see. Raises Refused."""
        try:
            return _fresh(await self._board.overview(self._door.reach(request)))
        except StoreError as error:
            raise Refused(503, _NOT_STORED) from error

    async def command(self, request: Request) -> Response:
        """POST: one answer or dismissal in, its acknowledgement out; 200 also when it was not accepted. Raises Refused."""
        reach = self._door.reach(request)
        command = parsed(await read_json(request, self._door.settings.max_body_bytes))
        if not isinstance(command, AnswerQuestion | DismissQuestion):
            raise Refused(400, "the inbox takes question.answer and question.dismiss; other commands go to a room")
        return JSONResponse((await self._done(reach, command)).as_json())

    async def _done(self, reach: Reach, command: QuestionCommand) -> Ack:
        key = (reach.room or "", reach.name, command.id)
        try:
            return await self._receipts.once(key, digest(command), lambda: self._do(reach, command))
        except StoreError:
            log.exception("question %s: what a person did is not kept", command.data.question_id)
            return Ack.refusal(command.id, "not_stored", _NOT_STORED)

    async def _do(self, reach: Reach, command: QuestionCommand) -> Ack:
        host = command.data.host
        if host is not None:
            return await self._board.bring(reach, host, command)
        return await self._answering.do(reach, command)

    async def get(self, scope: Scope, receive: Receive, send: Send) -> None:
        """GET: the same list as a stream of server-sent events, and every change of it. Raises Refused."""
        reach = self._door.reach(Request(scope, receive))
        with self._readers.place():
            await send_events(receive, send, lambda write, gone: Follower(self._board, reach, write).run(gone))


def _fresh(told: dict[str, JSON]) -> Response:
    return JSONResponse(told, headers={"cache-control": "no-store"})
