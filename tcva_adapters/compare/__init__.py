"""The frameworks' own metrics and TCVA on the same samples."""
