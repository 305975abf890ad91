"""Every table and figure of the five publications and our stored results."""
