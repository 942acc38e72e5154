"""Agreement of methods, judges and human raters."""
