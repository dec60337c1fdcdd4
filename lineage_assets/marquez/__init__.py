"""Marquez: the client that asks it, and the embedded server where none is at hand.

Knows nothing of assets, Dagster or Spark: jobs, runs and datasets here are OpenLineage's.
"""
