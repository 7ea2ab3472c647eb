"""The models that know their answers beforehand."""

import asyncio
from pathlib import Path

import pytest

from voiceagent.errors import LanguageModelError
from voiceagent.llm.model import Done, LanguageModel, Message, Prompt, TextDelta, ToolCall
from voiceagent.llm.scripted import CannedLine, CannedModel, EchoModel, Pause, ScriptedModel


def said(model: LanguageModel, text: str) -> str:
    async def collect() -> str:
        chunks = [chunk async for chunk in model.stream(Prompt((Message("user", text),)))]
        assert chunks[-1] == Done()
        return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextDelta))

    return asyncio.run(collect())


def test_echo_repeats_the_last_user_message() -> None:
    assert said(EchoModel(), "one two") == "one two"
    assert said(EchoModel(), "") == ""


def test_canned_lines_are_used_in_order_and_the_last_repeats() -> None:
    model = CannedModel([CannedLine("first"), CannedLine("second")])
    assert [said(model, "x") for _ in range(4)] == ["first", "second", "second", "second"]


def test_a_matching_line_answers_once_and_before_the_others() -> None:
    model = CannedModel([CannedLine("plain"), CannedLine("a price", match="COST"), CannedLine("later")])
    assert [said(model, "what does it cost?") for _ in range(3)] == ["a price", "plain", "later"]


def test_with_only_matching_lines_nothing_else_is_said() -> None:
    model = CannedModel([CannedLine("a price", match="cost")])
    assert [said(model, "hello"), said(model, "cost"), said(model, "cost")] == ["", "a price", ""]


def test_a_file_of_lines(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text('{"text": "one"}\n\n{"match": "two", "text": "zwei"}\n', encoding="utf-8")
    model = CannedModel.from_file(file)
    assert [said(model, "two"), said(model, "two")] == ["zwei", "one"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{"text": "one"}\nnot json\n', "line 2"),
        ('{"text": 3}\n', "line 1"),
        ('\n["text"]\n', "line 2"),
        ('{"text": "a", "mach": "b"}\n', "line 1"),
        ('{"text": "a", "match": ""}\n', "line 1"),
        ("\n", "none"),
    ],
)
def test_a_bad_file_is_refused_by_its_line(tmp_path: Path, content: str, told: str) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(LanguageModelError, match=told):
        CannedModel.from_file(file)


def test_a_missing_or_binary_file_is_refused_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(LanguageModelError, match=r"gone\.jsonl"):
        CannedModel.from_file(tmp_path / "gone.jsonl")
    (tmp_path / "binary.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(LanguageModelError, match=r"binary\.jsonl"):
        CannedModel.from_file(tmp_path / "binary.jsonl")


def test_scripted_turns_are_played_in_order_and_prompts_are_kept() -> None:
    call = ToolCall("1", "look", "{}")
    model = ScriptedModel(["hello", ["a", Pause(1), "b", call, Done("tool_calls")]])
    prompt = Prompt((Message("user", "x"),))

    async def collect() -> list[object]:
        return [*[chunk async for chunk in model.stream(prompt)], *[chunk async for chunk in model.stream(prompt)]]

    assert asyncio.run(collect()) == [TextDelta("hello"), Done(), TextDelta("a"), TextDelta("b"), call, Done("tool_calls")]
    assert model.prompts == [prompt, prompt]
    assert model.closed == 0


def test_a_scripted_turn_may_fail_and_a_closed_one_is_counted() -> None:
    model = ScriptedModel([["a", LanguageModelError("broke off", "broke_off")], ["a", "b"]])

    async def run() -> None:
        with pytest.raises(LanguageModelError, match="broke off"):
            [chunk async for chunk in model.stream(Prompt(()))]
        stream = model.stream(Prompt(()))
        assert await anext(stream) == TextDelta("a")
        await stream.aclose()  # type: ignore[attr-defined]

    asyncio.run(run())
    assert model.closed == 1
