"""Ledger facts to OpenLineage events to a receiver: ids, facets, delivery. Knows no run in progress."""
