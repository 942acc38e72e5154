"""Settings for every run of the suite; import this before any framework."""

import atexit
import os
import tempfile

_FOLDER = tempfile.TemporaryDirectory(prefix="tcva-tests-")
atexit.register(_FOLDER.cleanup)

QUIET = {
    "RAGAS_DO_NOT_TRACK": "true", "DEEPEVAL_TELEMETRY_OPT_OUT": "1", "DEEPEVAL_DISABLE_DOTENV": "1",
    "DEEPEVAL_CACHE_FOLDER": _FOLDER.name, "LANGSMITH_TRACING": "false",
    "LANGSMITH_TEST_TRACKING": "false", "TOKENIZERS_PARALLELISM": "false",
}  # fmt: skip
os.environ.update(QUIET)
for name in (
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "CONFIDENT_API_KEY",
    "LANGSMITH_API_KEY",
):
    os.environ.pop(name, None)

# pytest's workers set it, and what is said on standard error would be wrapped where it is.
os.environ.pop("COLUMNS", None)
