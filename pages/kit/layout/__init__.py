"""What every page looks like."""
