"""The run engine: what to do (RunSpec) becomes a Run with progress, cancel and a folder on disk."""
