"""Where scores are wrong: how they differ from human ratings, and what the difference depends on."""
