"""How a booking is paid: one credit card, and before it perhaps a certificate and gift cards."""

from collections.abc import Sequence

from tool_envs.booking.rows import CERTIFICATE, CREDIT_CARD, GIFT_CARD, MOST_GIFT_CARDS
from tool_envs.booking.wishes.traveller import Traveller
from tool_envs.messages import Json


def draw_payment(traveller: Traveller, totals: Sequence[int]) -> list[int] | None:
    """The methods that pay, in this order; each pays what it holds, and the credit card at the end the rest.

    Args:
        traveller: Who pays.
        totals: What the equally good options cost in all, in cents: something is left to the credit card
            with each of them.

    Returns:
        Numbers of payment methods; None when they have no credit card that they can speak of.
    """
    cards = _nameable(traveller, CREDIT_CARD)
    if not cards:
        return None
    first = _draw_certificate(traveller) + _draw_gift_cards(traveller)
    while first and _held(traveller, first) >= min(totals):
        first.pop()
    if first and not traveller.touch_balances(first):
        first = []
    return [*first, traveller.draws.pick(cards)]


def _draw_certificate(traveller: Traveller) -> list[int]:
    certificates = _nameable(traveller, CERTIFICATE)
    wanted = certificates and traveller.draws.below(2)
    return [traveller.draws.pick(certificates)] if wanted else []


def _draw_gift_cards(traveller: Traveller) -> list[int]:
    cards = _nameable(traveller, GIFT_CARD)[:MOST_GIFT_CARDS]
    start = traveller.draws.below(len(cards)) if cards else 0
    return (cards[start:] + cards[:start])[: traveller.draws.below(len(cards) + 1)]


def _nameable(traveller: Traveller, kind: int) -> list[int]:
    return [number for number in traveller.numbers(kind) if can_name(traveller, number)]


def can_name(traveller: Traveller, number: int) -> bool:
    """Whether a customer can speak of a payment method without its id."""
    return traveller.method_ids[number] not in traveller.method_forms(number)


def _held(traveller: Traveller, numbers: Sequence[int]) -> int:
    return sum(traveller.row.balance[number] for number in numbers)


def payments_argument(traveller: Traveller, numbers: Sequence[int], total: int) -> list[dict[str, Json]]:
    """What each method pays of a total in cents, as the tool takes it."""
    payments = []
    for number in numbers:
        is_card = traveller.row.method_kind[number] == CREDIT_CARD
        paid = total if is_card else min(total, traveller.row.balance[number])
        payments.append({"payment_id": traveller.method_ids[number], "amount": paid // 100})
        total -= paid
    return payments


def payment_words(traveller: Traveller, numbers: Sequence[int]) -> str:
    """How customers say with what they pay."""
    *first, last = map(traveller.method_words, numbers)
    if not first:
        return last
    return f"{first[0]} first, {''.join(f'then {card}, ' for card in first[1:])}and {last} for the rest"
