"""What is done with joint draws: their power spectrum, and their effective resolution."""
