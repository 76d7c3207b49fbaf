"""Whether a reply is English: its letters are Latin, its small words are not mostly of other languages."""

import re

_OTHER_SCRIPT = re.compile(
    "(?=[\u0370-\U0010ffff])"  # from Greek on, without the later Latin and letter-like ones
    "(?![\u1e00-\u1eff\u2100-\u218f\u2c60-\u2c7f\ua720-\ua7ff\uab30-\uab6f\ufb00-\ufb06\uff21-\uff5a])"
    r"[^\W\d_]"
)
_WORD = re.compile(r"[^\W\d_]+")

_ENGLISH = """
    a an and are as be been can could did do does for from has have how i is it my not of on or shall so that
    the there these this to was we were what when which will with would you your
"""
# What stands in names, places and ids is left out: el, la, los, san, des, sur, von, com, il, est ...
_SPANISH_AND_PORTUGUESE = """
    ahora como con cuando está fue gracias hemos muy pedido pero por puede que qué quiere su una usted
    foi não obrigado para são seu sua uma você
"""
_FRENCH = "avec avez bonjour cette commande dans et je mais merci nous ont pas pour vos votre vous été être"
_GERMAN_AND_DUTCH = """
    aber auf bestellung bitte das dass der ein eine für haben ich ihr ihre ihnen ist kann mit nicht oder
    sie und wir wurde bestelling een het ik kunt niet uw voor wordt
"""
_ITALIAN = "che gli grazie ho ordine questo sono stato suo vuole è"

_ENGLISH_WORDS = frozenset(_ENGLISH.split())
_OTHER_WORDS = frozenset((_SPANISH_AND_PORTUGUESE + _FRENCH + " " + _GERMAN_AND_DUTCH + _ITALIAN).split())


def is_english(text: str) -> bool:
    """Whether a reply can be taken for English.

    It is not when it has a letter of another script, or more small words of Spanish, Portuguese, French,
    German, Dutch or Italian than of English. A text of names, numbers and ids alone passes.
    """
    if _OTHER_SCRIPT.search(text):
        return False
    words = [word.lower() for word in _WORD.findall(text)]
    return sum(word in _OTHER_WORDS for word in words) <= sum(word in _ENGLISH_WORDS for word in words)
