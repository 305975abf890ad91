"""The catalogue of data, the generator of the made-up planet, and a first guess of settings for a new file."""
