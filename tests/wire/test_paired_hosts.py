"""Two servers as two processes, paired: each lists and answers the other's questions, and one may die in between."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
from typer.testing import CliRunner

from tests.wire.asked import device, questions
from tests.wire.paired import gone, hosts, listed, pair, pairings, unpair
from voiceagent.cli.main import app


async def test_q17_a_question_is_answered_on_the_paired_host_and_its_agent_is_told_where(tmp_path: Path) -> None:
    with hosts(tmp_path, "bern", "oslo") as (bern, oslo):
        pair(bern, oslo)
        question = bern.ask("den", "Which Tuesday?", "the 3rd", "the 10th")
        async with device(oslo.url) as there:
            (entry,) = (await listed(there, "bern", states=["open"]))["questions"]
            assert (entry["question_id"], entry["question"], entry["answerable"]) == (question, "Which Tuesday?", True)
            ack = await there.do("question.answer", question_id=question, option=1, host="bern")
            assert (ack["accepted"], ack["disposition"]) == (True, "answered")
            (ended,) = (await listed(there, "bern", states=["answered"]))["questions"]
            assert ended["answer"] == {"via": "button", "options": [1], "host": "oslo"}
            late = await there.do("question.answer", question_id=question, text="never", host="bern")
            assert (late["accepted"], late["error"]["code"]) == (False, "already_ended")
        (told,) = bern.told()
        assert (told["question_id"], told["answer"]) == (question, {"via": "button", "options": [1], "host": "oslo"})


async def test_q18_of_two_answers_on_two_hosts_the_first_is_taken(tmp_path: Path) -> None:
    with hosts(tmp_path, "bern", "oslo") as (bern, oslo):
        pair(bern, oslo)
        async with device(bern.url) as here, device(oslo.url) as there:
            for number in range(10):
                question = bern.ask("den", f"Number {number}?", "yes", "no")
                acks = await asyncio.gather(
                    here.do("question.answer", question_id=question, option=0),
                    there.do("question.answer", question_id=question, option=1, host="bern"),
                )
                assert sorted(ack["accepted"] for ack in acks) == [False, True]
                told = bern.told()[-1]
                assert told["answer"]["options"] == [0 if acks[0]["accepted"] else 1]
            assert len(bern.told()) == 10


async def test_q47_a_card_of_a_paired_host_is_seen_and_never_answered_from_here(tmp_path: Path) -> None:
    with hosts(tmp_path, "bern", "oslo") as (bern, oslo):
        pair(bern, oslo, "prompt")
        cards = [bern.ask("den", "May I?", "Allow", "Refuse", kind=kind) for kind in ("approval", "blocking")]
        async with device(oslo.url) as there:
            listing = await listed(there, "bern", states=["open", "open"])
            assert [entry["answerable"] for entry in listing["questions"]] == [False, False]
            for card in cards:
                for type, data in (("question.answer", {"option": 0}), ("question.dismiss", {})):
                    more: dict[str, Any] = data
                    ack = await there.do(type, question_id=card, host="bern", **more)
                    assert (ack["accepted"], ack["error"]["code"]) == (False, "refused")
        assert bern.told() == []


async def test_q52_a_host_that_was_killed_is_not_reachable_and_holds_nobody_up_until_it_is_back(tmp_path: Path) -> None:
    with hosts(tmp_path, "bern", "oslo", "riga") as (bern, oslo, riga):
        pair(bern, oslo)
        pair(riga, oslo)
        question = bern.ask("den", "Tea?", "yes")
        async with device(oslo.url) as there:
            await listed(there, "bern", reachable=True, states=["open"])
            bern.kill()
            dead = await listed(there, "bern", reachable=False)
            assert [entry["answerable"] for entry in dead["questions"]] == [False]
            ack = await there.do("question.answer", "the-same-1", question_id=question, option=0, host="bern")
            assert (ack["accepted"], ack["error"]["code"]) == (False, "unreachable")
            own, other = oslo.ask("hall", "Here?"), riga.ask("port", "There?")
            (entry,) = (await listed(there, "riga", states=["open"]))["questions"]
            assert entry["question_id"] == other
            async with device(oslo.url) as second, asyncio.timeout(2):
                by_host = {one["host"]: one for one in (await second.next())["data"]["hosts"]}
                assert [one["question_id"] for one in by_host[None]["questions"]] == [own]
                assert [by_host[name]["reachable"] for name in ("bern", "riga")] == [False, True]
            bern.start()
            await listed(there, "bern", reachable=True, states=["open"])
            ack = await there.do("question.answer", "the-same-1", question_id=question, option=0, host="bern")
            assert ack["accepted"]


async def test_q39_to_q46_an_agent_asks_in_a_room_of_a_paired_host_that_dies_and_comes_back(tmp_path: Path) -> None:
    with hosts(tmp_path, "bern", "oslo") as (bern, oslo):
        pair(bern, oslo)
        bern.ask("den", "Warm?")
        assert "read alone" in oslo.ask("hall", "Tea?", kind="about bern/den")
        unpair(oslo, "bern")
        pair(bern, oslo, "prompt")
        question = oslo.ask("hall", "Tea?", "yes", "no", kind="about bern/den")
        async with device(bern.url) as there:
            known = [one["question_id"] for one in questions(await there.next())]
            while question not in known:
                line = await there.next()
                known.append(line["data"]["question_id"] if line["type"] == "question.opened" else "")
        bern.kill()
        bern.start()
        async with device(bern.url) as there:
            entries = {one["question_id"]: one for one in questions(await there.next())}
            assert (entries[question]["room_id"], entries[question]["asked_by"]["channel_id"]) == ("den", "oslo/nova")
            assert (await there.do("question.answer", question_id=question, option=1))["accepted"]
        assert await oslo.ended(question) == "answered"
        (one,) = oslo.told()
        assert (one["question_id"], one["answer"]) == (question, {"via": "button", "options": [1], "host": "bern"})


async def test_unpairing_ends_it_at_both_hosts_also_where_one_was_away(tmp_path: Path) -> None:
    with hosts(tmp_path, "bern", "oslo") as (bern, oslo):
        pair(bern, oslo)
        async with device(bern.url) as here, device(oslo.url) as there:
            await listed(here, "oslo", reachable=True)
            await listed(there, "bern", reachable=True)
            assert unpair(oslo, "bern") == {"told": True}
            await gone(here, "oslo")
            await gone(there, "bern")
        pair(bern, oslo)
        bern.kill()
        assert unpair(oslo, "bern") == {"told": False}
        bern.start()
        async with device(bern.url) as here:
            await gone(here, "oslo")
        assert pairings(bern) == {"pairings": []}


def test_a_code_is_good_once_and_nothing_is_told_without_a_pairing_s_key(tmp_path: Path) -> None:
    with hosts(tmp_path, "bern", "oslo") as (bern, oslo), httpx.Client(timeout=20) as client:
        code = pair(bern, oslo)
        again = client.post(f"{oslo.url}v1/pairings", json={"address": bern.url, "code": code})
        assert (again.status_code, "not good" in again.json()["error"]) == (403, True)
        for headers in ({}, {"authorization": "Bearer none.at-all"}, {"authorization": "Basic x"}):
            for method, path in (("GET", "questions"), ("POST", "commands"), ("DELETE", "")):
                answer = client.request(method, f"{bern.url}v1/paired/{path}".rstrip("/"), headers=headers, json={})
                assert (answer.status_code, answer.json()["unpaired"]) == (401, True)
        for address in ("http://example.org", "ftp://127.0.0.1", "https://a:b@example.org", "nonsense"):
            bad = client.post(f"{oslo.url}v1/pairings", json={"address": address, "code": "x"})
            assert (bad.status_code, "address" in bad.json()["error"]) == (400, True)
        (known,) = pairings(bern)["pairings"]
        assert set(known) == {"name", "address", "level", "granted", "since"}


def test_the_command_line_pairs_lists_and_ends(tmp_path: Path) -> None:
    with hosts(tmp_path, "bern", "oslo") as (bern, oslo):
        code = said("code", "--level", "prompt", "--server", bern.url).strip()
        assert said("join", bern.url, code, "--server", oslo.url) == f"Paired with bern at {bern.url.rstrip('/')}.\n"
        assert said("list", "--server", bern.url).startswith(f"oslo  {oslo.url.rstrip('/')}  here: prompt  there: read  since 20")
        assert "not good" in said("join", bern.url, code, "--server", oslo.url, fails=True)
        bern.kill()
        assert "is it running?" in said("list", "--server", bern.url, fails=True)
        assert said("end", "bern", "--server", oslo.url).startswith("Ended here; the other host finds out")
        assert said("list", "--server", oslo.url) == ""
        assert "no paired host" in said("end", "bern", "--server", oslo.url, fails=True)


def said(*arguments: str, fails: bool = False) -> str:
    """What `voiceagent pair` prints."""
    result = CliRunner().invoke(app, ["pair", *arguments], catch_exceptions=False)
    assert result.exit_code == (1 if fails else 0), result.output
    return result.output
