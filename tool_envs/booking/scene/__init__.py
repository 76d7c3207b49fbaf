"""What was shown in an episode: as rows, as arrays, and what can be chosen on it."""
