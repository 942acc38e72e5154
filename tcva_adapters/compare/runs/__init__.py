"""Runs of the frameworks' own metrics and of TCVA on the same samples."""
