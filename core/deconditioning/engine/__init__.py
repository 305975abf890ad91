"""The run engine: turns a RunSpec into a Run with progress, cancellation and a folder on disk."""
