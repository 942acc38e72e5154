"""TCVA and native metrics on the same samples, each judged once."""
