"""Scores that were made elsewhere, brought into a comparison."""
