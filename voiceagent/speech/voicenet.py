"""The program that makes an ONNX network of the voice encoder's weights; it alone needs onnx, and nothing of ours.

Run: python -P voicenet.py PRETRAINED.pt NETWORK.onnx

The weights are Resemblyzer's (Apache-2.0), a file of torch's older format, which is read here without torch: pickles that may
name nothing but tensors of floats, then the numbers. The network is its encoder: three LSTM layers of 256 over 160 frames of 40
mel bands, the last state through a linear layer, rectified and of unit length (Wan et al., "Generalized end-to-end loss for
speaker verification", ICASSP 2018).
"""

import os
import pickle
import struct
import sys
import tempfile
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

Floats = NDArray[np.float32]

_MAGIC: Final = 0x1950A86A20F9469CFC6C
_LAYERS: Final = 3
_BANDS: Final = 40
_SIZE: Final = 256


class _Tensor:
    """A tensor that is named before its numbers come."""

    def __init__(self, storage: Any, offset: int, size: tuple[int, ...], stride: tuple[int, ...], *_: Any) -> None:
        self.key, self.offset, self.size, self.stride = storage, offset, size, stride

    def filled(self, storages: Mapping[str, Floats]) -> Floats:
        """Its numbers."""
        storage = storages[self.key][self.offset :]
        return np.lib.stride_tricks.as_strided(storage, self.size, [4 * step for step in self.stride]).copy()


class _Reader(pickle.Unpickler):
    """Reads pickles that name tensors, parameters and dictionaries; anything else is refused."""

    ALLOWED: Final = {
        ("torch._utils", "_rebuild_tensor_v2"): _Tensor,
        ("torch._utils", "_rebuild_parameter"): lambda tensor, *_: tensor,
        ("collections", "OrderedDict"): OrderedDict,
        ("torch", "FloatStorage"): "float",
    }

    def find_class(self, module: str, name: str) -> Any:
        """What a name stands for."""
        try:
            return self.ALLOWED[module, name]
        except KeyError:
            raise ValueError(f"the weights name {module}.{name}, which is none of theirs") from None

    def persistent_load(self, pid: Any) -> Any:
        """A storage's key."""
        kind, type_, key, *_ = pid
        if (kind, type_) != ("storage", "float"):
            raise ValueError(f"the weights hold a {kind} of {type_}")
        return key


def weights(file: BinaryIO) -> dict[str, Floats]:
    """The tensors of `model_state` by their names. Raises ValueError for a file that is not one of torch's older format."""
    if _Reader(file).load() != _MAGIC:
        raise ValueError("this is no file of torch's older format")
    _Reader(file).load()
    _Reader(file).load()
    state = _Reader(file).load()["model_state"]
    storages: dict[str, Floats] = {}
    for key in _Reader(file).load():
        (count,) = struct.unpack("<q", file.read(8))
        storages[key] = np.frombuffer(file.read(4 * count), dtype="<f4").astype(np.float32)
    return {name: tensor.filled(storages) for name, tensor in state.items()}


def network(given: Mapping[str, Floats]) -> onnx.ModelProto:
    """The encoder: `mels`, shape (n, 160, 40) float32, in; `prints`, shape (n, 256), each of unit length, out."""
    held: list[onnx.TensorProto] = []
    nodes = [helper.make_node("Transpose", ["mels"], ["x0"], perm=[1, 0, 2])]
    for layer in range(_LAYERS):
        w, r, b = (f"{name}{layer}" for name in ("w", "r", "b"))
        held += [
            _held(w, _gates(given[f"lstm.weight_ih_l{layer}"])[np.newaxis]),
            _held(r, _gates(given[f"lstm.weight_hh_l{layer}"])[np.newaxis]),
            _held(b, np.concatenate([_gates(given[f"lstm.bias_{way}_l{layer}"]) for way in ("ih", "hh")])[np.newaxis]),
        ]
        outputs = [f"y{layer}", f"h{layer}"]
        nodes.append(helper.make_node("LSTM", [f"x{layer}", w, r, b], outputs, hidden_size=_SIZE))
        if layer + 1 < _LAYERS:
            nodes.append(helper.make_node("Squeeze", [f"y{layer}", "one"], [f"x{layer + 1}"]))
    held += [
        _held("one", np.array([1], dtype=np.int64)),
        _held("zero", np.array([0], dtype=np.int64)),
        _held("linear.w", given["linear.weight"]),
        _held("linear.b", given["linear.bias"]),
    ]
    nodes += [
        helper.make_node("Squeeze", [f"h{_LAYERS - 1}", "zero"], ["last"]),
        helper.make_node("Gemm", ["last", "linear.w", "linear.b"], ["raw"], transB=1),
        helper.make_node("Relu", ["raw"], ["kept"]),
        helper.make_node("LpNormalization", ["kept"], ["prints"], axis=1, p=2),
    ]
    mels = helper.make_tensor_value_info("mels", onnx.TensorProto.FLOAT, ["n", "frames", _BANDS])
    prints = helper.make_tensor_value_info("prints", onnx.TensorProto.FLOAT, ["n", _SIZE])
    graph = helper.make_graph(nodes, "voice-encoder", [mels], [prints], held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    onnx.checker.check_model(model)
    return model


def _gates(stacked: Floats) -> Floats:
    """Torch stacks the gates as input, forget, cell, output; ONNX as input, output, forget, cell."""
    into, forget, cell, out = np.split(stacked, 4)
    return np.concatenate([into, out, forget, cell])


def _held(name: str, values: NDArray[Any]) -> onnx.TensorProto:
    return numpy_helper.from_array(np.ascontiguousarray(values), name)


def main(source: str, target: str) -> None:
    """Makes the file in one step, so that nobody finds half of it."""
    with open(source, "rb") as file:
        content = network(weights(file)).SerializeToString()
    place = Path(target)
    with tempfile.NamedTemporaryFile(dir=place.parent, prefix=f".{place.name}-", delete=False) as half_done:
        try:
            half_done.write(content)
            half_done.flush()
            os.fsync(half_done.fileno())
            os.chmod(half_done.name, 0o644)
            os.replace(half_done.name, place)
        except BaseException:
            Path(half_done.name).unlink(missing_ok=True)
            raise


if __name__ == "__main__":
    main(*sys.argv[1:])
