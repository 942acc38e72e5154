"""The paper's tables and figures, recomputed from its stored verdicts: ``python -m benchmarks.paper``."""
