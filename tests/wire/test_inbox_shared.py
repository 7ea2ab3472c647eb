"""The inbox of one process shows what another has asked, and ended, in the same database."""

from contextlib import AsyncExitStack

import pytest

from tests.wire.asked import Asked, device, questions
from tests.wire.browser import serving
from tests.wire.cluster import Cluster
from tests.wire.door import Receiver
from voiceagent.room.engine import RoomEngine
from voiceagent.room.postgres import PostgresStore
from voiceagent.web.server import build
from voiceagent.web.settings import WebSettings
from voiceagent.web.status import Status


async def house(stack: AsyncExitStack, dsn: str) -> Asked:
    """One process's server."""
    store = PostgresStore(dsn)
    await store.init()
    stack.push_async_callback(store.close)
    engine = await stack.enter_async_context(RoomEngine(store=store))
    app = build(Receiver(engine), engine, WebSettings(), lambda: Status("0", "nobody"))
    return Asked(await stack.enter_async_context(serving(app, WebSettings())), engine)


async def test_what_another_process_asks_and_ends_is_shown_within_seconds(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("voiceagent.web.inbox.follower.LOOK_S", 0.05)
    dsn = await cluster.fresh()
    async with AsyncExitStack() as stack:
        one, two = [await house(stack, dsn) for _ in range(2)]
        await one.room("den")
        there = await stack.enter_async_context(device(two.url))
        assert questions(await there.next()) == []
        question = await one.ask("den", "Tea?", "yes", "no")
        (entry,) = questions(await there.next())
        assert (entry["question"], entry["answerable"]) == ("Tea?", True)
        ack = await there.do("question.answer", question_id=question.question_id, option=1)
        assert ack["accepted"]
        assert (await there.next())["type"] == "question.ended"
        second = await one.ask("den", "Coffee?")
        assert [each["question"] for each in questions(await there.next())] == ["Coffee?", "Tea?"]
        await one.engine.questions.dismiss(second.question_id, None)
        assert [each["state"] for each in questions(await there.next())] == ["dismissed", "answered"]
        late = await there.do("question.answer", question_id=second.question_id, text="x")
        assert late["error"]["code"] == "already_ended"
