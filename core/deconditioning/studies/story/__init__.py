"""What the steps of page Story compute."""
