"""A cross-encoder in ONNX, from a folder, which gives two texts the probabilities of its classes.

Nothing is downloaded and nothing is sent. A process loads a folder once and shares the model.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import math
import os
import re
import threading
import weakref
from collections.abc import (
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tcva_adapters.errors import (
    InvalidValueError,
    JudgeError,
    MissingDependencyError,
    install_hint,
)

try:
    import onnxruntime
    from tokenizers import Encoding, Tokenizer
except ImportError as error:
    MSG = f"judge='nli:FOLDER' needs the extra 'nli': {install_hint('nli')}"
    raise MissingDependencyError(MSG) from error

LONGEST = 256
"""The most tokens of a pair, also for models that read more, as time grows with their square."""

BATCH = 16

_NEEDED = ("model.onnx", "tokenizer.json", "config.json")
_MIN_TOKENS = 12  # tokens; two texts do not fit into less
_MAX_THREADS = 4
_FIELDS = {
    "input_ids": "ids",
    "attention_mask": "attention_mask",
    "token_type_ids": "type_ids",
}
_CLASSES = {
    "entailed": re.compile(
        r"entail(ment|ed|s)|support(ed|s)?|consistent|faithful|grounded"
    ),
    "contradicted": re.compile(r"contradict(ion|ed|s|ory)|refute[sd]"),
    "neither": re.compile(
        r"neutral|not_enough_info|hallucinat(ed|ion)|inconsistent|un(supported|faithful|grounded)"
        r"|no[tn]_(entail(ment|ed)|support(ed)?|consistent|faithful|grounded)"
    ),
}
_EXAMPLE = '{"0": "contradiction", "1": "entailment", "2": "neutral"}'
_EXPORT = "optimum-cli export onnx --task text-classification --model MODEL FOLDER"
_MARK = re.compile(r"\W")
_PLACE = re.compile(r"\{(premise|hypothesis)\}")
_PLACES = ["hypothesis", "premise"]


class Chance(NamedTuple):
    """A model's estimate for a pair of premise and hypothesis.

    Attributes:
        entailed: The probability that the premise entails the hypothesis.
        is_contradicted: Whether a contradiction is likelier than any other class.
    """

    entailed: float
    is_contradicted: bool


class CrossEncoder:
    """The model of a folder, with its tokenizer and the meaning of its classes.

    Attributes:
        state: A value that changes when a file does.
        digest: The SHA-256 of the files.
        title: The model's name by its files, since a folder may have any name.
        labels: The names of the classes, in the order of the model.
        length: The most tokens of a pair, the special ones included.
        session: The session of onnxruntime.
        room: The tokens of a pair that are left for the two texts.

    Raises:
        InvalidValueError: A file cannot be read, or is not what is needed.
    """

    def __init__(self, files: Mapping[str, Path], state: object) -> None:
        self.state = state
        self.digest = _digest(files)
        config_path = files["config.json"]
        config: dict[str, Any] = {}
        for path in (files.get("tokenizer_config.json", config_path), config_path):
            with _reading(path):
                config = {**config, **json.loads(path.read_text("utf-8"))}
        title = config.get("_name_or_path") or config.get("model_type") or "model"
        self.title = Path(str(title)).name
        self.labels, self._classes = _labels(config.get("id2label"), config_path)
        self._pad: int = config.get("pad_token_id") or 0
        self.length = _length(config)
        self._template = str(config.get("nli_template") or "")
        if self._template and sorted(_PLACE.findall(self._template)) != _PLACES:
            raise InvalidValueError(
                f"nli_template in {config_path} must have {{premise}} and {{hypothesis}} once each"
            )
        with _reading(files["tokenizer.json"]):
            self._tokenizer = Tokenizer.from_file(str(files["tokenizer.json"]))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        added = self._tokenizer.get_added_tokens_decoder()
        self._special = {number for number in added if added[number].special}
        self.room = self.length - len(self._encoded("", "").ids)
        if self.room < _MIN_TOKENS:
            raise InvalidValueError(
                f"the model reads {self.length} tokens by config.json or tokenizer_config.json, and special tokens and nli_template take {self.length - self.room}; the texts need {_MIN_TOKENS}"
            )
        self._tokenizer.enable_truncation(self.length)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = _threads()
        options.inter_op_num_threads = 1
        options.log_severity_level = 4  # what matters is raised
        options.use_deterministic_compute = True
        self._lock = threading.Lock()
        graph = files["model.onnx"]
        with _reading(graph):
            self.session = onnxruntime.InferenceSession(
                str(graph),
                options,
                ["CPUExecutionProvider"],
            )
            self._inputs = [value.name for value in self.session.get_inputs()]
            outputs = [value.name for value in self.session.get_outputs()]
            self._output = "logits" if "logits" in outputs else outputs[0]
            self.chances([("a", "a")])
        _made.add(self)

    def _plain(self, text: str) -> str:
        """Replace the marks of special tokens by blanks, as ``[SEP]`` in a sample is only text.

        The tokenizer recognises the marks, since many vocabularies have them in full width, too.
        """
        encoded = self._tokenizer.encode(text, add_special_tokens=False)
        for number, (begin, end) in zip(encoded.ids, encoded.offsets, strict=True):
            if number in self._special:
                text = text[:begin] + _MARK.sub(" ", text[begin:end]) + text[end:]
        return text

    def cut(self, text: str, most: int) -> tuple[str, int]:
        """Cut a text to a number of tokens; return it with the number of tokens that it has."""
        encoded = self._tokenizer.encode(self._plain(text), add_special_tokens=False)
        size = len(encoded.ids)
        if size <= most:
            return text, size
        return text[: encoded.offsets[most - 1][1]], most

    def chances(self, pairs: Sequence[tuple[str, str]]) -> list[Chance]:
        """Run the model on pairs of premise and hypothesis, in batches of similar length.

        In a model with 8-bit weights, the other pairs of a batch may change how a pair is rounded.

        Raises:
            JudgeError: The model fails.
        """
        encoded = [self._encoded(*pair) for pair in pairs]
        order = sorted(range(len(pairs)), key=lambda at: len(encoded[at].ids))
        chances: dict[int, Chance] = {}
        for begin in range(0, len(order), BATCH):
            places = order[begin : begin + BATCH]
            batch = [encoded[at] for at in places]
            chances |= zip(places, self._run(batch), strict=True)
        return [chances[at] for at in range(len(pairs))]

    def _encoded(self, premise: str, hypothesis: str) -> Encoding:
        premise, hypothesis = map(self._plain, (premise, hypothesis))
        if not self._template:
            return self._tokenizer.encode(premise, hypothesis)
        texts = {"premise": premise, "hypothesis": hypothesis}
        return self._tokenizer.encode(
            _PLACE.sub(lambda place: texts[place[1]], self._template)
        )

    def _run(self, batch: Sequence[Encoding]) -> list[Chance]:
        for pair in batch:
            pair.pad(len(batch[-1].ids), pad_id=self._pad)
        feeds = {
            name: np.array([getattr(pair, _FIELDS[name]) for pair in batch])
            for name in self._inputs
            if name in _FIELDS
        }
        try:
            # One batch at a time: the session uses all threads that it may have.
            with self._lock:
                (logits,) = self.session.run([self._output], feeds)
        except Exception as error:
            raise JudgeError(_first_line(error)) from error
        number = len(self.labels)
        if logits.shape != (len(batch), number) or not np.isfinite(logits).all():
            raise JudgeError(
                f"got logits {logits.shape} for {len(batch)} pairs and {number} classes in config.json"
            )
        logits = logits.astype(np.float64)
        if number == 1:
            logits = np.pad(logits, ((0, 0), (0, 1)))  # a single logit is one against 0
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        classes = [*self._classes, "neither"]
        entailed = classes.index("entailed")
        # Machines add in different orders, so further digits would differ.
        return [
            Chance(
                entailed=float(row[entailed].round(6)),
                is_contradicted=classes[row.argmax()] == "contradicted",
            )
            for row in shares
        ]


_loaded: dict[Path, CrossEncoder] = {}
_made: weakref.WeakSet[CrossEncoder] = weakref.WeakSet()
_loading = threading.Lock()


def load(folder: Path) -> CrossEncoder:
    """Load the model of a folder, once in a process, and anew where its files have changed.

    Raises:
        InvalidValueError: The folder lacks a file, or a file cannot be used.
    """
    files = _files(folder)
    state = [
        (path, path.stat().st_mtime_ns, path.stat().st_size) for path in files.values()
    ]
    with _loading:
        if folder not in _loaded or _loaded[folder].state != state:
            _loaded[folder] = CrossEncoder(files | _weights(files["model.onnx"]), state)
        return _loaded[folder]


def _forget() -> None:
    """Drop the loaded models in a forked child, which lacks the threads of its parent's sessions."""
    global _loading  # noqa: PLW0603  # it may have been held when the process was forked
    _loading = threading.Lock()
    # A session waits for its threads when it is freed, so a child must never free it.
    for model in _made:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(model.session))
    _loaded.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _files(folder: Path) -> dict[str, Path]:
    if not folder.is_dir():
        raise InvalidValueError(
            f"there is no folder {folder}; judge='nli:FOLDER' needs one with {', '.join(_NEEDED)}"
        )
    paths = {name: folder / name for name in (*_NEEDED, "tokenizer_config.json")}
    if not paths["model.onnx"].is_file():
        paths["model.onnx"] = folder / "onnx" / "model.onnx"
    files = {name: path for name, path in paths.items() if path.is_file()}
    for name in _NEEDED:
        if name not in files:
            raise InvalidValueError(f"{folder} has no {name}; write it with {_EXPORT}")
    return files


def _weights(graph: Path) -> dict[str, Path]:
    """Find the files next to a graph that it names, among them all files with its weights."""
    data = graph.read_bytes()
    # Where the graph is a link, onnxruntime looks next to it and next to its target.
    folders = (graph.parent, graph.resolve().parent) if b"location" in data else ()
    return {
        str(path.relative_to(folder)): path
        for folder in folders
        for path in folder.rglob("*")
        if os.fsencode(path.name) in data and path.is_file()
    }


def _digest(files: Mapping[str, Path]) -> str:
    digest = hashlib.sha256()
    for name, path in sorted(files.items()):
        with path.open("rb") as file:
            digest.update(name.encode() + hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn any error raised in the block into an `InvalidValueError` that names the file."""
    try:
        yield
    except Exception as error:
        raise InvalidValueError(
            f"{path} cannot be used: {_first_line(error)}; write the folder with {_EXPORT}"
        ) from error


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:300]


def _labels(id2label: object, path: Path) -> tuple[list[str], list[str]]:
    """Read the names of the classes in the order of the model, and what they mean.

    Raises:
        InvalidValueError: A name is unknown, or not exactly one of them means entailment.
    """
    names = id2label if isinstance(id2label, dict) else {}
    labels = [str(names.get(str(at), "?")) for at in range(len(names))]
    classes = []
    for label in labels:
        plain = re.sub(r"[\W_]+", "_", label.strip().casefold())
        classes += [kind for kind in _CLASSES if _CLASSES[kind].fullmatch(plain)]
    if len(classes) < len(labels) or classes.count("entailed") != 1:
        problem = (
            f"names the classes {', '.join(labels)}" if labels else "has no id2label"
        )
        raise InvalidValueError(
            f'{path} {problem}; set its "id2label" to what the model\'s outputs mean, in order, e.g. {_EXAMPLE}, or {{"0": "supported"}} for one'
        )
    return labels, classes


def _length(config: Mapping[str, object]) -> int:
    """The most tokens of a pair, by `LONGEST`, the model's positions and its tokenizer's limit."""
    # RoBERTa and related models count positions from behind the padding.
    skipped = 2 if config.get("pad_token_id") == 1 else 0
    lengths = [LONGEST]
    for key in ("max_position_embeddings", "model_max_length"):
        length = config.get(key)
        if isinstance(length, int | float) and abs(length) < math.inf:
            lengths.append(int(length) - skipped)
    return min(lengths)


def _threads() -> int:
    """The number of threads: OMP_NUM_THREADS, which Ray sets for its workers; else one per CPU, up to 4."""
    threads = os.environ.get("OMP_NUM_THREADS", "")
    if threads.isdecimal():
        return int(threads)
    return min(_MAX_THREADS, os.cpu_count() or 1)
