"""A Realtime client who leaves no answer to us: none is begun ahead of its wish."""

from dataclasses import replace

import pytest

from tests.unit.turns import event
from voiceagent.agent.context import AIContext, AIGenerationEvent
from voiceagent.llm.model import Message
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import ChannelType, EventSource, Participant
from voiceagent.transport.socket import SocketCall
from voiceagent.web.realtime.session import Guest, Session
from voiceagent.web.realtime.terms import Terms
from voiceagent.web.standing import Standing


@pytest.mark.parametrize(("answers", "speculative", "goes_on"), [(True, True, True), (False, True, False), (False, False, True)])
async def test_nothing_is_begun_ahead_of_a_wish_that_the_client_has_yet_to_tell(
    answers: bool, speculative: bool, goes_on: bool
) -> None:
    async with RoomEngine() as kit:
        source = EventSource("voice", ChannelType.VOICE, participant_id="ann")
        trigger = replace(event("e1", "hello there"), source=source)
        session = Session(kit, Guest("r", Participant("ann"), Standing(host=False), "m"), SocketCall("c1"))
        session.terms = Terms(answers=answers)
        context = AIContext([Message("user", "hello there")], "Be brief.")
        asked = AIGenerationEvent("r", "assistant", trigger, context, "g1", speculative=speculative)
        assert session.adapt(asked) is goes_on
