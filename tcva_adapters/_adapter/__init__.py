"""Shared code of the four adapters, in files named as in each adapter; imports no framework."""
