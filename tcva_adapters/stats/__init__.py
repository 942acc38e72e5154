"""Statistics on arrays of scores: agreement with people, and how sure one can be of it."""
