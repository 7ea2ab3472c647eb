"""A GGUF file in process: a tiny model of random weights loads, streams, stops, and follows a schema."""

import asyncio
import json
from pathlib import Path

import numpy as np
import pytest

from voiceagent.errors import LanguageModelError
from voiceagent.llm.model import Done, Message, Prompt, TextDelta
from voiceagent.llm.settings import LanguageModelSettings

pytest.importorskip("xllamacpp", reason="the extra `gguf` is not installed")
gguf = pytest.importorskip("gguf", reason="the package gguf, which writes the test's model, is not installed")

from voiceagent.llm.gguf import GgufModel  # noqa: E402 - only where the extra is installed
from voiceagent.values import JSON  # noqa: E402

SETTINGS = LanguageModelSettings(max_tokens=24, threads=1, context_tokens=512, temperature=0.8)
PROMPT = Prompt((Message("user", "Tell me a story."),))
WIDE, INNER, HEADS = 32, 64, 2


def write_tiny_model(path: Path) -> None:
    """A llama of one layer over bytes; what it says is noise."""
    rng = np.random.default_rng(7)
    tokens = [
        b"<unk>",
        b"<s>",
        b"</s>",
        *(f"<0x{byte:02X}>".encode() for byte in range(256)),
        b"\xe2\x96\x81",
        *(bytes([c]) for c in range(97, 123)),
    ]
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(512)
    writer.add_embedding_length(WIDE)
    writer.add_block_count(1)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDE // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types([2, 3, 3, *[6] * 256, *[1] * 27])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_chat_template(
        "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}assistant:"
    )

    def random(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape, dtype=np.float32) * 0.2

    writer.add_tensor("token_embd.weight", random(len(tokens), WIDE))
    writer.add_tensor("output_norm.weight", np.ones(WIDE, dtype=np.float32))
    writer.add_tensor("output.weight", random(len(tokens), WIDE))
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        writer.add_tensor(f"blk.0.{name}.weight", random(WIDE, WIDE))
    for name in ("attn_norm", "ffn_norm"):
        writer.add_tensor(f"blk.0.{name}.weight", np.ones(WIDE, dtype=np.float32))
    for name in ("ffn_gate", "ffn_up"):
        writer.add_tensor(f"blk.0.{name}.weight", random(INNER, WIDE))
    writer.add_tensor("blk.0.ffn_down.weight", random(WIDE, INNER))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> GgufModel:
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    write_tiny_model(path)
    return GgufModel(path, SETTINGS)


async def test_it_streams_and_counts(model: GgufModel) -> None:
    chunks = [chunk async for chunk in model.stream(PROMPT)]
    done = chunks[-1]
    assert isinstance(done, Done)
    assert done.usage["output"] <= 24
    assert all(isinstance(chunk, TextDelta) for chunk in chunks[:-1])
    assert model.name == "tiny"


async def test_two_answers_at_once_and_one_left_early(model: GgufModel) -> None:
    early = model.stream(Prompt(PROMPT.messages, max_tokens=400))
    await anext(early)

    async def whole() -> int:
        return len([chunk async for chunk in model.stream(PROMPT)])

    lengths = await asyncio.gather(whole(), whole())
    assert min(lengths) >= 1
    await early.aclose()  # type: ignore[attr-defined]


async def test_it_is_held_to_a_schema(model: GgufModel) -> None:
    properties: JSON = {"yes": {"type": "boolean"}}
    schema: dict[str, JSON] = {"type": "object", "properties": properties, "required": ["yes"], "additionalProperties": False}
    prompt = Prompt(PROMPT.messages, max_tokens=200, schema=schema, temperature=0.0)
    text = "".join([chunk.text async for chunk in model.stream(prompt) if isinstance(chunk, TextDelta)])
    if text.rstrip().endswith("}"):  # random weights may go on with white space until the length is reached
        assert isinstance(json.loads(text)["yes"], bool)
    assert text.lstrip()[:1] in ("{", "")


@pytest.mark.parametrize("content", [None, b"not a model", b"GGUF\x03\0\0\0"])
def test_a_file_that_is_no_model_is_refused_by_name(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "other.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(LanguageModelError, match=r"other\.gguf"):
        GgufModel(path, SETTINGS)
