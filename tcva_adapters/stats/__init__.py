"""Statistics on arrays of scores: agreement with human ratings, intervals and tests."""
