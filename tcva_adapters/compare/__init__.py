"""Compare methods on the same samples: agreement, calibration, validation, systems.

Every name is imported on first use, and pandas, rich and matplotlib only where they are needed.
"""

from tcva_adapters.lazy import public_names

__getattr__, __dir__ = public_names(__name__)  # listed in the stub of this file
