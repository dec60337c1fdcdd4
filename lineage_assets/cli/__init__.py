"""The command line: one command a file; parse, call the core, print, exit code."""
