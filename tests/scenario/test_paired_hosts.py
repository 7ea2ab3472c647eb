"""Paired hosts as one of them sees them, on the virtual clock: asked while somebody looks, each by itself."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from voiceagent import clock
from voiceagent.room.pairings.memory import MemoryPairings
from voiceagent.room.pairings.pairing import Pairing, sealed
from voiceagent.values import JSON
from voiceagent.web.command import AnswerQuestion, parse
from voiceagent.web.pairing.caller import Reply, UnreachableError
from voiceagent.web.pairing.codes import Codes
from voiceagent.web.pairing.hosts import PATIENCE_S, PairedHosts
from voiceagent.web.pairing.neighbour import HostListing
from voiceagent.web.pairing.pairs import Own, Pairs
from voiceagent.web.pairing.wire import Joining
from voiceagent.web.refusal import Refused

POLL_MS = 3_000
AT = datetime(2026, 1, 1, tzinfo=UTC)
UNPAIRED = Reply(401, {"error": "not paired", "unpaired": True})


def entry(id: str, **more: Any) -> dict[str, JSON]:
    return {
        "question_id": id,
        "kind": "question",
        "question": "Tea?",
        "options": ["yes", "no"],
        "multiple": False,
        "urgency": "normal",
        "asked_by": {"channel_id": "nova", "generation_id": "g1"},
        "asked_of": [],
        "about_room_id": "den",
        "spoken": False,
        "room_id": "den",
        "state": "open",
        "created_at": "2026-01-01T00:00:00+00:00",
        "audience": "all",
        "started": "you",
        "answerable": True,
        **more,
    }


class Net:
    """Other hosts, by the name that begins their address: what each answers, and after how many seconds."""

    def __init__(self) -> None:
        self.says: dict[str, Reply | None] = {}
        self.takes: dict[str, float] = {}
        self.asked: list[tuple[int, str, str]] = []
        self.bodies: list[Mapping[str, JSON]] = []

    async def ask(self, method: str, url: str, bearer: str | None = None, body: Mapping[str, JSON] | None = None) -> Reply:
        name = url.removeprefix("https://").partition(".")[0]
        self.asked.append((clock.now(), method, name))
        if body is not None:
            self.bodies.append(body)
        await asyncio.sleep(self.takes.get(name, 0))
        reply = self.says.get(name)
        if reply is None:
            raise UnreachableError("not reachable")
        return reply

    async def close(self) -> None:
        pass

    def lists(self, name: str, *entries: dict[str, JSON]) -> None:
        self.says[name] = Reply(200, {"questions": list(entries)})


class There:
    """The hosts of one that is paired with bern and oslo."""

    def __init__(self, net: Net, rows: MemoryPairings, pairs: Pairs, hosts: PairedHosts) -> None:
        self.net, self.rows, self.pairs, self.hosts = net, rows, pairs, hosts
        self.news: list[HostListing | None] = []


@asynccontextmanager
async def paired(*names: str) -> AsyncIterator[There]:
    net, rows = Net(), MemoryPairings()
    for name in names or ("bern", "oslo"):
        address = f"https://{name}.example.org"
        await rows.put(Pairing(f"id-{name}", name, address, "read", "read", AT, shown="ours", expected=sealed(name)))
    pairs = Pairs(rows, net, Codes(600_000), Own("riga", "https://riga.example.org"), nothing)
    async with PairedHosts(pairs, net, POLL_MS) as hosts:
        yield There(net, rows, pairs, hosts)


async def nothing(_: str) -> None:
    """Nothing was asked over a pairing."""


def answering(id: str = "command-1", **data: Any) -> AnswerQuestion:
    command = parse(json.dumps({"type": "question.answer", "id": id, "data": {"question_id": "q", "host": "bern", **data}}))
    assert isinstance(command, AnswerQuestion)
    return command


async def test_q52_a_host_that_does_not_answer_is_listed_as_such_and_holds_nobody_up() -> None:
    async with paired() as there:
        there.net.lists("oslo", entry("q"))
        there.net.says["bern"], there.net.takes["bern"] = None, 30
        began = clock.now()
        listings = await there.hosts.listed()
        assert clock.now() - began <= PATIENCE_S * 1000
        assert [(one.name, one.reachable, len(one.questions)) for one in listings] == [("bern", False, 0), ("oslo", True, 1)]


async def test_hosts_are_asked_every_few_seconds_while_somebody_looks_and_not_otherwise() -> None:
    async with paired("bern") as there:
        there.net.lists("bern", entry("q"))
        await asyncio.sleep(60)
        assert there.net.asked == []
        first, second = there.hosts.watch(there.news.append), there.hosts.watch(there.news.append)
        await asyncio.sleep(10)
        first()
        await asyncio.sleep(POLL_MS / 1000)
        count = len(there.net.asked)
        assert count == 5
        second()
        await asyncio.sleep(60)
        assert len(there.net.asked) == count


async def test_only_what_has_changed_is_told_and_a_slow_host_is_not_asked_twice_at_once() -> None:
    async with paired() as there:
        there.net.lists("bern", entry("q"))
        there.net.lists("oslo")
        there.net.takes["oslo"] = 7
        end = there.hosts.watch(there.news.append)
        await asyncio.sleep(13)
        there.net.says["bern"] = None
        await asyncio.sleep(POLL_MS / 1000)
        end()
        told = [one for one in there.news if one is not None]
        assert [(one.name, one.reachable, len(one.questions)) for one in told] == [
            ("bern", True, 1),
            ("oslo", True, 0),
            ("bern", False, 1),
        ]
        assert told[-1].told(clock.now())["questions"] == [entry("q", answerable=False)]
        assert [name for _, _, name in there.net.asked].count("oslo") == 2


@pytest.mark.parametrize(
    "reply",
    [
        Reply(200, None),
        Reply(200, []),
        Reply(200, {"questions": {}}),
        Reply(200, {"questions": [{"question_id": "q"}]}),
        Reply(200, {"questions": [entry("q", options=[1])]}),
        Reply(500, {"error": "no"}),
        Reply(401, {"error": "a proxy says so"}),
        Reply(302, None),
    ],
)
async def test_what_cannot_be_understood_counts_as_not_reachable(reply: Reply) -> None:
    async with paired("bern") as there:
        there.net.says["bern"] = reply
        (listing,) = await there.hosts.listed()
        assert (listing.reachable, listing.questions) == (False, ())
        assert len(await there.rows.listed()) == 1


async def test_q47_a_host_cannot_have_a_card_of_its_own_answered_here() -> None:
    async with paired("bern") as there:
        there.net.lists("bern", entry("a", kind="approval"), entry("b", kind="blocking"), entry("c", more="unknown"))
        (listing,) = await there.hosts.listed()
        questions = listing.told(clock.now())["questions"]
        assert isinstance(questions, list)
        assert [one["answerable"] for one in questions if isinstance(one, dict)] == [False, False, True]


async def test_an_answer_is_brought_with_its_person_and_its_id_and_the_other_host_s_word_is_given_back() -> None:
    async with paired("bern") as there:
        there.net.says["bern"] = Reply(200, {"id": "command-1", "accepted": True, "disposition": "answered"})
        ack = await there.hosts.do("bern", answering(option=1), "Anna")
        assert (ack.accepted, ack.disposition) == (True, "answered")
        (body,) = there.net.bodies
        data = {"question_id": "q", "option": 1}
        assert body == {"command": {"type": "question.answer", "id": "command-1", "data": data}, "person": "Anna"}


@pytest.mark.parametrize("reply", [None, Reply(200, {"accepted": "perhaps"}), Reply(503, {"error": "later"})])
async def test_an_answer_that_may_not_have_arrived_is_not_said_taken(reply: Reply | None) -> None:
    async with paired("bern") as there:
        there.net.says["bern"] = reply
        ack = await there.hosts.do("bern", answering(text="x"), None)
        assert ack.error is not None and (ack.accepted, ack.error.code) == (False, "unreachable")
        assert "ours" not in ack.error.message


async def test_a_host_that_knows_of_no_pairing_is_forgotten() -> None:
    async with paired() as there:
        there.net.lists("bern")
        there.net.lists("oslo")
        await there.hosts.listed()
        end = there.hosts.watch(there.news.append)
        there.net.says["bern"] = UNPAIRED
        await asyncio.sleep(2 * POLL_MS / 1000)
        assert there.news == [None]
        assert [one.name for one in await there.rows.listed()] == ["oslo"]
        there.net.says["oslo"] = UNPAIRED
        ack = await there.hosts.do("oslo", answering(text="x"), None)
        assert ack.error is not None and ack.error.code == "not_found"
        end()
        assert await there.hosts.listed() == ()


async def test_a_pairing_ends_here_also_when_the_other_host_cannot_be_told() -> None:
    async with paired() as there:
        there.net.says["oslo"] = Reply(204, None)
        assert [await there.pairs.end(name) for name in ("bern", "oslo")] == [False, True]
        assert await there.rows.listed() == []
        with pytest.raises(Refused, match="no paired host"):
            await there.pairs.end("bern")


async def test_only_a_pairing_s_own_key_opens_it() -> None:
    async with paired() as there:
        opened = await there.pairs.opened_by("id-bern.bern")
        assert opened is not None and opened.name == "bern"
        for bearer in ("", ".", "id-bern", "id-bern.", "id-bern.oslo", "id-bern.ours", "id-oslo.bern", "nowhere.bern", "\x00.é"):
            assert await there.pairs.opened_by(bearer) is None


async def test_a_code_that_is_not_good_pairs_nobody_and_names_are_told_apart() -> None:
    async with paired("bern") as there:
        key = "k" * 43
        for code in ("", "AAAA-AAAA-AAAA"):
            with pytest.raises(Refused, match="not good"):
                await there.pairs.accept(
                    Joining.model_construct(code=code, name="x", address="https://x.org", key=key, level="read")
                )
        names = []
        for name in ("bern", "riga", "a/b", "\N{RIGHT-TO-LEFT OVERRIDE}oslo"):
            code = there.pairs.code("prompt")
            joined = await there.pairs.accept(Joining(code=code, name=name, address="https://x.org/", key=key, level="read"))
            assert joined.level == "prompt"
            row = await there.rows.get(joined.pairing_id)
            assert row is not None and row.opened_by(joined.key) and row.shown == key
            assert (row.level, row.granted, row.address) == ("prompt", "read", "https://x.org")
            names.append(row.name)
        assert names == ["bern (2)", "riga (2)", "a b", "oslo"]
