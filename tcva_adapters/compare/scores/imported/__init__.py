"""Scores made elsewhere: tables of RAGAS and LangSmith, test runs of DeepEval, any table."""
