"""Tasks of the engine about a period."""
