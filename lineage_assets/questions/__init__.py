"""Questions about single partitions, answered from the ledger: why is it so, what did it reach, what was tried.

Sibling of `backfill`: answers, and changes nothing.
"""
