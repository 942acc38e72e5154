"""Pairs per second of a cross-encoder of MiniLM's size: 6 layers, 384 wide, 12 heads, 22 million weights.

The weights are drawn: they take the same time, and judge nothing. The fastest of several rounds counts.
"""

import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper, parser

from tcva_adapters.judges.cross_encoder import CrossEncoder, load
from tests.support.cross_encoder import save

WORDS = [f"w{number}" for number in range(1000)]
# BERT's layer, which makes x@+ of x@; @ is its number.
_LAYER = """
  q@ = MatMul (x@, q_w@) k@ = MatMul (x@, k_w@) v@ = MatMul (x@, v_w@) qh@ = Reshape (q@, heads) kh@ = Reshape (k@, heads) vh@ = Reshape (v@, heads)
  qt@ = Transpose <perm = [0, 2, 1, 3]> (qh@) kt@ = Transpose <perm = [0, 2, 3, 1]> (kh@) vt@ = Transpose <perm = [0, 2, 1, 3]> (vh@) raw@ = MatMul (qt@, kt@)
  scaled@ = Div (raw@, root) masked@ = Add (scaled@, mask) shares@ = Softmax <axis = -1> (masked@) mixed@ = MatMul (shares@, vt@)
  back@ = Transpose <perm = [0, 2, 1, 3]> (mixed@) flat@ = Reshape (back@, wide) out@ = MatMul (flat@, o_w@) sum@ = Add (out@, x@)
  norm@ = LayerNormalization (sum@, scale, shift) up@ = MatMul (norm@, up_w@) part@ = Div (up@, two) erf@ = Erf (part@) more@ = Add (erf@, one)
  gated@ = Mul (up@, more@) down@ = MatMul (gated@, down_w@) last@ = Add (down@, norm@) x@+ = LayerNormalization (last@, scale, shift)"""
_GRAPH = """<ir_version: 8, opset_import: ["" : 17]> bert (int64[N,S] input_ids, int64[N,S] attention_mask) => (float[N,3] logits) {
  shown = Cast <to = 1> (attention_mask) hidden = Sub (shown, one) much = Mul (hidden, large) mask = Unsqueeze (much, axes)
  x0 = Gather (words, input_ids) LAYERS first = Gather <axis = 1> (x6, zero) logits = MatMul (first, classes) }"""
_NUMBERS = {
    "one": 1.0,
    "two": 2**0.5,
    "large": 1e9,
    "root": 32**0.5,
    "scale": [1.0] * 384,
}
_NUMBERS |= {"shift": [0.0] * 384, "zero": 0, "axes": [1, 2], "wide": [0, 0, 384]}
_SHAPES = {"q_w": (384, 384), "k_w": (384, 384), "v_w": (384, 384), "o_w": (384, 384)}
_SHAPES |= {"up_w": (384, 1536), "down_w": (1536, 384)}


def write(path: Path) -> None:
    drawn, layers = np.random.default_rng(0), range(6)
    shapes = {f"{name}{at}": shape for at in layers for name, shape in _SHAPES.items()}
    shapes |= {"words": (30_522, 384), "classes": (384, 3)}
    tables = {name: drawn.normal(0, 0.02, shape) for name, shape in shapes.items()}
    tables |= {
        name: np.array(it) for name, it in {**_NUMBERS, "heads": [0, 0, 12, 32]}.items()
    }
    text = "".join(
        _LAYER.replace("@+", str(at + 1)).replace("@", str(at)) for at in layers
    )
    model = parser.parse_model(_GRAPH.replace("LAYERS", text))
    for name, each in tables.items():
        kept = each.astype(np.float32) if each.dtype == np.float64 else each
        model.graph.initializer.append(numpy_helper.from_array(kept, name))
    onnx.save_model(model, str(path))


def speed(model: CrossEncoder, tokens: int, batch: int) -> float:
    pair, times = (" ".join(WORDS[: tokens - 23]), " ".join(WORDS[-20:])), []
    for _ in range(40 // batch + 3):
        began = time.perf_counter()
        model.chances([pair] * batch)
        times.append(time.perf_counter() - began)
    return batch / min(times)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        folder = save(Path(name), WORDS, length=512)
        write(folder / "model.onnx")
        for tokens in (64, 128, 256):
            one, many = (speed(load(folder), tokens, batch) for batch in (1, 16))
            print(
                f"{tokens:3} tokens: {one:4.0f} pairs/s alone, {many:4.0f} pairs/s 16 at a time"
            )
