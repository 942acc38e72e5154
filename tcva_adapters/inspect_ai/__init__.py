"""TCVA as scorers of Inspect, a scorer for each criterion.

Inspect finds them by the entry point of the package, so a log can be scored without any code::

    inspect score LOG --scorer tcva_adapters/faithfulness -S judge=openai:MODEL -S temperature=strict

A task takes ``scorer_of("faithfulness")(judge="openai:MODEL")``, or one for a criterion of your own.
"""

from tcva_adapters.frameworks import REQUIREMENTS
from tcva_adapters.lazy import check

# Inspect registers scorers when this package is imported, so nothing of it is imported later.
check(REQUIREMENTS["inspect"])

from tcva_adapters.inspect_ai.scorers import scorer_of as scorer_of
