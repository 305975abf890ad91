"""What others make of the same archive."""
