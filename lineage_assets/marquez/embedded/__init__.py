"""An OpenLineage receiver on SQLite that speaks the HTTP API of Marquez 0.50, as far as it is asked.

It stands in where no Marquez can run, and says so. What it answers is held to the answers recorded
from a real one (``tests/contract``); where it answers otherwise on purpose, ``differences.json`` says why.
"""

NAME = "lineage_assets embedded lineage server"
