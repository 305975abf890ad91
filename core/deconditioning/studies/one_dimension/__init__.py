"""The hidden function behind two scatters."""
