"""Commands from outside: who may give which, and their way to the engine; each is done once and acknowledged once."""

import logging
from dataclasses import dataclass
from typing import assert_never

from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response

from voiceagent.errors import RoomError, StoreError
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import EventStatus, InboundMessage, TextContent
from voiceagent.room.ledger import Disposition
from voiceagent.room.passage import KEY_TAKEN
from voiceagent.room.receipt import Receipt, ReceiptDisposition, disposition_of
from voiceagent.room.visibility import ALL
from voiceagent.web.body import read_json
from voiceagent.web.command import (
    Ack,
    AnswerQuestion,
    CancelGeneration,
    CancelJob,
    Command,
    DismissQuestion,
    MarkRead,
    PressKeys,
    QuestionCommand,
    SteerGeneration,
    Submit,
    TextCommand,
    WithdrawInput,
    digest,
    parsed,
)
from voiceagent.web.door import Door
from voiceagent.web.inbox.answering import Answering
from voiceagent.web.reach import Reach
from voiceagent.web.receipts import Receipts
from voiceagent.web.refusal import Refused
from voiceagent.web.rooms import TEXT_CHANNEL, Rooms
from voiceagent.web.standing import Standing

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Sender:
    """Who commands in a room: what they may, and the public id of the participant key that they hold, if any."""

    room: str
    standing: Standing
    participant: str | None

    @property
    def name(self) -> str:
        """Whose command ids they are."""
        return self.participant or "host"


class Commands:
    """Does what clients ask of a room."""

    def __init__(self, door: Door, rooms: Rooms, engine: RoomEngine) -> None:
        self._door = door
        self._rooms = rooms
        self._engine = engine
        self._answering = Answering(engine)
        self._receipts = Receipts()

    def sender(self, connection: HTTPConnection) -> Sender:
        """Who asks. Raises Refused when they may not enter the room, or their key is none."""
        room, standing = self._door.room_and_standing(connection)
        return Sender(room, standing, self._door.holder(connection))

    async def post(self, request: Request) -> Response:
        """POST: one command in, its acknowledgement out; 200 also when it was not accepted."""
        sender = self.sender(request)
        command = parsed(await read_json(request, self._door.settings.max_body_bytes))
        await self._rooms.enter(sender.room, sender.participant)
        try:
            ack = await self.do(request, sender, command)
        finally:
            self._rooms.leave(sender.room)
        if ack.error is not None and ack.error.code == "too_many":
            raise Refused(429, ack.error.message)
        return JSONResponse(ack.as_json())

    async def do(self, connection: HTTPConnection, sender: Sender, command: Command) -> Ack:
        """Does a command, once for its id. The sender's room is open."""
        refused = self._may(sender, command)
        if refused is not None:
            return refused
        try:
            if isinstance(command, Submit | SteerGeneration):
                self._door.spend_message(connection)
            key = (sender.room, sender.name, command.id)
            ack = await self._receipts.once(key, digest(command), lambda: self._do(sender, command))
            return self._now(sender, command, ack)
        except Refused as error:
            return Ack.refusal(command.id, "too_many", str(error))
        except StoreError:
            log.exception("room %s: a command is not done", sender.room)
            return Ack.refusal(command.id, "not_stored", "the room could not store it: send it again later")
        except RoomError as error:
            return Ack.refusal(command.id, "refused", str(error))

    def _may(self, sender: Sender, command: Command) -> Ack | None:
        """Why a sender may not give a command; hosts may give all, others speak and stop where they are."""
        if isinstance(command, MarkRead | PressKeys) and sender.participant is None:
            return Ack.refusal(command.id, "not_allowed", "send the participant key of whoever has done it")
        if sender.standing.host or isinstance(command, AnswerQuestion | DismissQuestion):
            return None  # who may answer depends on the question
        if isinstance(command, CancelJob):
            return Ack.refusal(command.id, "not_allowed", "only hosts stop background jobs")
        person = self._engine.context(sender.room).person(sender.participant or "")
        if person is None or not person.active:
            return Ack.refusal(command.id, "not_here", "you are not on the line in this room: join first")
        return None

    async def _do(self, sender: Sender, command: Command) -> Ack:
        match command:
            case Submit() | WithdrawInput() | SteerGeneration():
                return await self._text(sender, command)
            case CancelGeneration():
                stopped = self._engine.cancel_generation(sender.room, command.data.generation_id)
                return _requested(command, stopped, "no such answer is being made here")
            case CancelJob():
                stopped = self._engine.cancel_job(sender.room, command.data.job_id)
                return _requested(command, stopped, "no such job is active here")
            case MarkRead():
                return await self._read(sender, command)
            case AnswerQuestion() | DismissQuestion() | PressKeys():
                return await self._answer(sender, command)
            case _:
                assert_never(command)

    async def _answer(self, sender: Sender, command: QuestionCommand | PressKeys) -> Ack:
        if isinstance(command, PressKeys):
            return await self._answering.keyed(sender.room, sender.participant, command)
        return await self._answering.do(Reach(sender.room, sender.standing, sender.participant), command)

    async def _text(self, sender: Sender, command: TextCommand) -> Ack:
        if isinstance(command, WithdrawInput):
            return await self._withdraw(sender, command)
        text, most = command.data.text.strip(), self._door.settings.max_text_chars
        if not 0 < len(text) <= most:
            return Ack.refusal(command.id, "bad_command", f"a text has 1 to {most} characters that are not all space")
        if isinstance(command, Submit):
            return await self._submit(sender, command, text)
        return await self._steer(sender, command, text)

    async def _submit(self, sender: Sender, command: Submit, text: str) -> Ack:
        key = f"{sender.name}:{command.id}"
        message = InboundMessage(TEXT_CHANNEL, TextContent(text), sender_id=sender.participant, idempotency_key=key)
        result = await self._engine.process_inbound(message, room_id=sender.room)
        if result.event is None or result.blocked:
            return _refused(command, result.reason)
        disposition = self._how_far(sender.room, result.event.id) or "queued"
        return Ack(id=command.id, accepted=True, duplicate=result.duplicate, disposition=disposition, input_id=result.event.id)

    async def _steer(self, sender: Sender, command: SteerGeneration, text: str) -> Ack:
        receipt: Receipt = await self._engine.steer(
            sender.room,
            text,
            participant_id=sender.participant,
            generation_id=command.data.generation_id,
            input_id=f"{sender.name}:{command.id}",
        )
        if receipt.disposition == "refused":
            return _refused(command, receipt.reason)
        return Ack(
            id=command.id,
            accepted=True,
            duplicate=receipt.duplicate,
            disposition=receipt.disposition,
            input_id=receipt.input_id,
            generation_id=receipt.generation_id,
        )

    async def _withdraw(self, sender: Sender, command: WithdrawInput) -> Ack:
        input_id = command.data.input_id
        event = await self._engine.store.get_event(sender.room, input_id)
        if not sender.standing.host and (event is None or event.source.participant_id != sender.participant):
            return Ack.refusal(command.id, "not_allowed", "only whoever wrote a message takes it back")
        if not self._engine.withdraw_input(sender.room, input_id):
            return Ack.refusal(command.id, "not_active", "no such message waits: it was taken in, or has ended")
        return Ack(id=command.id, accepted=True, disposition="withdrawn", input_id=input_id)

    async def _read(self, sender: Sender, command: MarkRead) -> Ack:
        event = await self._engine.store.get_event(sender.room, command.data.event_id)
        public = event is not None and event.status is not EventStatus.BLOCKED and event.visibility in (ALL, "transport")
        if event is None or not public:
            return Ack.refusal(command.id, "not_found", "there is no such message in this room")
        await self._engine.read(event.id, sender.participant or "", room_id=sender.room)
        return Ack(id=command.id, accepted=True, disposition="read")

    def _now(self, sender: Sender, command: Command, ack: Ack) -> Ack:
        """A repeated acknowledgement, with how far the input has come meanwhile."""
        if not ack.duplicate or ack.input_id is None:
            return ack
        now = self._how_far(sender.room, ack.input_id, steer=isinstance(command, SteerGeneration))
        return ack if now is None else ack.model_copy(update={"disposition": now})

    def _how_far(self, room: str, input_id: str, *, steer: bool = False) -> ReceiptDisposition | Disposition | None:
        """Where an input stands: as a receipt says it, or, of what does not steer, how it was settled."""
        standing = self._engine.host.ledger(room).standing(input_id)
        if standing is None:
            return None
        return standing.end if standing.end is not None and not steer else disposition_of(standing)


def _requested(command: CancelGeneration | CancelJob, stopped: bool, otherwise: str) -> Ack:
    if not stopped:
        return Ack.refusal(command.id, "not_active", otherwise)
    return Ack(id=command.id, accepted=True, disposition="requested")


def _refused(command: Command, reason: str | None) -> Ack:
    if reason in (KEY_TAKEN, "input_id_taken"):
        return Ack.refusal(command.id, "id_reused", "this id was used for another text: take a new one")
    return Ack.refusal(command.id, "refused", f"the room did not take it: {reason or 'it was blocked'}")
