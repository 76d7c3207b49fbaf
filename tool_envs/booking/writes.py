"""What writes do: for each a guard, which says 0 or the number of a refusal, and an effect on copied rows.

Plain functions over rows and small integers, so that they can be compiled as they stand. An effect takes for
granted that its guard said 0. A method is a number of one of the customer's payment methods; -1 for one that
does not exist. Payments are above 0 and refunds below. Seats are moved by `itineraries.move_seats`.
"""

from collections.abc import Sequence
from typing import Final

from tool_envs.booking.itineraries import (
    guard_itinerary,
    guard_kept,
    guard_not_left,
    guard_seats,
    same_itinerary,
    same_segment,
)
from tool_envs.booking.refusals import No
from tool_envs.booking.rows import (
    BAG_PRICE,
    CERTIFICATE,
    CREDIT_CARD,
    FREE_BAGS,
    GIFT_CARD,
    INSURANCE_PRICE,
    MAX_METHODS,
    MAX_PAYMENTS,
    MAX_RESERVATIONS,
    MOST_CERTIFICATES,
    MOST_CREDIT_CARDS,
    MOST_GIFT_CARDS,
    Customer,
    Flights,
    Reservation,
)
from tool_envs.rows import kernel

_ADDED_AT_MOST: Final = 1 + MAX_METHODS
"""Payments that a change may lead to: its own, and the refunds of a cancellation after it."""


@kernel
def guard_book(
    wanted: Reservation,
    customer: Customer,
    flights: Flights,
    status: Sequence[int],
    seats: Sequence[int],
    people: int,
) -> int:
    """Whether a reservation can be made.

    Args:
        wanted: The reservation with its payments, sorted by method.
        customer: Who makes it.
        flights: All flights.
        status: Of the departure of each segment.
        seats: Free in the cabin, of each segment.
        people: How many of the passengers are different people.
    """
    if customer.reservations >= MAX_RESERVATIONS:
        return No.TOO_MANY_RESERVATIONS
    if wanted.origin == wanted.destination:
        return No.SAME_AIRPORT
    refused = guard_itinerary(wanted, flights)
    if refused:
        return refused
    for place in range(wanted.segments):
        refused = guard_seats(wanted, place, status, seats)
        if refused:
            return refused
    if people != wanted.passengers:
        return No.SAME_PASSENGER_TWICE
    if wanted.nonfree_bags != bags_to_pay(wanted, customer, wanted.total_bags):
        return No.WRONG_NONFREE_BAGGAGES
    return guard_payments(wanted, customer)


@kernel
def apply_book(wanted: Reservation, customer: Customer) -> None:
    """Take the payments and count the reservation."""
    for place in range(wanted.payments):
        settle(customer, wanted.payment_method[place], wanted.payment_amount[place])
    customer.reservations += 1


@kernel
def guard_payments(wanted: Reservation, customer: Customer) -> int:
    """Whether a new reservation can be paid as it says, by payments sorted by method."""
    paid = 0
    for place in range(wanted.payments):
        method = wanted.payment_method[place]
        if method < 0:
            return No.PAYMENT_METHOD_NOT_FOUND
        if place and method == wanted.payment_method[place - 1]:
            return No.SAME_PAYMENT_METHOD_TWICE
        refused = guard_balance(customer, method, wanted.payment_amount[place])
        if refused:
            return refused
        paid += wanted.payment_amount[place]
    if payments_by(wanted, customer, CERTIFICATE) > MOST_CERTIFICATES:
        return No.TOO_MANY_CERTIFICATES
    if payments_by(wanted, customer, GIFT_CARD) > MOST_GIFT_CARDS:
        return No.TOO_MANY_GIFT_CARDS
    if payments_by(wanted, customer, CREDIT_CARD) > MOST_CREDIT_CARDS:
        return No.TOO_MANY_CREDIT_CARDS
    return 0 if paid == price_of(wanted) else No.PAYMENTS_DO_NOT_ADD_UP


@kernel
def guard_active(trip: Reservation) -> int:
    """Whether a reservation can still be changed."""
    return No.ALREADY_CANCELLED if trip.cancelled else 0


@kernel
def guard_cancel(trip: Reservation, status: Sequence[int]) -> int:
    """Whether a reservation can be cancelled, by the status of the departure of each segment."""
    refused = guard_active(trip)
    return refused if refused else guard_not_left(trip, status)


@kernel
def apply_cancel(trip: Reservation, customer: Customer) -> None:
    """Cancel a reservation and refund what it cost to what it was paid with.

    Each method gets back what it paid beyond refunds. Where a change was refunded to a method that paid less
    than that, so much less is left for the others: those that paid first are served first.
    """
    payments = trip.payments
    rest = 0
    for place in range(payments):
        rest += trip.payment_amount[place]
    for place in range(payments):
        method = trip.payment_method[place]
        amount = min(rest, paid_by(trip, method))  # 0 at the second payment by a method
        if amount > 0:
            pay(trip, customer, method, -amount)
            rest -= amount
    trip.cancelled = 1


@kernel
def guard_change_flights(
    old: Reservation,
    new: Reservation,
    customer: Customer,
    flights: Flights,
    old_status: Sequence[int],
    status: Sequence[int],
    seats: Sequence[int],
    method: int,
) -> int:
    """Whether flights and cabin of a reservation can be changed.

    Args:
        old: The reservation as it is.
        new: The reservation as it would be; segments that stay have kept their price.
        customer: Whose it is.
        flights: All flights.
        old_status: Of the departure of each segment of `old`.
        status: Of the departure of each segment of `new`.
        seats: Free in the cabin of `new`, of each of its segments.
        method: What the difference is charged or refunded to.
    """
    refused = guard_active(old)
    if refused:
        return refused
    if same_itinerary(old, new):
        return No.NOTHING_TO_CHANGE
    refused = guard_kept(old, new, old_status)
    if refused:
        return refused
    refused = guard_itinerary(new, flights)
    if refused:
        return refused
    for place in range(new.segments):
        if same_segment(new, place, old) < 0:
            refused = guard_seats(new, place, status, seats)
            if refused:
                return refused
    return guard_difference(old, customer, method, fares(new) - fares(old))


@kernel
def apply_change_flights(old: Reservation, new: Reservation, customer: Customer, method: int) -> None:
    """Charge or refund the difference of the fares."""
    pay(new, customer, method, fares(new) - fares(old))


@kernel
def guard_add_bags(trip: Reservation, customer: Customer, total: int, nonfree: int, method: int) -> int:
    """Whether a reservation can have so many checked bags, so many of them paid for."""
    refused = guard_active(trip)
    if refused:
        return refused
    if total == trip.total_bags:
        return No.NOTHING_TO_CHANGE
    if total < trip.total_bags:
        return No.BAGS_ONLY_ADDED
    if nonfree != max(trip.nonfree_bags, bags_to_pay(trip, customer, total)):
        return No.WRONG_NONFREE_BAGGAGES
    return guard_difference(trip, customer, method, int(nonfree - trip.nonfree_bags) * BAG_PRICE)


@kernel
def apply_add_bags(trip: Reservation, customer: Customer, total: int, nonfree: int, method: int) -> None:
    """Add checked bags and charge those that are not free."""
    pay(trip, customer, method, int(nonfree - trip.nonfree_bags) * BAG_PRICE)
    trip.total_bags = total
    trip.nonfree_bags = nonfree


@kernel
def guard_passengers(trip: Reservation, passengers: int, people: int, known: int) -> int:
    """Whether the passengers of a reservation can be replaced.

    Args:
        trip: The reservation.
        passengers: How many are named.
        people: How many different people those are.
        known: How many of these people are passengers already.
    """
    refused = guard_active(trip)
    if refused:
        return refused
    if passengers != trip.passengers:
        return No.PASSENGER_COUNT_FIXED
    if people != passengers:
        return No.SAME_PASSENGER_TWICE
    return No.NOTHING_TO_CHANGE if known == people else 0


@kernel
def guard_send_certificate(customer: Customer) -> int:
    """Whether there is room for another payment method."""
    return No.TOO_MANY_PAYMENT_METHODS if customer.methods >= MAX_METHODS else 0


@kernel
def apply_send_certificate(customer: Customer, amount: int) -> None:
    """Give the customer a certificate over an amount in cents."""
    customer.method_kind[customer.methods] = CERTIFICATE
    customer.balance[customer.methods] = amount
    customer.methods += 1


@kernel
def guard_difference(trip: Reservation, customer: Customer, method: int, amount: int) -> int:
    """Whether a change can be settled with a method: by a payment, or by a refund when below 0."""
    if method < 0:
        return No.PAYMENT_METHOD_NOT_FOUND
    if customer.method_kind[method] == CERTIFICATE:
        return No.CERTIFICATE_NOT_ALLOWED
    if amount and trip.payments + _ADDED_AT_MOST > MAX_PAYMENTS:
        return No.TOO_MANY_CHANGES
    return guard_balance(customer, method, amount)


@kernel
def guard_balance(customer: Customer, method: int, amount: int) -> int:
    """Whether a method can pay an amount: a gift card or certificate must hold it."""
    if customer.method_kind[method] != CREDIT_CARD and customer.balance[method] < amount:
        return No.INSUFFICIENT_BALANCE
    return 0


@kernel
def pay(trip: Reservation, customer: Customer, method: int, amount: int) -> None:
    """Add a payment or refund to a reservation, unless it is 0, and move the method's balance."""
    if amount:
        trip.payment_method[trip.payments] = method
        trip.payment_amount[trip.payments] = amount
        trip.payments += 1
        settle(customer, method, amount)


@kernel
def settle(customer: Customer, method: int, amount: int) -> None:
    """Move the balance of a method for a payment or refund. A certificate that pays is used up as a whole."""
    kind = customer.method_kind[method]
    if kind == CERTIFICATE and amount > 0:
        customer.balance[method] = 0
    elif kind != CREDIT_CARD:
        customer.balance[method] -= amount


@kernel
def paid_by(trip: Reservation, method: int) -> int:
    """What a method paid for a reservation, less refunds."""
    paid = 0
    for place in range(trip.payments):
        if trip.payment_method[place] == method:
            paid += trip.payment_amount[place]
    return paid


@kernel
def payments_by(trip: Reservation, customer: Customer, kind: int) -> int:
    """How many of the payments were made by methods of a kind."""
    found = 0
    for place in range(trip.payments):
        if customer.method_kind[trip.payment_method[place]] == kind:
            found += 1
    return found


@kernel
def bags_to_pay(trip: Reservation, customer: Customer, total: int) -> int:
    """How many of so many checked bags are not free for the passengers."""
    return max(0, total - FREE_BAGS[customer.membership][trip.cabin] * trip.passengers)


@kernel
def price_of(trip: Reservation) -> int:
    """What a reservation costs: fares, insurance and bags."""
    insurance = int(trip.insurance) * int(trip.passengers) * INSURANCE_PRICE
    return fares(trip) + insurance + int(trip.nonfree_bags) * BAG_PRICE


@kernel
def fares(trip: Reservation) -> int:
    """What the flights cost all passengers."""
    fare = 0
    for place in range(trip.segments):
        fare += trip.price[place]
    return fare * trip.passengers
