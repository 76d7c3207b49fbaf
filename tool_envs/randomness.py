"""Counter-based randomness: every draw is a pure function of integers, so that any episode replays alone."""

_MASK = 0xFFFFFFFFFFFFFFFF


def splitmix64(key: int, episode: int, turn: int, k: int) -> int:
    """A 64-bit number that depends on all four integers and on nothing else.

    The finaliser of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014) is
    applied once per integer.

    Args:
        key: 64-bit key of the environment, drawn at its last seeded reset.
        episode: Number of the episode since that reset.
        turn: Number of the turn in the episode.
        k: Number of the draw in the turn.
    """
    state = 0
    for part in (key, episode, turn, k):
        state = (state + 0x9E3779B97F4A7C15 + (part & _MASK)) & _MASK
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
        state ^= state >> 31
    return state


def draw_below(n: int, key: int, episode: int, turn: int, k: int) -> int:
    """A number in `range(n)`, uniform up to a bias of n / 2**64."""
    return (splitmix64(key, episode, turn, k) * n) >> 64
