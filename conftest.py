"""Keeps the frameworks quiet in every test, doctests in the package included."""

import tests.support.quiet  # noqa: F401
