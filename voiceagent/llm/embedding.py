"""Sentence embeddings by all-MiniLM-L6-v2 in NumPy: what the notes are found by; no torch, no download."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from voiceagent.errors import LanguageModelError

Vectors = NDArray[np.float32]
"""Shape (n, dimensions); rows of length one, so that a dot product is a cosine."""

_HEADS = 12
_LAYERS = 6
_EPSILON = 1e-12
_MAX_TOKENS = 128  # a spoken question has 5 to 40; the model was trained on 128


class Embedder(Protocol):
    """Turns texts into vectors whose dot product says how near their meanings are."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit rows, one a text, in order; (0, dimensions) for no text. Blocks for milliseconds: call it in a worker thread."""
        ...


class MiniLM:
    """The encoder of all-MiniLM-L6-v2: BERT, 6 layers of 384, mean of the tokens (Wang et al. 2020, arXiv 2002.10957).

    Weights are float32 and mapped, not read: of the 91 MB only the rows of words that occur are ever touched.
    """

    def __init__(self, directory: Path) -> None:
        """`directory` holds `model.safetensors` and `tokenizer.json`. Raises LanguageModelError when one is missing or bad."""
        try:
            self._weights = _read_safetensors(directory / "model.safetensors")
            self._tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
            self._layers = [_Layer(self._weights, f"encoder.layer.{number}.") for number in range(_LAYERS)]
        except Exception as error:  # tokenizers raises bare Exception
            raise LanguageModelError(
                f"embedding model {directory} is missing or damaged ({type(error).__name__}); run `voiceagent models pull`",
                category="model",
            ) from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_length=_MAX_TOKENS)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit rows of shape (n, 384), one a text. About 4 ms for a question on one core."""
        if not texts:
            return np.zeros((0, 384), dtype=np.float32)
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]
        ends = np.cumsum([len(one) for one in ids])
        spans = [slice(int(end) - len(one), int(end)) for end, one in zip(ends, ids, strict=True)]
        hidden = self._embed_tokens(ids)
        for layer in self._layers:
            hidden = layer.forward(hidden, spans)
        pooled = np.stack([hidden[span].mean(axis=0) for span in spans])
        return np.asarray(pooled / np.linalg.norm(pooled, axis=1, keepdims=True), dtype=np.float32)

    def _embed_tokens(self, ids: list[list[int]]) -> Vectors:
        tokens = np.concatenate([np.asarray(one) for one in ids])
        places = np.concatenate([np.arange(len(one)) for one in ids])
        summed = (
            self._weights["embeddings.word_embeddings.weight"][tokens]
            + self._weights["embeddings.position_embeddings.weight"][places]
            + self._weights["embeddings.token_type_embeddings.weight"][0]
        )
        return _normalise(summed, self._weights["embeddings.LayerNorm.weight"], self._weights["embeddings.LayerNorm.bias"])


class _Layer:
    """One transformer layer, with its weights transposed once so that every product is a plain matrix product."""

    def __init__(self, weights: dict[str, Vectors], prefix: str) -> None:
        names = [f"attention.self.{part}" for part in ("query", "key", "value")]
        self._qkv = np.ascontiguousarray(np.concatenate([weights[f"{prefix}{name}.weight"] for name in names]).T)
        self._qkv_bias = np.concatenate([weights[f"{prefix}{name}.bias"] for name in names])
        self._dense = {
            name: (np.ascontiguousarray(weights[f"{prefix}{name}.dense.weight"].T), weights[f"{prefix}{name}.dense.bias"])
            for name in ("attention.output", "intermediate", "output")
        }
        self._norms = {
            name: (weights[f"{prefix}{name}.LayerNorm.weight"], weights[f"{prefix}{name}.LayerNorm.bias"])
            for name in ("attention.output", "output")
        }

    def forward(self, hidden: Vectors, spans: list[slice]) -> Vectors:
        """(tokens, 384) to the same shape; texts lie one after another and attend only within their span."""
        mixed = hidden @ self._qkv + self._qkv_bias
        attended = np.concatenate([_attend(mixed[span]) for span in spans])
        hidden = _normalise(hidden + self._apply("attention.output", attended), *self._norms["attention.output"])
        inner = self._apply("intermediate", hidden)
        inner = 0.5 * inner * (1 + np.tanh(math.sqrt(2 / math.pi) * (inner + 0.044715 * inner * inner * inner)))
        return _normalise(hidden + self._apply("output", inner), *self._norms["output"])

    def _apply(self, name: str, values: Vectors) -> Vectors:
        weight, bias = self._dense[name]
        return np.asarray(values @ weight + bias, dtype=np.float32)


def _attend(mixed: Vectors) -> Vectors:
    length, width = mixed.shape[0], mixed.shape[1] // 3
    size = width // _HEADS
    query, key, value = mixed.reshape(length, 3, _HEADS, size).transpose(1, 2, 0, 3)
    scores = query @ key.transpose(0, 2, 1) / math.sqrt(size)
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    scores /= scores.sum(axis=-1, keepdims=True)
    return np.asarray((scores @ value).transpose(1, 0, 2).reshape(length, width), dtype=np.float32)


def _normalise(values: Vectors, weight: Vectors, bias: Vectors) -> Vectors:
    centred = values - values.mean(axis=-1, keepdims=True)
    scale = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + _EPSILON)
    return np.asarray(centred / scale * weight + bias, dtype=np.float32)


def _read_safetensors(path: Path) -> dict[str, Vectors]:
    """Every float32 tensor of the file, mapped. The format: 8 bytes of length, a JSON table of places, then the numbers."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        table = json.loads(file.read(length))
    data = np.memmap(path, dtype=np.uint8, mode="r", offset=8 + length)
    tensors: dict[str, Vectors] = {}
    for name, entry in table.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        start, end = entry["data_offsets"]
        tensors[name] = data[start:end].view(np.float32).reshape(entry["shape"])
    return tensors
