"""OpenAI's agents client under node on our door: it speaks, is answered, runs a function, and interrupts."""

from pathlib import Path
from typing import Any

from tests.wire.agents_caller import as_pcm, calling, node_with_client
from tests.wire.realtime_hall import hall, level
from voiceagent.llm.model import ToolCall

LONG = "It goes on and on, and on and on it goes, until somebody says that it is enough of it."


async def test_it_speaks_is_answered_and_its_function_is_called(tmp_path: Path) -> None:
    node = node_with_client()
    turns: Any = [("One moment. ", ToolCall("1", "weather", '{"city": "Graz"}')), "It rains, I am told."]
    async with hall(turns) as there, calling(node, f"{there.url.replace('http', 'ws')}v1/realtime?model=any") as caller:
        await caller.do("say", file=str(as_pcm(level(600), tmp_path / "hello.pcm")))
        assert (await caller.until("tool"))["city"] == "Graz"
        await caller.until("response.done", 2)
        assert (await caller.until("said", 2))["text"] == "It rains, I am told."
        assert there.model.prompts[0].messages[0].content == "Be brief."
        assert there.model.prompts[1].messages[-1].content == "It rains in Graz."
        history = caller.all("history")[-1]["history"]
        said = [(item["type"], item.get("role")) for item in history]
        assert said == [("message", "user"), ("message", "assistant"), ("function_call", None), ("message", "assistant")]
        assert history[0]["content"][0]["transcript"] == "hello"
        assert abs(caller.sound().size / 24 - len("One moment.It rains, I am told.") * 20) < 100
        assert not caller.all("error") and not caller.events("error")


async def test_it_interrupts_and_keeps_what_was_heard(tmp_path: Path) -> None:
    node = node_with_client()
    async with (
        hall([LONG, "Yes?"], ms_a_letter=50) as there,
        calling(node, f"{there.url.replace('http', 'ws')}v1/realtime?model=any") as caller,
    ):
        await caller.do("write", text="Tell me a story.")
        await caller.until("audio", 40)
        await caller.do("say", file=str(as_pcm(level(700), tmp_path / "stop.pcm")))
        await caller.until("interrupted")
        cut = await caller.until("response.done")
        assert cut["response"]["status_details"]["reason"] == "turn_detected"
        await caller.until("response.done", 2)
        await caller.until("conversation.item.retrieved")
        answers = [item for item in caller.all("history")[-1]["history"] if item.get("role") == "assistant"]
        heard = answers[0]["content"][0]["transcript"]
        assert LONG.startswith(heard) and 0 < len(heard) < len(LONG) // 2
        assert answers[0]["status"] == "incomplete"
        assert answers[1]["content"][0]["transcript"] == "Yes?"
        assert not caller.events("error")
