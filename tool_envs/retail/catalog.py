"""The products of the store with their variants, made from a seed."""

import functools
import math
from collections.abc import Mapping
from typing import NamedTuple

from tool_envs.canonical import digest
from tool_envs.randomness import Shuffle, draw_below, splitmix64
from tool_envs.retail.products import PRODUCT_TYPES, ProductType
from tool_envs.retail.rows import Variants

_STREAM = 7  # of `Shuffle`; smaller ones are taken in `ids`
_DRAWS = 100  # first of the streams that products draw from, one each
_FEWEST, _MOST = 6, 14
_FEWEST_AVAILABLE = 3
_PER_CENT_AVAILABLE = 78
_SPREAD = 30  # per cent of the middling price between the cheapest and the dearest variant


class Variant(NamedTuple):
    """One variant of a product: what an item is.

    Attributes:
        code: Its number in the catalog.
        item_id: Ten digits.
        product: Code of its product.
        options: Value by option name.
        available: Whether it can be ordered now.
        price: In cents.
    """

    code: int
    item_id: str
    product: int
    options: dict[str, str]
    available: bool
    price: int


class Product(NamedTuple):
    """A product type.

    Attributes:
        code: Its number in the catalog; products are sorted by name.
        product_id: Ten digits.
        name: Such as `Water Bottle`.
        variants: Its variants; their codes follow one another.
    """

    code: int
    product_id: str
    name: str
    variants: tuple[Variant, ...]


class Catalog:
    """All products and variants under one seed; never changed. `catalog(seed)` makes it once.

    Attributes:
        products: By product code.
        variants: By variant code.
        product_codes: Product code by product id.
        variant_codes: Variant code by item id.
        rows: The same as lists of integers, for tools.
    """

    def __init__(self, seed: int) -> None:
        ids = Shuffle(100_000, 100_000, seed, _STREAM)
        self.products = tuple(_products(seed, ids))
        self.variants = tuple(variant for product in self.products for variant in product.variants)
        self.product_codes: Mapping[str, int] = {each.product_id: each.code for each in self.products}
        self.variant_codes: Mapping[str, int] = {each.item_id: each.code for each in self.variants}
        self.rows = Variants(
            [variant.product for variant in self.variants],
            [variant.price for variant in self.variants],
            [int(variant.available) for variant in self.variants],
        )

    @functools.cached_property
    def digest(self) -> str:
        """Digest of all of it, in hexadecimal."""
        return digest([[product.product_id, product.name, product.variants] for product in self.products])


@functools.lru_cache(maxsize=8)
def catalog(seed: int) -> Catalog:
    """The catalog of a seed."""
    return Catalog(seed)


def _products(seed: int, ids: Shuffle) -> list[Product]:
    products: list[Product] = []
    first = 0
    for code, kind in enumerate(PRODUCT_TYPES):
        variants = tuple(_variants(seed, ids, code, kind, first))
        products.append(Product(code, f"{ids.to(code):010}", kind.name, variants))
        first += len(variants)
    return products


def _variants(seed: int, ids: Shuffle, product: int, kind: ProductType, first: int) -> list[Variant]:
    """Some combinations of the options in a shuffled order; some in a row are available for certain."""
    values = list(kind.options.values())
    combinations = math.prod(map(len, values))
    count = min(combinations, _FEWEST + _draw(_MOST - _FEWEST + 1, seed, product, 0, 0))
    certain = _draw(count, seed, product, 0, 1)
    variants = []
    for index, combination in enumerate(_shuffled(combinations, seed, product)[:count]):
        sure = (index + certain) % count < _FEWEST_AVAILABLE
        available = sure or _draw(100, seed, product, index, 2) < _PER_CENT_AVAILABLE
        percent = 100 - _SPREAD // 2 + _draw(_SPREAD, seed, product, index, 3)
        price = kind.price * percent // 100 + _draw(100, seed, product, index, 4)
        item_id = f"{ids.to(len(PRODUCT_TYPES) + first + index):010}"
        options = _options(kind, combination)
        variants.append(Variant(first + index, item_id, product, options, available, price))
    return variants


def _options(kind: ProductType, combination: int) -> dict[str, str]:
    """The combination of that number: the last option changes fastest."""
    options = {}
    for name, values in reversed(kind.options.items()):
        combination, value = divmod(combination, len(values))
        options[name] = values[value]
    return dict(reversed(options.items()))


def _shuffled(size: int, seed: int, product: int) -> list[int]:
    keys = [splitmix64(seed, _DRAWS + product, number, 5) for number in range(size)]
    return sorted(range(size), key=keys.__getitem__)


def _draw(n: int, seed: int, product: int, index: int, k: int) -> int:
    return draw_below(n, seed, _DRAWS + product, index, k)
