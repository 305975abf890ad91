"""A user's own table: named columns of numbers or words, from CSV or NetCDF."""
