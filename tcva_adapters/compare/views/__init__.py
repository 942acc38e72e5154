"""What a comparison shows: each method alone, pairs, people, decisions."""
