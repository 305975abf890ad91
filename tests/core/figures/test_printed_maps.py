"""Maps for print: the page they share, what is hatched on them, formats; by counting, by definition, by the pixels."""

from dataclasses import replace
from io import BytesIO
from xml.etree import ElementTree

import numpy as np
import pytest
import shapely
from PIL import Image
from scipy.ndimage import binary_dilation, label

from deconditioning.errors import InputError
from deconditioning.fields.footprints.region_data import Regions
from deconditioning.fields.footprints.station_data import Stations
from deconditioning.fields.footprints.stations import with_scored_stations, with_stations
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.figures.coast import coast_lines, resolution_for
from deconditioning.figures.hatching import Doubt
from deconditioning.figures.printed import publication
from deconditioning.figures.printed.page_size import AROUND, BESIDE, LINE, MARGIN, SIZES, page_layout
from deconditioning.figures.printed.publication import publication_figure
from tests.core.test_downscaled_maps import panels_of, problem_on

KINDS = ("latlon", "rotated", "projected", "global")


def picture(data: bytes) -> np.ndarray:
    return np.asarray(Image.open(BytesIO(data)).convert("L"), dtype=float)


@pytest.mark.parametrize("page", ["slide", "sheet"])
@pytest.mark.parametrize("places", range(1, 7))
@pytest.mark.parametrize("aspect", [0.5, 1.0, 1.6])
def test_maps_are_as_large_as_the_page_allows(page: str, places: int, aspect: float) -> None:
    found = page_layout(places, aspect, page)
    assert (found.width, found.height) in SIZES[page] and found.rows * found.columns >= places

    def fits(map_width: float) -> bool:
        """Whether maps of this width, with what stands around them, find room on a page of this kind."""
        return any(
            int((width - MARGIN) / (map_width + BESIDE)) * int((height - MARGIN - LINE) / (map_width * aspect + AROUND))
            >= places
            for width, height in SIZES[page]
        )

    assert fits(found.map_width * 0.999) and not fits(found.map_width * 1.01)


def test_a_page_that_follows_the_maps_grows_with_what_is_written() -> None:
    bare, told = page_layout(5, 0.5), page_layout(5, 0.5, caption=2 * page_layout(5, 0.5).letters, heading=True)
    assert (bare.rows, bare.columns) == (2, 3) and bare.width == told.width
    assert told.height - bare.height == pytest.approx(0.15 * 2 + 0.32)
    with pytest.raises(InputError, match="'poster' is unknown: choose one of fit, slide, sheet"):
        page_layout(1, 1.0, "poster")


def test_doubt_is_where_the_sd_is_a_share_of_the_maps_own() -> None:
    grid = problem_on("latlon").grid
    rng = np.random.default_rng(0)
    mean, sd = rng.standard_normal(grid.shape), rng.uniform(0, 1, grid.shape)
    sd[0, 0] = np.nan
    doubt = Doubt.of(mean, sd, grid, 0.4)
    one_by_one = [[bool(s > 0.4 * np.std(mean)) for s in row] for row in sd]
    assert doubt.where.tolist() == one_by_one and not doubt.where[0, 0]
    part = 100 * np.sum(one_by_one) / (sd.size - 1)
    assert doubt.sentence("K") == (
        f"Hatched where the sd exceeds 40 % of the sd of the map, {np.std(mean):.3g} K: {part:.3g} % of the pixels"
    )
    with pytest.raises(InputError, match="share of the signal is 0"):
        Doubt.of(mean, sd, grid, 0.0)


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_half_in_doubt_is_hatched(kind: str) -> None:
    problem = problem_on(kind)
    (panel,) = [each for each in panels_of(problem) if each.key == "mean"]
    sd = np.zeros(problem.grid.shape)
    east = problem.grid.longitude > np.median(problem.grid.longitude)
    sd[east] = np.inf
    doubt = Doubt(sd, problem.grid, 1.0)

    def printed(of: Doubt | None) -> np.ndarray:
        return picture(publication_figure([panel], problem.grid, doubt=of, projection="platecarree", dpi=90))

    plain, hatched = printed(Doubt(np.zeros(sd.shape), problem.grid, 1.0)), printed(doubt)
    darker = (plain - hatched > 25)[: int(0.8 * len(plain))]  # below stands the caption
    left, right = np.array_split(darker[:, 20:-20], 2, axis=1)
    assert right.mean() > 0.03 and left.mean() < 0.2 * right.mean()


def test_a_panel_without_values_is_left_out() -> None:
    problem = problem_on("latlon")
    panels = panels_of(problem)[:2]
    empty = replace(panels[0], values=np.full(problem.grid.shape, np.nan))
    with_it, without = (
        publication_figure(each, problem.grid, projection="platecarree", dpi=40) for each in ([*panels, empty], panels)
    )
    assert np.array_equal(picture(with_it), picture(without))
    with pytest.raises(InputError, match="no panel"):
        publication_figure([empty], problem.grid)


def test_a_slide_is_16_to_9_and_an_svg_keeps_its_words() -> None:
    problem = problem_on("latlon")
    panels = panels_of(problem)[:2]
    height, width = picture(
        publication_figure(panels, problem.grid, projection="platecarree", page="slide", dpi=60)
    ).shape
    assert width / height == pytest.approx(16 / 9, rel=0.01)
    sheet = {"page": "sheet", "format": "svg", "heading": "Temperature & more", "dpi": 40}
    svg = publication_figure(panels, problem.grid, projection="platecarree", **sheet)
    root = ElementTree.fromstring(svg)
    words = {"".join(each.itertext()).strip() for each in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"Temperature & more", panels[0].title, panels[1].title} <= words
    sides = sorted(float(root.attrib[side].removesuffix("pt")) / 72 for side in ("width", "height"))
    assert sides == pytest.approx([8.268, 11.693], rel=1e-3)
    with pytest.raises(InputError, match="'gif' is unknown: choose one of png, pdf, svg"):
        publication_figure(panels, problem.grid, format="gif")


def test_the_coast_is_every_stretch_of_the_lines_near_the_grid() -> None:
    """Point by point along each line, and over the seam of longitudes."""
    for kind, east in (("rotated", 0.0), ("latlon", 172.0)):
        grid = problem_on(kind).grid
        grid = replace(grid, longitude=(grid.longitude + east + 180) % 360 - 180)
        centre, low, high = grid.centre_longitude(), grid.latitude.min() - 5, grid.latitude.max() + 5
        half = np.abs((grid.longitude - centre + 180) % 360 - 180).max() + 5
        stretches: list[list[tuple[float, float]]] = []
        for line in coast_lines(resolution_for(grid.latitude)):
            stretches.append([])
            for x, y in line.tolist():
                if low < y < high and abs((x - centre + 180) % 360 - 180) < half:
                    stretches[-1].append((x, y))
                else:
                    stretches.append([])
        expected = [each for each in stretches if len(each) > 1]
        assert [[*each.coords] for each in publication._coast(grid).geoms] == expected
        assert publication._coast(grid) is publication._coast(grid)


def test_stations_and_regions_are_printed_where_they_are() -> None:
    """As many patches of ink as stations, and a hollow frame for a region; none on the truth."""
    problem = problem_on("latlon")
    grid = problem.grid
    row, column = np.array([5, 5, 20, 28]), np.array([6, 30, 18, 40])
    at = Stations(grid.latitude[row, column], grid.longitude[row, column], np.full(4, 280.0), np.zeros(4))
    west, east = np.quantile(grid.longitude, [0.2, 0.8])
    south, north = np.quantile(grid.latitude, [0.2, 0.8])
    square = Regions(np.array([shapely.box(west, south, east, north)]), np.array([280.0]), ("a",))

    def added(key: str, shown: DownscalingProblem) -> np.ndarray:
        """Where the footprints change a print."""
        (panel,) = [each for each in panels_of(problem) if each.key == key]
        options = {"projection": "platecarree", "dpi": 90}
        plain, drawn = (publication_figure([panel], grid, footprints=each, **options) for each in (None, shown))
        return np.abs(picture(plain) - picture(drawn)) > 8

    def patches(key: str, shown: DownscalingProblem) -> int:
        return int(label(binary_dilation(added(key, shown), iterations=2))[1])

    seen, scored = with_stations(problem, at), with_scored_stations(problem, at.of(np.array([0, 3])))
    assert [patches(key, seen) for key in ("observed", "mean", "spread", "truth")] == [4, 4, 4, 0]
    assert [patches(key, scored) for key in ("observed", "mean", "spread", "truth")] == [2, 0, 0, 0]
    outlined = added("mean", replace(problem, regions=square))
    rows, columns = np.nonzero(outlined)
    inner = outlined[rows.min() + 9 : rows.max() - 8, columns.min() + 9 : columns.max() - 8]
    assert outlined.any() and not inner.any() and not added("spread", replace(problem, regions=square)).any()
