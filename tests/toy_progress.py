"""Measures of progress that a user may write, by name: `toy_progress:words_said`."""

import math

BROKEN = "toy_progress:nothing_at_all"


def words_said(episode):
    """How many words the agent said to the user; whole numbers, and without an end."""
    return sum(len(text.split()) for text in episode.said)


def mistakes(episode):
    """A penalty for each mistake."""
    return -0.5 * sum(message.code is not None for message in episode.history)


def not_a_number(_episode):
    return math.nan


A_NUMBER = 1.0
