"""The program that cuts a Piper voice in two at its decoder's first convolution; it alone needs onnx, and nothing of ours.

Run: python -P cleave.py VOICE.onnx ENCODER.onnx DECODER.onnx
"""

import os
import sys
import tempfile
from pathlib import Path
from typing import Final

import numpy as np
import onnx
import onnx.utils
import onnxruntime

_FIRST_WEIGHT: Final = "dec.conv_pre.weight"
_CONTEXTS: Final = (8, 10, 12, 16, 24, 32)
_EQUAL_DB: Final = -100.0
_CHUNK: Final = 24


def halves(model: onnx.ModelProto) -> tuple[bytes, bytes]:
    """The part up to the decoder, which also tells the frames of each phoneme, and the decoder. Raises ValueError for a graph
    that is not one of Piper's (VITS): where else to cut is not known."""
    graph = model.graph
    first = [node for node in graph.node if node.op_type == "Conv" and _FIRST_WEIGHT in node.input]
    first = first or [node for node in graph.node if node.op_type == "Conv" and "dec/conv_pre" in node.name]
    lengths = [node.output[0] for node in graph.node if node.op_type == "Ceil"]
    if len(first) != 1 or len(lengths) != 1:
        raise ValueError(f"the graph has {len(first)} decoders and {len(lengths)} lengths, not one of each")
    border, given = first[0].input[0], [one.name for one in graph.input]
    extractor = onnx.utils.Extractor(model)
    encoder = extractor.extract_model(given, [border, lengths[0]])
    speaker = [name for name in given if name == "sid"]
    decoder = extractor.extract_model([border, *speaker], [graph.output[0].name])
    channels = next(weight.dims[1] for weight in graph.initializer if weight.name == first[0].input[1])
    context = _context(decoder.SerializeToString(), border, channels)
    onnx.helper.set_model_props(decoder, {"context": str(context)})
    return encoder.SerializeToString(), decoder.SerializeToString()


def _context(decoder: bytes, border: str, channels: int) -> int:
    """Frames around a chunk from which on it sounds as it does within the whole; found by trying, on noise."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(decoder, options, providers=["CPUExecutionProvider"])
    length = 2 * max(_CONTEXTS) + _CHUNK
    hidden = np.random.default_rng(0).normal(size=(1, channels, length)).astype(np.float32)
    rest = {one.name: np.zeros(1, dtype=np.int64) for one in session.get_inputs() if one.name != border}

    def sound(begin: int, end: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
        return np.asarray(session.run(None, {border: hidden[:, :, begin:end], **rest})[0]).reshape(-1)

    whole = sound(0, length)
    hop, begin, end = whole.size // length, max(_CONTEXTS), max(_CONTEXTS) + _CHUNK
    meant = whole[begin * hop : end * hop]
    for context in _CONTEXTS:
        found = sound(begin - context, end + context)[context * hop : (context + _CHUNK) * hop]
        if np.abs(found - meant).max() <= 10 ** (_EQUAL_DB / 20) * np.abs(meant).max():
            return context
    raise ValueError(f"{max(_CONTEXTS)} frames around a chunk do not make it sound as within the whole")


def _write(target: Path, content: bytes) -> None:
    """In one step, so that nobody finds half of it."""
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}-", delete=False) as half_done:
        try:
            half_done.write(content)
            half_done.flush()
            os.fsync(half_done.fileno())
            os.chmod(half_done.name, 0o644)
            os.replace(half_done.name, target)
        except BaseException:
            Path(half_done.name).unlink(missing_ok=True)
            raise


def main(voice: str, *targets: str) -> None:
    """Makes both files, the decoder last."""
    for target, content in zip(targets, halves(onnx.load(voice)), strict=True):
        _write(Path(target), content)


if __name__ == "__main__":
    main(*sys.argv[1:])
