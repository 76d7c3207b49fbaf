"""Conversations at an airline that keep and break its rules."""

from typing import NamedTuple

from booking.booking_rule_events import (
    AIRPORTS,
    ALSO_MINE,
    ALSO_OFF,
    ANN,
    BOB,
    BOBS,
    CALLED_OFF,
    CANCEL,
    CANCEL_YES,
    COMPLAINT,
    DAY_AGO,
    DELAYED,
    FLIGHTS,
    GIFT,
    INSURED,
    LOOK,
    LOOK_BOBS,
    MINE,
    NEW,
    NOBODY,
    NOT_SEEN,
    OTHER_DATE,
    OTHER_FLIGHTS,
    OVER_A_DAY_AGO,
    PEOPLE,
    PROFILE,
    PROFILE_BOB,
    READING,
    SEARCH,
    book,
    called,
    calls,
    cancel,
    certificate,
    change,
    change_passengers,
    leg,
    member,
    others,
    pays,
    says,
    set_bags,
    shown,
    yes_to,
)
from service.rule_events import (
    ACCEPT_NO,
    ASK,
    DENY,
    INSIST,
    TRANSFER,
    TRANSFER_BROKEN,
    TRANSFER_KEPT,
    RuleBook,
    correct,
    heard,
    inform,
    wish,
    yes,
)

from tool_envs.booking import rules as booking
from tool_envs.booking.policy import policy_text
from tool_envs.booking.refusals import No
from tool_envs.rules import Said

# --- Rules of every service desk


class Examples(NamedTuple):
    """Conversations that keep a rule, and some that break it with the number of the event that does."""

    kept: list
    broken: list


IDENTIFY_FIRST = Examples(
    kept=[
        [PROFILE, LOOK, CANCEL, TRANSFER],
        [PROFILE_BOB, book()],
        [NOBODY, PROFILE, LOOK],
        [AIRPORTS, SEARCH, Said("Hi"), PROFILE],
        [NOT_SEEN, NOBODY],
        [called("think", thought="A1AA1A"), called("calculate", expression="1 + 1")],
    ],
    broken=[
        ([LOOK], 0),
        ([inform("user_id", ANN), LOOK], 1),
        ([NOBODY, LOOK, PROFILE], 1),
        ([SEARCH, book(), PROFILE], 1),
        ([CANCEL], 0),
        ([change()], 0),
        ([set_bags(1)], 0),
        ([change_passengers(PEOPLE[:1])], 0),
        ([certificate(100)], 0),
        ([wish("out_of_scope"), TRANSFER], 1),
    ],
)
ONE_CUSTOMER = Examples(
    kept=[
        [LOOK_BOBS, PROFILE, LOOK, CANCEL],
        [PROFILE, PROFILE, shown(ALSO_MINE), certificate(100)],
        [PROFILE, NOBODY, called("get_reservation_details", "reservation_not_found", reservation_id=BOBS)],
        [PROFILE_BOB, LOOK_BOBS, book(BOB)],
        # What they book is their own from then on.
        [PROFILE, book(), shown(NEW[ANN]), cancel(NEW[ANN])],
        [PROFILE, book(), PROFILE, LOOK],
    ],
    broken=[
        ([PROFILE, PROFILE_BOB], 1),
        ([PROFILE, PROFILE_BOB, PROFILE, LOOK], 1),
        ([PROFILE_BOB, LOOK], 1),
        ([PROFILE, LOOK_BOBS], 1),
        ([LOOK_BOBS, PROFILE, cancel(BOBS)], 2),
        ([PROFILE, LOOK, change(reservation_id=BOBS)], 2),
        ([PROFILE, book(BOB)], 1),
        ([PROFILE, certificate(100, BOB)], 1),
        ([PROFILE, shown(NEW[ANN])], 1),
        ([PROFILE, book(code="not_enough_seats"), shown(NEW[ANN])], 2),
        ([PROFILE, book(), shown(NEW[BOB])], 2),
    ],
)
CHANGE = change("business", OTHER_FLIGHTS)
BOOK = book(passengers=PEOPLE[:2], payment_methods=pays(gift_card_2000000=40, credit_card_1000000=60))
EXPLICIT_YES = Examples(
    kept=[
        [CANCEL_YES, CANCEL],
        [yes("cancel_reservation"), LOOK, Said("I do it now"), CANCEL],
        [CANCEL_YES, cancel(code="already_flown"), CANCEL],
        [cancel(code="already_cancelled")],
        [CANCEL_YES, CANCEL_YES, CANCEL, CANCEL],
        [DENY, CANCEL_YES, CANCEL],
        [CANCEL_YES, correct("cabin", "business"), CANCEL],
        [yes_to(CHANGE), correct("cabin", "business"), CHANGE],
        [yes("update_reservation_flights", flights=OTHER_FLIGHTS), CHANGE],
        [yes("update_reservation_flights", flights=OTHER_FLIGHTS[::-1], cabin="business"), CHANGE],
        [yes("book_reservation", passengers=[PEOPLE[1], PEOPLE[0]]), BOOK],
        [
            yes("book_reservation", payment_methods=pays(credit_card_1000000=60, gift_card_2000000=40)),
            BOOK,
        ],
        [yes_to(set_bags(2)), yes_to(CHANGE), CHANGE, set_bags(2)],
    ],
    broken=[
        ([CANCEL], 0),
        ([wish("cancel"), inform("reservation_id", MINE), CANCEL], 2),
        ([CANCEL_YES, CANCEL, CANCEL], 2),
        ([CANCEL_YES, DENY, CANCEL], 2),
        ([CANCEL_YES, correct("reservation_id", ALSO_MINE), CANCEL], 2),
        ([CANCEL_YES, cancel(ALSO_MINE)], 1),
        ([yes("update_reservation_flights"), CANCEL], 1),
        ([yes_to(CHANGE), correct("cabin", "economy"), CHANGE], 2),
        ([yes_to(CHANGE), change("economy", OTHER_FLIGHTS)], 1),
        ([yes("update_reservation_flights", flights=FLIGHTS), change("economy", OTHER_DATE)], 1),
        ([yes("update_reservation_flights", flights=FLIGHTS), change("economy", FLIGHTS[:1])], 1),
        ([yes("update_reservation_flights", payment_id=GIFT), CHANGE], 1),
        ([yes("book_reservation", passengers=[PEOPLE[0], PEOPLE[2]]), BOOK], 1),
        (
            [
                yes("book_reservation", payment_methods=pays(gift_card_2000000=60, credit_card_1000000=40)),
                BOOK,
            ],
            1,
        ),
        ([yes("book_reservation", insurance="yes"), book(insurance="no")], 1),
        ([yes_to(set_bags(2)), set_bags(3)], 1),
        ([yes_to(change_passengers(PEOPLE[:1])), change_passengers(PEOPLE[1:2])], 1),
        ([yes_to(certificate(50)), certificate(100)], 1),
    ],
)
NO_MADE_UP_FACTS = Examples(
    kept=[
        [heard(text="It is about a1aa1a."), Said("Reservation A1AA1A?")],
        [inform("reservation_id", MINE), Said("Reservation A1AA1A?")],
        [wish("cancel", reservation_id=MINE), Said("Reservation A1AA1A?")],
        [LOOK, Said(f"{ANN}, you fly on HAT010 and hat020.")],
        [PROFILE, Said(f"You have A1AA1A and B2BB2B, and can pay with {GIFT}.")],
        [SEARCH, Said("There is HAT030.")],
        [book(), Said("Your reservation is D4DD4D.")],
        [Said("Your reservation id, such as Z9ZZ9Z, or the flight's number (for example HAT999)?")],
        [Said("What is your user id, and which card (in the format credit_card_1234567)?")],
        # Ids in the descriptions of the tools.
        [Said("It looks as gift_card_1234567, certificate_1234567 and jane_roe_1234 do.")],
        [Said("From BOS to SFO on 2025-07-04 at 09:30:00 for $120.")],
    ],
    broken=[
        ([Said("Reservation Z9ZZ9Z?")], 0),
        ([LOOK, Said("HAT010 and HAT999 leave then.")], 1),
        ([LOOK, Said("Also hat999.")], 1),
        ([PROFILE, Said("You can pay with certificate_7654321.")], 1),
        ([PROFILE, Said(f"Your reservation is {BOBS}.")], 1),
        ([Said("Your user id is jim_roe_1111.")], 0),
        ([Said("Write to help@example.com.")], 0),
        ([called("think", thought="Z9ZZ9Z"), Said("Z9ZZ9Z")], 1),
        ([NOT_SEEN, Said("There is no A1AA1A.")], 1),
        ([Said("Such as Z9ZZ9Z. It is Z9ZZ9Z.")], 0),
    ],
)


# --- Rules of an airline

NO_ADVICE = Examples(
    kept=[
        [Said("There are two flights, for $120 and $140. Which of them would you like?")],
        [Said("The taxi suggested to you leaves at 9.")],
        [Said("Your Wi-Fi advises of delays.")],
        [called("think", thought="I recommend HAT010")],
        [heard(text="What do you think? I suggest HAT010, in my opinion it is the best.")],
        [],
    ],
    broken=[
        ([Said("I recommend HAT010.")], 0),
        ([SEARCH, Said("Well, i recommend\nto leave early.")], 1),
        ([Said("I WOULD RECOMMEND THAT.")], 0),
        ([Said("May I suggest a seat at the window?")], 0),
        ([Said("(I would suggest insurance)")], 0),
        ([Said("I Advise you to wait")], 0),
        ([Said("I'd recommend the later one.")], 0),
        ([Said("I  would\nsuggest the later one.")], 0),
        ([heard(text="Which is better?"), Said("In my opinion, the second one.")], 1),
    ],
)
BASIC = shown(cabin="basic_economy")
BASIC_ECONOMY = Examples(
    kept=[
        [BASIC, change("economy")],
        [BASIC, change("business"), change("business", OTHER_FLIGHTS)],
        [LOOK, change("economy", OTHER_FLIGHTS)],
        [LOOK, change("basic_economy", OTHER_FLIGHTS)],
        [shown(cabin="business"), change("economy", FLIGHTS[:1])],
        [shown(ALSO_MINE), BASIC, change("economy", OTHER_FLIGHTS, ALSO_MINE)],
        [book(cabin="basic_economy", flights=FLIGHTS), change("economy", FLIGHTS, NEW[ANN])],
        [change("economy", OTHER_FLIGHTS, code="flight_not_available")],
        [BASIC, set_bags(2), change_passengers(PEOPLE[1:2]), CANCEL],
        [set_bags(2), change_passengers(PEOPLE[1:2]), CANCEL],
    ],
    broken=[
        ([change()], 0),
        ([PROFILE, SEARCH, change("economy", OTHER_FLIGHTS)], 2),
        ([NOT_SEEN, change("business")], 1),
        ([shown(ALSO_MINE), change("business")], 1),
        ([BASIC, change("basic_economy", OTHER_FLIGHTS)], 1),
        ([BASIC, change("basic_economy", OTHER_DATE)], 1),
        ([BASIC, change("business", OTHER_FLIGHTS)], 1),
        ([BASIC, change("economy", FLIGHTS[:1])], 1),
        ([BASIC, change("economy", [*FLIGHTS, leg("HAT030", "2025-07-08")])], 1),
        ([LOOK, change("basic_economy"), change("basic_economy", OTHER_FLIGHTS)], 2),
        ([LOOK, BASIC, change("economy", OTHER_FLIGHTS)], 2),
        ([book(cabin="basic_economy", flights=FLIGHTS), change("economy", OTHER_DATE, NEW[ANN])], 1),
    ],
)
CABIN_CHANGE = Examples(
    kept=[
        [LOOK, change("business")],
        [LOOK, change("business", code="not_enough_seats")],
        [LOOK, change("business", code="nothing_to_change")],
        [LOOK, cancel(code="already_flown")],
    ],
    broken=[
        ([change("business", code="already_flown")], 0),
        ([LOOK, change("economy", OTHER_FLIGHTS, code="already_flown"), change("business")], 1),
    ],
)
CANCELLATION = Examples(
    kept=[
        [shown(created=DAY_AGO), CANCEL],
        [shown(created="2025-06-30T14:50:00"), CANCEL],
        [shown(statuses=CALLED_OFF), CANCEL],
        [shown(statuses=("cancelled", "delayed")), CANCEL],
        [shown(cabin="business"), CANCEL],
        [INSURED, inform("reason", "health"), CANCEL],
        [inform("reason", "weather"), INSURED, CANCEL],
        [wish("cancel", reason="health"), INSURED, CANCEL],
        [INSURED, yes("cancel_reservation", reason="weather"), CANCEL],
        [INSURED, correct("reason", "health"), CANCEL],
        [INSURED, inform("reason", "plans"), correct("reason", "health"), CANCEL],
        [wish("cancel", reason="health"), INSURED, DENY, INSIST, wish("cancel"), CANCEL],
        [wish("question"), wish("cancel", 1, reason="health"), INSURED, CANCEL],
        [book(), cancel(NEW[ANN])],
        [LOOK, change("business"), CANCEL],
        [CANCEL_YES, cancel(code="already_flown")],
        [wish("cancel"), set_bags(1), change_passengers(PEOPLE[:1])],
    ],
    broken=[
        ([CANCEL], 0),
        ([INSURED, inform("reason", "health"), correct("reason", "plans"), CANCEL], 3),
        ([shown(created=OVER_A_DAY_AGO), CANCEL], 1),
        ([shown(statuses=DELAYED), CANCEL], 1),
        ([shown(cabin="basic_economy"), CANCEL], 1),
        ([member("gold"), LOOK, CANCEL], 2),
        ([LOOK, inform("reason", "health"), CANCEL], 2),
        ([INSURED, CANCEL], 1),
        ([INSURED, inform("reason", "plans"), CANCEL], 2),
        ([INSURED, inform("reason", "airline"), CANCEL], 2),
        ([INSURED, inform("reason", ["health"]), CANCEL], 2),
        ([INSURED, inform("flights", "health"), CANCEL], 2),
        ([INSURED, heard(text="It is my health"), CANCEL], 2),
        ([INSURED, Said("Because of your health?"), CANCEL], 2),
        ([INSURED, yes("update_reservation_baggages", reason="health"), CANCEL], 2),
        # The reason of one wish is not that of the next.
        ([INSURED, wish("cancel", reason="health"), wish("cancel", 1), CANCEL], 3),
        ([wish("cancel", reason="health"), wish("cancel", 1, reason="plans"), INSURED, CANCEL], 3),
        # Nothing is known of this reservation, or not any more.
        ([PROFILE, wish("cancel", reason="health"), CANCEL], 2),
        ([NOT_SEEN, inform("reason", "health"), CANCEL], 2),
        ([shown(ALSO_MINE, cabin="business"), CANCEL], 1),
        ([shown(cabin="business"), LOOK, CANCEL], 2),
        ([shown(cabin="business"), change("economy"), CANCEL], 2),
    ],
)
BAGS_ONLY_ADDED = Examples(
    kept=[
        [LOOK, set_bags(3)],
        [LOOK, set_bags(3, "wrong_nonfree_baggages"), set_bags(3, "nothing_to_change")],
    ],
    broken=[([set_bags(0, "bags_only_added")], 0), ([LOOK, set_bags(2), set_bags(1, "bags_only_added")], 2)],
)
PASSENGERS_FIXED = Examples(
    kept=[
        [LOOK, change_passengers(PEOPLE[1:2])],
        [LOOK, change_passengers(PEOPLE[:1], "nothing_to_change")],
        [change_passengers([PEOPLE[0]] * 2, "same_passenger_twice")],
    ],
    broken=[
        ([change_passengers(PEOPLE, "passenger_count_fixed")], 0),
        ([LOOK, change_passengers(PEOPLE[:2], "passenger_count_fixed"), change_passengers(PEOPLE[:1])], 1),
    ],
)
PAYMENT_MIX = Examples(
    kept=[
        [book(payment_methods=pays(credit_card_1000000=60, gift_card_2000000=30, certificate_3000000=10))],
        [book(code="insufficient_balance"), book(code="payments_do_not_add_up")],
        [change(code="insufficient_balance"), set_bags(2, "payment_method_not_found")],
        [certificate(100, code="too_many_payment_methods")],
    ],
    broken=[
        ([book(code="too_many_certificates")], 0),
        ([book(), book(code="too_many_gift_cards")], 1),
        ([book(code="too_many_credit_cards"), book()], 0),
        ([LOOK, change(code="certificate_not_allowed")], 1),
        ([LOOK, set_bags(2, "certificate_not_allowed")], 1),
    ],
)
OFF_FOR_TWO = shown(statuses=CALLED_OFF, passengers=2, insurance="yes")
ON_AGAIN = shown(passengers=2, insurance="yes")
LATE = shown(statuses=DELAYED, insurance="yes")
COMPENSATION = Examples(
    kept=[
        [COMPLAINT, OFF_FOR_TWO, certificate(200)],
        [OFF_FOR_TWO, COMPLAINT, INSIST, certificate(200)],
        [COMPLAINT, LATE, certificate(50)],
        [COMPLAINT, LATE, certificate(50.0)],
        [COMPLAINT, shown(statuses=("delayed", "cancelled"), insurance="yes"), certificate(100)],
        # One of the three grounds is enough.
        [COMPLAINT, member("silver"), shown(statuses=DELAYED, passengers=3), certificate(150)],
        [COMPLAINT, shown(statuses=DELAYED, cabin="basic_economy"), member("gold"), certificate(50)],
        [COMPLAINT, PROFILE, shown(statuses=CALLED_OFF, cabin="business"), certificate(100)],
        # The membership is that of the customer who was found first.
        [COMPLAINT, member("silver"), PROFILE_BOB, shown(statuses=DELAYED), certificate(50)],
        # Once for each reservation.
        [COMPLAINT, LATE, ALSO_OFF, certificate(200), certificate(50)],
        [COMPLAINT, OFF_FOR_TWO, ALSO_OFF, certificate(200), certificate(200)],
        [COMPLAINT, OFF_FOR_TWO, certificate(200), wish("compensation", 1), ALSO_OFF, certificate(200)],
        [COMPLAINT, LATE, LATE, certificate(50, code="too_many_payment_methods"), certificate(50)],
        [certificate(50, code="user_not_found")],
        # What was asked for once is asked for, whatever else they want by now.
        [COMPLAINT, OFF_FOR_TWO, wish("cancel", 1), certificate(200)],
        [COMPLAINT, OFF_FOR_TWO, ACCEPT_NO, ASK, certificate(200)],
        # What was paid for one is not paid for another, even when nothing is due for the first any more.
        [
            COMPLAINT,
            OFF_FOR_TWO,
            ALSO_OFF,
            certificate(200),
            shown(passengers=2, insurance="yes"),
            certificate(200),
        ],
    ],
    broken=[
        # Nobody asked for it.
        ([OFF_FOR_TWO, certificate(200)], 1),
        ([wish("cancel"), OFF_FOR_TWO, certificate(200)], 2),
        ([inform("kind", "compensation"), OFF_FOR_TWO, certificate(200)], 2),
        # It is not due.
        ([COMPLAINT, PROFILE, shown(statuses=CALLED_OFF), certificate(100)], 3),
        ([COMPLAINT, shown(statuses=CALLED_OFF), certificate(100)], 2),
        ([COMPLAINT, PROFILE, shown(statuses=DELAYED, cabin="basic_economy"), certificate(50)], 3),
        ([COMPLAINT, member("gold"), LOOK, certificate(50)], 3),
        ([COMPLAINT, member("gold"), shown(statuses=("landed", "on time")), certificate(50)], 3),
        ([COMPLAINT, member("gold"), certificate(100)], 2),
        ([COMPLAINT, member("gold"), NOT_SEEN, certificate(100)], 3),
        ([COMPLAINT, INSURED, certificate(0)], 2),
        ([COMPLAINT, PROFILE, member("gold", BOB), shown(statuses=CALLED_OFF), certificate(100)], 4),
        # It is another amount.
        ([COMPLAINT, OFF_FOR_TWO, certificate(100)], 2),
        ([COMPLAINT, OFF_FOR_TWO, certificate(201)], 2),
        ([COMPLAINT, LATE, certificate(100)], 2),
        # It is for somebody else's reservation.
        ([COMPLAINT, PROFILE, shown(BOBS, statuses=CALLED_OFF, insurance="yes"), certificate(100)], 3),
        ([COMPLAINT, shown(statuses=("delayed", "cancelled"), insurance="yes"), certificate(50)], 2),
        ([COMPLAINT, LATE, ALSO_OFF, certificate(250)], 3),
        # It was sent before.
        ([COMPLAINT, OFF_FOR_TWO, certificate(200), certificate(200)], 3),
        ([COMPLAINT, LATE, certificate(50), LATE, wish("compensation", 1), certificate(50)], 5),
        ([COMPLAINT, LATE, ALSO_OFF, certificate(50), certificate(50)], 4),
        ([COMPLAINT, OFF_FOR_TWO, ALSO_OFF, *[certificate(200)] * 3], 5),
    ],
)
EXAMPLES = {
    "identify_first": IDENTIFY_FIRST,
    "one_customer": ONE_CUSTOMER,
    "explicit_yes": EXPLICIT_YES,
    "no_made_up_facts": NO_MADE_UP_FACTS,
    "no_advice": NO_ADVICE,
    "basic_economy_flights": BASIC_ECONOMY,
    "cabin_change": CABIN_CHANGE,
    "cancellation": CANCELLATION,
    "bags_only_added": BAGS_ONLY_ADDED,
    "passengers_fixed": PASSENGERS_FIXED,
    "payment_mix": PAYMENT_MIX,
    "compensation": COMPENSATION,
    "transfer_last": Examples(TRANSFER_KEPT, TRANSFER_BROKEN),
}

BOOKING_RULES = RuleBook(
    domain="booking",
    rules=booking.RULES,
    policy_text=policy_text,
    writes=booking.WRITES,
    transfer=booking.TRANSFER,
    customers_own=booking.CUSTOMERS_OWN,
    refusals=frozenset(no.refusal.code for no in No),
    finders=frozenset(),
    kept={rule: examples.kept for rule, examples in EXAMPLES.items()},
    broken={rule: examples.broken for rule, examples in EXAMPLES.items()},
    reading=READING,
    calls=calls,
    others=others,
    says=says,
)
