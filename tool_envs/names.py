"""Words that people and addresses are made of. A change here changes all generated data."""

from typing import NamedTuple


class Place(NamedTuple):
    """A city with the first three digits of its zip codes; no two places share them."""

    city: str
    state: str
    zip_start: str


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


FIRST_NAMES = _words(
    """
    Aaron Abigail Adam Adriana Aisha Alan Alice Amelia Amir Amy Ana Andre Angela Anika Anthony Aria Arjun
    Astrid Audrey Ava Ben Bianca Boris Brianna Bruno Caleb Camila Carlos Carmen Cecilia Chen Chloe Clara
    Colin Cora Daisy Daniel Daria David Deepa Diego Dina Dora Dylan Edith Eduardo Elena Eli Elif Emily Emma
    Eric Esther Ethan Eva Farah Fatima Felix Fiona Frank Gabriel Gemma George Gina Grace Greta Hana Harold
    Hassan Hazel Helen Hugo Ian Ibrahim Ida Ines Irene Isaac Isabella Ivan Jack James Jasmin Javier Jonas
    Julia Kaito Karen Kavya Kevin Lara Laura Layla Leo Liam Lila Lina Lucas Luis Luna Maja Malik Marco Maria
    Martin Maya Mei Mia Mina Mohamed Nadia Naomi Nina Noah Nora Olga Oliver Omar Oscar Paula Petra Priya
    Quinn Rafael Raj Rosa Ruth Ryan Samir Sara Sofia Stefan Tara Theo Tomas Uma Valeria Vera Victor Walter
    Wendy Yara Yusuf Zara Zoe
    """
)
LAST_NAMES = _words(
    """
    Abbott Ahmed Alvarez Anderson Andersson Bailey Baker Banerjee Barnes Becker Bennett Berg Bianchi Bishop
    Black Brooks Brown Burke Campbell Carter Castillo Chan Chavez Clark Cohen Collins Cooper Costa Cruz
    Dalton Davies Davis Delgado Diaz Dubois Duncan Edwards Ellis Evans Fernandez Fischer Fisher Fleming Flores
    Foster Fox Franco Freeman Garcia Gardner Gibson Gomez Gonzalez Gordon Graham Grant Gray Green Gupta Hall
    Hansen Harris Hayes Hernandez Hill Hoffman Holmes Hughes Hunt Ibarra Iyer Jackson Jacobs Jansen Jensen
    Johnson Jones Kapoor Kelly Khan Kim King Klein Kovacs Kowalski Kumar Lambert Larsen Lee Lewis Lim Lin
    Lopez Lucero Marino Marsh Martin Martinez Mason Mehta Mendoza Meyer Miller Mitchell Moore Morales Moreno
    Morgan Morris Muller Murphy Nakamura Navarro Nelson Newman Nguyen Nielsen Novak Olsen Ortiz Osman Palmer
    Park Parker Patel Perez Perry Peters Pham Phillips Popov Porter Price Quinn Ramirez Ramos Reed Reyes
    Reynolds Rivera Roberts Robinson Rojas Romano Rossi Russo Ryan Sanchez Sanders Santos Sato Schmidt Schwarz
    Scott Shah Sharma Silva Singh Smith Soto Stone Suarez Suzuki Tanaka Taylor Thomas Thompson Torres Tran
    Turner Vargas Vega Wagner Walker Wang Ward Watson Weber White Williams Wilson Wong Wood Wright Wu Yamada
    Yang Young Zhang Zhou
    """
)
STREETS = _words(
    """
    Alder Ash Aspen Bay Birch Bluff Bridge Broad Brook Canal Cedar Chapel Cherry Chestnut Church Clover
    College Cypress Dogwood Elm Fern Forest Front Garden Grove Harbor Hawthorn Hickory Highland Hill Holly
    Juniper Lake Laurel Liberty Lincoln Linden Locust Magnolia Main Maple Market Meadow Mill Mulberry Oak
    Olive Orchard Park Pearl Pine Pleasant Poplar Prospect Ridge River School Spring Spruce Summit Sunset
    Sycamore Union Valley Vine Walnut Washington Water Willow
    """
)
STREET_KINDS = ("Street", "Avenue", "Road", "Lane", "Drive", "Court", "Boulevard", "Way")
UNIT_KINDS = ("Apt", "Suite", "Unit", "Floor")
COUNTRY = "USA"
EMAIL_DOMAINS = ("example.com", "example.org", "example.net", "mail.example.com")
CARD_BRANDS = ("visa", "mastercard", "amex", "discover")

PLACES = (
    Place("Albuquerque", "NM", "871"),
    Place("Anchorage", "AK", "995"),
    Place("Atlanta", "GA", "303"),
    Place("Austin", "TX", "787"),
    Place("Baltimore", "MD", "212"),
    Place("Birmingham", "AL", "352"),
    Place("Boise", "ID", "837"),
    Place("Boston", "MA", "021"),
    Place("Buffalo", "NY", "142"),
    Place("Charleston", "SC", "294"),
    Place("Charlotte", "NC", "282"),
    Place("Chicago", "IL", "606"),
    Place("Cincinnati", "OH", "452"),
    Place("Cleveland", "OH", "441"),
    Place("Colorado Springs", "CO", "809"),
    Place("Columbus", "OH", "432"),
    Place("Dallas", "TX", "752"),
    Place("Denver", "CO", "802"),
    Place("Des Moines", "IA", "503"),
    Place("Detroit", "MI", "482"),
    Place("El Paso", "TX", "799"),
    Place("Fort Worth", "TX", "761"),
    Place("Fresno", "CA", "937"),
    Place("Hartford", "CT", "061"),
    Place("Honolulu", "HI", "968"),
    Place("Houston", "TX", "770"),
    Place("Indianapolis", "IN", "462"),
    Place("Jacksonville", "FL", "322"),
    Place("Kansas City", "MO", "641"),
    Place("Las Vegas", "NV", "891"),
    Place("Little Rock", "AR", "722"),
    Place("Los Angeles", "CA", "900"),
    Place("Louisville", "KY", "402"),
    Place("Madison", "WI", "537"),
    Place("Memphis", "TN", "381"),
    Place("Miami", "FL", "331"),
    Place("Milwaukee", "WI", "532"),
    Place("Minneapolis", "MN", "554"),
    Place("Nashville", "TN", "372"),
    Place("New Orleans", "LA", "701"),
    Place("New York", "NY", "100"),
    Place("Newark", "NJ", "071"),
    Place("Oakland", "CA", "946"),
    Place("Oklahoma City", "OK", "731"),
    Place("Omaha", "NE", "681"),
    Place("Orlando", "FL", "328"),
    Place("Philadelphia", "PA", "191"),
    Place("Phoenix", "AZ", "850"),
    Place("Pittsburgh", "PA", "152"),
    Place("Portland", "OR", "972"),
    Place("Providence", "RI", "029"),
    Place("Raleigh", "NC", "276"),
    Place("Richmond", "VA", "232"),
    Place("Sacramento", "CA", "958"),
    Place("Salt Lake City", "UT", "841"),
    Place("San Antonio", "TX", "782"),
    Place("San Diego", "CA", "921"),
    Place("San Francisco", "CA", "941"),
    Place("Seattle", "WA", "981"),
    Place("Spokane", "WA", "992"),
    Place("Wichita", "KS", "672"),
    Place("Tampa", "FL", "336"),
    Place("Tucson", "AZ", "857"),
    Place("Washington", "DC", "200"),
)
