"""Cross-encoders that are small and real: what they say depends on both texts."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper, parser
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
THREE = ("entailment", "neutral", "contradiction")

_WEIGHTS = {
    "entailment": (24, -20, -14),
    "neutral": (-20, 0, 14),
    "contradiction": (6, 20, -12),
}
"""Of each class: by the share of the hypothesis' words that the premise has, by whether only one of
the two has "not", and without either. What does not support weighs as neutral does."""

# Every word of the second text looks for its like in the first: attention, with the maximum.
_GRAPH = """
<ir_version: 8, opset_import: ["" : 17]>
agraph (INPUTS) => (OUTPUTS) {
  size = Shape (input_ids) length = Gather (size, step) places = Range (zero, length, step)
  positions = Gather (position_table, places) words = Gather (word_table, input_ids)
  embedded = Add (words, positions) turned = Transpose <perm = [0, 2, 1]> (embedded)
  alike = MatMul (embedded, turned) is_separator = Equal (input_ids, separator)
  separators = Cast <to = 1> (is_separator) before = CumSum <exclusive = 1> (separators, step)
  behind = Sign (before) shown = Cast <to = 1> (attention_mask)
  means = Gather (content_table, input_ids) content = Mul (means, shown)
  second = Mul (content, behind) first = Sub (content, second) wide = Unsqueeze (first, one)
  seen = Mul (alike, wide) best = ReduceMax <axes = [2], keepdims = 0> (seen)
  found = Mul (best, second) hits = ReduceSum (found, one) number = ReduceSum (second, one)
  share = Div (hits, number) negating = Gather (not_table, input_ids)
  not_first = Mul (negating, first) in_first = ReduceMax <axes = [1]> (not_first)
  not_second = Mul (negating, second) in_second = ReduceMax <axes = [1]> (not_second)
  apart = Sub (in_first, in_second) differs = Abs (apart)
  features = Concat <axis = 1> (share, differs) scaled = MatMul (features, weights)
  logits = Add (scaled, bias)
}
"""
_NUMBERS = {"zero": 0, "step": 1, "one": [1], "separator": 3}


def save(
    folder: Path,
    texts: Sequence[str],
    classes: Sequence[str] = THREE,
    *,
    weights_like: Sequence[str] | None = None,
    length: int = 48,
    inputs: Sequence[str] = ("input_ids", "attention_mask", "token_type_ids"),
    shape: str = "N,S",
    config: dict[str, Any] | None = None,
    graph: str = "model.onnx",
    external: str | None = None,
) -> Path:
    """Write one that knows the words of the texts; whatever else is read is unknown to it.

    Args:
        folder: Where to.
        texts: With all words that it knows.
        classes: What config.json calls its classes, in order.
        weights_like: What they are, where they are called otherwise.
        length: Tokens that it has positions for; with more it fails.
        inputs: Of the graph.
        shape: Of each input.
        config: Further values of config.json.
        graph: Where in the folder the graph is.
        external: The file that holds the weights.
    """
    words = sorted(
        {word for text in texts for word in re.findall(r"\w+", text.lower())} | {"not"}
    )
    vocabulary = {word: at for at, word in enumerate((*SPECIAL, *words))}
    content = np.array(
        [word not in SPECIAL or word == "[UNK]" for word in vocabulary], np.float32
    )
    is_known = np.array([word not in SPECIAL for word in vocabulary], np.float32)
    kinds = weights_like or classes
    weighed = [_WEIGHTS.get(kind, _WEIGHTS["neutral"]) for kind in kinds]
    tables = {
        "word_table": np.diag(is_known),
        "position_table": np.zeros((length, len(vocabulary)), np.float32),
        "content_table": content,
        "not_table": np.array([word == "not" for word in vocabulary], np.float32),
        "weights": np.array([w[:2] for w in weighed], np.float32).T,
        "bias": np.array([w[2] for w in weighed], np.float32),
    }
    text = _GRAPH.replace(
        "INPUTS", ", ".join(f"int64[{shape}] {name}" for name in inputs)
    )
    model = parser.parse_model(text.replace("OUTPUTS", f"float[N,{len(kinds)}] logits"))
    tables |= {name: np.array(value, np.int64) for name, value in _NUMBERS.items()}
    model.graph.initializer.extend(
        numpy_helper.from_array(a, name) for name, a in tables.items()
    )
    (folder / graph).parent.mkdir(parents=True, exist_ok=True)
    kept: Any = {"save_as_external_data": external is not None, "location": external}
    onnx.save_model(model, str(folder / graph), size_threshold=64, **kept)
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.add_special_tokens([*SPECIAL])
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    # As sentence-transformers writes it: these two are of no concern to whoever reads the file.
    tokenizer.enable_padding(length=8)
    tokenizer.enable_truncation(8)
    tokenizer.save(str(folder / "tokenizer.json"))
    named = {"id2label": {str(at): name for at, name in enumerate(classes)}}
    given = {
        **named,
        "max_position_embeddings": length,
        "pad_token_id": 0,
        **(config or {}),
    }
    (folder / "config.json").write_text(json.dumps(given))
    return folder
