"""Results written as CF NetCDF or Zarr."""
