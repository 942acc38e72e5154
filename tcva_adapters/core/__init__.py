"""Numbers only: levels, weights, the dial and the aggregation. numpy, no text, no I/O."""
