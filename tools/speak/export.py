"""Writes trained networks as the package reads them: an int8 ONNX file with its description, and the lexical heads."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic

from tools.speak.network import LexicalNet, SpeakNet
from voiceagent.judgment.classifier.heads import NAMES

FILES = ("speak.onnx", "vocabulary.txt", "lexical.npz")


def export(net: SpeakNet, pieces: list[str], out: Path) -> None:
    """speak.fp32.onnx, speak.onnx (int8) and vocabulary.txt in `out`."""
    net.eval()
    whole = out / "speak.fp32.onnx"
    inputs = (torch.ones((1, 9), dtype=torch.int64), torch.tensor([[0] * 5 + [1] * 4]), torch.zeros((1, net.features)))
    torch.onnx.export(
        net,
        inputs,
        str(whole),
        input_names=["ids", "kinds", "features"],
        output_names=["logits"],
        opset_version=17,
        dynamo=False,
        dynamic_axes={"ids": {1: "tokens"}, "kinds": {1: "tokens"}},
    )
    quantize_dynamic(whole, out / "speak.onnx", weight_type=QuantType.QInt8, per_channel=True)
    (out / "vocabulary.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")


def save_lexical(net: LexicalNet, out: Path) -> None:
    """lexical.npz in `out`: two layers in half precision."""
    arrays = {name.replace(".", "_"): value.detach().numpy().astype(np.float16) for name, value in net.state_dict().items()}
    np.savez_compressed(out / "lexical.npz", **arrays)


def describe(out: Path, temperatures: dict[str, list[float]], scores: dict[str, Any]) -> None:
    """speak.json in `out`: the heads, their temperatures, the files' sums, and what was measured while training."""
    description = {
        "base": "all-MiniLM-L6-v2 (Apache-2.0)",
        "heads": [*NAMES, "directness"],
        **{name: [round(value, 3) for value in values] for name, values in temperatures.items()},
        "sha256": {name: hashlib.sha256((out / name).read_bytes()).hexdigest() for name in FILES},
        "judged": scores,
    }
    (out / "speak.json").write_text(json.dumps(description, indent=1) + "\n", encoding="utf-8")
    print({path.name: path.stat().st_size for path in out.iterdir()})
