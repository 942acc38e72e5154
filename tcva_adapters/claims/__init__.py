"""What is judged of an answer, and against what: criteria, claims, non-claims."""
