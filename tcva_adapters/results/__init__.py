"""Assessments and results, the settings they are seen under, and where both are stored."""
