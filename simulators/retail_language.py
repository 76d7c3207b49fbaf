"""How agents speak in retail."""

from types import MappingProxyType

from tool_envs.simulators.goal import Value
from tool_envs.simulators.language import IdPattern, Language, Verb, groups

_NOUNS = groups(
    {
        "email": r"\be-?mail\b(?! with)",
        "user_id": r"\buser(?: |-|_)?id|\busername",
        "order_id": r"\border(?: |-|_)?(?:ids?\b|numbers?\b|#)|\bids? of (?:the|your) orders?\b",
        "address": (
            r"\baddress(?:es)?\b(?! on file)|\bstreet\b|\bwhere (?:should|would you like|you(?:'d| would) like)[^,.?]* "
            r"(?:shipped|sent|delivered|it)\b"
        ),
        "name": r"\b(?:full |first |last |your |first and last )names?\b|\bname and (?:zip|postal)",
        "zip": r"\b(?:zip|postal|post) ?codes?\b|\bzip\b",
        "payment_method": (
            r"\bpayment (?:method|option|source)s?\b|\brefund (?:method|preference)s?\b|\bmethod of payment\b"
            r"|\bhow (?:would you like|you(?:'d| would) like|do you want|you want) (?:to pay|to be refunded|to receive"
            r"|the refund|your refund)|\bwhere (?:would you like|you(?:'d| would) like) (?:the|your) refund"
            r"|\b(?:use|using|with|on|to) (?:the|your) (?:same|original) (?:credit |gift )?card\b|\bpay with\b"
        ),
        "reason": r"\breasons?\b|\bwhy (?:would you|you(?:'d| would)|do you|you)",
        "new_item": (
            r"\bnew (?:item|product|option|version|variant|size|colou?r|style)s?\b"
            r"|\bitem ids? of the new\b|\b(?:item |specific |preferred |desired )options?\b"
            r"|\boptions? (?:for|you)\b|\b(?:preferred|desired) (?:item|size|colou?r|style|material)s?\b"
            r"|\bwhat (?:size|colou?r|style|material|options?|features?|specifications?)\b|\bspecifications?\b"
            r"|\b(?:exchange|change|switch|swap)(?: (?:it|them|this|these))? (?:for|to)\b"
        ),
        "item": (
            r"\bitems?(?: |-|_)?ids?\b|\bproduct (?:id|name|type)s?\b|\b(?:the|specific|exact|your) items?\b"
            r"|\bitems? (?:you|would|do)\b|\b(?:which|what|all) items?\b"
        ),
    }
)

_OPTIONS = groups(
    {
        "payment_method": r"\bpayment (?:method|option)s?\b|\bpaypal\b|\bgift cards?\b|\bcredit cards?\b|\brefund(?:ed)?\b",
        "order_id": r"\borders?\b",
        "new_item": (
            r"\boptions?\b|\bversions?\b|\bvariants?\b|\bnew\b|\bmodels?\b|\bsizes?\b|\bcolou?rs?\b|\bstyles?\b"
        ),
        "item": r"\bitems?\b|\bproducts?\b",
    }
)

_OBJECTS = groups(
    {
        "modify_user_address": (
            r"\b(?:default|profile|account|home|primary|personal|user)(?:'s)? (?:shipping |mailing |delivery )?address"
            r"|\baddress (?:(?:in|on|of|for|saved in) (?:your|the|my) (?:user )?(?:profile|account)|on file)"
            r"|\b(?:profile|account)\b"
        ),
        "modify_pending_order_address": r"\baddress|\bshipped to\b",
        "modify_pending_order_payment": r"\bpayment(?: method)?\b|\bpaid with\b",
        "modify_pending_order_items": r"\bitems?\b|\boptions?\b",
    }
)

_ACTS = (
    r"cancel\w*|return\w*|exchang\w*|refund\w*|modif\w+|chang(?:e|ing)\w*|updat(?:e|ing)\w*|switch\w*|swap\w*|replac\w+"
    r"|transfer\w*|us(?:e|ing) (?:your|the|this)|process\w*|initiat\w+|submit\w*|plac(?:e|ing)|apply\w*|speak|connect\w*"
)

RETAIL = Language(
    domain="retail",
    nouns=_NOUNS,
    options=_OPTIONS,
    acts=_ACTS,
    verbs=groups(
        {
            "transfer": r"\btransferr?(?:ing|red|s)?\b|\bhuman agent|\bconnect(?:ing)? you (?:to|with)\b",
            "address": r"\baddress (?:change|update|modification|correction)",
            "payment": r"\bpayment(?: method)? (?:change|update|modification|switch)",
            "items": r"\bitems? (?:change|update|modification|swap)s?\b",
            "cancel": r"\bcancel(?!l?ed order)",
            "back": r"\b(?<!to )(?<!can )return(?!ed order)(?!ing customer)|(?<=like to )return|(?<=want to )return|(?<=wish to )return",
            "exchange": r"\bexchang",
            "change": (
                r"\b(?:modif(?!ied\))|chang(?:e|ing|ed)\b|updat(?:e|ing|ed)\b|switch|swap|correct(?:ing|ed)\b"
                r"|replac(?:e|ing|ed)\b)"
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
            "order": IdPattern(("order_id",), prefix="#", upper=True),
            "item": IdPattern(("item_ids", "new_item_ids", "product_id")),
            "payment": IdPattern(("payment_method_id",)),
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
)
