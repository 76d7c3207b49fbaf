"""Sentences and clauses that the domains share; each adds its own."""

from collections.abc import Mapping

from tool_envs.simulators.phrasing import Pool

QUESTIONS: Mapping[str, str] = {
    "email": "your email address",
    "name": "your first and last name",
    "user_id": "your user ID",
    "payment_method": "the payment method that you would like to use",
    "reason": "the reason for the cancellation",
}
"""Slot -> what the agent asks for."""

NOUNS: Mapping[str, str] = {
    "email": "my email address",
    "name": "my name",
    "user_id": "my user ID",
    "payment_method": "the payment method",
    "reason": "the reason",
}
"""Slot -> what the user calls their answer."""

WANTS: Mapping[str, str] = {
    "payment_method": "I want to use {words}",
    "reason": "the reason: {words}",
}
"""Slot -> how the user says which value they want."""

REASONS: Mapping[str, str] = {
    "low_balance": "the balance of the gift card is too low",
    "not_found": "there is no such record in our system",
    "no_tool": "that is outside of what I may do",
}
"""Why something cannot be done: code -> clause."""

CONDITIONS: Mapping[str, Pool] = {
    "max_characters": (
        "please keep every answer under {words} characters",
        "please keep your answers under {words} characters",
        "no answer should be longer than {words} characters, please",
        "I can only read short messages, at most {words} characters each",
        "please write at most {words} characters at a time",
        "keep each message within {words} characters, please",
        "my screen is small: at most {words} characters per message, please",
        "please never write more than {words} characters in one message",
        "I would like answers of no more than {words} characters",
        "please be brief: up to {words} characters per message",
    ),
    "language": (
        "please answer in {words} only",
        "please write to me in {words}",
        "all of your answers should be in {words}, please",
        "I only read {words}, so please write in it",
        "{words} only, please: I do not read other languages",
        "please keep to {words} in everything you write",
        "please do not switch from {words} to another language",
        "I would like every answer in {words}",
        "no other language than {words}, please",
        "the language of your answers should be {words}, please",
    ),
    "formal": (
        "please write formally, without contractions",
        "I would like formal language: no contractions, please",
        "please answer in formal English without contractions",
        "no contractions in your answers, please",
        "I ask you to keep the language formal and to contract no words",
        "please use full words only, no contractions",
        "write cannot and not its short form, please: no contractions",
        "I read contractions badly, so please use none",
        "formal language, please, without any contractions",
        "my request: no contracted words in your answers",
    ),
    "only_the_total": (
        "please tell me only the total",
        "just the total, please, no other amounts",
        "I only want to hear the total",
        "give me only the total amount, nothing else",
        "the total is the only figure that I want to see",
        "please do not list prices, only the total",
        "only name the total, please",
        "I want the total and no other figures",
        "no lists of prices, please, just the total",
        "the total alone is enough for me",
    ),
}
"""What a user may demand of every reply -> how they say it."""
