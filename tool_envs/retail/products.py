"""What the store sells: 50 product types and the options that they come in. A change changes all data."""

from typing import NamedTuple


class ProductType(NamedTuple):
    """A product type; its variants are some of the combinations of its options.

    Attributes:
        name: Its name in the store.
        price: What a middling variant costs, in cents.
        options: The values of each option, by its name.
    """

    name: str
    price: int
    options: dict[str, tuple[str, ...]]


def _type(name: str, dollars: int, **options: str) -> ProductType:
    """Options are written as `a, b, c`; `_` in their names stands for a space."""
    values = {option.replace("_", " "): tuple(text.split(", ")) for option, text in options.items()}
    return ProductType(name, dollars * 100, values)


PRODUCT_TYPES = (
    _type(
        "Air Purifier",
        270,
        room_size="small, medium, large",
        filter_type="HEPA, carbon, ionic",
        color="white, black",
    ),
    _type(
        "Backpack",
        95,
        color="black, grey, navy, green",
        size="small, medium, large",
        material="nylon, canvas, leather",
    ),
    _type("Bath Towel", 28, color="white, sand, teal, plum", size="hand, bath, sheet", weave="terry, waffle"),
    _type("Bicycle Helmet", 72, size="S, M, L", color="white, black, red, yellow", ventilation="low, high"),
    _type(
        "Bluetooth Speaker",
        110,
        color="black, blue, red",
        battery_life="10 hours, 20 hours, 30 hours",
        water_resistance="yes, no",
    ),
    _type(
        "Board Game",
        46,
        players="2, 2-4, 4-8",
        theme="farming, trains, space, mystery",
        playing_time="30 min, 90 min",
    ),
    _type(
        "Bookshelf",
        189,
        material="oak, pine, bamboo, metal",
        height="4 ft, 5 ft, 6 ft",
        color="natural, white, brown",
    ),
    _type(
        "Camping Tent",
        240,
        capacity="2 people, 4 people, 6 people",
        seasons="3, 4",
        color="green, orange, blue",
    ),
    _type(
        "Chef's Knife",
        88,
        blade_length="6 inch, 8 inch, 10 inch",
        steel="carbon, stainless, Damascus",
        handle="wood, resin",
    ),
    _type(
        "Coffee Maker",
        145,
        capacity="4 cups, 8 cups, 12 cups",
        kind="drip, espresso, French press",
        color="black, steel",
    ),
    _type(
        "Cookware Set", 265, pieces="5, 8, 12", material="steel, ceramic, cast iron", stove="gas, induction"
    ),
    _type("Cycling Jersey", 64, size="S, M, L, XL", color="red, blue, white", sleeves="short, long"),
    _type(
        "Desk Lamp",
        58,
        color="black, white, brass",
        brightness="low, medium, high",
        power_source="USB, mains, battery",
    ),
    _type(
        "Digital Camera",
        620,
        resolution="20 MP, 24 MP, 30 MP",
        zoom="3x, 5x, 10x",
        storage="SD card, CF card",
    ),
    _type(
        "Dumbbell Set",
        160,
        weight_range="5-25 lb, 30-50 lb, 55-75 lb",
        material="iron, rubber, urethane",
        kind="fixed, adjustable",
    ),
    _type(
        "E-Reader",
        175,
        screen_size="6 inch, 7 inch, 8 inch",
        storage="8 GB, 16 GB, 32 GB",
        connectivity="Wi-Fi, cellular",
    ),
    _type(
        "Electric Kettle",
        52,
        capacity="1 l, 1.5 l, 2 l",
        material="glass, steel, plastic",
        color="black, white",
    ),
    _type(
        "Electric Toothbrush",
        84,
        color="white, black, mint",
        speed_settings="2, 4, 5",
        battery="rechargeable, AA",
    ),
    _type("Fleece Jacket", 92, size="S, M, L, XL", color="black, grey, olive", zipper="half, full"),
    _type(
        "Gaming Mouse",
        68,
        color="black, white, red",
        sensor="optical, laser",
        connection="wired, wireless",
        buttons="5, 8",
    ),
    _type(
        "Garden Hose",
        42,
        length="25 ft, 50 ft, 100 ft",
        material="rubber, vinyl, latex",
        color="green, black",
    ),
    _type(
        "Garment Steamer", 78, power="900 W, 1200 W, 1500 W", tank="small, large", color="white, violet, teal"
    ),
    _type(
        "Grill",
        410,
        fuel="charcoal, gas, electric",
        size="portable, medium, large",
        side_burner="none, rotisserie",
    ),
    _type("Hiking Boots", 155, size="7, 8, 9, 10, 11", material="leather, synthetic", waterproof="yes, no"),
    _type(
        "Indoor Plant",
        34,
        plant="fern, monstera, fig, aloe",
        pot="clay, ceramic, wicker",
        height="short, tall",
    ),
    _type("Jigsaw Puzzle", 32, pieces="500, 1000, 1500, 2000", theme="animals, art, cities, space"),
    _type(
        "Laptop",
        1150,
        screen="13 inch, 15 inch, 17 inch",
        memory="8 GB, 16 GB, 32 GB",
        storage="256 GB, 512 GB, 1 TB",
        color="silver, black",
    ),
    _type(
        "Luggage Set", 230, pieces="2, 3, 4", material="hard shell, soft shell", color="black, silver, coral"
    ),
    _type(
        "Makeup Kit",
        49,
        skin_tone="light, medium, dark",
        size="basic, professional",
        brand="Lumen, Rosewood, Halo",
    ),
    _type("Mattress", 780, size="twin, full, queen, king", firmness="soft, medium, firm, extra firm"),
    _type(
        "Mechanical Keyboard",
        118,
        switch="linear, tactile, clicky",
        size="full, 80%, 60%",
        backlight="none, white, RGB",
    ),
    _type(
        "Monitor",
        340,
        size="24 inch, 27 inch, 32 inch",
        resolution="HD, QHD, 4K",
        refresh_rate="60 Hz, 144 Hz",
    ),
    _type("Notebook", 17, size="A4, A5, A6", cover="hard, soft", paper="lined, dotted, blank"),
    _type(
        "Office Chair",
        285,
        material="mesh, leather, fabric",
        color="black, grey, blue",
        armrest="fixed, adjustable, none",
    ),
    _type(
        "Patio Umbrella",
        130,
        size="6 ft, 7 ft, 8 ft",
        color="beige, red, green, blue",
        tilt="manual, automatic",
    ),
    _type(
        "Pet Bed",
        61,
        size="small, medium, large",
        material="fleece, memory foam, cotton",
        color="grey, brown",
    ),
    _type(
        "Phone Case",
        24,
        color="clear, black, pink, blue",
        material="silicone, leather, plastic",
        stand="yes, no",
    ),
    _type("Rain Coat", 87, size="S, M, L, XL", color="yellow, navy, black, red"),
    _type(
        "Robot Vacuum",
        390,
        kind="vacuum, vacuum and mop",
        battery="90 min, 120 min, 150 min",
        docking="basic, self-emptying",
    ),
    _type("Running Shoes", 125, size="7, 8, 9, 10, 11", color="white, black, orange, teal"),
    _type(
        "Skateboard",
        105,
        deck="maple, bamboo, plastic",
        length="28 inch, 31 inch, 34 inch",
        design="plain, graphic",
    ),
    _type("Sleeping Bag", 98, rating="-5 C, 0 C, 10 C", filling="down, synthetic", length="regular, long"),
    _type(
        "Smart Thermostat",
        205,
        color="white, black, steel",
        works_with="Alexa, HomeKit, Google",
        display="color, mono",
    ),
    _type(
        "Smart Watch", 275, band="silicone, leather, metal", case="40 mm, 44 mm", color="black, gold, silver"
    ),
    _type("Sunglasses", 134, frame="round, square, aviator", lens="grey, brown, green", polarized="yes, no"),
    _type("T-Shirt", 21, size="S, M, L, XL, XXL", color="white, black, blue, red"),
    _type(
        "Tablet",
        560,
        screen="8 inch, 10 inch, 12 inch",
        storage="64 GB, 128 GB, 256 GB",
        color="black, silver, gold",
    ),
    _type(
        "Wall Clock",
        44,
        diameter="10 inch, 12 inch, 14 inch",
        color="white, black, wood",
        kind="analog, digital",
    ),
    _type(
        "Water Bottle",
        26,
        capacity="500 ml, 750 ml, 1 l",
        material="steel, glass, plastic",
        color="black, blue, green",
    ),
    _type(
        "Yoga Mat",
        55,
        thickness="4 mm, 5 mm, 6 mm",
        material="PVC, natural rubber, TPE",
        color="purple, green, blue",
    ),
)
