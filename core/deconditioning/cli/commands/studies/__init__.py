"""Commands of the studies, one file each."""
