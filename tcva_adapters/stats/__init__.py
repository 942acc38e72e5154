"""Statistics on arrays of scores: agreement with human ratings, and how sure one can be of it."""
