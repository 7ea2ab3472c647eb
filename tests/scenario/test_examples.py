"""Each example runs to its end without a key, and shows what the page that names it says."""

import importlib.util
import re
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import ModuleType

import pytest

from voiceagent.agent.tools import Toolbox
from voiceagent.errors import ModelError
from voiceagent.llm.model import ToolCall

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = (
    "answering_some_people",
    "background_job",
    "response_tracking",
    "resume_after_cut",
    "speaking_judgments",
    "speaking_turns",
    "thinking_while_listening",
)


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main_of(name: str) -> Callable[[], Coroutine[object, object, None]]:
    found: Callable[[], Coroutine[object, object, None]] = loaded(name).main
    return found


async def shown(name: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    try:
        await main_of(name)()
    except ModelError as error:
        pytest.skip(str(error))
    return [line.strip() for line in capsys.readouterr().out.splitlines()]


def after(lines: list[str], said: str) -> list[str]:
    """The two lines behind the last one that begins so."""
    place = max(number for number, line in enumerate(lines) if line.startswith(said))
    return lines[place + 1 : place + 3]


def test_these_are_all_the_examples_that_run_alone_and_two_about_a_server() -> None:
    assert sorted(path.stem for path in EXAMPLES.glob("*.py")) == sorted([*NAMES, "follow_a_room", "own_agent"])


async def test_a_job_runs_behind_the_conversation_and_its_result_comes_back(capsys: pytest.CaptureFixture[str]) -> None:
    lines = await shown("background_job", capsys)
    assert [line for line in lines if line.startswith(("ana", "agent"))] == [
        "ana: Which trains go to Lyon?",
        "agent: I am looking; it will take a moment.",
        "ana: What time is it?",
        "agent: It is noon.",
        "agent: The next trains leave at 16:05 and 17:35.",
    ]
    told = [line.split()[0] for line in lines if not line.startswith(("ana", "agent"))]
    assert told == [
        "job.queued",
        "generation.finished",
        "generation.finished",
        "job.returned",
        "job.reply",
        "generation.finished",
        "job.reply",
    ]


async def test_the_tool_of_the_example_that_serves_the_page() -> None:
    toolbox = Toolbox((loaded("own_agent").free_seats,), timeout_ms=1_000)
    assert (await toolbox.run(ToolCall("1", "free_seats", '{"day": "Friday"}'))).text == "12 seats are free on Friday"


async def test_two_people_and_the_three_modes(capsys: pytest.CaptureFixture[str]) -> None:
    lines = await shown("speaking_turns", capsys)
    assert after(lines, "Bob: I have no idea") == ["[silent: not for me]", "Alice: I wonder whether Nova has the list."]
    assert after(lines, "Alice: I wonder") == ["[offer: wondered about]", "Nova: I have the list here. Shall I count?"]
    assert after(lines, "Bob: Nova, how many") == ["[speak: named]", "Nova: Seventeen have said yes."]


async def test_what_each_turn_answers(capsys: pytest.CaptureFixture[str]) -> None:
    lines = await shown("response_tracking", capsys)
    asked, told = (re.search(r"answers (\w{1,8}) \((\w+)\)", line) for line in lines[:2])
    assert asked is not None and told is not None
    assert (asked[2], told[2]) == ("message", "instruction")
    assert [line.partition(" ")[2] for line in lines[2:5]] == [
        "ws-user: 'Quelle heure est-il ?'",
        f"assistant: 'Il est midi.' → answers {asked[1]}",
        f"assistant: 'La météo est arrivée : 8 degrés demain.' → answers {told[1]}",
    ]
    assert lines[5] == f"Answers to {asked[1]}: ['Il est midi.']"


async def test_the_television_is_heard_and_not_answered(capsys: pytest.CaptureFixture[str]) -> None:
    lines = await shown("answering_some_people", capsys)
    assert after(lines, "Television: Nova, buy") == ["[silent: only listened to]", "(thinks: The television sells tickets.)"]
    assert after(lines, "Sylvain:") == ["[speak: addressed]", "Nova: For the capital of Peru."]
    assert lines[-1] == "The classifier was asked 1 time."


async def test_it_raises_its_hand_and_tells_its_thought(capsys: pytest.CaptureFixture[str]) -> None:
    lines = await shown("thinking_while_listening", capsys)
    assert "[offer: has something to add, asked again]" in lines
    assert "Nova: I may have that price. Shall I?" in lines
    assert after(lines, "Alice: Nova, what are you") == [
        "[speak: addressed]",
        "Nova: That you are looking for the price of a licence.",
    ]


async def test_a_cut_answer_is_gone_on_with_or_left(capsys: pytest.CaptureFixture[str]) -> None:
    lines = await shown("resume_after_cut", capsys)
    assert after(lines, "Ana: Mm-hm.")[0] == "[speak: resume after cut]"
    assert after(lines, "Ana: Wait") == ["[speak: addressed]", "Nova: In Montreal it rains."]
    assert lines[-1].endswith("[You were interrupted while saying this: the person may not have heard the end of it.]")


async def test_a_meeting_is_judged_turn_by_turn(capsys: pytest.CaptureFixture[str]) -> None:
    lines = await shown("speaking_judgments", capsys)
    decided = [line[52:].split()[0] for line in lines]
    assert len(decided) == 10
    assert decided[:3] == ["silent"] * 3
    assert (decided[4], decided[6], decided[7]) == ("speak", "silent", "silent")


def test_an_example_runs_by_itself() -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "speaking_turns.py")], capture_output=True, text=True, check=True, timeout=60
    )
    assert "Nova: Seventeen have said yes." in done.stdout
