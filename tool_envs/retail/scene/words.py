"""What the words of a customer say, as codes.

Nothing is read but words: of the acts behind them only which moves a turn holds and of which kind its wish
is, and the words say both. Of the store only what everybody knows is used: names and options of products, and
what ids look like.
"""

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tool_envs import names
from tool_envs.generated import padded
from tool_envs.messages import Message
from tool_envs.people import Address
from tool_envs.retail.catalog import Catalog
from tool_envs.retail.ids import Ids
from tool_envs.retail.products import PRODUCT_TYPES
from tool_envs.retail.rows import CANCEL_REASONS, CREDIT_CARD, GIFT_CARD, MAX_ORDERS, PAYPAL
from tool_envs.retail.scene.sight import (
    FOR_SWAP,
    IDENTITY,
    MAX_OPTIONS,
    MOVES,
    OTHER_REASON,
    SLOTS,
    WISHES,
    Said,
    Shelves,
    nothing_said,
)
from tool_envs.retail.wishes.planned import option_text
from tool_envs.row_lists import as_bits
from tool_envs.service.rules import reasons_given
from tool_envs.simulators.mentions import ids_in, mentions_in
from tool_envs.simulators.retail_language import RETAIL


class Words(NamedTuple):
    """One turn of a customer.

    Attributes:
        said: What it says, as codes.
        texts: `email`, `name` and `zip`, as far as they are told.
        address: The whole address that is told.
    """

    said: Said
    texts: dict[str, str]
    address: Address | None


class Reader:
    """Reads what customers of a store say.

    Args:
        catalog: Its products.
        ids: What its orders are called.
    """

    def __init__(self, catalog: Catalog, ids: Ids) -> None:
        self._catalog, self._ids = catalog, ids
        self._products = {product.name.lower(): product.code for product in catalog.products}
        self._values = {f"{name} {value}".lower(): code for (name, value), code in option_values().items()}
        products = _any_of(self._products)
        self._product = re.compile(rf"(?<!\w)({products})(?!\w)")
        self._sign = re.compile(rf"\border with the ({products})(?!\w)")
        self._want = re.compile(rf"\b(the same|any one) with ({_any_of(self._values)})(?!\w)")

    def read(self, turn: Message, things: Sequence[int]) -> Words:
        """What a turn says.

        Args:
            turn: Of the customer.
            things: Codes of the products that the wish at hand names; variants are named by options alone.
        """
        said = nothing_said()
        address = _ADDRESS.search(turn.content)
        text = _ADDRESS.sub(" ", turn.content)
        texts = _identity(text)
        words = text.lower()
        said.address = int(address is not None)
        said.told = as_bits(k for k, slot in enumerate(SLOTS[:IDENTITY]) if slot in texts)
        said.demands = as_bits(k for k, demand in enumerate(_DEMANDS) if demand.search(text))
        _fill(said.orders, self._orders(words))
        self._read_things(said, words, things)
        _read_method(said, words)
        _read_acts(said, words, turn)
        return Words(said, texts, Address(**address.groupdict("")) if address else None)

    def _orders(self, words: str) -> Iterator[int]:
        for one in ids_in(words, RETAIL):
            if one.kind == "order":
                yield order_code(self._ids, one.value)

    def _read_things(self, said: Said, words: str, things: Sequence[int]) -> None:
        """Products and variants."""
        sign = self._sign.search(words)
        said.sign = self._products[sign[1]] if sign else -1
        wants = self._want.findall(words)
        _fill(said.wants, (self._values[value] for _, value in wants))
        _fill(said.same, (int(how == "the same") for how, _ in wants))
        rest = self._want.sub(" ", self._sign.sub(" ", words))
        named = [self._products[name] for name in self._product.findall(rest)]
        _fill(said.things, dict.fromkeys(named))
        _fill(said.variants, self._variants(rest, named or [code for code in things if code >= 0]))

    def _variants(self, words: str, products: Iterable[int]) -> Iterator[int]:
        for product in products:
            for variant in self._catalog.products[product].variants:
                if re.search(rf"(?<!\w){re.escape(option_text(variant).lower())}(?!\w)", words):
                    yield variant.code


def order_code(ids: Ids, order_id: str) -> int:
    """What kernels know an order by; -1 for a text that is no order's id."""
    place = ids.of_order_id(order_id)
    return -1 if place is None else place[0] * MAX_ORDERS + place[1]


def _fill(row: list[int], codes: Iterable[int]) -> None:
    """Write codes into a list of fixed length; there are never more in what customers say."""
    for place, code in enumerate(codes):
        if place < len(row):
            row[place] = code


def _any_of(texts: Iterable[str]) -> str:
    """A pattern of texts, the longest first."""
    return "|".join(map(re.escape, sorted(texts, key=lambda text: (-len(text), text))))


_ADDRESS = re.compile(
    rf"(?P<address1>\d{{1,5}} (?:{_any_of(names.STREETS)}) (?:{_any_of(names.STREET_KINDS)}))"
    rf"(?:, (?P<address2>(?:{_any_of(names.UNIT_KINDS)}) \d{{1,3}}))?"
    rf", (?P<city>{_any_of(place.city for place in names.PLACES)})"
    rf", (?P<state>[A-Z]{{2}}) (?P<zip>\d{{5}}), (?P<country>{names.COUNTRY})"
)
_NAME = re.compile(rf"\b(?:{_any_of(names.FIRST_NAMES)}) (?:{_any_of(names.LAST_NAMES)})\b")


def _identity(text: str) -> dict[str, str]:
    """Who they say that they are."""
    found = {
        "zip" if one.kind else "email": one.value
        for one in ids_in(text.lower(), RETAIL)
        if one.kind in ("", "zip")
    }
    name = _NAME.search(text)
    return {**found, "name": name.group()} if name else found


_METHOD = re.compile(
    r"ending in (?P<digits>\d{4})|(?P<gift>gift card)|(?P<paypal>paypal)|(?P<card>credit card)"
)
_METHOD_KINDS = {"digits": CREDIT_CARD, "gift": GIFT_CARD, "paypal": PAYPAL, "card": CREDIT_CARD}


def _read_method(said: Said, words: str) -> None:
    method = _METHOD.search(words)
    if method:
        said.method_kind = _METHOD_KINDS[str(method.lastgroup)]
        said.method_digits = int(method["digits"] or -1)


_DEMANDS = (
    re.compile(r"\d characters\b"),
    re.compile(r"(?<!formal )\bEnglish\b"),
    re.compile(r"\bcontract"),
    re.compile(r"(?i)\b(?:only|just|name|hear) the total\b|\bthe total (?:is the only|alone|and no other)\b"),
)
"""How each of `DEMANDS` is said."""
_QUESTIONS = (
    re.compile(r"\bi (?:pay|paid) for\b|\bthe total of\b"),
    re.compile(r"\bstatus of\b|\bhow far is\b"),
    re.compile(r"\bcheapest\b"),
    re.compile(r"\bhow many variants\b"),
)
"""How each of `QUESTIONS` is asked."""
_KINDS = {**{kind: code for code, kind in enumerate(WISHES)}, "items": FOR_SWAP, "exchange": FOR_SWAP}


def _read_acts(said: Said, words: str, turn: Message) -> None:
    """Moves, the wish, and what is told of its reason."""
    for act in turn.acts:
        move = act["act"]
        if move in MOVES:
            said.moves |= 1 << MOVES.index(move)
        if move == "wish":
            said.wish = _KINDS.get(act["kind"], -1)
        elif move == "ask":
            said.question = next((code for code, asks in enumerate(_QUESTIONS) if asks.search(words)), -1)
        elif move == "unknown" and act["slot"] in SLOTS:
            said.unknown |= 1 << SLOTS.index(act["slot"])
        if reasons_given(act, ""):
            said.reason = _reason(words)


def _reason(words: str) -> int:
    """The reason that is told for a cancellation: one that counts, or another one."""
    found = mentions_in(words, (), RETAIL, {}).get("reason", ())
    return CANCEL_REASONS.index(found[0]) if found else OTHER_REASON


@functools.cache
def option_values() -> Mapping[tuple[str, str], int]:
    """Code of each option with one of its values, in all products."""
    pairs = {
        (name, value) for kind in PRODUCT_TYPES for name, values in kind.options.items() for value in values
    }
    return {pair: code for code, pair in enumerate(sorted(pairs))}


@functools.lru_cache(maxsize=8)
def shelves_of(catalog: Catalog) -> Shelves:
    """What there is in a store, for kernels."""
    codes = option_values()
    options = sorted({name for name, _ in codes})
    values = [
        padded([codes[pair] for pair in variant.options.items()], MAX_OPTIONS, -1)
        for variant in catalog.variants
    ]
    return Shelves(
        variants=catalog.rows,
        first=[product.variants[0].code for product in catalog.products],
        counts=[len(product.variants) for product in catalog.products],
        values=[code for row in values for code in row],
        option=[options.index(name) for name, _ in codes],
    )
