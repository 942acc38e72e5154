"""Requests to models, their replies, and clients that make the calls."""
