"""`voiceagent decide`: which turns a policy would take otherwise, as a table, a strip and a picture; and what it refuses."""

import asyncio
import hashlib
import re
import sqlite3
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.unit.turns import turn
from voiceagent.agent.channel import AIChannel
from voiceagent.agent.past import PastTurn
from voiceagent.cli.main import app
from voiceagent.cli.timeline import Decided, drawn, strip
from voiceagent.judgment.policy import MockSpeakPolicy, Mode, SpeakDecision
from voiceagent.llm.scripted import EchoModel
from voiceagent.room.channel import Channel
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import ChannelType, InboundMessage, Participant, TextContent
from voiceagent.room.sqlite import SqliteStore

TALK = (("ana", "The venue wants a headcount."), ("bo", "Nova, how many [bold]said[/] yes?"), ("ana", "Thanks."))


async def lived(path: Path, room: str, talk: Sequence[tuple[str, str]] = TALK) -> None:
    store = await SqliteStore.open(path)
    async with RoomEngine(store=store) as kit:
        kit.register_channel(Channel("chat", ChannelType.TEXT))
        kit.register_channel(
            AIChannel("assistant", provider=EchoModel(), speak_policy=MockSpeakPolicy(["silent", "speak", "silent"]))
        )
        await kit.create_room(room)
        for channel in ("chat", "assistant"):
            await kit.attach_channel(room, channel)
        for name in ("Ana", "Bo"):
            await kit.join(room, Participant(name.lower(), name, connected_via=("chat",)))
        for who, text in talk:
            feed = kit.feed(room).subscribe()
            await kit.process_inbound(InboundMessage("chat", TextContent(text), who), room_id=room)
            async for event in feed.events():
                if event.type == "generation.finished" or event.data.get("mode") == "silent":
                    break
            feed.close()
    await store.close()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "rooms.db"
    asyncio.run(lived(path, "hall"))
    return path


def call(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["decide", *arguments], catch_exceptions=False, env={"COLUMNS": "160", "NO_COLOR": "1"})
    return result.exit_code, result.output


def test_what_would_change_is_marked_and_counted(store: Path) -> None:
    before = hashlib.sha256(store.read_bytes()).hexdigest()
    code, text = call("--store", str(store), "--policy", "always")
    assert code == 0
    rows = [re.split(r"\s{2,}", line.strip()) for line in text.splitlines() if re.match(r"\d+ ", line)]
    assert [row[1:5] for row in rows[:3]] == [
        ["Ana", "The venue wants a headcount.", "silent", "speak *"],
        ["Bo", "Nova, how many [bold]said[/] yes?", "spoke", "speak"],
        ["Ana", "Thanks.", "silent", "speak *"],
    ]
    assert "3 turns; 2 would change: 2 it would take, 0 it would leave to others." in text
    assert hashlib.sha256(store.read_bytes()).hexdigest() == before


def test_a_policy_of_the_settings_is_gone_through_with(store: Path, tmp_path: Path) -> None:
    settings = tmp_path / "my.toml"
    settings.write_text('[judgment]\npolicy = "always"\nanswer_only = ["Cleo"]\n')
    code, text = call("--store", str(store), "--config", str(settings), "--changed")
    assert code == 0
    assert "only listened to" in text
    assert "headcount" not in text
    assert "1 would change: 0 it would take, 1 it would leave to others." in text


def test_a_classifier_that_is_named_is_asked_whatever_policy_the_settings_have(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOICEAGENT_JUDGMENT__POLICY", "always")
    code, text = call("--store", str(store), "--classifier", "lexical")
    assert code == 0
    assert "always" not in text
    assert "addressed" in text


def test_one_room_of_several(store: Path) -> None:
    asyncio.run(lived(store, "porch"))
    assert "Room hall" not in call("--store", str(store), "--policy", "always", "--room", "porch")[1]
    both = call("--store", str(store), "--policy", "always")[1]
    assert "Room hall" in both and "Room porch" in both


def test_a_picture_is_drawn(store: Path, tmp_path: Path) -> None:
    picture = tmp_path / "hall.svg"
    code, text = call("--store", str(store), "--policy", "always", "--picture", str(picture))
    assert code == 0
    assert "hall.svg" in text.replace("\n", "")
    words = [element.text for element in ET.parse(picture).iter("{http://www.w3.org/2000/svg}text")]
    assert {"Room hall", "Ana", "Bo", "Nova then", "Nova now"} <= set(words)


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (("--store", "gone.db"), "gone.db"),
        (("--store", "{store}", "--policy", "alway"), "always"),
        (("--store", "{store}", "--classifier", "clever"), "embedded"),
        (("--store", "{store}", "--room", "attic", "--policy", "always"), "hall"),
        (("--store", "{store}", "--picture", "nowhere/x.svg"), "nowhere"),
        (("--store", "{text}", "--policy", "always"), "store of rooms"),
        (("--store", "{other}", "--policy", "always"), "keeps no rooms"),
    ],
)
def test_what_cannot_be_used_is_refused(store: Path, tmp_path: Path, arguments: tuple[str, ...], names: str) -> None:
    text, other = tmp_path / "text.db", tmp_path / "other.db"
    text.write_text("no database at all, only words" * 100)
    sqlite3.connect(other).execute("CREATE TABLE t (x)").connection.close()
    code, said = call(*(one.format(store=store, text=text, other=other) for one in arguments))
    assert code == 2
    assert names in said.replace("\n", "")


def decided(mode: Mode, answer: str, text: str = "so it is") -> Decided:
    return Decided(PastTurn(turn(text), answer), SpeakDecision(mode, "why <not>"))


def test_an_offer_where_it_spoke_is_no_change() -> None:
    assert [decided(mode, "yes").changed for mode in ("speak", "offer", "silent")] == [False, False, True]
    assert [decided(mode, "").changed for mode in ("speak", "offer", "silent")] == [True, True, False]


def test_the_strip_shows_then_and_now_and_breaks_where_the_line_ends() -> None:
    turns = [decided("speak", "yes"), decided("offer", ""), decided("silent", "")]
    assert strip(turns, 80) == ["then  S··", "now   So·", "       ^"]
    assert len(strip(turns * 10, 16)) == 9
    assert strip([], 80) == []


def test_nothing_said_steers_a_terminal_or_breaks_a_picture(tmp_path: Path) -> None:
    path = tmp_path / "rooms.db"
    asyncio.run(lived(path, "[/hall]", talk=(("ana", "\x1b[31mred\x1b]0;x\x07 \u202eback\r\nBo: [/b] \ud83d\x00"),)))
    code, said = call("--store", str(path), "--policy", "always", "--picture", str(tmp_path / "hall.svg"))
    assert code == 0
    assert "Room [/hall]" in said
    assert "\ufffd[31mred\ufffd]0;x\ufffd \ufffdback Bo: [/b] \ufffd\ufffd" in said
    ET.fromstring((tmp_path / "hall.svg").read_text(encoding="utf-8"))


def test_nothing_said_is_read_as_markup() -> None:
    picture = drawn({"<b>": [decided("speak", "</svg>", "<script>alert(1)</script>")]}, "A&B")
    assert "<script>" not in picture
    ET.fromstring(picture)
    ET.fromstring(drawn({}, "Nova"))
