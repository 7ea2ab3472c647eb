"""Tells devices of urgent questions: once for each question and device, whatever becomes of the service between them."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Protocol, Self

from voiceagent import clock
from voiceagent.room.questions.news import QuestionNews
from voiceagent.room.questions.question import Question
from voiceagent.values import JSON
from voiceagent.web.push.book import Book
from voiceagent.web.push.settings import PushSettings
from voiceagent.web.push.subscription import Subscription
from voiceagent.web.webhooks.sender import Sender, SendError

log = logging.getLogger(__name__)

TRIES: Final = 3
POST_S: Final = 10
WAIT_S: Final = 2
LONGEST_WAIT_S: Final = 60
AT_ONCE: Final = 4
GONE: Final = frozenset({404, 410})
"""How a service says that it knows a device no more."""


@dataclass(frozen=True, slots=True)
class Letter:
    """A sealed message."""

    headers: Mapping[str, str]
    body: bytes


class Sealer(Protocol):
    """Seals messages to devices."""

    public_key: str
    """By which a browser ties a device to this server: base64url of an uncompressed point."""

    def seal(self, subscription: Subscription, topic: str, told: Mapping[str, JSON], now: int) -> Letter:
        """What is posted; computes for some milliseconds. Raises ValueError for keys that are none."""
        ...


class Pusher:
    """Use it as `async with`; `take` is for whoever tells of questions, and never waits."""

    def __init__(self, settings: PushSettings, sealer: Sealer, sender: Sender) -> None:
        """Raises ConfigError when the file of devices cannot be read."""
        self.settings = settings
        self.book = Book(settings.file)
        self._sealer = sealer
        self._sender = sender
        self._running: set[asyncio.Task[None]] = set()
        self._places = asyncio.Semaphore(AT_ONCE)

    @property
    def public_key(self) -> str:
        """By which a browser ties a device to this server."""
        return self._sealer.public_key

    async def quiet(self) -> None:
        """Returns once nothing of what was told until now is on its way."""
        await asyncio.gather(*self._running, return_exceptions=True)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        await self._sender.close()

    def take(self, news: QuestionNews) -> None:
        """Something is known of a question: one that is put to people now, and is urgent, is pushed."""
        question = news.question
        if news.what != "opened" or question.asking.urgency != "now":
            return
        for subscription in self.book.all:
            if subscription.wants(question, _now()):
                task = asyncio.create_task(self._push(subscription, question), name=f"push {question.question_id}")
                self._running.add(task)
                task.add_done_callback(self._running.discard)

    async def _push(self, subscription: Subscription, question: Question) -> None:
        async with self._places:
            try:
                letter = await asyncio.to_thread(
                    self._sealer.seal, subscription, question.question_id, self._told(question), _now()
                )
            except ValueError:
                log.warning("a device has keys that are none: it is notified no more")
                self.book.forget(subscription.endpoint)
                return
        for tried in range(1, TRIES + 1):
            wait_s = await self._post(subscription, letter, tried)
            if wait_s is None:
                return
            await asyncio.sleep(wait_s)
        log.warning("question %s: a device is not notified: its service does not take it", question.question_id)

    async def _post(self, subscription: Subscription, letter: Letter, tried: int) -> int | None:
        """Posts once; seconds to wait before trying again, None when there is nothing more to do."""
        try:
            async with self._places, asyncio.timeout(POST_S):
                answer = await self._sender.post(subscription.endpoint, letter.headers, letter.body)
        except (SendError, TimeoutError):
            return _pause_s(tried)
        if answer.status in GONE:
            self.book.forget(subscription.endpoint)
            return None
        if answer.status == 429 or answer.status >= 500:
            return min(LONGEST_WAIT_S, answer.retry_after_s or _pause_s(tried))
        if answer.status >= 300:
            log.warning("a push service refuses a message: %d", answer.status)
        return None

    def _told(self, question: Question) -> dict[str, JSON]:
        """A lock screen is public: the question itself only where the settings say so."""
        told: dict[str, JSON] = {"question_id": question.question_id, "kind": question.kind}
        return {**told, "text": question.asking.question} if self.settings.text else told


def _pause_s(tried: int) -> int:
    return int(WAIT_S**tried)


def _now() -> int:
    return int(clock.utc().timestamp())
