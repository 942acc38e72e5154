"""Scores that were made elsewhere, imported into a comparison."""
