"""Sentences, words, numbers and negation: one tool for claims, evidence and the lexical judge."""
