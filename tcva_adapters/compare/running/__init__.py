"""TCVA and framework metrics on the same samples, each judged once."""
