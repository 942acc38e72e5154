"""Judges: they turn a sample into claims with verdicts, and know no framework."""
