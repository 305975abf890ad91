"""Controls: widgets bound to the address, levels, settings."""
