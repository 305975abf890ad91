"""Convert the UKV field of iris-sample-data to the small CF NetCDF file that the project ships.

Run once, outside the project's own environment (reading PP needs Iris, and Iris needs xxhash below 4)::

    python3 -m venv /tmp/ukv && /tmp/ukv/bin/pip install "scitools-iris==3.14.1" "xxhash<4" iris-sample-data==2.5.2
    /tmp/ukv/bin/python data/convert_ukv.py data/ukv_20091119.nc

What is changed: coordinates are rounded to the 1e-4 degrees of the model's grid (PP headers hold them in
single precision) and rotated longitude is moved to [-180, 180); true latitude and longitude are added. The
values of both fields are copied as they are, in float32.
"""

import argparse
import hashlib
from pathlib import Path

import numpy as np

SOURCE_SHA256 = "40aa43f27a78f78dfa5be79bbf929033b5d4dd77b36ff47f56eb8dd848d0f020"
ATTRIBUTES = {
    "Conventions": "CF-1.11",
    "title": "UKV forecast of 19 November 2009: potential temperature and surface altitude",
    "institution": "UK Met Office",
    "source": "Met Office Unified Model 7.3, UKV (1.5 km grid), started 2009-11-19 04 UTC; "
    "file uk_hires.pp of the Python package iris-sample-data 2.5.2",
    "license": "UK Open Government Licence; British Crown copyright, Met Office",
    "history": "uk_hires.pp converted by data/convert_ukv.py",
    "references": "https://github.com/SciTools/iris-sample-data",
}


def read_fields(path: Path) -> tuple:
    """The two cubes of the file: potential temperature (time, level, y, x) and surface altitude (y, x)."""
    import iris

    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != SOURCE_SHA256:
        raise SystemExit(f"{path.name} has sha256 {found}, expected {SOURCE_SHA256}: use iris-sample-data 2.5.2.")
    theta = iris.load_cube(str(path), "air_potential_temperature")
    altitude = iris.load_cube(str(path), "surface_altitude")
    return theta, altitude


def true_coordinates(theta, y: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """True latitude and longitude (degrees, each (H, W)) of the rotated grid with axes y (H,) and x (W,)."""
    from iris.analysis.cartography import unrotate_pole

    pole = theta.coord_system("RotatedGeogCS")
    xx, yy = np.meshgrid(x, y)
    longitude, latitude = unrotate_pole(xx, yy, pole.grid_north_pole_longitude, pole.grid_north_pole_latitude)
    return latitude, longitude


def put(nc, name: str, dimensions: tuple, values: np.ndarray, kind: str, **attributes) -> None:
    """Write one variable; two-dimensional and larger ones are compressed, one field a chunk."""
    shape = np.shape(values)
    options = {}
    if len(shape) > 1:
        options = {"zlib": True, "complevel": 9, "shuffle": True, "chunksizes": (1,) * (len(shape) - 2) + shape[-2:]}
    variable = nc.createVariable(name, kind, dimensions, **options)
    variable.setncatts(attributes)
    variable[...] = values


def write_axes(nc, theta) -> None:
    """Dimensions, coordinates and the grid mapping."""
    y = np.round(theta.coord("grid_latitude").points.astype(float), 4)
    x = np.round(theta.coord("grid_longitude").points.astype(float) - 360.0, 4)
    time, level = theta.coord("time"), theta.coord("level_height")
    pole = theta.coord_system("RotatedGeogCS")
    for name, size in (("time", 3), ("level_height", 7), ("grid_latitude", len(y)), ("grid_longitude", len(x))):
        nc.createDimension(name, size)
    put(nc, "time", ("time",), time.points, "f8", standard_name="time", axis="T", calendar="standard",
        units="hours since 1970-01-01 00:00:00")  # fmt: skip
    put(nc, "forecast_period", ("time",), theta.coord("forecast_period").points, "f8",
        standard_name="forecast_period", units="hours")  # fmt: skip
    put(nc, "level_height", ("level_height",), level.points, "f4", axis="Z", positive="up", units="m",
        long_name="height of the model level above flat ground at sea level")  # fmt: skip
    put(nc, "sigma", ("level_height",), theta.coord("sigma").points, "f4", units="1",
        long_name="share of the surface altitude that is added to the level height")  # fmt: skip
    put(nc, "model_level_number", ("level_height",), theta.coord("model_level_number").points, "i4",
        standard_name="model_level_number", units="1")  # fmt: skip
    put(nc, "grid_latitude", ("grid_latitude",), y, "f8", standard_name="grid_latitude", units="degrees", axis="Y")
    put(nc, "grid_longitude", ("grid_longitude",), x, "f8", standard_name="grid_longitude", units="degrees", axis="X")
    latitude, longitude = true_coordinates(theta, y, x)
    plane = ("grid_latitude", "grid_longitude")
    put(nc, "latitude", plane, latitude, "f4", standard_name="latitude", units="degrees_north")
    put(nc, "longitude", plane, longitude, "f4", standard_name="longitude", units="degrees_east")
    mapping = nc.createVariable("rotated_latitude_longitude", "i4")
    mapping.setncatts(
        {
            "grid_mapping_name": "rotated_latitude_longitude",
            "grid_north_pole_latitude": float(pole.grid_north_pole_latitude),
            "grid_north_pole_longitude": float(pole.grid_north_pole_longitude),
            "north_pole_grid_longitude": 0.0,
            "earth_radius": float(pole.ellipsoid.semi_major_axis),
        }
    )


def write_fields(nc, theta, altitude) -> None:
    """The two fields, values unchanged."""
    plane = ("grid_latitude", "grid_longitude")
    mapping = "rotated_latitude_longitude"
    along = "latitude longitude forecast_period sigma model_level_number"
    put(nc, "air_potential_temperature", ("time", "level_height", *plane), theta.data, "f4", units="K",
        standard_name="air_potential_temperature", long_name="potential temperature",
        grid_mapping=mapping, coordinates=along)  # fmt: skip
    put(nc, "surface_altitude", plane, altitude.data, "f4", units="m", standard_name="surface_altitude",
        long_name="surface altitude", grid_mapping=mapping, coordinates="latitude longitude")  # fmt: skip


def main() -> None:
    """Read the PP file that the installed sample data holds and write the NetCDF file named on the command line."""
    import iris_sample_data
    import netCDF4

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=Path)
    output = parser.parse_args().output
    theta, altitude = read_fields(Path(iris_sample_data.path) / "uk_hires.pp")
    with netCDF4.Dataset(output, "w", format="NETCDF4") as nc:
        nc.setncatts(ATTRIBUTES)
        write_axes(nc, theta)
        write_fields(nc, theta, altitude)
    print(f"{hashlib.sha256(output.read_bytes()).hexdigest()}  {output.name}  {output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
