"""Map projections are built once: PROJ takes a quarter of a second for each that lies on an Earth of its own."""

from collections.abc import Iterator

import pyproj
import pytest


@pytest.fixture(scope="session", autouse=True)
def projections() -> Iterator[None]:
    """What a grid mapping means is kept by what it says."""
    build, known = pyproj.CRS.from_cf, {}

    def kept(mapping: dict, **more: object) -> pyproj.CRS:
        said = repr((sorted(mapping.items()), more))
        if said not in known:
            known[said] = build(mapping, **more)
        return known[said]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pyproj.CRS, "from_cf", kept)
        yield
