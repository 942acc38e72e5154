"""The ``tcva`` command: parse, call, print."""
