"""Writes trained networks as the package reads them: an int8 ONNX file with its description, and the lexical heads."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from network import LexicalNet, SpeakNet
from onnxruntime.quantization import QuantType, quantize_dynamic

from voiceagent.judgment.classifier.heads import NAMES


def export(net: SpeakNet, pieces: list[str], temperature: list[float], out: Path, scores: dict[str, Any]) -> None:
    """speak.fp32.onnx, speak.onnx (int8), vocabulary.txt and speak.json in `out`."""
    net.eval()
    whole = out / "speak.fp32.onnx"
    width = net.lexical[0].in_features
    inputs = (torch.ones((1, 9), dtype=torch.int64), torch.tensor([[0] * 5 + [1] * 4]), torch.zeros((1, int(width))))
    torch.onnx.export(
        net, inputs, str(whole), input_names=["ids", "kinds", "features"], output_names=["logits"], opset_version=17, dynamo=False,
        dynamic_axes={"ids": {1: "tokens"}, "kinds": {1: "tokens"}},
    )  # fmt: skip
    small = out / "speak.onnx"
    quantize_dynamic(whole, small, weight_type=QuantType.QInt8, per_channel=True, reduce_range=False)
    (out / "vocabulary.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    description = {
        "base": "all-MiniLM-L6-v2 (Apache-2.0)",
        "heads": [*NAMES, "directness"],
        "temperatures": [round(value, 4) for value in temperature],
        "sha256": {name: hashlib.sha256((out / name).read_bytes()).hexdigest() for name in ("speak.onnx", "vocabulary.txt")},
        "judged": scores,
    }
    (out / "speak.json").write_text(json.dumps(description, indent=1) + "\n", encoding="utf-8")
    print({p.name: p.stat().st_size for p in out.iterdir()})


def save_lexical(net: LexicalNet, out: Path) -> None:
    """lexical.npz in `out`: two layers in half precision."""
    arrays = {name: value.detach().numpy().astype(np.float16) for name, value in net.state_dict().items()}
    np.savez_compressed(out / "lexical.npz", **{name.replace(".", "_"): value for name, value in arrays.items()})
