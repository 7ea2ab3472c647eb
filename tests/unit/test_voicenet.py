"""The voice encoder made of torch's file: read without torch, and the same network as the formulas say."""

import io
import pickle
import struct
from typing import Any

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray

from voiceagent.speech import voicenet

Floats = NDArray[np.float32]


class Named:
    """Pickles as a name of torch's, which is not installed."""

    def __init__(self, module: str, name: str, *arguments: Any) -> None:
        self.parts = module, name, arguments


_PICKLER: Any = vars(pickle)["_Pickler"]
"""The pickler that is written in Python, whose steps can be taken over."""


class Writer(_PICKLER):  # type: ignore[misc]
    """Writes what torch's older format holds: tensors by storage, their numbers behind everything."""

    def persistent_id(self, value: Any) -> Any:
        return (
            ("storage", _Global("torch", "FloatStorage"), *value[1:])
            if isinstance(value, tuple) and value[:1] == ("#",)
            else None
        )

    def save(self, value: Any, save_persistent_id: bool = True) -> None:
        if isinstance(value, _Global):
            self.write(pickle.GLOBAL + f"{value.module}\n{value.name}\n".encode())
            return
        if isinstance(value, Named):
            module, name, arguments = value.parts
            self.save(_Global(module, name))
            self.save(arguments)
            self.write(pickle.REDUCE)
            return
        super().save(value, save_persistent_id)


class _Global:
    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name


def torch_file(tensors: dict[str, Floats], rebuild: tuple[str, str] = ("torch._utils", "_rebuild_tensor_v2")) -> io.BytesIO:
    """A file as torch.save wrote it before 1.6."""
    file = io.BytesIO()
    state = {}
    for number, (name, values) in enumerate(tensors.items()):
        strides = tuple(step // 4 for step in values.strides)
        storage = ("#", str(number), "cpu", values.size, None)
        state[name] = Named(*rebuild, storage, 0, values.shape, strides, False, {})
    for value in (0x1950A86A20F9469CFC6C, 1001, {}, {"model_state": state}, [str(number) for number in range(len(tensors))]):
        Writer(file, protocol=2).dump(value)
    for values in tensors.values():
        file.write(struct.pack("<q", values.size) + values.astype("<f4").tobytes())
    file.seek(0)
    return file


def made(seed: int = 0) -> dict[str, Floats]:
    """Weights of the encoder's shapes, at random."""
    random = np.random.default_rng(seed)
    shapes: dict[str, tuple[int, ...]] = {"linear.weight": (256, 256), "linear.bias": (256,)}
    for layer in range(3):
        shapes[f"lstm.weight_ih_l{layer}"] = (1024, 40 if layer == 0 else 256)
        shapes[f"lstm.weight_hh_l{layer}"] = (1024, 256)
        shapes[f"lstm.bias_ih_l{layer}"] = shapes[f"lstm.bias_hh_l{layer}"] = (1024,)
    return {name: (random.normal(size=shape) / 10).astype(np.float32) for name, shape in shapes.items()}


def by_formula(weights: dict[str, Floats], mels: Floats) -> Floats:
    """The encoder as torch's documentation writes an LSTM: gates i, f, g, o."""

    def sigmoid(x: Floats) -> Floats:
        return np.asarray(1 / (1 + np.exp(-x)), dtype=np.float32)

    seen = mels
    for layer in range(3):
        hidden = cell = np.zeros((len(mels), 256), dtype=np.float32)
        outputs = []
        for at in range(seen.shape[1]):
            bias = weights[f"lstm.bias_ih_l{layer}"] + weights[f"lstm.bias_hh_l{layer}"]
            into = seen[:, at] @ weights[f"lstm.weight_ih_l{layer}"].T + hidden @ weights[f"lstm.weight_hh_l{layer}"].T + bias
            i, f, g, o = np.split(into, 4, axis=1)
            cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
            hidden = sigmoid(o) * np.tanh(cell)
            outputs.append(hidden)
        seen = np.stack(outputs, axis=1)
    raw = np.maximum(0, seen[:, -1] @ weights["linear.weight"].T + weights["linear.bias"])
    return np.asarray(raw / np.linalg.norm(raw, axis=1, keepdims=True), dtype=np.float32)


def test_the_network_is_the_one_of_the_formulas() -> None:
    weights = made()
    mels = np.abs(np.random.default_rng(1).normal(size=(2, 12, 40))).astype(np.float32)
    session = onnxruntime.InferenceSession(voicenet.network(weights).SerializeToString(), providers=["CPUExecutionProvider"])
    assert session.run(None, {"mels": mels})[0] == pytest.approx(by_formula(weights, mels), abs=1e-5)


def test_torchs_older_format_is_read_without_torch() -> None:
    weights = made(2)
    read = voicenet.weights(torch_file(weights))
    assert list(read) == list(weights)
    assert all(np.array_equal(read[name], values) for name, values in weights.items())


def test_a_pickle_that_names_anything_else_is_refused() -> None:
    with pytest.raises(ValueError, match=r"the weights name os\.system"):
        voicenet.weights(torch_file(made(), ("os", "system")))


def test_another_format_is_refused() -> None:
    with pytest.raises(ValueError, match="older format"):
        voicenet.weights(io.BytesIO(pickle.dumps(7)))
