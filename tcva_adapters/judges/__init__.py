"""From text to verdicts. Knows no framework."""
