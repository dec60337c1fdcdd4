"""What runs on the cluster: read, transform, stage, audit, publish, report.

Ships as it is, to Python 3.9 and up: imports pyspark, the standard library and dagster_pipes, nothing else of ours.
"""
