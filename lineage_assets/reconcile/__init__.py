"""What a run could not tell of itself: attempts that died, events that did not arrive, blocks that no run met."""
