"""Rows of a scene in which nothing was said, shown or chosen yet."""

from tool_envs.booking.rows import (
    MAX_METHODS,
    MAX_PASSENGERS,
    MAX_PAYMENTS,
    MAX_SEGMENTS,
    Customer,
    Reservation,
)
from tool_envs.booking.scene.sight import (
    CABIN_COUNT,
    MAX_LEGS,
    MAX_OFFERS,
    MAX_PAID,
    MAX_PEOPLE,
    MAX_SEARCHED,
    MAX_TRIPS,
    OPEN,
    OWN,
    UNKNOWN,
    Draft,
    Offer,
    Said,
    Scene,
    Sight,
    Wanted,
)


def nothing_wanted() -> Wanted:
    """Nothing is said of a wish."""
    return Wanted(
        trip=-1,
        trip_from=-1,
        trip_to=-1,
        origin=-1,
        destination=-1,
        days=[-1] * 2,
        cabin=-1,
        stops=-1,
        best=-1,
        leaves_after=-1,
        arrives_before=-1,
        at_most=-1,
        flights=[-1] * MAX_SEGMENTS,
        methods=0,
        method_kind=[-1] * MAX_PAID,
        method_how=[-1] * MAX_PAID,
        method_mark=[-1] * MAX_PAID,
        bags=-1,
        more_bags=-1,
        people=[-1] * MAX_PEOPLE,
        instead=-1,
        insurance=-1,
        reason=-1,
    )


def nothing_said() -> Said:
    """A turn without words."""
    return Said(moves=0, wish=-1, question=-1, user=0, unknown=0, demands=0)


def no_offer() -> Offer:
    """There is no such way."""
    return Offer(
        legs=0,
        origin=-1,
        destination=-1,
        stop=-1,
        flight=[-1] * MAX_LEGS,
        day=[-1] * MAX_LEGS,
        status=[0] * MAX_LEGS,
        departs=0,
        arrives=0,
        paid=0,
        price=[UNKNOWN] * (MAX_LEGS * CABIN_COUNT),
        seats=[UNKNOWN] * (MAX_LEGS * CABIN_COUNT),
        statuses=0,
    )


def open_draft(tool: int = -1) -> Draft:
    """A draft in which nothing is chosen but the write."""
    return Draft(
        tool=tool,
        trip=OPEN,
        origin=OPEN,
        destination=OPEN,
        day=OPEN,
        round_trip=OPEN,
        cabin=OPEN,
        flights=[OPEN] * OWN,
        people=[OPEN] * MAX_PEOPLE,
        methods=[OPEN] * MAX_PAID,
        method=OPEN,
        insurance=OPEN,
        claim=OPEN,
        leg=OPEN,
    )


def nothing_shown() -> Sight:
    """Before the first word of an episode."""
    scene = Scene(
        profile=0,
        stale=0,
        user=0,
        refused=0,
        unknown=0,
        demands=0,
        moves=0,
        wish=-1,
        question=-1,
        yes=0,
        unreported=-1,
        trip_code=[-1] * MAX_TRIPS,
        trip_seen=[0] * MAX_TRIPS,
        trip_paid=[0] * MAX_TRIPS,
        shown_last=-1,
        people=0,
        name=[-1] * MAX_PEOPLE,
        digits=[-1] * MAX_METHODS,
        number=[-1] * MAX_METHODS,
        offers=0,
        found_by=[-1] * MAX_OFFERS,
        searches=0,
        searched=[-1] * MAX_SEARCHED,
    )
    return Sight(
        scene=scene,
        wanted=nothing_wanted(),
        customer=blank_customer(),
        proposed=open_draft(),
        trips=[blank_trip() for _ in range(MAX_TRIPS)],
        ways=[no_offer() for _ in range(OWN * MAX_TRIPS)],
        offers=[no_offer() for _ in range(MAX_OFFERS)],
    )


def blank_customer() -> Customer:
    """A customer of whom nothing was shown."""
    return Customer(
        index=-1,
        membership=0,
        methods=0,
        method_kind=[0] * MAX_METHODS,
        balance=[0] * MAX_METHODS,
        reservations=0,
    )


def blank_trip() -> Reservation:
    """A reservation of which nothing was shown."""
    return Reservation(
        customer=-1,
        number=-1,
        origin=-1,
        destination=-1,
        round_trip=0,
        cabin=0,
        segments=0,
        flight=[-1] * MAX_SEGMENTS,
        day=[-1] * MAX_SEGMENTS,
        price=[0] * MAX_SEGMENTS,
        passengers=0,
        passenger=[0] * MAX_PASSENGERS,
        payments=0,
        payment_method=[0] * MAX_PAYMENTS,
        payment_amount=[0] * MAX_PAYMENTS,
        created=0,
        total_bags=0,
        nonfree_bags=0,
        insurance=0,
        cancelled=0,
    )
