"""Temperature, threshold, fused scores and guarantees, chosen by human ratings."""
