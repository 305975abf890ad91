"""Opening files of fields: NetCDF, HDF5, GRIB, Zarr, uploads."""
