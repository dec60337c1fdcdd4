"""A request to redo partitions, its answer as a value, and the running of exactly that value."""
