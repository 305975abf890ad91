"""The live chart and what keeps it fast."""
