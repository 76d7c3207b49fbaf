"""Who flies and what pays for it, on what was shown. Kernels, as in `sight`.

Under the policy people are named in the order of the profile, and payment methods in the order in which they
pay: a certificate, gift cards by their number, and one credit card for the rest. So one booking is one draft.
"""

from tool_envs.booking.rows import (
    BAG_PRICE,
    CERTIFICATE,
    CREDIT_CARD,
    FREE_BAGS,
    GIFT_CARD,
    INSURANCE_PRICE,
    MOST_CERTIFICATES,
    MOST_CREDIT_CARDS,
    MOST_GIFT_CARDS,
)
from tool_envs.booking.scene.sight import (
    BY_DIGITS,
    BY_ID,
    BY_WORTH,
    MAX_PAID,
    MAX_PEOPLE,
    NONE,
    OPEN,
    Draft,
    Sight,
    may_be,
)
from tool_envs.rows import kernel

_CENTS = 100  # of a dollar
_MOST_OF_KIND = (MOST_CREDIT_CARDS, MOST_GIFT_CARDS, MOST_CERTIFICATES)  # in the order of their numbers


# --- Who flies


@kernel
def party_sizes(sight: Sight, draft: Draft) -> int:
    """How many people a draft can have: bit k for k of them.

    Places that are open get the first people that they can, so that most are left for those behind.
    """
    sizes, last, needed = 0, NONE, 0
    for place in range(MAX_PEOPLE):
        if draft.people[place] >= 0:
            needed = place
    for place in range(MAX_PEOPLE):
        chosen = draft.people[place]
        if chosen == OPEN:
            last += 1
        elif chosen > last:
            last = int(chosen)
        else:
            break
        if last >= sight.scene.people:
            break
        if place >= needed:
            sizes |= 2 << place
    return sizes


@kernel
def first_people(draft: Draft, size: int) -> int:
    """Of all parties of a size that a draft can have the first one, as bits; there is one."""
    people, last = 0, NONE
    for place in range(size):
        last = last + 1 if draft.people[place] == OPEN else int(draft.people[place])
        people |= 1 << last
    return people


@kernel
def last_people(sight: Sight, draft: Draft, size: int) -> int:
    """Likewise the last one."""
    people, last = 0, int(sight.scene.people)
    for place in range(size - 1, -1, -1):
        last = last - 1 if draft.people[place] == OPEN else int(draft.people[place])
        people |= 1 << last
    return people


# --- What pays


@kernel
def is_method_meant(sight: Sight, method: int, place: int) -> bool:
    """Whether the words of the wish mean a payment method in a place of what they name."""
    wanted, scene, customer = sight.wanted, sight.scene, sight.customer
    if place >= wanted.methods or wanted.method_kind[place] != customer.method_kind[method]:
        return False
    how, mark = wanted.method_how[place], wanted.method_mark[place]
    if how == BY_DIGITS:
        return scene.digits[method] == mark
    if how == BY_WORTH:
        return customer.balance[method] == mark * _CENTS
    if how == BY_ID:
        return scene.number[method] == mark
    return customer.balance[method] > 0


@kernel
def is_method_named(sight: Sight, method: int) -> bool:
    """Whether the words of the wish name a payment method."""
    for place in range(MAX_PAID):
        if is_method_meant(sight, method, place):
            return True
    return False


@kernel
def are_methods(sight: Sight, draft: Draft, chosen: int) -> bool:
    """Whether a draft can have just these payment methods, as bits, in the order in which they pay."""
    customer = sight.customer
    rank = 0
    for kind in (CERTIFICATE, GIFT_CARD, CREDIT_CARD):
        before = rank
        for method in range(customer.methods):
            if not chosen >> method & 1 or customer.method_kind[method] != kind:
                continue
            if rank >= MAX_PAID or not may_be(draft.methods[rank], method):
                return False
            if kind != CREDIT_CARD and customer.balance[method] <= 0:
                return False
            rank += 1
        if kind == CERTIFICATE and rank - before > MOST_CERTIFICATES:
            return False
        if kind == GIFT_CARD and rank - before > MOST_GIFT_CARDS:
            return False
        if kind == CREDIT_CARD and rank - before != 1:
            return False
    for place in range(rank, MAX_PAID):
        if not may_be(draft.methods[place], NONE):
            return False
    return True


@kernel
def least_held(sight: Sight, draft: Draft) -> int:
    """The least that is paid before the credit card pays the rest, in cents; -1: it cannot be paid so."""
    count = 0
    while count < MAX_PAID and draft.methods[count] >= 0:
        count += 1
    is_ended = count == MAX_PAID or draft.methods[count] == NONE
    for place in range(count, MAX_PAID):
        if draft.methods[place] >= 0 or (draft.methods[place] == NONE and not is_ended):
            return _least_of_all(sight, draft)
    is_by_card = count > 0 and sight.customer.method_kind[draft.methods[count - 1]] == CREDIT_CARD
    if not is_by_card and (is_ended or not _has_card(sight)):
        return -1
    return _held_by_first(sight, draft, count)


@kernel
def _has_card(sight: Sight) -> bool:
    """Whether there is a credit card, which can pay after all the others."""
    for method in range(sight.customer.methods):
        if sight.customer.method_kind[method] == CREDIT_CARD:
            return True
    return False


@kernel
def _held_by_first(sight: Sight, draft: Draft, count: int) -> int:
    """What the methods in the first places hold, in cents; -1: they cannot pay in that order.

    Kinds pay in the order that is opposite to that of their numbers.
    """
    customer = sight.customer
    held = alike = before = 0
    for place in range(count):
        method = draft.methods[place]
        kind = customer.method_kind[method]
        is_first = place == 0 or kind < customer.method_kind[before]
        if method >= customer.methods or not (
            is_first or (kind == customer.method_kind[before] and method > before)
        ):
            return -1
        alike = 1 if is_first else alike + 1
        if alike > _MOST_OF_KIND[kind] or (kind != CREDIT_CARD and customer.balance[method] <= 0):
            return -1
        held += customer.balance[method] if kind != CREDIT_CARD else 0
        before = method
    return held


@kernel
def _least_of_all(sight: Sight, draft: Draft) -> int:
    """The same by trying all sets of methods."""
    least = -1
    for chosen in range(1, 1 << int(sight.customer.methods)):
        if are_methods(sight, draft, chosen):
            held = _held(sight, chosen)
            if least < 0 or held < least:
                least = held
    return least


@kernel
def _held(sight: Sight, chosen: int) -> int:
    """What these methods hold, in cents; credit cards hold nothing."""
    held = 0
    for method in range(sight.customer.methods):
        if chosen >> method & 1 and sight.customer.method_kind[method] != CREDIT_CARD:
            held += sight.customer.balance[method]
    return held


@kernel
def new_nonfree_bags(sight: Sight, cabin: int, size: int) -> int:
    """How many of the bags that the words name must be paid for in a new reservation."""
    return max(0, sight.wanted.bags - FREE_BAGS[sight.customer.membership][cabin] * size)


@kernel
def booking_price(sight: Sight, fares: int, cabin: int, size: int, insured: int) -> int:
    """What a new reservation costs, in cents.

    Args:
        sight: What is known.
        fares: Of one passenger.
        cabin: The cabin.
        size: How many fly.
        insured: 1 with travel insurance, else 0.
    """
    bags = new_nonfree_bags(sight, cabin, size)
    return (fares + int(insured) * INSURANCE_PRICE) * size + int(bags) * BAG_PRICE


@kernel
def payment(sight: Sight, draft: Draft, price: int, place: int) -> int:
    """What the method in a place of a whole draft pays of a price, in cents.

    Each pays what it holds, a credit card all that is left, and the last one the rest; nothing is less than a
    dollar.
    """
    rest = price
    for earlier in range(place):
        rest -= _part(sight, draft.methods[earlier], rest)
    is_last = place == MAX_PAID - 1 or draft.methods[place + 1] < 0
    return max(_CENTS, rest) if is_last else _part(sight, draft.methods[place], rest)


@kernel
def _part(sight: Sight, method: int, rest: int) -> int:
    if sight.customer.method_kind[method] == CREDIT_CARD:
        return max(_CENTS, rest)
    return max(_CENTS, min(rest, sight.customer.balance[method]))
