"""The airports, and how far apart they are. Real places; which flights there are between them is made up."""

import math
from typing import NamedTuple

_EARTH_RADIUS = 6371  # km


class Airport(NamedTuple):
    """An airport.

    Attributes:
        code: Its place in `AIRPORTS`.
        iata: Three capital letters.
        city: The city that it serves.
        latitude: Degrees north.
        longitude: Degrees east.
    """

    code: int
    iata: str
    city: str
    latitude: float
    longitude: float


AIRPORTS = (
    Airport(0, "SFO", "San Francisco", 37.62, -122.38),
    Airport(1, "JFK", "New York", 40.64, -73.78),
    Airport(2, "LAX", "Los Angeles", 33.94, -118.41),
    Airport(3, "ORD", "Chicago", 41.98, -87.90),
    Airport(4, "DFW", "Dallas", 32.90, -97.04),
    Airport(5, "DEN", "Denver", 39.86, -104.67),
    Airport(6, "SEA", "Seattle", 47.45, -122.31),
    Airport(7, "ATL", "Atlanta", 33.64, -84.43),
    Airport(8, "MIA", "Miami", 25.79, -80.29),
    Airport(9, "BOS", "Boston", 42.36, -71.01),
    Airport(10, "PHX", "Phoenix", 33.43, -112.01),
    Airport(11, "IAH", "Houston", 29.98, -95.34),
    Airport(12, "LAS", "Las Vegas", 36.08, -115.15),
    Airport(13, "MCO", "Orlando", 28.43, -81.31),
    Airport(14, "EWR", "Newark", 40.69, -74.17),
    Airport(15, "CLT", "Charlotte", 35.21, -80.94),
    Airport(16, "MSP", "Minneapolis", 44.88, -93.22),
    Airport(17, "DTW", "Detroit", 42.21, -83.35),
    Airport(18, "PHL", "Philadelphia", 39.87, -75.24),
    Airport(19, "LGA", "LaGuardia", 40.78, -73.87),
)
AIRPORT_CODES = {airport.iata: airport.code for airport in AIRPORTS}
"""Code by the three letters."""


def distance(first: int, second: int) -> int:
    """Kilometres between two airports along the great circle, by their codes."""
    one, other = AIRPORTS[first], AIRPORTS[second]
    north, to_north = math.radians(one.latitude), math.radians(other.latitude)
    east = math.radians(other.longitude - one.longitude)
    cosine = math.sin(north) * math.sin(to_north) + math.cos(north) * math.cos(to_north) * math.cos(east)
    return round(_EARTH_RADIUS * math.acos(min(1.0, cosine)))
