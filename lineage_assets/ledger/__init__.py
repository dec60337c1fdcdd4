"""What the Dagster event log says of each partition: attempts, verdicts, data versions, inputs."""
