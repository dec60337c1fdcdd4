"""A job as a Dagster asset: gate, reuse what is unchanged, launch, record per partition."""
