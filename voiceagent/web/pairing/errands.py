"""Questions that agents here ask about rooms of paired hosts: brought there, asked after while they are open, ended here."""

import asyncio
import logging
from types import TracebackType
from typing import Final, Self

from voiceagent.errors import StoreError
from voiceagent.room.engine import RoomEngine
from voiceagent.room.pairings.pairing import Pairing
from voiceagent.room.questions.news import QuestionNews
from voiceagent.room.questions.question import Answer, Question
from voiceagent.values import JSON
from voiceagent.web.pairing.caller import Caller, Reply, UnreachableError
from voiceagent.web.pairing.pairs import Pairs, bearer
from voiceagent.web.pairing.wire import ASKED, Asked, kept
from voiceagent.web.schema.inbox import QuestionEntry

log = logging.getLogger(__name__)

_REFUSALS: Final = frozenset({400, 403, 404, 409, 413})
"""Statuses by which a host says that it will never take a question."""


class Errands:
    """`async with` it while the app is served. A question is brought and asked after by one and the same request, which may be
    sent again; one that fails leaves it open."""

    def __init__(self, engine: RoomEngine, pairs: Pairs, caller: Caller, poll_ms: int) -> None:
        self._engine = engine
        self._pairs = pairs
        self._caller = caller
        self._poll_ms = poll_ms
        self._bell = asyncio.Event()
        self._given_up: dict[str, Question] = {}
        self._running: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._engine.questions.exchange.pair(self)
        self._forget = self._engine.questions.watchers.watch(self._take)
        self._running = asyncio.create_task(self._run(), name="questions to paired hosts")
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._forget()
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    async def place(self, about: str) -> tuple[str | None, str | None]:
        """The pairing with the host of a room written HOST/ROOM, and why an agent may not ask there. Raises StoreError."""
        host, _, room = about.rpartition("/")
        pairing = next((one for one in await self._pairs.listed() if one.name == host), None)
        if pairing is None or not room:
            return None, None
        if pairing.granted != "prompt":
            return pairing.pairing_id, "that host lets agents of this one read alone, and not ask"
        return pairing.pairing_id, None

    def _take(self, news: QuestionNews) -> None:
        question = news.question
        if question.kept_by is None:
            return
        if question.end in ("withdrawn", "room_closed", "agent_detached"):
            self._given_up[question.question_id] = question
        self._bell.set()

    async def _run(self) -> None:
        while True:
            self._bell.clear()
            try:
                waiting = await self._round()
            except StoreError:
                log.exception("questions to paired hosts are not known now")
                waiting = True
            try:
                async with asyncio.timeout(self._poll_ms / 1000 if waiting else None):
                    await self._bell.wait()
            except TimeoutError:
                continue

    async def _round(self) -> bool:
        """Goes to every host of which something is wanted, to all at once; returns whether anything is still open."""
        asked = [one for one in await self._engine.questions.listed() if one.is_open and one.kept_by is not None]
        pairings = {pairing.pairing_id: pairing for pairing in await self._pairs.listed()}
        async with asyncio.TaskGroup() as group:
            for question in (*asked, *self._given_up.values()):
                group.create_task(self._go(question, pairings.get(question.kept_by or "")))
        return bool(asked or self._given_up)

    async def _go(self, question: Question, pairing: Pairing | None) -> None:
        try:
            if pairing is None:
                self._given_up.pop(question.question_id, None)
                await self._engine.questions.exchange.came_back(question.question_id, "ended", "unpaired")
            elif question.is_open:
                await self._ask(question, pairing)
            else:
                await self._withdraw(question, pairing)
        except UnreachableError as error:
            log.info("question %s: the paired host %s is asked again: %s", question.question_id, pairing and pairing.name, error)
        except StoreError:
            log.exception("question %s: what a paired host says of it is not kept", question.question_id)
        except Exception:
            log.exception("question %s: it is asked after again", question.question_id)

    async def _ask(self, question: Question, pairing: Pairing) -> None:
        reply = await self._post("POST", ASKED, pairing, _asked(question).model_dump(exclude_none=True))
        if reply.unpaired:
            await self._pairs.ended(pairing)
        elif reply.status in _REFUSALS:
            log.warning("question %s: the paired host %s does not take it: %s", question.question_id, pairing.name, reply.reason)
            await self._engine.questions.exchange.came_back(question.question_id, "ended", "refused")
        elif reply.status == 200 and (entry := kept(reply.value)) is not None and entry.end is not None:
            await self._end(question, entry, pairing)

    async def _end(self, question: Question, entry: QuestionEntry, pairing: Pairing) -> None:
        answer = _answer(entry, pairing.name, self._pairs.own.name)
        if entry.state == "answered" and (answer is None or question.refusal(answer) is not None):
            log.warning("question %s: the answer of the paired host %s does not fit it", question.question_id, pairing.name)
            return
        if entry.state != "open" and entry.end is not None:
            await self._engine.questions.exchange.came_back(question.question_id, entry.state, entry.end, answer)

    async def _withdraw(self, question: Question, pairing: Pairing) -> None:
        await self._post("DELETE", f"{ASKED}/{question.question_id}", pairing)
        self._given_up.pop(question.question_id, None)

    async def _post(self, method: str, path: str, pairing: Pairing, body: dict[str, JSON] | None = None) -> Reply:
        return await self._caller.ask(method, f"{pairing.address}{path}", bearer(pairing), body)


def _asked(question: Question) -> Asked:
    asking = question.asking
    return Asked(
        question_id=question.question_id,
        room=question.room_id.rpartition("/")[2],
        channel_id=question.channel_id,
        generation_id=question.generation_id,
        question=asking.question,
        options=list(asking.options),
        recommendation=asking.recommendation,
        detail=asking.detail,
        urgency=asking.urgency,
        speak=asking.speak,
    )


def _answer(entry: QuestionEntry, there: str, here: str) -> Answer | None:
    """What a person has answered; `host` is where, as this host calls it, None for here."""
    told = entry.answer
    if told is None:
        return None
    host = there if told.host is None else None if told.host == here else told.host
    return Answer(told.via, tuple(told.options or ()), told.text, host=host, name=told.name)
