"""What each visitor of a shared server keeps: uploads, favourites, progress."""
