"""Tables of scores: judgements, imported scores and human ratings of the same samples."""
