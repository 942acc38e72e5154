"""Measurements, run from a checkout: ``python -m benchmarks.NAME``."""
