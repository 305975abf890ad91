"""Hidden states, followed."""
