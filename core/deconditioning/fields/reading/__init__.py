"""Files of fields opened: NetCDF, HDF5, GRIB, Zarr, uploads."""
