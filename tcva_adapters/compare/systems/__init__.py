"""Several systems on the same queries: which is better, and how sure is that?"""
