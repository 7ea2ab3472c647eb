"""The network: a small BERT encoder whose last turn's pieces and features feed one layer of heads."""

# mypy: disable-error-code="misc"
# torch is installed for training alone, so that its classes have no types here.

from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import load_file
from torch import Tensor, nn
from torch.nn import functional as F

HIDDEN, HEADS, INNER = 384, 12, 1536


class Layer(nn.Module):
    """One transformer layer, normalised after each part as in BERT."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(HIDDEN, 3 * HIDDEN)
        self.out = nn.Linear(HIDDEN, HIDDEN)
        self.norm1, self.norm2 = nn.LayerNorm(HIDDEN, 1e-12), nn.LayerNorm(HIDDEN, 1e-12)
        self.up, self.down = nn.Linear(HIDDEN, INNER), nn.Linear(INNER, HIDDEN)
        self.drop = nn.Dropout(0.1)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """[n, tokens, hidden] in and out; `mask` is added to the attention's scores."""
        n, size, _ = x.shape
        q, k, v = (part.view(n, size, HEADS, HIDDEN // HEADS).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
        scores = q @ k.transpose(-1, -2) / (HIDDEN // HEADS) ** 0.5
        weights = torch.softmax(scores if mask is None else scores + mask, dim=-1)
        mixed = (weights @ v).transpose(1, 2).reshape(n, size, HIDDEN)
        x = self.norm1(x + self.drop(self.out(mixed)))
        return self.norm2(x + self.drop(self.down(F.gelu(self.up(x)))))


class SpeakNet(nn.Module):
    """Token ids, kinds and features to one row of logits."""

    def __init__(self, vocabulary: int, features: int, outputs: int, layers: int = 6) -> None:
        super().__init__()
        self.features = features
        self.words = nn.Embedding(vocabulary, HIDDEN)
        self.places, self.kinds = nn.Embedding(128, HIDDEN), nn.Embedding(2, HIDDEN)
        self.norm = nn.LayerNorm(HIDDEN, 1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        self.lexical = nn.Sequential(nn.Linear(features, 96), nn.GELU())
        self.joined = nn.Sequential(nn.Linear(2 * HIDDEN + 96, 256), nn.GELU(), nn.Dropout(0.15))
        self.heads = nn.Linear(256, outputs)

    def forward(self, ids: Tensor, kinds: Tensor, features: Tensor, mask: Tensor | None = None) -> Tensor:
        """`ids` and `kinds` [n, tokens], `features` [n, f], `mask` [n, tokens] of 1 and 0; None when nothing is padded."""
        there = torch.ones_like(ids, dtype=torch.float32) if mask is None else mask
        places = torch.arange(ids.shape[1], device=ids.device)
        x = self.norm(self.words(ids) + self.places(places)[None] + self.kinds(kinds))
        added = None if mask is None else ((1.0 - mask) * -1e4)[:, None, None, :]
        for layer in self.layers:
            x = layer(x, added)
        last = there * (kinds == 0).to(torch.float32)
        pooled = (x * last[..., None]).sum(1) / last.sum(1, keepdim=True)
        return self.heads(self.joined(torch.cat([x[:, 0], pooled, self.lexical(features)], dim=-1)))


class LexicalNet(nn.Module):
    """The features alone, for where the encoder cannot run."""

    def __init__(self, features: int, outputs: int) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(features, 96), nn.Linear(96, outputs)

    def forward(self, features: Tensor) -> Tensor:
        """[n, f] to [n, outputs]."""
        return self.second(F.dropout(torch.relu(self.first(F.dropout(features, 0.1, self.training))), 0.25, self.training))


def pretrained(folder: Path, kept: list[int], features: int, outputs: int, layers: list[int]) -> SpeakNet:
    """The network with the encoder of all-MiniLM-L6-v2: the `kept` pieces of its vocabulary and some of its `layers`."""
    net = SpeakNet(len(kept), features, outputs, len(layers))
    saved = {
        name: torch.from_numpy(np.array(value, dtype=np.float32))
        for name, value in load_file(folder / "model.safetensors").items()
        if value.dtype.kind == "f"
    }
    with torch.no_grad():
        net.words.weight.copy_(saved["embeddings.word_embeddings.weight"][kept])
        net.places.weight.copy_(saved["embeddings.position_embeddings.weight"][:128])
        net.kinds.weight.copy_(saved["embeddings.token_type_embeddings.weight"])
        _copy(net.norm, saved, "embeddings.LayerNorm")
        for layer, place in zip(net.layers, layers, strict=True):
            at = f"encoder.layer.{place}"
            for kind in ("weight", "bias"):
                parts = [saved[f"{at}.attention.self.{part}.{kind}"] for part in ("query", "key", "value")]
                getattr(layer.qkv, kind).copy_(torch.cat(parts))
            _copy(layer.out, saved, f"{at}.attention.output.dense")
            _copy(layer.norm1, saved, f"{at}.attention.output.LayerNorm")
            _copy(layer.up, saved, f"{at}.intermediate.dense")
            _copy(layer.down, saved, f"{at}.output.dense")
            _copy(layer.norm2, saved, f"{at}.output.LayerNorm")
    return net


def _copy(module: nn.Module, saved: dict[str, Tensor], name: str) -> None:
    module.load_state_dict({"weight": saved[f"{name}.weight"], "bias": saved[f"{name}.bias"]})
