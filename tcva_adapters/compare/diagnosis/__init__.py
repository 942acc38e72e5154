"""Why answers are wrong: labels of claims, the measures of RAGChecker, and the causes of faults."""
