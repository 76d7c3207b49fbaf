"""How agents speak in booking (flights)."""

import re
from types import MappingProxyType

from tool_envs.simulators.goal import Value
from tool_envs.simulators.language import NUMBER, IdPattern, Language, Verb, groups

_NOUNS = groups(
    {
        "email": r"e-?mail(?: address)?\b(?! with)(?! or any other place)",
        "user_id": r"user(?: |-|_)?id|username",
        "reservation_id": r"(?:reservation|booking|confirmation)(?: |-|_)?(?:ids?\b|numbers?\b|codes?\b)",
        "payment_method": (
            r"payment (?:method|option|source)s?\b|method of payment\b"
            r"|how (?:would you like|you(?:'d| would) like|do you want|you want) to pay"
            r"|(?:use|using|with|on|to) (?:the|your) (?:same|original) (?:credit |gift )?card\b"
            r"|pay with\b|use (?:the|your|this|that|an?) (?:\w+ ){0,2}(?:cards?|certificates?|paypal)\b"
        ),
        "reason": r"reasons?\b|why (?:would you|you(?:'d| would)|do you|you)",
        "dob": r"(?:dates? of birth|birth ?dates?|dobs?)\b",
        "passengers": (
            r"passengers?(?:'s?)? (?:details?|information|info|names?)\b|passengers\b"
            r"|(?:each|the|new) passengers?\b"
        ),
        "name": r"(?:full |first |last |your |first and last )names?\b",
        "zip": r"(?:zip|postal) ?codes?\b",
        "trip_type": r"trip type\b|type of trip\b|one[- ]way or (?:a )?round[- ]trip\b",
        "cabin": r"cabin(?: class)?\b|class of (?:service|travel)\b|(?:preferred|which|what) class\b",
        "date": r"dates?\b(?! of birth)|when (?:would|do) you\b|what day\b",
        "origin": (
            r"origin\b|departure (?:city|airport|location)\b|(?:depart|fly|travel|leav)(?:e|ing)? from\b"
        ),
        "destination": (
            r"destination\b|arrival (?:city|airport)\b"
            r"|where (?:would|do) you\b(?! (?:like |want )?to \w+ from\b(?! and))|fly(?:ing)? to\b"
            r"|and to\b"
        ),
        "flights": (
            r"flight (?:numbers?|details?|options?|preferences?|segments?)\b"
            r"|(?<!for the )(?<!of the )(?<!on the )(?:new|preferred|specific|desired) flights?\b"
            r"|preferences? for the (?:new )?flights?\b"
        ),
        "baggage": r"bag(?:s|gages?)?\b|luggage\b",
        "insurance": r"insurance\b",
        "amount": (
            r"(?<!for the )(?:total |exact |available )amounts?\b|amount (?:you|available)\b|how much\b"
            r"|balances?\b"
        ),
    }
)

_OPTIONS = groups(
    {
        "payment_method": r"payment (?:method|option)s?\b|gift cards?\b|credit cards?\b|certificates?\b",
        "reservation_id": r"reservations?\b|bookings?\b",
        "flights": r"flights?\b|options?\b|itinerar",
    }
)

_OBJECTS = groups(
    {
        "update_reservation_passengers": r"passengers?\b(?! to (?:economy|business|basic))",
        "update_reservation_baggages": r"bag(?:s|gages?)?\b|luggage\b",
        "update_reservation_flights": r"flights?\b|cabin\b|class\b|economy\b|business\b|reservations?\b",
    }
)

_ACTS = re.compile(
    r"\b(?:cancel\w*|refund\w*|modif\w+|chang(?:e|ing)\w*|updat(?:e|ing)\w*|switch\w*|replac\w+|upgrad\w+"
    r"|downgrad\w+|book\w*|rebook\w*|add(?:ing)?|remov\w+|transfer\w*|using (?:your|the|this)|process\w*"
    r"|issu\w+|send\w*|apply\w*|speak|connect\w*)\b"
)

# "2 checked bags in all", "total baggages: 2", but not the two that are added, or the two to be paid for.
_BAGS = r"(?:bags?|baggages?|pieces? of (?:luggage|baggage)|suitcases?)\b"
_ADDED = r"(?<!add )(?<!adding )(?<!additional )(?<!another )(?<!extra )"
_NOT_ALL = r"(?<!paid )(?<!extra )(?<!additional )(?<!checked )(?<!total )"
_NUMBERS = MappingProxyType(
    {
        "total_baggages": re.compile(
            rf"{_ADDED}{NUMBER} (?:(?:checked|free|complimentary|total) ){{0,3}}{_BAGS}"
            rf"|{NUMBER} (?:in total|total|in all|altogether)\b"
            rf"|\btotal (?:of|to) {NUMBER}\b"
            rf"|{_NOT_ALL}\b(?:total |checked |number of ){{0,3}}(?:bags|baggages?|luggage): {NUMBER}\b"
        ),
        "nonfree_baggages": re.compile(
            rf"{NUMBER} (?:of (?:them|which|these) )?(?:(?:is|are|to be|will be|must be) ){{0,2}}"
            r"(?:paid|charged|non-?free)\b"
            rf"|\bnon-?free(?: checked)?(?: bags| baggages?)?: {NUMBER}\b"
        ),
        "amount": re.compile(
            r"\$ ?(\d{1,3}(?:,\d{3})+|\d{1,7})(?:\.00)?(?!\.?\d)|(?<![\w.,$-])(\d{1,7}) (?:dollars|usd)\b"
        ),
    }
)
_WITHOUT_INSURANCE = (
    "without travel insurance",
    "without insurance",
    "no travel insurance",
    "no insurance",
    "not insured",
    "insurance: no",
    "insurance: none",
    "insurance: not included",
    "not include travel insurance",
    "not including travel insurance",
    "not to include travel insurance",
    "not add travel insurance",
)
_WITH_INSURANCE = (
    "with travel insurance",
    "with insurance",
    "including travel insurance",
    "including insurance",
    "include travel insurance",
    "insurance: yes",
    "insurance: included",
    "insurance included",
    "insurance is included",
    "add travel insurance",
    "adding travel insurance",
    "and travel insurance",
)

BOOKING = Language(
    domain="booking",
    nouns=_NOUNS,
    options=_OPTIONS,
    fixed=groups(
        {
            "cabin": r"economy\b|business\b|first class\b",
            "trip_type": r"one[- ]way\b|round[- ]trip\b",
            "reason": r"change of plans?\b|other reasons?\b",
        }
    ),
    acts=_ACTS,
    verbs=groups(
        {
            "transfer": r"transferr?(?:ing|red|s)?\b|human agent|connect(?:ing)? you (?:to|with)\b",
            "certificate": (
                r"(?:issu|send|offer)\w* (?:you |a |an |the |travel |\$\d+ )*(?:certificate|voucher)"
                r"|(?:certificate|voucher)\b(?=.{0,80}\b(?:issued|sent|added)\b)|compensation\b"
            ),
            "bags": r"add(?:ing|ed)? (?:\w+ ){0,4}(?:bags?|baggages?|luggage)\b",
            "cabin": r"(?:up|down)grad",
            "cancel": (
                r"cancell?(?:ing|ation|ed)?\b(?! flight)"
                r"(?!.*\b(?:send|issu|offer|give|compensat)\w*\b.*\b(?:certificate|voucher)\b)"
            ),
            "change": (
                r"(?:modif|chang(?:e|ing|ed)\b|updat(?:e|ing|ed)\b|switch|correct(?:ing|ed)\b|replac(?:e"
                r"|ing|ed)\b)"
            ),
            "book": r"(?:re)?book(?:ing|ed)?\b(?! window)",
        }
    ),
    writes=MappingProxyType(
        {
            "transfer": Verb("transfer_to_human_agents"),
            "certificate": Verb("send_certificate"),
            "bags": Verb("update_reservation_baggages"),
            "cabin": Verb("update_reservation_flights"),
            "cancel": Verb("cancel_reservation"),
            "change": Verb("update_reservation_flights", _OBJECTS),
            "book": Verb("book_reservation"),
        }
    ),
    objects=_OBJECTS,
    needs=MappingProxyType({}),
    ids=groups(
        {
            "flight": r"hat\d{3}",
            "payment": r"(?:credit_card|gift_card|certificate)_\d{7}",
            "user": r"[a-z]{1,40}_[a-z]{1,40}_\d{4}",
            "reservation": r"(?=[a-z0-9]{0,5}[a-z])[a-z0-9]{6}",
        }
    ),
    kinds=MappingProxyType(
        {
            "flight": IdPattern(("flight_number",), option="flights", upper=True),
            "payment": IdPattern(("payment_id",), option="payment_method"),
            "user": IdPattern(("user_id",)),
            "reservation": IdPattern(("reservation_id",), option="reservation_id", upper=True),
        }
    ),
    values=MappingProxyType(
        {
            "cabin": (
                Value("basic_economy", ("basic economy", "basic_economy", "basic-economy")),
                Value("economy", ("economy",)),
                Value("business", ("business",)),
            ),
            "flight_type": (
                Value("one_way", ("one-way", "one way", "one_way")),
                Value("round_trip", ("round-trip", "round trip", "roundtrip", "round_trip")),
            ),
            "insurance": (Value("no", _WITHOUT_INSURANCE), Value("yes", _WITH_INSURANCE)),
        }
    ),
    numbers=_NUMBERS,
)
