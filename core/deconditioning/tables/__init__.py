"""A user's own table: named columns of numbers or text, from CSV or NetCDF."""
