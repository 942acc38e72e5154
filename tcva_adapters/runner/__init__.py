"""How judgements come about: what is asked, what evaluators share, and how a run goes and ends."""
