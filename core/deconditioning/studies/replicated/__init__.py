"""Every table and figure of the five sources and our stored results."""
