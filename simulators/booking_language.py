"""How agents speak in booking (flights)."""

from types import MappingProxyType

from tool_envs.simulators.goal import Value
from tool_envs.simulators.language import IdPattern, Language, Verb, groups

_NOUNS = groups(
    {
        "email": r"\be-?mail(?: address)?\b(?! with)(?! or any other place)",
        "user_id": r"\buser(?: |-|_)?id|\busername",
        "reservation_id": r"\b(?:reservation|booking|confirmation)(?: |-|_)?(?:ids?\b|numbers?\b|codes?\b)",
        "payment_method": (
            r"\bpayment (?:method|option|source)s?\b|\bmethod of payment\b"
            r"|\bhow (?:would you like|you(?:'d| would) like|do you want|you want) to pay"
            r"|\b(?:use|using|with|on|to) (?:the|your) (?:same|original) (?:credit |gift )?card\b|\bpay with\b"
        ),
        "reason": r"\breasons?\b|\bwhy (?:would you|you(?:'d| would)|do you|you)",
        "dob": r"\b(?:dates? of birth|birth ?dates?|dobs?)\b",
        "passengers": (
            r"\bpassengers?(?:'s?)? (?:details?|information|info|names?)\b|\bpassengers\b|\b(?:each|the|new) passengers?\b"
        ),
        "name": r"\b(?:full |first |last |your |first and last )names?\b",
        "zip": r"\b(?:zip|postal) ?codes?\b",
        "trip_type": r"\btrip type\b|\btype of trip\b|\bone[- ]way or (?:a )?round[- ]trip\b",
        "cabin": r"\bcabin(?: class)?\b|\bclass of (?:service|travel)\b|\b(?:preferred|which|what) class\b",
        "date": r"\bdates?\b(?! of birth)|\bwhen (?:would|do) you\b|\bwhat day\b",
        "origin": r"\borigin\b|\bdeparture (?:city|airport|location)\b|\bdepart(?:ing)? from\b|\bflying from\b",
        "destination": r"\bdestination\b|\barrival (?:city|airport)\b|\bwhere (?:would|do) you\b|\bfly(?:ing)? to\b",
        "flights": (
            r"\bflight (?:numbers?|details?|options?|preferences?|segments?)\b"
            r"|\b(?:new|preferred|specific|desired) flights?\b"
        ),
        "baggage": r"\bbag(?:s|gages?)?\b|\bluggage\b",
        "insurance": r"\binsurance\b",
        "amount": r"\b(?:total |available |remaining )?(?:amounts?|balances?)\b",
    }
)

_OPTIONS = groups(
    {
        "payment_method": r"\bpayment (?:method|option)s?\b|\bgift cards?\b|\bcredit cards?\b|\bcertificates?\b",
        "reservation_id": r"\breservations?\b|\bbookings?\b",
        "flights": r"\bflights?\b|\boptions?\b|\bitinerar",
    }
)

_OBJECTS = groups(
    {
        "update_reservation_passengers": r"\bpassengers?\b(?! to (?:economy|business|basic))",
        "update_reservation_baggages": r"\bbag(?:s|gages?)?\b|\bluggage\b",
        "update_reservation_flights": r"\bflights?\b|\bcabin\b|\bclass\b|\beconomy\b|\bbusiness\b|\breservations?\b",
    }
)

_ACTS = (
    r"cancel\w*|refund\w*|modif\w+|chang(?:e|ing)\w*|updat(?:e|ing)\w*|switch\w*|replac\w+|upgrad\w+|downgrad\w+"
    r"|book\w*|rebook\w*|add(?:ing)?|remov\w+|transfer\w*|us(?:e|ing) (?:your|the|this)|process\w*|issu\w+"
    r"|send\w*|apply\w*|speak|connect\w*"
)

BOOKING = Language(
    domain="booking",
    nouns=_NOUNS,
    options=_OPTIONS,
    acts=_ACTS,
    verbs=groups(
        {
            "transfer": r"\btransferr?(?:ing|red|s)?\b|\bhuman agent|\bconnect(?:ing)? you (?:to|with)\b",
            "certificate": (
                r"\b(?:issu|send|offer)\w* (?:you |a |an |the |travel |\$\d+ )*(?:certificate|voucher)|\bcompensation\b"
            ),
            "bags": r"\badd(?:ing|ed)? (?:\w+ ){0,4}(?:bags?|baggages?|luggage)\b",
            "cabin": r"\b(?:up|down)grad",
            "cancel": r"\bcancell?(?:ing|ation|ed)?\b(?! flight)",
            "change": (
                r"\b(?:modif|chang(?:e|ing|ed)\b|updat(?:e|ing|ed)\b|switch|correct(?:ing|ed)\b|replac(?:e|ing|ed)\b)"
            ),
            "book": r"\b(?:re)?book(?:ing|ed)?\b(?! window)",
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
            "flight": IdPattern(("flight_number",), upper=True),
            "payment": IdPattern(("payment_id",)),
            "user": IdPattern(("user_id",)),
            "reservation": IdPattern(("reservation_id",), upper=True),
        }
    ),
    values=MappingProxyType(
        {
            "cabin": (
                Value("basic_economy", ("basic economy",)),
                Value("economy", ("economy",)),
                Value("business", ("business",)),
            )
        }
    ),
)
