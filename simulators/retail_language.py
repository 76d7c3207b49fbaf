"""How agents speak in retail."""

import re
from types import MappingProxyType

from tool_envs.simulators.goal import Value
from tool_envs.simulators.language import IdPattern, Language, Verb, groups

_NOUNS = groups(
    {
        "email": r"e-?mail\b(?: address(?:es)?)?(?! with)",
        "user_id": r"user(?: |-|_)?id|username",
        "order_id": r"order(?: |-|_)?(?:ids?\b|numbers?\b|#)(?!:? ?#?w\d)|ids? of (?:the|your) orders?\b",
        "address": (
            r"address(?:es)?\b(?! on file)|street\b"
            r"|where (?:should|would you like|you(?:'d| would) like)[^,.?]* (?:shipped|sent|delivered"
            r"|it)\b"
        ),
        "name": r"(?:full |first |last |your |first and last )?names?\b(?! of)",
        "zip": r"(?:zip|postal|post) ?codes?\b|zip\b",
        "payment_method": (
            r"payment (?:method|option|source)s?\b|refund (?:method|preference)s?\b|method of payment\b"
            r"|how (?:would you like|you(?:'d| would) like|do you want|you want) (?:to pay|to be refunded"
            r"|to receive|the refund|your refund)"
            r"|where (?:would you like|you(?:'d| would) like) (?:the|your) refund"
            r"|(?:use|using|with|on|to) (?:the|your) (?:same|original) (?:credit |gift )?card\b"
            r"|pay with\b|use (?:the|your|this|that|an?) (?:\w+ ){0,2}(?:cards?|certificates?|paypal)\b"
        ),
        "reason": r"reasons?\b|why (?:would you|you(?:'d| would)|do you|you)",
        "new_item": (
            r"new (?:item|product|option|version|variant|size|colou?r|style)s?\b"
            r"|(?:the )?item ids? (?:of|for) (?:the|your) new\b"
            r"|(?:the )?(?:specific )?(?:item |specific |preferred |desired )options?\b"
            r"|options? (?:for|you)\b|(?:preferred|desired) (?:item|size|colou?r|style|material)s?\b"
            r"|what (?:size|colou?r|style|material|options?|features?|specifications?)\b"
            r"|specifications?\b|(?:exchange|change|switch|swap)(?: (?:it|them|this|these))? (?:for|to)\b"
        ),
        "item": (
            r"items?(?: |-|_)?ids?\b|product (?:id|name|type)s?\b"
            r"|(?<!for )(?<!of )(?<!containing )(?:the|specific|exact|your) items?\b"
            r"|(?<!for the )(?<!of the )(?<!containing the )items? (?:you|would|do)\b"
            r"|(?:which|what|all) items?\b"
        ),
    }
)

_OPTIONS = groups(
    {
        "payment_method": (
            r"payment (?:method|option)s?\b|paypal\b|gift cards?\b|credit cards?\b|refund(?:ed)?\b"
        ),
        "order_id": r"orders?\b",
        "new_item": (r"options?\b|versions?\b|variants?\b|new\b|models?\b|sizes?\b|colou?rs?\b|styles?\b"),
        "item": r"items?\b|products?\b",
    }
)

_OBJECTS = groups(
    {
        "modify_user_address": (
            r"(?:default|profile|account|home|primary|personal|user)(?:'s)? (?:shipping |mailing "
            r"|delivery )?address"
            r"|address (?:(?:in|on|of|for|saved in) (?:your|the|my) (?:user )?(?:profile|account)"
            r"|on file)"
            r"|(?:profile|account)\b"
        ),
        "modify_pending_order_address": r"address|shipped to\b",
        "modify_pending_order_payment": r"payment(?: method)?\b|paid with\b",
        "modify_pending_order_items": r"items?\b|options?\b",
    }
)

_ACTS = re.compile(
    r"\b(?:cancel\w*|return\w*|exchang\w*|refund\w*|modif\w+|chang(?:e|ing)\w*|updat(?:e|ing)\w*"
    r"|switch\w*|swap\w*|replac\w+|transfer\w*|using (?:your|the|this)|process\w*|initiat\w+|submit\w*"
    r"|plac(?:e|ing)|apply\w*|speak|connect\w*)\b"
)

RETAIL = Language(
    domain="retail",
    nouns=_NOUNS,
    options=_OPTIONS,
    fixed=groups({"reason": r"no longer needed\b|mistake\b"}),
    acts=_ACTS,
    verbs=groups(
        {
            "transfer": r"transferr?(?:ing|red|s)?\b|human agent|connect(?:ing)? you (?:to|with)\b",
            "address": r"address (?:change|update|modification|correction)",
            "payment": r"payment(?: method)? (?:change|update|modification|switch)",
            "items": r"items? (?:change|update|modification|swap)s?\b",
            "cancel": r"cancel(?!l?ed order)",
            "back": r"(?<!how to )return(?!ed order)(?!ing customer)",
            "exchange": r"exchang",
            "change": (
                r"(?:modif(?!ied\))|chang(?:e|ing|ed)\b|updat(?:e|ing|ed)\b|switch|swap|correct(?:ing"
                r"|ed)\b|replac(?:e|ing|ed)\b)"
            ),
        }
    ),
    writes=MappingProxyType(
        {
            "transfer": Verb("transfer_to_human_agents"),
            "address": Verb("modify_pending_order_address"),
            "payment": Verb("modify_pending_order_payment"),
            "items": Verb("modify_pending_order_items"),
            "cancel": Verb("cancel_pending_order"),
            "back": Verb("return_delivered_order_items"),
            "exchange": Verb("exchange_delivered_order_items"),
            "change": Verb("modify_pending_order_items", _OBJECTS),
        }
    ),
    objects=_OBJECTS,
    needs=MappingProxyType({"modify_pending_order_address": ("order", "modify_user_address")}),
    ids=groups(
        {
            "order": r"w\d{7}",
            "item": r"\d{10}",
            "payment": r"(?:credit_card|gift_card|paypal)_\d{7}",
            "zip": r"\d{5}",
            "user": r"[a-z]{1,40}_[a-z]{1,40}_\d{4}",
        }
    ),
    kinds=MappingProxyType(
        {
            "order": IdPattern(("order_id",), option="order_id", prefix="#", upper=True),
            "item": IdPattern(("item_ids", "new_item_ids", "product_id"), option="new_item"),
            "payment": IdPattern(("payment_method_id",), option="payment_method"),
            "zip": IdPattern(("zip",)),
            "user": IdPattern(("user_id",)),
        }
    ),
    values=MappingProxyType(
        {
            "reason": (
                Value(
                    "no longer needed",
                    (
                        "no longer needed",
                        "no longer need",
                        "no longer want",
                        "no longer wanted",
                        "no longer required",
                        "don't need it any more",
                        "don't need it anymore",
                        "don't need them any more",
                        "don't need them anymore",
                        "do not need it any more",
                        "do not need it anymore",
                        "don't want it any more",
                        "don't want it anymore",
                        "not needed any more",
                        "not needed anymore",
                        "isn't needed",
                        "not needed",
                        "changed your mind",
                    ),
                ),
                Value(
                    "ordered by mistake",
                    (
                        "ordered by mistake",
                        "by mistake",
                        "by accident",
                        "accidentally",
                        "accidental order",
                        "mistakenly",
                        "in error",
                    ),
                ),
            )
        }
    ),
    numbers=MappingProxyType({}),
)
