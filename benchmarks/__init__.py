"""What this project costs, measured: ``make bench``."""
