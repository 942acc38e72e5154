"""The embedded judge: words, numbers, names and negation."""
