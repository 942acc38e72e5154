"""Numbers only: levels, weights, temperature and aggregation. numpy, no text, no I/O."""
