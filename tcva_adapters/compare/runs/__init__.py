"""Runs of the frameworks' own metrics beside TCVA on the same samples."""
