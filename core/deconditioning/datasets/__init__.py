"""The catalogue of data sets, the generator of the synthetic planet, and default settings for a new file."""
