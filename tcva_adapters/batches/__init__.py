"""Judge with a provider's batches: half the price, within a day, the same results as live runs."""

from tcva_adapters.lazy import public_names

__getattr__, __dir__ = public_names(__name__)  # listed in the stub of this file
