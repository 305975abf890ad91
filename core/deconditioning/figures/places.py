"""A few cities on a map of a region, so that people see where it lies (positions to a few hundredths of a degree)."""

from functools import lru_cache

import numpy as np

from deconditioning.fields.grids.grid import Grid

#: Most cities on a map, their least distance and their distance from the frame as shares of its width and height, and
#: degrees of latitude beyond which a map shows none.
_MOST, _APART, _INSIDE, _WIDEST = 4, 0.22, 0.12, 25.0
#: Name, latitude and longitude in degrees; the better known ones first.
_CITIES = (
    ("London", 51.51, -0.13), ("Paris", 48.86, 2.35), ("New York", 40.71, -74.01), ("Tokyo", 35.68, 139.69),
    ("Beijing", 39.90, 116.41), ("Delhi", 28.61, 77.21), ("Cairo", 30.04, 31.24), ("Moscow", 55.76, 37.62),
    ("São Paulo", -23.55, -46.63), ("Mexico City", 19.43, -99.13), ("Lagos", 6.52, 3.38), ("Sydney", -33.87, 151.21),
    ("Nairobi", -1.29, 36.82), ("Berlin", 52.52, 13.41), ("Madrid", 40.42, -3.70), ("Rome", 41.90, 12.50),
    ("Istanbul", 41.01, 28.98), ("Tehran", 35.69, 51.39), ("Mumbai", 19.08, 72.88), ("Singapore", 1.35, 103.82),
    ("Jakarta", -6.21, 106.85), ("Bangkok", 13.76, 100.50), ("Manila", 14.60, 120.98), ("Seoul", 37.57, 126.98),
    ("Shanghai", 31.23, 121.47), ("Hong Kong", 22.32, 114.17), ("Karachi", 24.86, 67.01), ("Dhaka", 23.81, 90.41),
    ("Los Angeles", 34.05, -118.24), ("Chicago", 41.88, -87.63), ("Toronto", 43.65, -79.38),
    ("Montréal", 45.50, -73.57),
    ("Vancouver", 49.28, -123.12), ("Seattle", 47.61, -122.33), ("Denver", 39.74, -104.99), ("Houston", 29.76, -95.37),
    ("Miami", 25.76, -80.19), ("Atlanta", 33.75, -84.39), ("Washington", 38.91, -77.04), ("Boston", 42.36, -71.06),
    ("San Francisco", 37.77, -122.42), ("Phoenix", 33.45, -112.07), ("Winnipeg", 49.90, -97.14),
    ("Calgary", 51.05, -114.07), ("Anchorage", 61.22, -149.90), ("Havana", 23.11, -82.37), ("Bogotá", 4.71, -74.07),
    ("Lima", -12.05, -77.04), ("Quito", -0.18, -78.47), ("Caracas", 10.48, -66.90), ("La Paz", -16.50, -68.15),
    ("Santiago", -33.45, -70.67), ("Buenos Aires", -34.60, -58.38), ("Montevideo", -34.90, -56.16),
    ("Brasília", -15.79, -47.88), ("Manaus", -3.12, -60.02), ("Recife", -8.05, -34.88), ("Dublin", 53.35, -6.26),
    ("Edinburgh", 55.95, -3.19), ("Glasgow", 55.86, -4.25), ("Manchester", 53.48, -2.24), ("Liverpool", 53.41, -2.99),
    ("Birmingham", 52.49, -1.89), ("Cardiff", 51.48, -3.18), ("Belfast", 54.60, -5.93), ("Leeds", 53.80, -1.55),
    ("Bristol", 51.45, -2.59), ("Newcastle", 54.98, -1.61), ("Aberdeen", 57.15, -2.09), ("Inverness", 57.48, -4.22),
    ("Plymouth", 50.38, -4.14), ("Norwich", 52.63, 1.30), ("Cork", 51.90, -8.47), ("Galway", 53.27, -9.05),
    ("Douglas", 54.15, -4.48), ("Holyhead", 53.31, -4.63), ("Aberystwyth", 52.42, -4.08), ("Amsterdam", 52.37, 4.90),
    ("Brussels", 50.85, 4.35), ("Hamburg", 53.55, 9.99), ("Munich", 48.14, 11.58), ("Cologne", 50.94, 6.96),
    ("Frankfurt", 50.11, 8.68), ("Vienna", 48.21, 16.37), ("Zürich", 47.38, 8.54), ("Geneva", 46.20, 6.14),
    ("Innsbruck", 47.27, 11.39), ("Milan", 45.46, 9.19), ("Venice", 45.44, 12.32), ("Turin", 45.07, 7.69),
    ("Naples", 40.85, 14.27), ("Palermo", 38.12, 13.36), ("Lyon", 45.76, 4.84), ("Marseille", 43.30, 5.37),
    ("Bordeaux", 44.84, -0.58), ("Toulouse", 43.60, 1.44), ("Nantes", 47.22, -1.55), ("Barcelona", 41.39, 2.17),
    ("Valencia", 39.47, -0.38), ("Seville", 37.39, -5.98), ("Lisbon", 38.72, -9.14), ("Porto", 41.15, -8.61),
    ("Oslo", 59.91, 10.75), ("Bergen", 60.39, 5.32), ("Trondheim", 63.43, 10.40), ("Tromsø", 69.65, 18.96),
    ("Stockholm", 59.33, 18.07), ("Gothenburg", 57.71, 11.97), ("Copenhagen", 55.68, 12.57), ("Helsinki", 60.17, 24.94),
    ("Reykjavík", 64.15, -21.94), ("Tallinn", 59.44, 24.75), ("Riga", 56.95, 24.11), ("Vilnius", 54.69, 25.28),
    ("Warsaw", 52.23, 21.01), ("Kraków", 50.06, 19.94), ("Prague", 50.08, 14.44), ("Budapest", 47.50, 19.04),
    ("Bucharest", 44.43, 26.10), ("Sofia", 42.70, 23.32), ("Belgrade", 44.79, 20.45), ("Zagreb", 45.81, 15.98),
    ("Athens", 37.98, 23.73), ("Kyiv", 50.45, 30.52), ("Minsk", 53.90, 27.57), ("Odesa", 46.48, 30.73),
    ("Saint Petersburg", 59.93, 30.34), ("Ankara", 39.93, 32.86), ("Baghdad", 33.32, 44.37), ("Riyadh", 24.71, 46.68),
    ("Dubai", 25.20, 55.27), ("Jerusalem", 31.77, 35.21), ("Kabul", 34.56, 69.21), ("Tashkent", 41.30, 69.24),
    ("Novosibirsk", 55.03, 82.92), ("Ulaanbaatar", 47.89, 106.91), ("Kathmandu", 27.72, 85.32), ("Lhasa", 29.65, 91.14),
    ("Kolkata", 22.57, 88.36), ("Chennai", 13.08, 80.27), ("Bengaluru", 12.97, 77.59), ("Colombo", 6.93, 79.86),
    ("Hanoi", 21.03, 105.85), ("Ho Chi Minh City", 10.82, 106.63), ("Taipei", 25.03, 121.57), ("Osaka", 34.69, 135.50),
    ("Sapporo", 43.06, 141.35), ("Chengdu", 30.57, 104.07), ("Ürümqi", 43.83, 87.62), ("Casablanca", 33.57, -7.59),
    ("Algiers", 36.75, 3.06), ("Tunis", 36.81, 10.18), ("Tripoli", 32.89, 13.19), ("Dakar", 14.72, -17.47),
    ("Accra", 5.60, -0.19), ("Niamey", 13.51, 2.13), ("Khartoum", 15.50, 32.56), ("Addis Ababa", 9.03, 38.74),
    ("Kampala", 0.35, 32.58), ("Kinshasa", -4.44, 15.27), ("Luanda", -8.84, 13.23), ("Lusaka", -15.39, 28.32),
    ("Harare", -17.83, 31.05), ("Johannesburg", -26.20, 28.05), ("Cape Town", -33.92, 18.42), ("Durban", -29.86, 31.02),
    ("Antananarivo", -18.88, 47.51), ("Windhoek", -22.56, 17.08), ("Perth", -31.95, 115.86),
    ("Adelaide", -34.93, 138.60),
    ("Melbourne", -37.81, 144.96), ("Brisbane", -27.47, 153.03), ("Darwin", -12.46, 130.84), ("Hobart", -42.88, 147.33),
    ("Auckland", -36.85, 174.76), ("Wellington", -41.29, 174.78), ("Christchurch", -43.53, 172.64),
)  # fmt: skip


@lru_cache(maxsize=8)
def cities_on(grid: Grid) -> tuple[tuple[str, float, float], ...]:
    """Name, x and y in the grid's own coordinates of up to four cities inside its frame, well apart from each other.

    None on maps of more than 25° of latitude, and none if the grid is known by its latitudes and longitudes alone.
    Kept for the last grids: a projection is set up for every call, and a page draws five maps of one grid at a time.
    """
    if grid.kind == "curvilinear" or float(np.ptp(grid.latitude)) > _WIDEST:
        return ()
    names, latitudes, longitudes = zip(*_CITIES, strict=True)
    y, x = grid.native(np.array(latitudes), np.array(longitudes))
    x0, x1, y0, y1 = (float(edges[end]) for edges in (grid.x_edges, grid.y_edges) for end in (0, -1))
    shares = np.column_stack([(x - x0) / (x1 - x0), (y - y0) / (y1 - y0)])
    # a plane projection may fold the far side of the Earth into the frame
    near = np.abs(np.array(latitudes) - grid.latitude.mean()) <= _WIDEST
    chosen: list[int] = []
    for index in np.flatnonzero(near & (np.abs(shares - 0.5) < 0.5 - _INSIDE).all(axis=1)):
        if len(chosen) < _MOST and all(np.linalg.norm(shares[index] - shares[other]) > _APART for other in chosen):
            chosen.append(int(index))
    return tuple((names[index], float(x[index]), float(y[index])) for index in chosen)
