"""Which settings agree best with people's labels, and whether that is more than chance."""
