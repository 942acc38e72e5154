"""A cross-encoder in ONNX, from a folder: two texts in, the chances of its classes out.

Nothing is downloaded and nothing is sent. A process loads a folder once, whoever uses it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tcva_adapters.errors import (
    InvalidValueError,
    JudgeError,
    MissingDependencyError,
    install_hint,
)

try:
    import onnxruntime
    from tokenizers import Tokenizer
except ImportError as error:
    MSG: Final = f"judge='nli:FOLDER' needs the extra 'nli': {install_hint('nli')}"
    raise MissingDependencyError(MSG) from error

LONGEST: Final = 512
"""Tokens of a pair, also for models that read more: what they take grows with the square of it."""

BATCH: Final = 16

_MOST_THREADS: Final = 4  # more help only large models, and OMP_NUM_THREADS asks for them
_SHORTEST: Final = 16  # tokens, with which nothing can be judged any more
_KEY: Final = "nli_template"
_SUPPORTED: Final = re.compile(r"entail(ment|ed|s)|support(ed|s)?|consistent|faithful|grounded")
_CONTRADICTED: Final = re.compile(r"contradict(ion|ed|s|ory)|refute[sd]")
_OTHER: Final = re.compile(
    r"neutral|not_enough_info|hallucinat(ed|ion)|inconsistent|un(supported|faithful|grounded)"
    r"|no[tn]_(entail(ment|ed)|support(ed)?|consistent|faithful|grounded)"
)
_EXAMPLES: Final = {
    1: '{"0": "supported"}',
    2: '{"0": "not_entailment", "1": "entailment"}',
    3: '{"0": "contradiction", "1": "entailment", "2": "neutral"}',
}
_EXPORT: Final = "optimum-cli export onnx --task text-classification --model MODEL FOLDER"
_TYPES: Final = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_PLACE: Final = re.compile(r"\{(premise|hypothesis)\}")
_EXTERNAL: Final = re.compile(rb"\x0a\x08location\x12([\x01-\x7f])")  # of a protobuf's text


class Chance(NamedTuple):
    """What a model holds of a pair.

    Attributes:
        entailed: The probability that the premise entails the hypothesis.
        is_contradicted: Whether a contradiction is likelier than any other class.
    """

    entailed: float
    is_contradicted: bool


class CrossEncoder:
    """The model of a folder, with its tokenizer and what its classes mean.

    Attributes:
        files: What it was loaded from, by name.
        state: Of these files at that time.
        digest: A SHA-256 of the files.
        length: Tokens of a pair, the special ones included.
        room: Those of them that are left for the two texts.
        size: Gives the tokens of a text; of sentences that were read lately it knows them.
        labels: The names of the classes, in the order of the model.

    Raises:
        InvalidValueError: A file cannot be read, or is not what is needed.
    """

    def __init__(self, files: Mapping[str, Path]) -> None:
        self._lock = threading.Lock()
        self.files, self.state = files, _state(files)
        self.size = lru_cache(maxsize=4096)(lambda text: self.cut(text, self.length)[1])
        graph, config = files["model.onnx"], _json(files["config.json"])
        self.digest = _digest(files)
        self.labels = _labels(config, files["config.json"])
        names = [_plain(label) for label in self.labels]
        self._entailed = next(i for i, name in enumerate(names) if _SUPPORTED.fullmatch(name))
        self._contradicted = [i for i, name in enumerate(names) if _CONTRADICTED.fullmatch(name)]
        self._pad = config.get("pad_token_id") or 0
        more = _json(files["tokenizer_config.json"]) if "tokenizer_config.json" in files else {}
        self.length = _length(config, more)
        self._template = config.get(_KEY)
        if self._template is not None and sorted(_PLACE.findall(str(self._template))) != [
            "hypothesis",
            "premise",
        ]:
            msg = f"{_KEY} in {files['config.json']} must hold {{premise}} and {{hypothesis}} once each"
            raise InvalidValueError(msg)
        try:
            self._tokenizer = Tokenizer.from_file(str(files["tokenizer.json"]))
        except Exception as error:
            msg = f"{files['tokenizer.json']} cannot be read: {error}; save the tokenizer again, or update tokenizers"
            raise InvalidValueError(msg) from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(self.length)
        self.room = self.length - len(self._encoded("", "").ids)
        self._session = _session(graph)
        self._types = _inputs(self._session, graph)
        outputs = [each.name for each in self._session.get_outputs()]
        self._output = "logits" if "logits" in outputs else outputs[0]
        if self._output != "logits" and len(outputs) > 1:
            several = ", ".join(outputs)
            msg = f"{graph} has the outputs {several}, none called logits; write it again with {_EXPORT}"
            raise InvalidValueError(msg)
        try:
            self._logits([self._encoded("a", "a")])
        except JudgeError as error:
            msg = f"{graph}: {error}"
            raise InvalidValueError(msg) from error

    def cut(self, text: str, most: int) -> tuple[str, int]:
        """A text as far as it has at most so many tokens, and how many it has."""
        found = self._tokenizer.encode(text, add_special_tokens=False)
        if len(found.ids) <= most:
            return text, len(found.ids)
        return text[: found.offsets[most - 1][1]], most

    def chances(self, pairs: Sequence[tuple[str, str]]) -> list[Chance]:
        """What the model holds of each pair of premise and hypothesis, in batches of one length.

        Raises:
            JudgeError: The model fails.
        """
        encoded = [self._encoded(*pair) for pair in pairs]
        order = sorted(range(len(pairs)), key=lambda at: (len(encoded[at].ids), at))
        found: dict[int, Chance] = {}
        for begin in range(0, len(order), BATCH):
            places = order[begin : begin + BATCH]
            for at, logits in zip(places, self._logits([encoded[i] for i in places]), strict=True):
                found[at] = self._chance(logits)
        return [found[at] for at in range(len(pairs))]

    def _encoded(self, premise: str, hypothesis: str) -> Any:
        if self._template is None:
            return self._tokenizer.encode(premise, hypothesis)
        texts = {"premise": premise, "hypothesis": hypothesis}
        return self._tokenizer.encode(_PLACE.sub(lambda place: texts[place[1]], self._template))

    def _logits(self, batch: Sequence[Any]) -> NDArray[np.float64]:
        longest = max(len(each.ids) for each in batch)
        rows = {
            "input_ids": ([each.ids for each in batch], self._pad),
            "attention_mask": ([each.attention_mask for each in batch], 0),
            "token_type_ids": ([each.type_ids for each in batch], 0),
        }
        feeds = {
            name: np.array(
                [row + [pad] * (longest - len(row)) for row in rows[name][0]], self._types[name]
            )
            for name, pad in ((name, rows[name][1]) for name in self._types)
        }
        try:
            # One at a time: the session has the threads that it may have.
            with self._lock:
                (logits,) = self._session.run([self._output], feeds)
        except Exception as error:
            msg = f"the model cannot be run: {_first_line(error)}"
            raise JudgeError(msg) from error
        wanted = (len(batch), len(self.labels))
        if np.shape(logits) != wanted:
            msg = (
                f"its output has the shape {np.shape(logits)} in place of {wanted}: config.json names "
                f"{len(self.labels)} classes ({', '.join(self.labels)})"
            )
            raise JudgeError(msg)
        if not np.isfinite(logits).all():
            msg = "the model's output is not finite"
            raise JudgeError(msg)
        return np.asarray(logits, np.float64)

    def _chance(self, logits: NDArray[np.float64]) -> Chance:
        if len(logits) == 1:
            logits = np.array([logits[0], 0.0])
        shares = np.exp(logits - logits.max())
        # Other machines add in another order: the digits behind say nothing.
        entailed = round(float(shares[self._entailed] / shares.sum()), 6)
        return Chance(entailed, int(logits.argmax()) in self._contradicted)


_loaded: dict[Path, CrossEncoder] = {}
_loading = threading.Lock()


def load(folder: Path) -> CrossEncoder:
    """The model of a folder; loaded once in a process, and anew where its files have changed.

    Raises:
        InvalidValueError: The folder lacks something, or it cannot be used.
    """
    with _loading:
        model = _loaded.get(folder)
        if model is None or model.state != _state(model.files):
            model = _loaded[folder] = CrossEncoder(_files(folder))
        return model


def _forget() -> None:
    """A child that was forked has none of the threads of its parent's sessions."""
    global _loading  # noqa: PLW0603  # it may have been held when the process was forked
    _loading = threading.Lock()
    _loaded.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _state(files: Mapping[str, Path]) -> object:
    """Changes when a file does; None where one is gone."""
    try:
        stats = [path.stat() for path in files.values()]
    except OSError:
        return None
    return [(each.st_mtime_ns, each.st_size) for each in stats]


def _files(folder: Path) -> dict[str, Path]:
    """The files of a folder by their names, those with weights outside of the graph included.

    Raises:
        InvalidValueError: One is missing.
    """
    needed = ("model.onnx", "tokenizer.json", "config.json")
    if not folder.is_dir():
        msg = f"there is no folder {folder}; judge='nli:FOLDER' needs one with {', '.join(needed)}"
        raise InvalidValueError(msg)
    found = {name: folder / name for name in needed}
    if not found["model.onnx"].is_file():
        found["model.onnx"] = folder / "onnx" / "model.onnx"
    for name, path in found.items():
        if not path.is_file():
            also = " and no onnx/model.onnx" if name == "model.onnx" else ""
            msg = f"{folder} has no {name}{also}; write it with {_EXPORT}"
            raise InvalidValueError(msg)
    if (path := folder / "tokenizer_config.json").is_file():
        found[path.name] = path
    graph = found["model.onnx"]
    data = graph.read_bytes()
    for match in _EXTERNAL.finditer(data):
        name = data[match.end() : match.end() + match[1][0]].decode(errors="replace")
        found[name] = graph.parent / name
        if not found[name].is_file():
            msg = (
                f"{graph.parent} has no {name}, which holds weights of {graph.name}; copy it there"
            )
            raise InvalidValueError(msg)
    return found


def _digest(files: Mapping[str, Path]) -> str:
    """A SHA-256 over the files with their names."""
    found = hashlib.sha256()
    for name, path in sorted(files.items()):
        with path.open("rb") as file:
            found.update(f"{name} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return found.hexdigest()


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        msg = f"{path} cannot be read: {error}"
        raise InvalidValueError(msg) from error
    if not isinstance(found, dict):
        msg = f"{path} must hold a JSON object, got {type(found).__name__}"
        raise InvalidValueError(msg)
    return found


def _plain(label: str) -> str:
    return re.sub(r"[\W_]+", "_", label.strip().casefold()).strip("_")


def _labels(config: Mapping[str, Any], path: Path) -> tuple[str, ...]:
    """The names of the classes in the order of the model, one of which is an entailment.

    Raises:
        InvalidValueError: They are missing, or it is unknown what one of them means.
    """
    given = config.get("id2label")
    named = given if isinstance(given, dict) else {}
    example = _EXAMPLES.get(len(named) or 3, _EXAMPLES[3])
    way = f'set "id2label" there to what the model\'s classes mean, in its order, e.g. {example}'
    try:
        labels = [str(named[str(at)]) for at in range(len(named))]
    except KeyError:
        labels = []
    if not labels:
        msg = f'{path} has no "id2label" with the classes "0", "1" and so on; {way}'
        raise InvalidValueError(msg)
    names = [_plain(label) for label in labels]
    known = (_SUPPORTED, _CONTRADICTED, _OTHER)
    is_known = all(any(kind.fullmatch(name) for kind in known) for name in names)
    if not is_known or sum(_SUPPORTED.fullmatch(name) is not None for name in names) != 1:
        said = "exactly one must support" if is_known else "at least one is unknown"
        msg = f"{path} names the classes {', '.join(labels)} ({said}); {way}"
        raise InvalidValueError(msg)
    return tuple(labels)


def _length(config: Mapping[str, Any], tokenizer: Mapping[str, Any]) -> int:
    """The most tokens of a pair, by the model's positions and its tokenizer's own limit.

    Raises:
        InvalidValueError: Nothing fits in so few.
    """
    positions = config.get("max_position_embeddings")
    if isinstance(positions, int) and config.get("pad_token_id") == 1:
        positions -= 2  # RoBERTa and its kin count them from behind the padding
    given = (positions, tokenizer.get("model_max_length"))
    found = int(min([LONGEST, *(n for n in given if isinstance(n, int | float) and n > 0)]))
    if found < _SHORTEST:
        msg = f"the model reads at most {found} tokens by config.json or tokenizer_config.json; {_SHORTEST} are needed"
        raise InvalidValueError(msg)
    return found


def _session(graph: Path) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = _threads()
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what matters is raised
    options.use_deterministic_compute = True
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(str(graph), options, ["CPUExecutionProvider"])
    except Exception as error:
        msg = f"{graph} cannot be loaded: {_first_line(error)}; write it again with {_EXPORT}"
        raise InvalidValueError(msg) from error


def _threads() -> int:
    """The CPUs of this process, 4 at most; OMP_NUM_THREADS sets another number, as Ray does."""
    named = os.environ.get("OMP_NUM_THREADS", "")
    if named.isdecimal() and int(named) > 0:
        return int(named)
    has_affinity = hasattr(os, "sched_getaffinity")
    return min(_MOST_THREADS, len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1)


def _inputs(session: Any, graph: Path) -> dict[str, Any]:
    """The types of the graph's inputs by name.

    Raises:
        InvalidValueError: One is unknown, or has another type or a fixed size.
    """
    found = {each.name: _TYPES.get(each.type) for each in session.get_inputs()}
    known = ("input_ids", "attention_mask", "token_type_ids")
    fault = ""
    if unknown := [name for name in found if name not in known]:
        fault = f"has the unknown input {', '.join(unknown)}; known are {', '.join(known)}"
    elif "input_ids" not in found or None in found.values():
        fault = "has no input_ids of type int64 or int32"
    elif any(isinstance(size, int) for each in session.get_inputs() for size in each.shape):
        shapes = [each.shape for each in session.get_inputs()]
        fault = f"has inputs of the fixed size {shapes[0]}"
    if fault:
        msg = f"{graph} {fault}; write it again with {_EXPORT}"
        raise InvalidValueError(msg)
    return found


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:300]
