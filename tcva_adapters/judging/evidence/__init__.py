"""Whether a quote stands in the passages, and whether it says anything about its claim."""
