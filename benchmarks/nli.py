"""Pairs per second of a cross-encoder of MiniLM's size: 6 layers, 384 wide, 12 heads, 22 million weights.

The weights are random: they take the same time, and judge nothing. ``python -m benchmarks.nli``
"""

import random
import re
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper, parser

from tcva_adapters.judges.cross_encoder import CrossEncoder, load
from tests.support.cross_encoder import save

LAYERS, WIDE, INNER, VOCABULARY, LENGTH = 6, 384, 1536, 30_522, 512
SECONDS = 5.0
WORDS = [f"w{number}" for number in range(1000)]

# One layer of BERT, which makes x@+ of x@; @ is its number.
_LAYER = """
  q@ = MatMul (x@, q_w@) k@ = MatMul (x@, k_w@) v@ = MatMul (x@, v_w@)
  qh@ = Reshape (q@, heads) kh@ = Reshape (k@, heads) vh@ = Reshape (v@, heads)
  qt@ = Transpose <perm = [0, 2, 1, 3]> (qh@) kt@ = Transpose <perm = [0, 2, 3, 1]> (kh@)
  vt@ = Transpose <perm = [0, 2, 1, 3]> (vh@) raw@ = MatMul (qt@, kt@) scaled@ = Div (raw@, root)
  masked@ = Add (scaled@, mask) shares@ = Softmax <axis = -1> (masked@) mixed@ = MatMul (shares@, vt@)
  back@ = Transpose <perm = [0, 2, 1, 3]> (mixed@) flat@ = Reshape (back@, wide)
  out@ = MatMul (flat@, o_w@) sum@ = Add (out@, x@) norm@ = LayerNormalization (sum@, scale, shift)
  up@ = MatMul (norm@, up_w@) part@ = Div (up@, two) erf@ = Erf (part@) more@ = Add (erf@, one)
  gated@ = Mul (up@, more@) down@ = MatMul (gated@, down_w@) last@ = Add (down@, norm@)
  x@+ = LayerNormalization (last@, scale, shift)
"""
_GRAPH = """
<ir_version: 8, opset_import: ["" : 17]>
bert (int64[N,S] input_ids, int64[N,S] attention_mask) => (float[N,3] logits) {
  shown = Cast <to = 1> (attention_mask) hidden = Sub (shown, one) much = Mul (hidden, large)
  mask = Unsqueeze (much, axes) size = Shape (input_ids) length = Gather (size, step)
  rows = Range (zero, length, step) place = Gather (places, rows) word = Gather (words, input_ids)
  x0 = Add (word, place) LAYERS first = Gather <axis = 1> (xLAST, zero)
  logits = MatMul (first, classes)
}
"""
_NUMBERS = {"one": 1.0, "two": 2**0.5, "large": 1e9, "root": 32**0.5}
_WHOLE = {"zero": 0, "step": 1, "axes": [1, 2], "wide": [0, 0, WIDE], "heads": [0, 0, 12, 32]}
_OF_A_LAYER = dict.fromkeys(["q_w", "k_w", "v_w", "o_w"], (WIDE, WIDE))
_OF_A_LAYER |= {"up_w": (WIDE, INNER), "down_w": (INNER, WIDE)}


def graph() -> onnx.ModelProto:
    """BERT without a pooler; drawn weights."""
    drawn = np.random.default_rng(0)
    shapes = {"words": (VOCABULARY, WIDE), "places": (LENGTH, WIDE), "classes": (WIDE, 3)}
    shapes |= {f"{name}{at}": s for at in range(LAYERS) for name, s in _OF_A_LAYER.items()}
    tables = {name: drawn.normal(0, 0.02, shape) for name, shape in shapes.items()}
    tables |= {"scale": np.ones(WIDE), "shift": np.zeros(WIDE)}
    floats = {name: np.asarray(value, np.float32) for name, value in (tables | _NUMBERS).items()}
    whole = {name: np.asarray(value, np.int64) for name, value in _WHOLE.items()}
    layers = [_LAYER.replace("@+", str(at + 1)).replace("@", str(at)) for at in range(LAYERS)]
    text = re.sub("LAYERS", "".join(layers), _GRAPH).replace("LAST", str(LAYERS))
    model = parser.parse_model(text)
    arrays = (floats | whole).items()
    model.graph.initializer.extend(numpy_helper.from_array(each, name) for name, each in arrays)
    return model


def speed(model: CrossEncoder, tokens: int, batch: int) -> float:
    """Pairs of so many tokens per second, so many at once."""
    drawn, done, began = random.Random(0), 0, time.perf_counter()
    while (took := time.perf_counter() - began) < SECONDS:
        premises = [" ".join(drawn.choices(WORDS, k=tokens - 23)) for _ in range(batch)]
        model.chances([(premise, " ".join(WORDS[:20])) for premise in premises])
        done += batch
    return done / took


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        folder = save(Path(name), WORDS, length=LENGTH)
        onnx.save_model(graph(), str(folder / "model.onnx"))
        model = load(folder)
        print("tokens of a pair  pairs/s, one at a time  pairs/s, 16 at a time")
        for tokens in (64, 128, 256):
            one, many = (speed(model, tokens, batch) for batch in (1, 16))
            print(f"{tokens:16}  {one:22.1f}  {many:21.1f}")
