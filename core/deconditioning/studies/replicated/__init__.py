"""Every table and figure of the five texts beside our stored numbers."""
