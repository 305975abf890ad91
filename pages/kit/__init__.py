"""What the pages share: the live chart, layout, theme and state."""
