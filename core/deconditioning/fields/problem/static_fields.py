"""Identifies fields that do not change with time, whatever date a file gives them: orography, land,
soil, cell areas; and the altitude of the ground among them.
"""

from collections.abc import Mapping
from typing import Any

#: CF standard names of them, and the names that CMIP, CORDEX, ECMWF, the Met Office and WRF give them.
_STANDARD_NAMES = (
    "surface_altitude", "height_above_geopotential_datum", "land_area_fraction", "land_binary_mask",
    "sea_area_fraction", "land_ice_area_fraction", "cell_area", "sea_floor_depth_below_geoid",
    "sea_floor_depth_below_sea_level", "bedrock_altitude", "soil_type", "soil_porosity",
)  # fmt: skip
NAMES = (
    "orog", "orography", "topo", "topography", "elevation", "elev", "dem", "altitude", "hsurf", "zsurf", "hgt_m", "hgt",
    "lsm", "landmask", "land_mask", "sftlf", "sftgif", "sftof", "areacella", "areacello", "cell_area", "deptho",
    "bathymetry", "soiltype", "slope", "aspect",
)  # fmt: skip
#: Names and standard names of the altitude of the ground, its geopotential among them.
ALTITUDES = frozenset({
    "surface_altitude", "height_above_geopotential_datum", "bedrock_altitude", "orog", "orography", "topo",
    "topography", "elevation", "elev", "dem", "altitude", "hsurf", "zsurf", "hgt_m", "hgt", "ht", "topoin",
    "surface_height", "terrain", "terrain_height", "z_surf", "zs", "geopotential", "surface_geopotential", "phis",
})  # fmt: skip
#: Attributes of a file, and how they begin where nothing in it has a time.
_FREQUENCY = ("frequency", "table_id")


def is_static(name: str, attributes: Mapping[str, Any], of_file: Mapping[str, Any], most_times: int) -> bool:
    """Whether a field with at most one date in its file has none in truth: by its names, or as the file says (fx)."""
    if most_times > 1:
        return False
    sentences = [str(of_file.get(word, "")).lower() for word in _FREQUENCY]
    standard = str(attributes.get("standard_name", "")).lower()
    return (
        standard in _STANDARD_NAMES or name.lower() in NAMES or any(word in ("fx", "ofx", "efx") for word in sentences)
    )
