"""The distribution of the pixels' values: the scale on which they are modelled, and what is shown of it."""
