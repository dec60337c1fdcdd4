"""The pipelines that come with the project: the demo, the fixtures of the tests, and what a new author copies."""
