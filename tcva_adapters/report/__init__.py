"""What was judged as one HTML file: it opens from disk, asks nothing of a network, and its dial is live."""

from tcva_adapters.lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__)  # listed in the stub beside this file
