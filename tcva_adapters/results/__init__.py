"""Assessments and results, the settings that turn one into the other, and their store."""
