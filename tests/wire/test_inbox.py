"""The inbox over HTTP: one list over all rooms, live on two devices, and answers taken once, from whoever may give them."""

import asyncio
import json
from typing import Any

import httpx
import jsonschema_rs
import pytest
from pydantic import SecretStr
from websockets.asyncio.client import connect

from tests.wire.asked import asked, device, questions
from voiceagent.client import Client
from voiceagent.room.events import Participant
from voiceagent.room.questions.question import Answer
from voiceagent.web.auth import EVERY_ROOM, issue
from voiceagent.web.names import participant_id
from voiceagent.web.settings import WebSettings

SECRET = "s" * 40
CLOSED = WebSettings(token_secret=SecretStr(SECRET))
NEVER = 4_000_000_000
ANNA, BOB = "a" * 32, "b" * 32


async def test_two_devices_follow_every_room_and_the_first_answer_ends_a_question() -> None:
    async with asked(None, "den", "hall") as there, device(there.url, key=ANNA) as one, device(there.url, key=BOB) as two:
        assert [questions(await each.next()) for each in (one, two)] == [[], []]
        await there.engine.join("hall", Participant(participant_id(ANNA), "Anna"))
        question = await there.ask("hall", "Which Tuesday?", "the 3rd", "the 10th", recommendation="the 10th", urgency="now")
        for each in (one, two):
            line = await each.next()
            assert (line["type"], line["room_id"], line["data"]["options"]) == (
                "question.opened",
                "hall",
                ["the 3rd", "the 10th"],
            )
            assert line["entry"]["answerable"] is True
        ack = await one.do("question.answer", question_id=question.question_id, option=1)
        assert (ack["accepted"], ack["disposition"], ack["question"]["state"]) == (True, "answered", "answered")
        for each in (one, two):
            line = await each.next()
            assert line["type"] == "question.ended"
            assert line["data"]["answer"] == {"via": "button", "options": [1], "participant_id": participant_id(ANNA)}
            assert line["entry"]["answer"]["name"] == "Anna"
        late = await two.do("question.answer", question_id=question.question_id, text="never")
        assert (late["accepted"], late["error"]["code"]) == (False, "already_ended")
        assert late["error"]["message"] == "Anna has answered it already: the 10th"
        assert [each.answer for each in there.agent.told] == [Answer("button", (1,), participant_id=participant_id(ANNA))]
        async with device(there.url) as third:
            (known,) = questions(await third.next())
            assert (known["state"], known["answer"]["name"], known["answerable"]) == ("answered", "Anna", False)


async def test_a_command_that_is_sent_again_is_done_once() -> None:
    async with asked() as there, device(there.url, key=ANNA) as one:
        question = await there.ask("den", "Tea?")
        acks = [await one.do("question.answer", "the-same-1", question_id=question.question_id, text=" yes ") for _ in range(2)]
        assert [(ack["accepted"], ack["duplicate"]) for ack in acks] == [(True, False), (True, True)]
        other = await one.do("question.answer", "the-same-1", question_id=question.question_id, text="no")
        assert other["error"]["code"] == "id_reused"
        assert [each.answer for each in there.agent.told] == [Answer("text", text="yes", participant_id=participant_id(ANNA))]


async def test_of_two_answers_within_a_millisecond_one_is_taken() -> None:
    async with asked() as there, device(there.url, key=ANNA) as one, device(there.url, key=BOB) as two:
        for _ in range(20):
            question = await there.ask("den", "Tea?", "yes", "no")
            acks = await asyncio.gather(
                one.do("question.answer", question_id=question.question_id, option=0),
                two.do("question.answer", question_id=question.question_id, option=1),
            )
            assert sorted(ack["accepted"] for ack in acks) == [False, True]
            (told,) = [each for each in there.agent.told if each.question_id == question.question_id]
            assert told.answer is not None
            assert told.answer.options == (0 if acks[0]["accepted"] else 1,)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"option": 2}, "no such option"),
        ({"options": [0, 1]}, "takes one option"),
        ({"text": "  "}, "the answer is empty"),
    ],
)
async def test_what_cannot_be_taken_says_why_and_ends_nothing(data: dict[str, Any], says: str) -> None:
    async with asked() as there, device(there.url) as one:
        question = await there.ask("den", "Tea?", "yes", "no")
        ack = await one.do("question.answer", question_id=question.question_id, **data)
        assert (ack["accepted"], ack["error"]["code"], ack["question"]["state"]) == (False, "refused", "open")
        assert says in ack["error"]["message"]
        assert there.agent.told == []


async def test_what_is_no_answer_is_refused_as_such() -> None:
    async with asked() as there, httpx.AsyncClient(base_url=there.url) as client:
        bad: list[dict[str, Any]] = [{}, {"option": 0, "text": "x"}, {"option": -1}, {"options": []}, {"text": "x" * 4_001}]
        for data in bad:
            body = {"type": "question.answer", "id": "command-1", "data": {"question_id": "q", **data}}
            assert (await client.post("v1/inbox/commands", json=body)).status_code == 400
        other = {"type": "input.submit", "id": "command-1", "data": {"text": "hi"}}
        assert "go to a room" in (await client.post("v1/inbox/commands", json=other)).json()["error"]


async def test_a_question_put_to_somebody_is_theirs() -> None:
    async with asked() as there, device(there.url, key=ANNA) as one, device(there.url, key=BOB) as two:
        question = await there.ask("den", "Tea?", asked_of=(participant_id(BOB),))
        opened = [[await each.next() for _ in range(2)][-1] for each in (one, two)]
        assert [line["entry"]["answerable"] for line in opened] == [False, True]
        ack = await one.do("question.dismiss", question_id=question.question_id)
        assert ack["error"]["message"] == "not taken: it is put to somebody else"
        assert (await two.do("question.dismiss", question_id=question.question_id))["disposition"] == "dismissed"
        assert (await one.do("question.dismiss", question_id=question.question_id))["error"]["code"] == "already_ended"


async def test_a_room_s_token_shows_that_room_and_a_host_s_without_a_room_all() -> None:
    guest, host = issue(SECRET, "den", NEVER), issue(SECRET, EVERY_ROOM, NEVER, host=True)
    async with (
        asked(CLOSED, "den", "hall") as there,
        device(there.url, key=ANNA, token=guest) as one,
        device(there.url, token=host) as two,
    ):
        assert [(await each.next())["data"]["every_room"] for each in (one, two)] == [False, True]
        den, hall, private = (
            await there.ask("den", "Here?"),
            await there.ask("hall", "There?"),
            await there.ask("den", "Secret?", private=True),
        )
        assert [(await two.next())["data"]["question"] for _ in range(3)] == ["Here?", "There?", "Secret?"]
        assert (await one.next())["data"]["question"] == "Here?"
        for hidden in (hall.question_id, private.question_id, "nowhere"):
            ack = await one.do("question.answer", question_id=hidden, text="x")
            assert ack["error"] == {"code": "not_found", "message": "there is no such question, or it is not for you"}
            assert "question" not in ack
        assert (await one.do("question.answer", question_id=den.question_id, text="x"))["error"]["code"] == "not_here"
        await there.engine.join("den", Participant(participant_id(ANNA), "Anna"))
        await there.engine.leave("den", participant_id(ANNA))
        await there.engine.close_room("den")
        assert (await one.do("question.answer", question_id=den.question_id, text="x"))["accepted"]
        line = await one.next()
        assert (line["type"], line["data"]["question_id"]) == ("question.ended", den.question_id)
        assert (await two.do("question.answer", question_id=hall.question_id, text="x"))["accepted"]


async def test_without_a_good_token_nothing_is_shown() -> None:
    async with asked(CLOSED) as there, httpx.AsyncClient(base_url=there.url) as client:
        tokens = ("none", "rubbish", issue(SECRET, "den", 1), issue(SECRET, EVERY_ROOM, NEVER), issue("t" * 40, "den", NEVER))
        for token in tokens:
            headers = {"authorization": f"Bearer {token}"}
            for path in ("v1/inbox", "v1/inbox/events", "v1/overview"):
                assert (await client.get(path, headers=headers)).status_code == 401
            assert (await client.post("v1/inbox/commands", headers=headers, json={})).status_code == 401
        foreign = await client.get("v1/inbox", headers={"origin": "https://evil.example"})
        assert foreign.status_code == 403


async def test_an_end_without_a_person_takes_the_question_from_the_list() -> None:
    async with asked() as there, device(there.url) as one:
        await one.next()
        first, second = await there.ask("den", "One?"), await there.ask("den", "Two?")
        await there.engine.questions.withdraw(first.question_id, "den", "nova")
        await there.engine.archive_room("den")
        lines = [await one.next() for _ in range(4)]
        assert [(line["type"], line["data"].get("end")) for line in lines[2:]] == [
            ("question.ended", "withdrawn"),
            ("question.ended", "room_closed"),
        ]
        ack = await one.do("question.answer", question_id=first.question_id, text="x")
        assert ack["error"]["message"] == "the agent has taken it back"
        ack = await one.do("question.answer", question_id=second.question_id, text="x")
        assert "ended with its room" in ack["error"]["message"]


async def test_a_room_s_socket_takes_answers_to_its_own_questions() -> None:
    async with asked(None, "den", "hall") as there:
        here, elsewhere = await there.ask("den", "Tea?", "yes"), await there.ask("hall", "Tea?", "yes")
        async with connect(f"{there.url.replace('http', 'ws', 1)}v1/rooms/den/stream") as socket:
            acks = []
            for number, question in enumerate((here, elsewhere, here)):
                data = {"question_id": question.question_id, "option": 0}
                await socket.send(json.dumps({"type": "question.answer", "id": f"command-{number}", "data": data}))
                while (told := json.loads(await asyncio.wait_for(socket.recv(), 10)))["type"] != "ack":
                    pass
                acks.append(told["data"])
        assert [ack["accepted"] for ack in acks] == [True, False, False]
        assert [ack["error"]["code"] for ack in acks[1:]] == ["not_found", "already_ended"]


async def test_what_is_sent_is_as_the_documents_describe_it() -> None:
    async with asked() as there, httpx.AsyncClient(base_url=there.url) as client, device(there.url) as one:
        question = await there.ask("den", "Tea?", "yes", recommendation="Yes, do.", detail="Green or black.", kind="blocking")
        await there.ask("den", "Coffee?")
        document = (await client.get("v1/asyncapi.json")).json()
        messages = document["components"]["messages"]
        lines = [await one.next() for _ in range(3)]
        await one.do("question.dismiss", question_id=question.question_id)
        lines.append(await one.next())
        for line in lines:
            name = line["type"] if line["type"].startswith("inbox.") else f"inbox.{line['type']}"
            schema = {**messages[name]["payload"], "components": document["components"]}
            jsonschema_rs.validator_for(schema).validate(line)
        http = (await client.get("v1/openapi.json")).json()
        for path, model in (("v1/inbox", "Inbox"), ("v1/overview", "Overview")):
            schema = {"$ref": f"#/components/schemas/{model}", "components": http["components"]}
            told = (await client.get(path)).json()
            jsonschema_rs.validator_for(schema).validate(told)
        (room,) = (await client.get("v1/overview")).json()["rooms"]
        assert (room["room_id"], room["open"], room["questions"], room["cards"], room["agents"]) == ("den", True, 1, 0, ["nova"])


async def test_a_program_answers_by_words_by_place_or_not_at_all() -> None:
    async with asked() as there, Client(there.url, room="den", key=ANNA) as client:
        one, two, three = [await there.ask("den", text, "yes", "no") for text in ("One?", "Two?", "Three?")]
        many = await there.ask("den", "Which?", "a", "b", "c", kind="blocking", multiple=True)
        acks = [
            await client.answer(one.question_id, "perhaps"),
            await client.answer(two.question_id, 1),
            await client.answer(many.question_id, [2, 0]),
            await client.dismiss(three.question_id),
            await client.dismiss(one.question_id),
        ]
        assert [ack.disposition for ack in acks] == ["answered", "answered", "answered", "dismissed", "refused"]
        assert [ack.code for ack in acks] == [None, None, None, None, "already_ended"]
        assert acks[4].question is not None
        assert acks[4].question["state"] == "answered"
        told = [(each.answer.text, each.answer.options) for each in there.agent.told if each.answer]
        assert told == [("perhaps", ()), (None, (1,)), (None, (2, 0)), (None, ())]
