"""Which settings agree best with human ratings, and whether that is more than chance."""
