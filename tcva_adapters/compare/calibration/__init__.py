"""Sweeps over temperatures, and settings and thresholds chosen by human ratings."""
