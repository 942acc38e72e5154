"""What a comparison shows: each method alone, pairs, human ratings, decisions."""
