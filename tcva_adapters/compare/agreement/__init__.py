"""How methods, judges and human raters agree."""
