"""What is told of questions beside the rooms' feeds: each change once, also of rooms that are closed."""

from voiceagent.room.channel import Channel
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import ChannelType
from voiceagent.room.origin import Origin
from voiceagent.room.questions.question import Answer, Asking

HERE = Origin("den", "nova")


async def opened(kit: RoomEngine) -> list[tuple[str, str, str | None]]:
    """A room with an agent, and what is told: the change, the question, and the end."""
    told: list[tuple[str, str, str | None]] = []
    kit.register_channel(Channel("nova", ChannelType.AI))
    await kit.create_room("den")
    await kit.attach_channel("den", "nova")
    kit.questions.watchers.watch(lambda news: told.append((news.what, news.question.asking.question, news.question.end)))
    return told


async def test_every_change_is_told_once_and_a_room_that_opens_again_tells_nothing_anew() -> None:
    async with RoomEngine() as kit:
        told = await opened(kit)
        tea = await kit.questions.ask(HERE, "g1", Asking("Tea?", ("yes", "no")))
        kit.questions.spoken(tea, "s1")
        kit.questions.proposed(tea, "i1", 0, 0.5)
        cake = await kit.questions.ask(HERE, "g1", Asking("Cake?"))
        await kit.close_room("den")
        await kit.questions.answer(tea.question_id, Answer("button", (0,)))
        await kit.questions.answer(tea.question_id, Answer("button", (1,)))
        await kit.create_room("den")
        await kit.questions.dismiss(cake.question_id, None)
    assert told == [
        ("opened", "Tea?", None),
        ("spoken", "Tea?", None),
        ("proposed", "Tea?", None),
        ("opened", "Cake?", None),
        ("ended", "Tea?", "answered"),
        ("ended", "Cake?", "dismissed"),
    ]


async def test_whoever_watches_no_more_is_told_nothing() -> None:
    async with RoomEngine() as kit:
        told = await opened(kit)
        more: list[str] = []
        forget = kit.questions.watchers.watch(lambda news: more.append(news.what))
        await kit.questions.ask(HERE, "g1", Asking("Tea?"))
        forget()
        forget()
        await kit.questions.ask(HERE, "g1", Asking("Cake?"))
    assert more == ["opened"]
    assert len(told) == 2


async def test_a_question_about_another_room_is_told_of_once_it_is_allowed_and_one_that_is_not_never_is() -> None:
    async with RoomEngine(other_rooms="ask") as kit:
        told = await opened(kit)
        await kit.create_room("hall", started_by="nova", started_in="den")
        for place in (0, 1):
            question = await kit.questions.ask(HERE, "g1", Asking(f"There {place}?"), about="hall")
            await kit.questions.answer(f"{question.question_id}-allow", Answer("button", (place,)))
    cards = [one for one in told if not one[1].startswith("There")]
    assert [one[0] for one in cards] == ["opened", "ended"] * 2
    assert [one for one in told if one not in cards] == [("opened", "There 0?", None)]
