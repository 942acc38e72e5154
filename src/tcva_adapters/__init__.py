"""Five-level verdicts and a strictness dial for existing LLM evaluation suites."""
