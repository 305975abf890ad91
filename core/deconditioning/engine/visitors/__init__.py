"""Data of each visitor of a shared server: uploads, favourites, progress."""
