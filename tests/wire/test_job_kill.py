"""A job whose process was killed is reported when its room opens again, and not run again; what another process runs is not."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

from tests.wire.cluster import Cluster
from voiceagent.agent.channel import AIChannel
from voiceagent.agent.job import Job
from voiceagent.llm.model import ToolCall
from voiceagent.llm.scripted import ScriptedModel
from voiceagent.room.channel import Channel
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import ChannelType, InboundMessage, TextContent
from voiceagent.room.postgres import PostgresStore
from voiceagent.room.sqlite import SqliteStore

_ROOT = Path(__file__).resolve().parents[2]
_RUNNER = Path(__file__).with_name("job_runner.py")


def killed_in_the_middle(file: Path) -> None:
    """A process that begins a job in a room of the file, and is killed while it runs."""
    process = subprocess.Popen(
        [sys.executable, str(_RUNNER), str(file)], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(_ROOT)}
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"running\n"
    process.kill()
    process.communicate()


async def test_g55_a_job_of_a_killed_process_is_reported_interrupted(tmp_path: Path) -> None:
    file = tmp_path / "rooms.db"
    killed_in_the_middle(file)
    async with RoomEngine(store=(store := SqliteStore(file))) as kit:
        await kit.create_room("r")
        feed = kit.feed("r").subscribe(after=0)
        async for line in feed.events():
            if line.type == "job.recovered":
                break
        feed.close()
        assert dict(line.data) | {"job_id": "", "call_id": ""} == {
            "job_id": "",
            "call_id": "",
            "tool": "fetch",
            "label": "Fetching",
            "outcome": "unconfirmed",
            "effects": "not_rolled_back",
        }
        (row,) = await store.jobs.untold("r")
    assert row.state == "interrupted"
    await store.close()


async def test_a_job_that_another_process_runs_is_left_alone(cluster: Cluster) -> None:
    dsn = await cluster.fresh()
    ended = asyncio.Event()

    async def work() -> str:
        await ended.wait()
        return "42 km"

    async def fetch() -> Job:
        """Fetches."""
        return Job(work)

    model = ScriptedModel([[ToolCall("c1", "fetch", "{}")], "On it.", "It is 42 km."])
    stores = [PostgresStore(dsn), PostgresStore(dsn)]
    for store in stores:
        await store.init()
    async with RoomEngine(store=stores[0]) as one, RoomEngine(store=stores[1]) as two:
        one.register_channel(Channel("text", ChannelType.TEXT))
        one.register_channel(AIChannel("assistant", provider=model, tools=[fetch]))
        await one.create_room("r")
        for channel in ("text", "assistant"):
            await one.attach_channel("r", channel)
        feed = one.feed("r").subscribe()
        await one.process_inbound(InboundMessage("text", TextContent("go"), "ana"), room_id="r")
        lines = feed.events()
        while (await anext(lines)).type != "generation.finished":
            pass
        await two.create_room("r")
        (row,) = await stores[1].jobs.untold("r")
        assert row.state == "running"
        ended.set()
        while (line := await anext(lines)).data.get("status") != "completed":
            assert line.type != "job.recovered"
        feed.close()
        assert (await stores[1].list_events("r"))[-1].content.body == "It is 42 km."
    for store in stores:
        await store.close()
