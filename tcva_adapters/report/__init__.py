"""Output from tables and reports: a page, figures, gates, and files for machines."""

from tcva_adapters.lazy import public_names

__getattr__, __dir__ = public_names(__name__)  # listed in the stub of this file
