"""Numbers of the streams of random words: what is made in one place never shares words with another."""

RESERVATION_IDS, METHOD_IDS = 2, 3
"""Of `Shuffle`; `People` has 1, 5 and 6."""

ROUTES, TIMES, DEPARTURES, FARES = range(10, 14)
CUSTOMERS, COUNTS, BIRTHDAYS, ADDRESSES, CARDS, SAVED, RESERVATIONS, CERTIFICATES = range(20, 28)
"""Of draws."""
